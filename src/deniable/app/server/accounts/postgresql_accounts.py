"""People in PostgreSQL: one schema that servers on several hosts share, never a ledger's.

A write holds a lock until it ends, so two servers never decide on the same old state.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from deniable.app.server.accounts.thread_connections import ThreadConnections
from deniable.errors import InvalidParameter, MissingExtra, ServerUnavailable
from deniable.policy.postgresql_addresses import read_postgresql

try:
    import psycopg
except ModuleNotFoundError:
    raise MissingExtra(
        "People in PostgreSQL need the package psycopg. Install it with   "
        "pip install 'deniable[postgresql]'"
    ) from None

_LOCK = 0x64656E70  # "denp"
_ANY_LEDGER = (
    "SELECT count(*) FROM pg_class WHERE relkind = 'r'"
    " AND relname IN ('deniable_entries', 'deniable_anchor')"
)


class _Transaction:
    """Statements in the words that the file's database takes, too."""

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Any:
        text = statement.replace("?", "%s").removesuffix(" STRICT")
        text = text.removesuffix(" WITHOUT ROWID,")
        return self._connection.execute(text.encode(), values)


class PostgresqlAccounts:
    """A connection for each thread, to one schema of a database without any ledger."""

    def __init__(self, where: str) -> None:
        address = read_postgresql(where)
        self._schema = address.name or "deniable_people"
        if not re.fullmatch("[a-z_][a-z0-9_]{0,62}", self._schema):
            raise InvalidParameter(
                "The schema of people is a name of small letters, digits and _, as in   "
                "postgresql://user@host/server#people"
            )
        named = ("user", "password", "host", "port")
        self._options: dict[str, Any] = dict(address.options) | {
            name: getattr(address, name) for name in named if getattr(address, name) is not None
        }
        if address.database:
            self._options["dbname"] = address.database
        self._connections = ThreadConnections(self._connect, is_usable=_is_usable)
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        with self.writing() as transaction:
            if transaction.execute(_ANY_LEDGER).fetchone()[0]:
                raise InvalidParameter(
                    "This database holds a ledger. People need a database of their own: a user "
                    "who can write here could change what was spent."
                )
            transaction.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")

    def create(self, *statements: str) -> None:
        """Makes tables that are missing; each statement says IF NOT EXISTS."""
        with self.writing() as transaction:
            for statement in statements:
                transaction.execute(statement)

    @contextmanager
    def writing(self, *, patience: float | None = None) -> Iterator[_Transaction]:
        """A transaction that no other write can overlap. It lasts when this returns.
        `patience`: seconds to wait for it."""
        with self._transaction("READ COMMITTED") as transaction:
            if patience is not None:
                transaction.execute(f"SET LOCAL lock_timeout = {int(1000 * patience)}")
            transaction.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[_Transaction]:
        """A transaction that sees one moment."""
        with self._transaction("REPEATABLE READ READ ONLY") as transaction:
            yield transaction

    def close(self) -> None:
        """Closes the connections of all threads, which must not use them any more."""
        self._connections.close()

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[_Transaction]:
        try:
            connection = self._connections.mine()
            connection.execute(f"BEGIN ISOLATION LEVEL {kind}".encode())
            try:
                yield _Transaction(connection)
                connection.execute(b"COMMIT")
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute(b"ROLLBACK")
                raise
        except psycopg.Error as problem:  # whose words may repeat a value or the address
            raise ServerUnavailable(
                f"The database of people cannot be used now ({type(problem).__name__}). "
                "Nothing was spent."
            ) from None

    def _connect(self) -> "psycopg.Connection[Any]":
        connection = psycopg.connect(**self._options, autocommit=True, connect_timeout=30)
        for setting in ("synchronous_commit = on", f"search_path = {self._schema}, pg_catalog"):
            connection.execute(f"SET {setting}".encode())
        return connection


def _is_usable(connection: "psycopg.Connection[Any]") -> bool:
    return not (connection.closed or connection.broken)
