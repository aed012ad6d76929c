"""Who a request comes from: the person whose token it shows.

Budgets belong to people: a person is the name under which the ledger charges, whatever the
token. An unknown, expired or revoked token is nobody, and nobody gets one and the same answer.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.app.server.accounts.access_tokens import hash_token, is_well_formed, make_token
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.errors import InvalidParameter
from deniable.policy.names import compared_name

if TYPE_CHECKING:
    import sqlite3

ROLES = ("owner", "analyst", "auditor", "pollster", "operator")
_TABLES = (
    "CREATE TABLE IF NOT EXISTS people (name TEXT PRIMARY KEY, compared TEXT UNIQUE NOT NULL,"
    " role TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS tokens (hash TEXT PRIMARY KEY, person TEXT NOT NULL"
    " REFERENCES people (name), policies TEXT, tables TEXT, expires TEXT NOT NULL,"
    " revoked INTEGER NOT NULL DEFAULT 0) STRICT",
)
_LONGEST_HEADER = 256
_SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who asks. `policies` and `tables` are those that the token allows; None: all.

    >>> ann = Person("ann", "analyst", tables=("visits",))
    >>> ann.may_read("hospital", ["visits"]), ann.may_read("hospital", ["visits", "staff"])
    (True, False)
    """

    name: str  # the budget's name in the ledger
    role: str
    policies: tuple[str, ...] | None = None
    tables: tuple[str, ...] | None = None

    def may_use(self, policy: str) -> bool:
        """Whether anything of a policy is there for this person."""
        return self.policies is None or policy in self.policies

    def may_read(self, policy: str, tables: list[str] | tuple[str, ...]) -> bool:
        """Whether all of these tables are there for this person."""
        return self.may_use(policy) and (self.tables is None or set(tables) <= {*self.tables})


class Identities:
    """The people of a server.

    >>> import tempfile
    >>> from pathlib import Path
    >>> people = Identities(ServerDatabase(Path(tempfile.mkdtemp()) / "server.sqlite"))
    >>> token = people.new_token("ann", role="analyst")
    >>> people.authenticate(f"Bearer {token}").name, people.authenticate("Bearer dnb_1")
    ('ann', None)
    """

    def __init__(
        self,
        database: ServerDatabase,
        *,
        clock: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self._database, self._clock = database, clock
        database.create(*_TABLES)

    def authenticate(self, authorization_header: str) -> Person | None:
        """The person behind an Authorization header; None for anything else than a token."""
        kind, _, token = authorization_header[:_LONGEST_HEADER].partition(" ")
        if kind.lower() != "bearer" or not is_well_formed(token):
            return None
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT p.name, p.role, t.policies, t.tables FROM tokens t JOIN people p"
                " ON p.name = t.person WHERE t.hash = ? AND NOT t.revoked AND t.expires > ?",
                (hash_token(token), self._now()),
            ).fetchone()
        if row is None:
            return None
        name, role, policies, tables = row
        return Person(name, role, _read_names(policies), _read_names(tables))

    def new_token(
        self,
        name: str,
        *,
        role: str = "analyst",
        policies: tuple[str, ...] | None = None,
        tables: tuple[str, ...] | None = None,
        days: int = 365,
    ) -> str:
        """A new token of a person, who is added if unknown. It is shown only this once."""
        if role not in ROLES:
            raise InvalidParameter(f"`role` must be one of {', '.join(ROLES)}. Found {role!r}.")
        token, expires = make_token(), self._clock() + datetime.timedelta(days=days)
        with self._database.writing() as connection:
            person = _find_or_add(connection, name, role)
            connection.execute(
                "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, 0)",
                (
                    hash_token(token),
                    person,
                    _write_names(policies),
                    _write_names(tables),
                    expires.isoformat(timespec="seconds"),
                ),
            )
        return token

    def revoke(self, token: str) -> bool:
        """Ends a token; False if it is unknown."""
        with self._database.writing() as connection:
            ended = connection.execute(
                "UPDATE tokens SET revoked = 1 WHERE hash = ?",
                (hash_token(token),) if token.isascii() else ("",),
            )
            return ended.rowcount > 0

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")


def _find_or_add(connection: "sqlite3.Connection", name: str, role: str) -> str:
    """The person's name as it was first spelt. A person has one role."""
    try:
        compared = compared_name(name)
    except ValueError as problem:
        raise InvalidParameter(f"The name of a person {problem}.") from None
    row = connection.execute(
        "SELECT name, role FROM people WHERE compared = ?", (compared,)
    ).fetchone()
    if row is None:
        connection.execute("INSERT INTO people VALUES (?, ?, ?)", (name, compared, role))
        return name
    if row[1] != role:
        raise InvalidParameter(f"{row[0]} has the role {row[1]!r}: a person has one role.")
    return str(row[0])


def _write_names(names: tuple[str, ...] | None) -> str | None:
    return None if names is None else _SEPARATOR.join(names)


def _read_names(written: str | None) -> tuple[str, ...] | None:
    return None if written is None else tuple(filter(None, written.split(_SEPARATOR)))
