"""Where people are kept: in the server's own file, or in PostgreSQL for servers on many hosts.

Both run the same statements, with question marks for values.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from deniable.app.server.accounts.server_database import DEFAULT_DATABASE, ServerDatabase
from deniable.policy.postgresql_addresses import is_postgresql


class Statements(Protocol):
    """A transaction in which statements run."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        """Runs one statement; the result has fetchone, fetchall and rowcount."""


class AccountStore(Protocol):
    """A database with the tables of people. Writes never overlap, and last."""

    def create(self, *statements: str) -> None:
        """Makes tables that are missing."""

    def writing(self, *, patience: float | None = None) -> AbstractContextManager[Statements]:
        """A transaction that no other write can overlap. `patience`: seconds to wait for it."""

    def reading(self) -> AbstractContextManager[Statements]:
        """A transaction that sees one moment."""

    def close(self) -> None:
        """Closes the connections."""


def open_store(where: str | Path | None) -> AccountStore:
    """The store at an address of PostgreSQL, or in a file."""
    if where is not None and is_postgresql(str(where)):
        from deniable.app.server.accounts.postgresql_accounts import PostgresqlAccounts

        return PostgresqlAccounts(str(where))
    return ServerDatabase(DEFAULT_DATABASE if where is None else Path(where))
