"""Logging in with a name and a password, and with a one-time code where one is set up.

Every failure is the same answer after the same work. After ten failures for one name, whether
it exists or not, further tries within a quarter of an hour are refused before a hash is
computed.
"""

import datetime
from typing import Any

from deniable.app.server.accounts.one_time_codes import matching_step
from deniable.app.server.accounts.passwords import Passwords
from deniable.app.server.accounts.people import People
from deniable.errors import TooManyQuestions
from deniable.policy.names import compared_name

MOST_TRIES = 10
PERIOD = datetime.timedelta(minutes=15)


class PasswordLogin:
    """Checks who logs in with a password."""

    def __init__(self, people: People, passwords: Passwords) -> None:
        self._people, self._passwords = people, passwords

    def check(self, name: str, password: str, code: str = "") -> str | None:
        """The person's name; None if anything is wrong. The code works this once."""
        try:
            compared = compared_name(name)
        except ValueError:
            compared = ""
        self._count_try(compared)
        with self._people.database.reading() as connection:
            row = connection.execute(
                "SELECT name, password, code_secret FROM people"
                " WHERE compared = ? AND disabled = 0",
                (compared,),
            ).fetchone()
        matches = self._passwords.check(password, None if row is None else row[1])
        if row is None or not matches:
            return None
        return self._accept(compared, row[0], row[1], row[2], code)

    def _accept(
        self, compared: str, name: str, password_hash: str, secret: str | None, code: str
    ) -> str | None:
        """Uses the code up and forgets the failures, unless the account changed meanwhile."""
        seconds = self._people.clock().timestamp()
        with self._people.database.writing() as connection:
            same = connection.execute(
                "SELECT code_step FROM people WHERE name = ? AND password = ?"
                " AND disabled = 0 AND coalesce(code_secret, '') = ?",
                (name, password_hash, secret or ""),
            ).fetchone()
            if same is None:
                return None
            if secret is not None:
                step = matching_step(secret, code, seconds=seconds, last=same[0])
                if step is None:
                    return None
                connection.execute(
                    "UPDATE people SET code_step = ? WHERE name = ?", (step, name)
                )
            connection.execute("DELETE FROM tries WHERE compared = ?", (compared,))
        return name

    def _count_try(self, compared: str) -> None:
        """Counts before the password is checked, so that tries at once count as well."""
        now = self._people.clock()
        with self._people.database.writing() as connection:
            old = (now - PERIOD).isoformat(timespec="seconds")
            connection.execute("DELETE FROM tries WHERE since <= ?", (old,))
            row: Any = connection.execute(
                "SELECT count FROM tries WHERE compared = ?", (compared,)
            ).fetchone()
            if row is not None and row[0] >= MOST_TRIES:
                raise TooManyQuestions(
                    "Too many tries for this name. Try again in a quarter of an hour."
                )
            connection.execute("DELETE FROM tries WHERE compared = ?", (compared,))
            since = now.isoformat(timespec="seconds")
            count = 1 if row is None else row[0] + 1
            connection.execute("INSERT INTO tries VALUES (?, ?, ?)", (compared, count, since))
