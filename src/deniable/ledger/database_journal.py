"""A journal in a database: SQLite, one file, or PostgreSQL, for many hosts. The same code.

Appends take the anchor's lock before they read it (`BEGIN IMMEDIATE`, or `SELECT ... FOR
UPDATE` on its row), so that two can never decide on the same sums, whatever the database's
isolation does. They return after a synchronous commit: SQLite with a write-ahead log and
`synchronous = FULL`, PostgreSQL with `synchronous_commit = on`, whatever its configuration
says. A connection is never used on both sides of a fork.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from deniable.errors import InvalidParameter, LedgerBroken, LedgerUnavailable, MissingExtra
from deniable.ledger.journal import (
    EMPTY,
    Decision,
    Journal,
    JournalAnchor,
    JournalView,
    Row,
    check_chain,
)
from deniable.ledger.signing_keys import PublicKey, SigningKey

PATIENCE = 300  # seconds to wait for the lock

_TABLES = sa.MetaData()
_ENTRIES = sa.Table(
    "deniable_entries",
    _TABLES,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("ends", sa.Text, unique=True),
    sa.Column("recall", sa.Text, index=True),
)
_ANCHOR = sa.Table(
    "deniable_anchor",
    _TABLES,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
)
_ONE_CREATES = 0x64656E69  # PostgreSQL's name for the lock under which tables are made

# What opens a transaction that will write, and one that reads everything of one moment.
_WRITING = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "BEGIN"}
_READING = {"sqlite": "BEGIN", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}

_SETTINGS = {
    "sqlite": (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "PRAGMA fullfsync = ON",  # where plain fsync leaves data in the drive's cache
    ),
    "postgresql": ("SET synchronous_commit = on",),
}


class Database(Journal):
    """A chain in a SQLite file or a PostgreSQL database, by its path or address."""

    def __init__(
        self,
        where: str | Path,
        key: SigningKey | PublicKey | None = None,
        *,
        create: bool = True,
    ) -> None:
        super().__init__(key or PublicKey(""))
        self._url = address(where)
        if not create and self._url.get_backend_name() == "sqlite" and not Path(where).exists():
            raise LedgerUnavailable(f"There is no ledger {str(where)!r}.")
        self._engine, self._pid = self._connected(), os.getpid()
        self._left_behind: list[sa.Engine] = []
        if create:
            self._close_to_others()
            try:
                self._create()
            except BaseException:
                self.close()
                raise

    @property
    def empty(self) -> bool:
        """Whether nothing was ever written."""
        with self._connection() as connection:
            return _anchor(connection) == EMPTY

    @contextmanager
    def view(self) -> Iterator[JournalView]:
        with self._connection() as connection:
            yield _Rows(connection, self.checked(_anchor(connection)))

    def append(self, decide: Callable[[JournalView], Decision]) -> list[Row]:
        with self._transaction(_WRITING) as connection:
            anchor = self.not_set_back(self.checked(_anchor(connection, lock=True)))
            decision = decide(_Rows(connection, anchor))
            if not decision[0]:
                return []
            rows, after = self.extended(anchor, decision)
            connection.execute(_INSERT, [_values(row) for row in rows])
            moved = connection.execute(_MOVE, _values(after) | {"from": anchor.number})
            if moved.rowcount != 1:
                raise LedgerBroken("The ledger's anchor moved while it was locked.")
        self.signed(after)
        return rows

    def whole(self) -> tuple[Sequence[Row], JournalAnchor]:
        with self._transaction(_READING) as connection:
            rows = connection.execute(sa.select(_ENTRIES).order_by(_ENTRIES.c.number))
            return [Row(*row) for row in rows], _anchor(connection)

    def check_last(self, count: int) -> None:
        """Refuses a ledger whose last entries are not those that its head signed."""
        with self._transaction(_READING) as connection:
            anchor = self.checked(_anchor(connection))
            first = max(0, anchor.number - count)  # one more, for the others to be linked to
            some = _SINCE.execution_options(yield_per=100)  # answers may be long
            rows = connection.execute(some, {"first": first})
            check_chain((Row(*row) for row in rows), anchor, first)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _connection(self) -> Iterator[sa.Connection]:
        """A connection of this very process, in which every statement is its own commit."""
        if self._pid != os.getpid():
            # After a fork: closing the parent's connections would disturb it, so they stay.
            self._left_behind.append(self._engine)
            self._engine, self._pid = self._connected(), os.getpid()
        try:
            with self._engine.connect() as connection:
                yield connection
        except DBAPIError as problem:
            raise _failure(problem, self._url) from None

    @contextmanager
    def _transaction(self, begin: Mapping[str, str]) -> Iterator[sa.Connection]:
        with self._connection() as connection:
            connection.exec_driver_sql(begin[connection.dialect.name])
            try:
                yield connection
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    def _connected(self) -> sa.Engine:
        name = self._url.get_backend_name()
        options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT", "hide_parameters": True}
        options["connect_args"] = {"timeout": PATIENCE} if name == "sqlite" else {}
        try:
            engine = sa.create_engine(self._url, max_overflow=-1, **options)
        except (ModuleNotFoundError, NoSuchModuleError):
            raise MissingExtra(
                "A ledger in PostgreSQL needs its driver. Add it with   "
                "pip install 'deniable[postgresql]'"
            ) from None

        @event.listens_for(engine, "connect")
        def _set(connection: Any, _: object) -> None:
            cursor = connection.cursor()
            for setting in _SETTINGS[name]:
                cursor.execute(setting)
            cursor.close()

        return engine

    def _close_to_others(self) -> None:
        """A new file is its owner's only; SQLite gives the files beside it the same mode."""
        if self._url.get_backend_name() == "sqlite":
            with suppress(OSError):  # SQLite will say what is wrong
                Path(str(self._url.database)).touch(mode=0o600, exist_ok=True)

    def _create(self) -> None:
        """Makes the tables and an empty anchor, once, however many try."""
        with self._connection() as connection:
            if sa.inspect(connection).has_table(_ANCHOR.name) and _anchor_row(connection):
                return
        with self._transaction(_WRITING) as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ONE_CREATES)))
            _TABLES.create_all(connection)
            if not _anchor_row(connection):
                if connection.execute(sa.select(_ENTRIES.c.number).limit(1)).first():
                    raise LedgerBroken("The ledger has entries but no anchor: it was lost.")
                connection.execute(_ANCHOR.insert(), _values(EMPTY) | {"id": 1})


_INSERT = _ENTRIES.insert()
_MOVE = (
    _ANCHOR.update()
    .where(_ANCHOR.c.id == 1, _ANCHOR.c.number == sa.bindparam("from"))
    .values({name: sa.bindparam(name) for name in ("number", "hash", "state", "signature")})
)
_READ = sa.select(_ANCHOR.c.number, _ANCHOR.c.hash, _ANCHOR.c.state, _ANCHOR.c.signature)
_READ_LOCKED = _READ.with_for_update()  # SQLite has locked the whole file already
_SINCE = (
    sa.select(_ENTRIES)
    .where(_ENTRIES.c.number >= sa.bindparam("first"))
    .order_by(_ENTRIES.c.number)
)
_BY = {
    name: sa.select(_ENTRIES)
    .where(_ENTRIES.c[name] == sa.bindparam("value"))
    .order_by("number")
    for name in ("number", "ends", "recall")
}


class _Rows(JournalView):
    """What a decision may look at, on a connection that holds the lock, or on none's."""

    def __init__(self, connection: sa.Connection, anchor: JournalAnchor) -> None:
        self._connection, self.anchor = connection, anchor

    def row(self, number: int) -> Row | None:
        return next(self._by("number", number), None)

    def ending(self, reservation: str) -> Row | None:
        return next(self._by("ends", reservation), None)

    def answers(self, recall: str) -> Sequence[Row]:
        return list(self._by("recall", recall))

    def _by(self, column: str, value: object) -> Iterator[Row]:
        for row in self._connection.execute(_BY[column], {"value": value}).all():
            yield Row(*row)


def _anchor_row(connection: sa.Connection, *, lock: bool = False) -> Any:
    return connection.execute(_READ_LOCKED if lock else _READ).first()


def _anchor(connection: sa.Connection, *, lock: bool = False) -> JournalAnchor:
    row = _anchor_row(connection, lock=lock)
    if row is None:
        raise LedgerBroken("The ledger has no anchor: its last row was deleted.")
    return JournalAnchor(*row)


def _values(row: Row | JournalAnchor) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).__slots__}


def _roll_back(connection: sa.Connection) -> None:
    try:
        connection.exec_driver_sql("ROLLBACK")
    except DBAPIError:  # already over, or the connection is gone; it is not used again
        connection.invalidate()


def _failure(problem: DBAPIError, url: sa.URL) -> LedgerUnavailable | LedgerBroken:
    """What went wrong, in the database's own words, which hold nothing of the ledger."""
    said = str(problem.orig).strip().splitlines()
    words = said[0] if said else type(problem.orig).__name__
    name = url.database if url.get_backend_name() == "sqlite" else url.host or "PostgreSQL"
    if "malformed" in words or "not a database" in words:
        return LedgerBroken(f"The ledger {name!r} is damaged: {words}. Restore it.")
    if "unable to open" in words or "readonly" in words:
        words += " (is its folder writable? The policy's [ledger] may name another place)"
    return LedgerUnavailable(
        f"The ledger {name!r} cannot be used now: {words}. Nothing was released. What was "
        "reserved, or may have been, stays charged."
    )


def address(where: str | Path) -> sa.URL:
    """The database behind a path or an address.

    >>> address("ledger.sqlite").drivername, address("postgresql://db/ledger").drivername
    ('sqlite', 'postgresql+psycopg')
    """
    text = str(where)
    if "://" not in text:
        return sa.URL.create("sqlite", database=str(Path(text).absolute()))
    try:
        url = sa.make_url(text)
    except sa.exc.ArgumentError:
        raise InvalidParameter(
            "The ledger's address cannot be read. It should be   postgresql://user@host/database"
        ) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise InvalidParameter(
            f"A ledger is a file or postgresql://..., not {url.get_backend_name()}."
        )
    return url.set(drivername="postgresql+psycopg")
