"""The server's own database: people, tokens and the queue. It is never a ledger's.

One SQLite file that all workers of a server share. A write locks first and reads then, so two
workers never decide on the same old state. What a write returned from lasts.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.app.server.accounts.thread_connections import ThreadConnections
from deniable.errors import InvalidParameter, ServerUnavailable

DEFAULT_DATABASE = Path("deniable.server.sqlite")
_APPLICATION_ID = 0x64656E70  # "denp": the file says what it is
_SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA foreign_keys = ON",
)


class ServerDatabase:
    """A connection for each thread, to one file that only its owner can read.

    >>> import tempfile
    >>> database = ServerDatabase(Path(tempfile.mkdtemp()) / "server.sqlite")
    >>> database.create("CREATE TABLE IF NOT EXISTS seen (name TEXT PRIMARY KEY)")
    >>> with database.writing() as connection:
    ...     _ = connection.execute("INSERT INTO seen VALUES (?)", ("ann",))
    >>> with database.reading() as connection:
    ...     connection.execute("SELECT name FROM seen").fetchall()
    [('ann',)]
    >>> database.close()
    """

    def __init__(self, file: Path, *, lock_timeout: float = 30.0) -> None:
        self.file, self._timeout = file, lock_timeout
        self._connections = ThreadConnections(self._connect)
        try:
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
            with self.writing() as connection:
                _check_application(connection, file)
        except OSError as problem:
            raise ServerUnavailable(
                f"The server's database {str(file)!r} cannot be opened: {problem.strerror}."
            ) from None

    def create(self, *statements: str) -> None:
        """Makes tables that are missing; each statement says IF NOT EXISTS."""
        with self.writing() as connection:
            for statement in statements:
                connection.execute(statement)

    @contextmanager
    def writing(self, *, patience: float | None = None) -> Iterator[sqlite3.Connection]:
        """A transaction that no other write can overlap. `patience`: seconds to wait for it."""
        with self._transaction("BEGIN IMMEDIATE", patience) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A transaction that sees one moment."""
        with self._transaction("BEGIN") as connection:
            yield connection

    def close(self) -> None:
        """Closes the connections of all threads, which must not use them any more."""
        self._connections.close()

    @contextmanager
    def _transaction(
        self, begin: str, patience: float | None = None
    ) -> Iterator[sqlite3.Connection]:
        wait = int(1000 * (self._timeout if patience is None else patience))
        try:
            connection = self._connections.mine()
            connection.execute(f"PRAGMA busy_timeout = {wait}")
            connection.execute(begin)
        except sqlite3.Error as problem:
            raise _unavailable(self.file, problem) from None
        try:
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as problem:
            _roll_back(connection)
            raise _unavailable(self.file, problem) from None
        except BaseException:
            _roll_back(connection)
            raise

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.file, timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        _switch_to_log(connection, time.monotonic() + self._timeout)
        for setting in _SETTINGS:
            connection.execute(setting)
        return connection


def _check_application(connection: sqlite3.Connection, file: Path) -> None:
    """Marks a new file; refuses the file of anything else, such as a ledger."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application_id == 0 and objects == 0:
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    elif application_id != _APPLICATION_ID:
        raise InvalidParameter(
            f"{str(file)!r} is the database of something else. People and queues need a file "
            "of their own: give another --database."
        )


def _switch_to_log(connection: sqlite3.Connection, deadline: float) -> None:
    """Switches a file to its write-ahead log. SQLite does not wait if another is doing it."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _unavailable(file: Path, problem: sqlite3.Error) -> ServerUnavailable:
    """The kind of the database's error, without its words: they may quote a value."""
    code = getattr(problem, "sqlite_errorname", type(problem).__name__)
    return ServerUnavailable(
        f"The server's database {str(file)!r} cannot be used now ({code}). Nothing was spent."
    )
