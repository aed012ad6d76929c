"""The database of a collection: SQLite (one file) or PostgreSQL, never the one of a ledger.

A write locks first and reads then (`BEGIN IMMEDIATE`, or `FOR UPDATE` on the survey's row), so
several server processes can share a store. It returns after a commit that lasts.
"""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from deniable.errors import CollectionUnavailable, InvalidParameter, MissingExtra
from deniable.policy.postgresql_addresses import is_postgresql, read_postgresql
from deniable.surveys.collect.store import collection_tables as tables

APPLICATION_ID = 0x64656E73  # "dens": the file says what it is
_LEDGER_TABLES = ("deniable_entries", "deniable_anchor")
_LOCK_TIMEOUT = 60  # seconds
_CREATION_LOCK = 0x64656E73

SQLITE_SETTINGS = (
    "PRAGMA journal_mode = DELETE",  # which refuses to write to a file that was moved away
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA trusted_schema = OFF",
)
POSTGRESQL_SETTINGS = (
    "SET synchronous_commit = on",
    "SET search_path = pg_catalog",
    f"SET lock_timeout = {_LOCK_TIMEOUT * 1000}",
)
_ANY_LEDGER = sa.text(
    "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname IN :names"
).bindparams(sa.bindparam("names", value=_LEDGER_TABLES, expanding=True))


class CollectionDatabase:
    """A database with the tables of one survey, and nothing of a ledger.

    It is given as the path of a file, or as an address in PostgreSQL, which may name a schema
    after #.
    """

    def __init__(self, where: str | Path) -> None:
        self._engine, self._hidden = _open_engine(where)
        self.is_sqlite = self._engine.dialect.name == "sqlite"
        self._writing = threading.Lock()  # threads of this process wait here, in turn
        settings = SQLITE_SETTINGS if self.is_sqlite else POSTGRESQL_SETTINGS
        isolated = "BEGIN ISOLATION LEVEL READ COMMITTED"  # what is read after the lock is new
        self._begin = "BEGIN IMMEDIATE" if self.is_sqlite else isolated

        @event.listens_for(self._engine, "connect")
        def _prepare(connection: Any, _: object) -> None:
            cursor = connection.cursor()
            for setting in settings:
                cursor.execute(setting)
            cursor.close()

    def create(self) -> None:
        """Makes the tables that are missing. Refuses the database of anything else."""
        with self._translating_errors(), self._engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                _check_file(connection)
            else:
                connection.exec_driver_sql(
                    f"BEGIN; SELECT pg_advisory_xact_lock({_CREATION_LOCK})"
                )
                if connection.execute(_ANY_LEDGER).scalar():
                    raise _ledger_error()
            tables.METADATA.create_all(connection)
            connection.exec_driver_sql("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that no other write can overlap. It lasts when this returns."""
        with self._writing, self._transaction(self._begin) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one moment."""
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._transaction(begin) as connection:
            yield connection

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
        with self._translating_errors(), self._engine.connect() as connection:
            connection.exec_driver_sql(begin)
            try:
                yield connection
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                with suppress(DBAPIError):
                    connection.exec_driver_sql("ROLLBACK")
                raise

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Our error for the database's, without statements, values or passwords."""
        try:
            yield
        except DBAPIError as problem:
            lines = str(problem.orig).strip().splitlines() or [type(problem.orig).__name__]
            message = lines[0]
            for secret in filter(None, self._hidden):
                message = message.replace(secret, "...")
            raise CollectionUnavailable(
                f"The database of this survey cannot be used now: {message}. What was not "
                "acknowledged was not accepted, and can be sent again."
            ) from None


def _open_engine(where: str | Path) -> tuple[sa.Engine, tuple[str, ...]]:
    """An engine, and the parts of its address that no message may repeat."""
    options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT", "hide_parameters": True}
    if isinstance(where, str) and is_postgresql(where):
        address = read_postgresql(where)
        schema = address.name or "public"
        if not re.fullmatch("[a-z_][a-z0-9_]{0,62}", schema):
            raise InvalidParameter(
                "The schema of a survey is a name of small letters, digits and _, as in   "
                "postgresql://user@host/surveys#doping"
            )
        url = sa.URL.create("postgresql+psycopg", **address.parts)
        options["execution_options"] = {"schema_translate_map": {None: schema}}
        try:
            return sa.create_engine(url, **options), (address.password or "",)
        except (ModuleNotFoundError, sa.exc.NoSuchModuleError):
            raise MissingExtra(
                "A survey in PostgreSQL needs the package psycopg. Install it with   "
                "pip install 'deniable[postgresql]'"
            ) from None
    if "://" in str(where):
        raise InvalidParameter(
            "A survey is stored in a file, whose path is given, or at an address that begins "
            "with postgresql://. This is neither. It is not shown here, because it may hold a "
            "password."
        )
    file = Path(os.path.realpath(where))
    with suppress(OSError):  # SQLite will report the problem
        file.touch(mode=0o600, exist_ok=True)
    url = sa.URL.create("sqlite", database=str(file))
    return sa.create_engine(url, connect_args={"timeout": _LOCK_TIMEOUT}, **options), ()


def _check_file(connection: sa.Connection) -> None:
    """Refuses a file with other tables than ours, and marks an empty one as ours."""
    rows = connection.exec_driver_sql("SELECT name FROM sqlite_schema WHERE type = 'table'")
    names = set(rows.scalars())
    if names & {*_LEDGER_TABLES}:
        raise _ledger_error()
    if not names <= {*tables.METADATA.tables, "sqlite_stat1", "sqlite_stat4"}:
        raise InvalidParameter(
            "This file holds tables of another program. A survey needs a file of its own."
        )
    connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")


def _ledger_error() -> InvalidParameter:
    return InvalidParameter(
        "This database holds a ledger. Anyone who may read one of them could then read the "
        "other too. Give the survey a database of its own."
    )
