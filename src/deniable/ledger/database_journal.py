"""A journal in a database: SQLite (one file) or PostgreSQL (many hosts), with the same code.

An append locks the anchor before it reads it (`BEGIN IMMEDIATE`, or `SELECT ... FOR UPDATE` on
its row). So two appends can never decide on the same sums, whatever the isolation level of the
database. An append returns after a synchronous commit, and after the anchor was read back on
another connection. What each database must be and hold is said by `sqlite_store` and
`postgresql_store`. A connection is never used on both sides of a fork.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, PendingRollbackError

from deniable.errors import (
    InvalidParameter,
    InvalidPolicy,
    LedgerBroken,
    LedgerUnavailable,
)
from deniable.ledger.floor_mark import FloorMark
from deniable.ledger.journal import (
    EMPTY,
    Decision,
    Journal,
    JournalAnchor,
    JournalRow,
    JournalView,
    check_chain,
    check_end,
)
from deniable.ledger.stores import tables
from deniable.ledger.stores.patience import wait_for
from deniable.ledger.stores.postgresql_store import DEFAULT_SCHEMA, PostgreSQLStore
from deniable.ledger.stores.signing_keys import PublicKey, SigningKey
from deniable.ledger.stores.sqlite_store import SQLiteStore
from deniable.ledger.stores.store_errors import ledger_error
from deniable.ledger.stores.stored_rows import as_written, checked_anchor, checked_row
from deniable.policy.ledger_settings import read_store

_BEFORE_ALL, _AFTER_ALL = -(2**63), 2**63 - 1  # the least and the largest number in a database
_TURN_SIZE = 10_000_000  # characters of entries that are read at once, about


class DatabaseJournal(Journal):
    """A journal in a SQLite file (by its path) or a PostgreSQL database (by its address)."""

    def __init__(
        self,
        where: str | Path,
        key: SigningKey | PublicKey | None = None,
        *,
        create: bool = True,
    ) -> None:
        super().__init__(key or PublicKey(""))
        self._store = open_store(where, read_only=not create)
        if not create and not self._store.is_there:
            raise LedgerUnavailable(f"There is no ledger {self._store.name!r}.")
        self._engine, self._pid = self._connect(), os.getpid()
        self._parent_engines: list[sa.Engine] = []
        self.mark: FloorMark | None = None
        self._id = ""
        try:
            if create:
                self._store.create_private_file()
                self._create()
            with self._within(self._store.looking) as connection:
                self._store.check_objects(connection)
        except BaseException:
            self.close()
            raise

    @property
    def empty(self) -> bool:
        """Whether the journal has no entries."""
        with self._reading() as connection:
            return _read_anchor(connection) == EMPTY

    @contextmanager
    def view(self) -> Iterator[JournalView]:
        with self._reading() as connection:
            yield _DatabaseView(connection, self.check_signed(_read_anchor(connection)))

    def append(self, decide: Callable[[JournalView], Decision]) -> list[JournalRow]:
        with self._connection() as connection:
            with self._transaction(connection, self._store.writing):
                self._check_store(connection)
                anchor = self.check_not_rolled_back(
                    self.check_signed(_read_anchor(connection, lock=True))
                )
                view = _DatabaseView(connection, anchor)
                self.check_mark(view)
                decision = decide(view)
                if not decision[0]:
                    return []
                rows, after, checkpoint = self.extend(anchor, decision)
                _write_rows(connection, rows, anchor, after, checkpoint)
            self._read_back(after)
            self.remember_signed(after)
        if not all(row.ends_a_charge for row in rows):
            self.raise_mark()
        return rows

    def raise_mark(self) -> None:
        """Notes next to the key how far this ledger is."""
        if self.mark is not None:
            with self.view() as view:
                seen = self.ledger_id(view), view.anchor
            self.mark.raise_to(*seen)  # which waits for a lock: not while one is held here

    def check_mark(self, view: JournalView) -> None:
        """Refuses a ledger that this host has seen further on, or another one."""
        if self.mark is not None:
            self.mark.check(view, self.ledger_id(view))

    def ledger_id(self, view: JournalView) -> str:
        """The id in the entry that opened the ledger; empty for an empty ledger."""
        if not self._id:
            row = view.row(0)
            self._id = "" if row is None else str(row.read().get("begun", ""))
        return self._id

    def _check_store(self, connection: sa.Connection) -> None:
        """Looks again, under the lock, if the tables may have changed since the last look."""
        self._store.check_mode(connection)
        version = self._store.schema_version(connection)
        if version is None or connection.info.get("schema") != version:
            self._store.check_objects(connection)
            connection.info["schema"] = version

    def _read_back(self, after: JournalAnchor) -> None:
        """Refuses to go on if the commit cannot be seen on a second connection."""
        with self._reading() as second:
            seen = _read_anchor(second)
            if seen != after:  # others may have appended since
                row = _DatabaseView(second, seen).row(after.number)
                if seen.number <= after.number or row is None or row.hash != after.hash:
                    raise LedgerBroken(
                        f"Entry {after.number} was committed, but the ledger does not hold it. "
                        "Nothing was released. Find the cause before the ledger is used again."
                    )

    def read_all(self) -> tuple[Iterator[JournalRow], JournalAnchor]:
        with self._reading() as connection:
            anchor = _read_anchor(connection)
        return self._read_in_turns(anchor), anchor

    def _read_in_turns(self, anchor: JournalAnchor) -> Iterator[JournalRow]:
        """The entries up to an anchor, some at a time: others can append between the turns."""
        after, count = _BEFORE_ALL, 100
        while after < anchor.number:
            with self._reading() as connection:
                rows = list(_read_rows(connection, after, anchor.number, count))
            if not rows:
                return
            yield from rows
            after, size = rows[-1].number, sum(len(row.body) for row in rows)
            count = max(1, min(2 * count, count * _TURN_SIZE // (size + 1)))
        with self._reading() as connection:
            check_end(*_last_entry(connection), _read_anchor(connection))

    def check_last(self, count: int) -> None:
        """Raises `LedgerBroken` if the last `count` entries do not lead to the signed head."""
        with self._reading() as connection:
            anchor = self.check_signed(_read_anchor(connection))
            first = max(0, anchor.number - count)  # one more: its hash links the next one
            check_chain(_read_rows(connection, first - 1, _AFTER_ALL), anchor, first)

    def hold(self, token: str) -> AbstractContextManager[bool]:
        return self._store.hold(token, self._connection)

    def is_held(self, token: str) -> bool:
        return self._store.is_held(token, self._connection)

    def check_pages(self) -> None:
        with self._reading() as connection:
            self._store.check_mode(connection)
            self._store.check_objects(connection)
            self._store.check_pages(connection)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _connection(self) -> Iterator[sa.Connection]:
        """A connection that this process opened. Every statement commits by itself."""
        if self._pid != os.getpid():
            # After a fork. Closing the parent's connections would disturb it: keep them open.
            self._parent_engines.append(self._engine)
            self._engine, self._pid = self._connect(), os.getpid()
        try:
            with self._engine.connect() as connection:
                self._store.check_place()
                yield connection
        except DBAPIError as problem:
            raise ledger_error(problem.orig, self._store.name, self._store.hidden) from None
        except PendingRollbackError:  # after a statement that found no connection
            raise ledger_error("its connection was lost", self._store.name) from None

    @contextmanager
    def _within(self, begin: tuple[str, ...]) -> Iterator[sa.Connection]:
        """A connection in a transaction that has all locks that its statements need."""
        with self._connection() as connection, self._transaction(connection, begin):
            yield connection

    def _reading(self) -> AbstractContextManager[sa.Connection]:
        """A connection on which every statement sees the same moment."""
        return self._within(self._store.reading)

    @contextmanager
    def _transaction(self, connection: sa.Connection, begin: tuple[str, ...]) -> Iterator[None]:
        try:
            self._run(connection, begin)
            yield
            self._run(connection, ("COMMIT",))
        except BaseException:
            _roll_back(connection)
            raise

    def _run(self, connection: sa.Connection, statements: tuple[str, ...]) -> None:
        """Runs statements that may have to wait for other sessions."""
        wait_for(partial(self._store.run_within, connection, statements), self._store.name)

    def _connect(self) -> sa.Engine:
        options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT", "hide_parameters": True}
        engine = self._store.open_engine(options | {"max_overflow": -1})

        @event.listens_for(engine, "connect")
        def _prepare(connection: Any, _: object) -> None:
            cursor = connection.cursor()
            try:
                self._store.prepare(cursor)
            except BaseException:
                cursor.close()
                connection.close()  # it may hold a lock
                raise
            cursor.close()

        return engine

    def _create(self) -> None:
        """Makes the tables and an empty anchor, once, even if several processes try."""
        with self._within(self._store.looking) as connection:
            exists = self._store.exists(connection)
        if exists:
            with self._reading() as connection:
                if _select_anchor(connection):
                    return
        with self._within(self._store.creating) as connection:
            self._store.create(connection)
            if not _select_anchor(connection):
                if _last_entry(connection) != (EMPTY.number, EMPTY.hash):
                    raise LedgerBroken("The ledger has entries but no anchor. It was lost.")
                _begin_anchor(connection)


class _DatabaseView(JournalView):
    """What a decision can read, on a connection that may hold the lock."""

    def __init__(self, connection: sa.Connection, anchor: JournalAnchor) -> None:
        self._connection, self.anchor = connection, anchor

    def row(self, number: int) -> JournalRow | None:
        return next(self._by("number", number), None)

    def ending(self, reservation: str) -> JournalRow | None:
        return next(self._by("ends", reservation), None)

    def answers(self, recall: str) -> Sequence[JournalRow]:
        return list(self._by("recall", recall))

    def rows_after(self, number: int) -> Iterator[JournalRow]:
        return _read_rows(self._connection, number, self.anchor.number)

    def checkpoint(self) -> JournalAnchor:
        row = self._connection.execute(tables.READ_CHECKPOINT).first()
        if row is None:
            return EMPTY
        return JournalAnchor(*checked_anchor(row, "The ledger's checkpoint"))

    def checkpoint_number(self) -> int:
        number = self._connection.execute(tables.CHECKPOINT_NUMBER).scalar()
        return number if isinstance(number, int) else EMPTY.number

    def _by(self, column: str, value: object) -> Iterator[JournalRow]:
        with as_written():  # the value may come from a row that was changed
            rows = self._connection.execute(tables.ENTRIES_BY[column], {"value": value}).all()
        return (JournalRow(*checked_row(row)) for row in rows)


def _select_anchor(connection: sa.Connection, *, lock: bool = False) -> Any:
    return connection.execute(tables.READ_LOCKED_ANCHOR if lock else tables.READ_ANCHOR).first()


def _read_anchor(connection: sa.Connection, *, lock: bool = False) -> JournalAnchor:
    row = _select_anchor(connection, lock=lock)
    if row is None:
        raise LedgerBroken("The ledger has no anchor. Its row was deleted.")
    return JournalAnchor(*checked_anchor(row, "The ledger's head"))


def _last_entry(connection: sa.Connection) -> tuple[int, str]:
    """The number and the hash of the last entry."""
    row = connection.execute(tables.LAST_ENTRY).first()
    return (EMPTY.number, EMPTY.hash) if row is None else (row[0], row[1])


def _read_rows(
    connection: sa.Connection, after: int, last: int, count: int | None = None
) -> Iterator[JournalRow]:
    """Entries in order: those after a number, up to a last one, at most `count` of them."""
    turn = {"after": after, "last": last}
    if count is None:
        select = tables.ENTRIES_BETWEEN.execution_options(yield_per=100)  # answers may be long
        rows = connection.execute(select, turn)
    else:
        rows = connection.execute(tables.SOME_ENTRIES, turn | {"count": count})
    return (JournalRow(*checked_row(row)) for row in rows)


def _begin_anchor(connection: sa.Connection) -> None:
    """Makes the two rows of an empty ledger."""
    connection.execute(
        tables.ANCHOR.insert(), [_column_values(EMPTY) | {"id": row} for row in (1, 2)]
    )


def _write_rows(
    connection: sa.Connection,
    rows: Sequence[JournalRow],
    before: JournalAnchor,
    after: JournalAnchor,
    checkpoint: JournalAnchor | None,
) -> None:
    """Appends entries and moves the anchor, which is locked."""
    connection.execute(tables.ENTRIES.insert(), [_column_values(row) for row in rows])
    moved = connection.execute(
        tables.MOVE_ANCHOR, _column_values(after) | {"from": before.number}
    )
    if moved.rowcount != 1:
        raise LedgerBroken("The ledger's anchor moved while it was locked.")
    if checkpoint is not None:
        values = _column_values(checkpoint)
        if connection.execute(tables.REPLACE_CHECKPOINT, values).rowcount == 0:  # of format 1
            connection.execute(tables.ANCHOR.insert(), values | {"id": 2})


def _column_values(row: JournalRow | JournalAnchor) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).__slots__}


def open_store(where: str | Path, *, read_only: bool) -> SQLiteStore | PostgreSQLStore:
    """The store at a path or an address. The schema in PostgreSQL follows after #."""
    try:
        address = read_store(where)
    except InvalidPolicy as problem:
        raise InvalidParameter(str(problem)) from None
    if isinstance(address, Path):
        return SQLiteStore(address, read_only=read_only)
    url = sa.URL.create("postgresql+psycopg", **address.parts)
    return PostgreSQLStore(url, address.name or DEFAULT_SCHEMA, address.shown)


def _roll_back(connection: sa.Connection) -> None:
    try:
        connection.exec_driver_sql("ROLLBACK")
    except (DBAPIError, PendingRollbackError):  # already ended, or the connection is lost
        connection.invalidate()
