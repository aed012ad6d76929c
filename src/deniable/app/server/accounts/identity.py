"""Who a request comes from: the person whose token or session it shows.

Budgets belong to people: a person is the name under which the ledger charges, whatever the
token and however the person logs in. An unknown, expired or revoked token is nobody, and nobody
gets one and the same answer.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass

from deniable.app.server.accounts.access_tokens import hash_token, is_well_formed, make_token
from deniable.app.server.accounts.account_stores import AccountStore
from deniable.app.server.accounts.account_tables import common_names, read_names, write_names
from deniable.app.server.accounts.browser_sessions import BrowserSessions
from deniable.app.server.accounts.people import People, find_person, insert_person
from deniable.errors import InvalidParameter

_LONGEST_HEADER = 256
_ID_LENGTH = 12  # characters of a token's hash, by which its owner names it


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who asks. `policies` and `tables` are those that the owner granted the person,
    and that the token allows; None: all.

    >>> ann = Person("ann", "analyst", tables=("visits",))
    >>> ann.may_read("hospital", ["visits"]), ann.may_read("hospital", ["visits", "staff"])
    (True, False)
    """

    name: str  # the budget's name in the ledger
    role: str
    policies: tuple[str, ...] | None = None
    tables: tuple[str, ...] | None = None
    read_only: bool = False  # whether the token can look, but spend and change nothing

    def may_use(self, policy: str) -> bool:
        """Whether anything of a policy is there for this person."""
        return self.policies is None or policy in self.policies

    def may_read(self, policy: str, tables: list[str] | tuple[str, ...]) -> bool:
        """Whether all of these tables are there for this person."""
        return self.may_use(policy) and (self.tables is None or set(tables) <= {*self.tables})


class Identities:
    """The people of a server, as requests show them.

    >>> import tempfile
    >>> from deniable.app.server.accounts.account_stores import open_store
    >>> people = Identities(open_store(f"{tempfile.mkdtemp()}/server.sqlite"))
    >>> token = people.new_token("ann", role="analyst")
    >>> people.authenticate(f"Bearer {token}").name, people.authenticate("Bearer dnb_1")
    ('ann', None)
    """

    def __init__(
        self,
        database: AccountStore,
        *,
        clock: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self._database, self._clock = database, clock
        self.people = People(database, clock=clock)
        self.sessions = BrowserSessions(database, clock=clock)

    def authenticate(self, authorization_header: str) -> Person | None:
        """The person behind an Authorization header; None for anything else than a token."""
        kind, _, token = authorization_header[:_LONGEST_HEADER].partition(" ")
        if kind.lower() != "bearer" or not is_well_formed(token):
            return None
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT p.name, p.role, p.policies, t.policies, p.tables, t.tables,"
                " t.read_only FROM tokens t JOIN people p ON p.name = t.person"
                " WHERE t.hash = ? AND t.revoked = 0 AND t.expires > ? AND p.disabled = 0",
                (hash_token(token), self._clock().isoformat(timespec="seconds")),
            ).fetchone()
        if row is None:
            return None
        names = [read_names(written) for written in row[2:6]]
        policies, tables = common_names(*names[:2]), common_names(*names[2:])
        return Person(row[0], row[1], policies, tables, bool(row[6]))

    def find_session(self, session: str) -> Person | None:
        """The person of a browser's session; None if it has ended."""
        row = self.sessions.find(session)
        if row is None:
            return None
        name, role, policies, tables = row
        return Person(name, role, read_names(policies), read_names(tables))

    def new_token(
        self,
        name: str,
        *,
        role: str | None = "analyst",
        policies: tuple[str, ...] | None = None,
        tables: tuple[str, ...] | None = None,
        read_only: bool = False,
        days: int = 365,
    ) -> str:
        """A new token of a person. It is shown only this once.

        A person who is unknown is added with the role; without a role, refused.
        """
        token, expires = make_token(), self._clock() + datetime.timedelta(days=days)
        if role is None:
            name = self.people.find(name)
        with self._database.writing() as connection:
            known = find_person(connection, name)
            if known is None:
                insert_person(connection, name, role or "", None)
            elif role is not None and known[1] != role:
                raise InvalidParameter(
                    f"{known[0]} has the role {known[1]!r}: a person has one role."
                )
            row = (
                hash_token(token),
                token_id(token),
                known[0] if known else name,
                write_names(policies),
                write_names(tables),
                int(read_only),
                expires.isoformat(timespec="seconds"),
            )
            connection.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, 0)", row)
        return token

    def revoke(self, token_or_id: str) -> bool:
        """Ends a token, given itself or its id; False if it is unknown."""
        token = token_or_id if token_or_id.isascii() else ""
        with self._database.writing() as connection:
            ended = connection.execute(
                "UPDATE tokens SET revoked = 1 WHERE hash = ? OR id = ?",
                (hash_token(token), token),
            )
            return bool(ended.rowcount)


def token_id(token: str) -> str:
    """The id by which a token is named, in lists and to revoke it. It opens nothing.

    >>> token_id("dnb_")
    '59314f815976'
    """
    return hash_token(token)[:_ID_LENGTH]
