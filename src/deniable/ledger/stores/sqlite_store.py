"""What a ledger demands of its SQLite file: that it is the same file, and holds nothing else.

The file is written with a rollback journal (`journal_mode = DELETE`). SQLite then refuses to
write to a file that was moved or deleted, and the file is complete by itself after each
commit: no charge lies in another file that a copy could forget. `synchronous = EXTRA` syncs the
folder too, after the rollback journal is deleted.

A trigger or a view could change what a statement of ours does. So the file may hold our two
tables, exactly as they are made here, and the statistics that SQLite's ANALYZE keeps.
"""

import os
import sqlite3
import stat
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.stores import patience
from deniable.ledger.stores.holds import FileHolds

APPLICATION_ID = 0x64656E69  # "deni": the file says what it is

SETTINGS = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA fullfsync = ON",  # on macOS plain fsync leaves data in the drive's cache
)

TABLES = (
    "CREATE TABLE deniable_entries ("
    " number BIGINT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL, ends TEXT, recall TEXT,"
    " PRIMARY KEY (number), UNIQUE (ends) )",
    "CREATE INDEX ix_deniable_entries_recall ON deniable_entries (recall)",
    "CREATE TABLE deniable_anchor ("
    " id INTEGER NOT NULL, number BIGINT NOT NULL, hash TEXT NOT NULL, state TEXT NOT NULL,"
    " signature TEXT NOT NULL, PRIMARY KEY (id) )",
)
_OBJECTS = (
    "SELECT type, name, sql FROM sqlite_schema "
    "WHERE NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))"
)


class SQLiteStore:
    """The file of a ledger."""

    hidden = ()  # what errors may not repeat
    creating = writing = ("BEGIN IMMEDIATE",)
    reading = looking = ("BEGIN", "SELECT 1 FROM sqlite_schema")  # which waits for the lock

    def __init__(self, file: Path, *, read_only: bool) -> None:
        # Without links, as SQLite opens it: everybody must name the files beside it alike.
        self.path, self._read_only = Path(os.path.realpath(file)), read_only
        self.url = sa.URL.create("sqlite", database=str(self.path))
        self._identity: tuple[int, int] | None = None
        self._holds = FileHolds(self.path)

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def is_there(self) -> bool:
        return self.path.exists()

    def open_engine(self, options: dict[str, Any]) -> sa.Engine:
        options["connect_args"] = {"timeout": patience.LOCK_TIMEOUT}
        if not self._read_only:
            return sa.create_engine(self.url, **options)
        query = {"uri": "true", "mode": "ro"}
        if self._is_immutable:
            query["immutable"] = "1"
        url = self.url.set(database=f"file:{_quote(self.path)}", query=query)
        return sa.create_engine(url, **options)

    @property
    def _is_immutable(self) -> bool:
        """A copy in a folder that cannot be written to is read without SQLite's locks."""
        return self._read_only and not os.access(self.path.parent, os.W_OK)

    def run_within(
        self, connection: sa.Connection, statements: tuple[str, ...], seconds: float
    ) -> bool:
        """Runs statements that may have to wait for a lock; False if they could not get it."""
        _set_busy_timeout(connection, seconds)
        try:
            for statement in statements:
                connection.exec_driver_sql(statement).close()
        except sa.exc.OperationalError as problem:
            if not _is_busy(problem.orig):
                raise
            if len(statements) > 1:  # a transaction was begun
                connection.exec_driver_sql("ROLLBACK")
            return False
        finally:
            _set_busy_timeout(connection, patience.LOCK_TIMEOUT)
        return True

    def prepare(self, cursor: Any) -> None:
        """Sets up a new connection. An older ledger is converted from its write-ahead log."""
        patience.wait_for(partial(_set_up_within, cursor), self.name)
        if self._read_only or cursor.execute("PRAGMA journal_mode").fetchone() == ("delete",):
            return
        try:
            mode = cursor.execute("PRAGMA journal_mode = DELETE").fetchone()
        except sqlite3.OperationalError as problem:
            if not _is_busy(problem):
                raise
            mode = None
        if mode != ("delete",):
            raise self._log_error()

    def check_mode(self, connection: sa.Connection) -> None:
        """Refuses a file with a write-ahead log, which another program may switch on."""
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
        if self._is_immutable:  # SQLite then does not look for the log
            with self.path.open("rb") as file:
                mode = "wal" if file.read(20)[18:] == b"\2\2" else mode
        if mode == "wal":
            raise self._log_error()

    def _log_error(self) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"The ledger {self.name!r} has a write-ahead log: another program has switched it "
            "on, or uses it. Its last charges may be in another file, which a copy of this one "
            "lacks. Nothing was spent. End all programs that use it, and open it again: then "
            "it is converted."
        )

    def create_private_file(self) -> None:
        """Makes a file that only its owner can read. SQLite's other files get its mode."""
        with suppress(OSError):  # SQLite will report the problem
            self.path.touch(mode=0o600, exist_ok=True)

    def check_place(self) -> None:
        """Refuses a path that is not, as its only name, that of the file that was opened."""
        try:
            status = self.path.lstat()
        except OSError:
            raise self._moved_error() from None
        identity = status.st_dev, status.st_ino
        if self._identity is None:
            self._identity = identity
        if identity != self._identity or not stat.S_ISREG(status.st_mode):
            raise self._moved_error()
        if status.st_nlink > 1 and not self._read_only:
            raise LedgerBroken(
                f"The ledger {self.name!r} has another name (a hard link), under which its "
                "charges could be undone. Nothing was spent. Remove the other name. To back it "
                "up, copy it."
            )

    def _moved_error(self) -> LedgerBroken:
        return LedgerBroken(
            f"The ledger {self.name!r} was deleted, moved or replaced while it was in use. "
            "Nothing was spent. Restore the file, and open it again."
        )

    def schema_version(self, connection: sa.Connection) -> object:
        """A number that changes with every change of the tables."""
        return connection.exec_driver_sql("PRAGMA schema_version").scalar()

    def exists(self, connection: sa.Connection) -> bool:
        """Whether the tables were made."""
        return bool(connection.exec_driver_sql(_OBJECTS).all())

    def create(self, connection: sa.Connection) -> None:
        if not self.exists(connection):
            for statement in TABLES:
                connection.exec_driver_sql(statement)
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")

    def check_objects(self, connection: sa.Connection) -> None:
        """Refuses a file that is not a ledger, or that holds more than one."""
        application = connection.exec_driver_sql("PRAGMA application_id").scalar()
        if application not in (0, APPLICATION_ID):
            raise LedgerBroken(f"{self.name!r} is the file of another program, not a ledger.")
        expected = sorted(map(_normalize, TABLES))
        rows = connection.exec_driver_sql(_OBJECTS).all()
        statements = sorted(_normalize(sql) for _, _, sql in rows if sql is not None)
        if statements != expected:
            strange = [f"{kind} {name}" for kind, name, sql in rows if _is_foreign(sql)]
            listed = f" ({', '.join(strange[:3])})" if strange else ""
            raise LedgerBroken(
                f"The ledger {self.name!r} does not hold a ledger's two tables and nothing "
                f"else{listed}. It was changed, so its sums cannot be trusted. Nothing was "
                "spent. Restore its latest copy."
            )

    def hold(self, token: str, _connect: object) -> AbstractContextManager[bool]:
        return self._holds.hold(token)

    def is_held(self, token: str, _connect: object) -> bool:
        return self._holds.is_held(token)

    def check_pages(self, connection: sa.Connection) -> None:
        """Refuses a file whose pages or indexes are damaged."""
        result = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        if result != "ok":
            raise LedgerBroken(f"The ledger {self.name!r} is damaged. Restore its latest copy.")


def _set_up_within(cursor: Any, seconds: float) -> bool:
    """Sets up a connection, which reads the file; False if its lock could not be had."""
    cursor.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
    try:
        for setting in SETTINGS:
            cursor.execute(setting)
        cursor.execute("PRAGMA journal_mode").fetchone()
    except sqlite3.OperationalError as problem:
        if not _is_busy(problem):
            raise
        return False
    cursor.execute(f"PRAGMA busy_timeout = {int(patience.LOCK_TIMEOUT * 1000)}")
    return True


def _is_busy(problem: object) -> bool:
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def _set_busy_timeout(connection: sa.Connection, seconds: float) -> None:
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(seconds * 1000)}")


def _normalize(sql: str) -> str:
    return " ".join(sql.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split())


def _is_foreign(sql: str | None) -> bool:
    return sql is not None and _normalize(sql) not in map(_normalize, TABLES)


def _quote(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
