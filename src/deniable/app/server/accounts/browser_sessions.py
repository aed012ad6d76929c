"""Sessions of people in a browser. They live on the server: the cookie holds a random number.

A log-in always begins a new session, and ends the one that the browser had. So a number that
somebody planted in a browser before is worth nothing. A session ends after 30 minutes without
a request, after 12 hours, at log-out (for all workers at once), and when its person is
disabled.
"""

import datetime
import hashlib
import secrets
from collections.abc import Callable

from deniable.app.server.accounts.account_stores import AccountStore

COOKIE = "__Host-deniable"
IDLE = datetime.timedelta(minutes=30)
LONGEST = datetime.timedelta(hours=12)
_NOTED_EVERY = datetime.timedelta(minutes=1)
_ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax"


class BrowserSessions:
    """The sessions of a server's people."""

    def __init__(
        self, database: AccountStore, *, clock: Callable[[], datetime.datetime]
    ) -> None:
        self._database, self._clock = database, clock

    def begin(self, person: str, *, instead_of: str = "") -> str:
        """A new session for a person; the one that the browser had ends."""
        session, now = secrets.token_urlsafe(32), self._clock()
        with self._database.writing() as connection:
            connection.execute(
                "DELETE FROM sessions WHERE hash = ? OR begun <= ? OR seen <= ?",
                (_hash(instead_of), _text(now - LONGEST), _text(now - IDLE)),
            )
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?)",
                (_hash(session), person, _text(now), _text(now)),
            )
        return session

    def find(self, session: str) -> tuple[str, str, str | None, str | None] | None:
        """A session's person: name, role, policies and tables; None if it has ended."""
        now = self._clock()
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT p.name, p.role, p.policies, p.tables, s.seen FROM sessions s"
                " JOIN people p ON p.name = s.person WHERE s.hash = ? AND s.begun > ?"
                " AND s.seen > ? AND p.disabled = 0",
                (_hash(session), _text(now - LONGEST), _text(now - IDLE)),
            ).fetchone()
        if row is None:
            return None
        if row[4] <= _text(now - _NOTED_EVERY):
            with self._database.writing() as connection:
                connection.execute(
                    "UPDATE sessions SET seen = ? WHERE hash = ?", (_text(now), _hash(session))
                )
        return row[0], row[1], row[2], row[3]

    def end(self, session: str) -> None:
        """Ends a session, for all workers at once."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sessions WHERE hash = ?", (_hash(session),))


def session_cookie(session: str) -> str:
    """The header that gives a browser its session.

    >>> session_cookie("x")
    '__Host-deniable=x; Path=/; Secure; HttpOnly; SameSite=Lax'
    """
    return f"{COOKIE}={session}; {_ATTRIBUTES}"


def ended_cookie() -> str:
    """The header that takes it away."""
    return f"{COOKIE}=; {_ATTRIBUTES}; Max-Age=0"


def _hash(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()


def _text(moment: datetime.datetime) -> str:
    return moment.isoformat(timespec="seconds")
