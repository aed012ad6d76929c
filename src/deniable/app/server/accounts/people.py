"""The people of a server, as its owner declares them. Nobody is added by logging in.

A person has one role and one name. The name is that of the budget in the ledger, however the
person logs in. A person who leaves is disabled, not deleted: the name stays taken, so that
nobody inherits its budget or its answers.
"""

import datetime
from collections.abc import Callable
from dataclasses import dataclass

from deniable.app.server.accounts.account_stores import AccountStore, Statements
from deniable.app.server.accounts.account_tables import TABLES, Names, write_names
from deniable.errors import InvalidParameter
from deniable.policy.names import compared_name

ROLES = ("owner", "analyst", "auditor", "pollster", "operator")


@dataclass(frozen=True, slots=True)
class Account:
    """A person as the owner sees it: never a secret."""

    name: str
    role: str
    disabled: bool
    password: bool
    codes: bool
    subjects: tuple[tuple[str, str], ...]  # issuer and subject of each log-in elsewhere
    tokens: tuple[tuple[str, str, str], ...]  # id, what it opens, and when it ends
    scope: str = "everything"  # what the person may use


class People:
    """Who is known to a server.

    >>> import tempfile
    >>> from deniable.app.server.accounts.account_stores import open_store
    >>> people = People(open_store(f"{tempfile.mkdtemp()}/server.sqlite"))
    >>> people.add("Ann", role="analyst")
    'Ann'
    >>> people.find("ann")
    'Ann'
    """

    def __init__(
        self,
        database: AccountStore,
        *,
        clock: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self.database, self.clock = database, clock
        database.create(*TABLES)

    def add(
        self,
        name: str,
        *,
        role: str,
        password_hash: str | None = None,
        code_secret: str | None = None,
        policies: Names = None,
        tables: Names = None,
    ) -> str:
        """Adds a person, whose name must be new, however it is spelt. `policies` and `tables`
        are those that the person may use, by whatever token or log-in; None: all."""
        with self.database.writing() as connection:
            known = find_person(connection, name)
            if known is not None:
                raise InvalidParameter(f"{known[0]} is known already, as {known[1]}.")
            insert_person(connection, name, role, password_hash, code_secret)
            _grant(connection, name, policies, tables)
        return name

    def grant(self, name: str, *, policies: Names = None, tables: Names = None) -> None:
        """Replaces which policies and tables a person may use; None: all."""
        with self.database.writing() as connection:
            _grant(connection, _known(connection, name), policies, tables)

    def find(self, name: str) -> str:
        """The name of a person as it was first spelt."""
        with self.database.reading() as connection:
            return _known(connection, name)

    def change_password(
        self, name: str, password_hash: str, code_secret: str | None = None
    ) -> None:
        """Sets a password, and the secret of codes. All sessions of the person end."""
        with self.database.writing() as connection:
            person = _known(connection, name)
            connection.execute(
                "UPDATE people SET password = ?, code_secret = ?, code_step = 0 WHERE name = ?",
                (password_hash, code_secret, person),
            )
            connection.execute("DELETE FROM sessions WHERE person = ?", (person,))

    def disable(self, name: str) -> None:
        """Ends all that a person holds. The name stays taken."""
        with self.database.writing() as connection:
            person = _known(connection, name)
            connection.execute("UPDATE people SET disabled = 1 WHERE name = ?", (person,))
            connection.execute("UPDATE tokens SET revoked = 1 WHERE person = ?", (person,))
            connection.execute("DELETE FROM sessions WHERE person = ?", (person,))

    def link(self, name: str, *, issuer: str, subject: str) -> None:
        """Says that a subject of an issuer is this person. An e-mail address says nothing."""
        if not issuer or not subject:
            raise InvalidParameter("A log-in elsewhere needs both --issuer and --subject.")
        with self.database.writing() as connection:
            person = _known(connection, name)
            row = connection.execute(
                "SELECT person FROM subjects WHERE issuer = ? AND subject = ?",
                (issuer, subject),
            ).fetchone()
            if row is not None:
                raise InvalidParameter(f"This subject is {row[0]} already.")
            connection.execute(
                "INSERT INTO subjects VALUES (?, ?, ?)", (issuer, subject, person)
            )

    def of_subject(self, issuer: str, subject: str) -> str | None:
        """The person whom the owner has linked to a subject of an issuer; None for others."""
        if not subject.isprintable():
            return None  # not all that a provider may sign can be looked up
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT p.name FROM subjects s JOIN people p ON p.name = s.person"
                " WHERE s.issuer = ? AND s.subject = ? AND p.disabled = 0",
                (issuer, subject),
            ).fetchone()
        return None if row is None else str(row[0])

    def listed(self) -> list[Account]:
        """Everybody, with what they hold."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT name, role, disabled, password, code_secret, policies, tables"
                " FROM people ORDER BY compared"
            ).fetchall()
            return [
                Account(
                    name,
                    role,
                    bool(disabled),
                    password is not None,
                    secret is not None,
                    tuple(_subjects(connection, name)),
                    tuple(_tokens(connection, name, self.clock())),
                    _scope(policies, tables, 0),
                )
                for name, role, disabled, password, secret, policies, tables in rows
            ]


def find_person(connection: Statements, name: str) -> tuple[str, str] | None:
    """The name of a person as it was first spelt, and the role; None for nobody."""
    row = connection.execute(
        "SELECT name, role FROM people WHERE compared = ?", (_compared(name),)
    ).fetchone()
    return None if row is None else (str(row[0]), str(row[1]))


def insert_person(
    connection: Statements,
    name: str,
    role: str,
    password_hash: str | None = None,
    code_secret: str | None = None,
) -> None:
    """Writes a new person."""
    if role not in ROLES:
        raise InvalidParameter(f"`role` must be one of {', '.join(ROLES)}. Found {role!r}.")
    connection.execute(
        "INSERT INTO people VALUES (?, ?, ?, ?, ?, 0, 0, NULL, NULL)",
        (name, _compared(name), role, password_hash, code_secret),
    )


def _grant(connection: Statements, name: str, policies: Names, tables: Names) -> None:
    connection.execute(
        "UPDATE people SET policies = ?, tables = ? WHERE name = ?",
        (write_names(policies), write_names(tables), name),
    )


def _known(connection: Statements, name: str) -> str:
    row = find_person(connection, name)
    if row is None:
        raise InvalidParameter(
            f"Nobody is called {name!r}. Add a person with   deniable user add NAME --role ROLE"
        )
    return row[0]


def _compared(name: str) -> str:
    try:
        return compared_name(name)
    except ValueError as problem:
        raise InvalidParameter(f"The name of a person {problem}.") from None


def _subjects(connection: Statements, name: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = connection.execute(
        "SELECT issuer, subject FROM subjects WHERE person = ? ORDER BY issuer, subject",
        (name,),
    ).fetchall()
    return rows


def _tokens(
    connection: Statements, name: str, now: datetime.datetime
) -> list[tuple[str, str, str]]:
    rows = connection.execute(
        "SELECT id, policies, tables, read_only, expires FROM tokens WHERE person = ?"
        " AND revoked = 0 AND expires > ? ORDER BY expires, id",
        (name, now.isoformat(timespec="seconds")),
    ).fetchall()
    return [(row[0], _scope(*row[1:4]), row[4][:10]) for row in rows]


def _scope(policies: str | None, tables: str | None, read_only: int) -> str:
    named = [", ".join(names.split("\n")) for names in (policies, tables) if names is not None]
    return "; ".join([*named, *(["read-only"] if read_only else [])]) or "everything"
