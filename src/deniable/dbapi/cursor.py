"""A cursor: it runs one statement at a time and hands out the rows of its answer."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from deniable.dbapi.driver_errors import InterfaceError, NotSupportedError, translating_errors
from deniable.dbapi.parameters import fill_placeholders
from deniable.dbapi.previews import explain_preview
from deniable.query.language.price_clause import split_price_clause
from deniable.query.language.within_clause import split_within_clause
from deniable.release.answer.interval_columns import interval_table

if TYPE_CHECKING:
    from deniable.release.public_session import Session
    from deniable.release.session.release import Release

Description = tuple[str, str, None, None, None, None, bool]
_CHANGES = re.compile(
    r"\s*(INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|TRUNCATE|MERGE|COPY)\b", re.IGNORECASE
)


class SessionHolder(Protocol):
    """What a cursor needs of its connection."""

    closed: bool

    @property
    def session(self) -> "Session":
        """The session that questions are asked in."""


class Cursor:
    """Runs statements. `release` is the whole answer of the last one, with its certificate.

    >>> import deniable as dp
    >>> from deniable import dbapi
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1] * 100}), epsilon=1)
    >>> cursor = dbapi.connect(session=data).cursor()
    >>> cursor.execute("SELECT COUNT(*) AS n FROM data EPSILON 1/2")
    >>> [column[0] for column in cursor.description], len(cursor.fetchall())
    (['n', 'n_low', 'n_high'], 1)
    """

    def __init__(self, connection: SessionHolder) -> None:
        self.connection = connection
        self.arraysize = 1
        self.release: Release | None = None
        self._table: pa.Table | None = None
        self._rows: Iterator[tuple[Any, ...]] = iter(())
        self._closed = False

    @property
    def description(self) -> list[Description] | None:
        """Name and type of each column of the answer; None before there is one."""
        if self._table is None:
            return None
        return [
            (field.name, str(field.type), None, None, None, None, True)
            for field in self._table.schema
        ]

    @property
    def rowcount(self) -> int:
        """How many rows the answer has; -1 before there is one."""
        return -1 if self._table is None else int(self._table.num_rows)

    def execute(self, operation: str, parameters: Sequence[object] | None = None) -> None:
        """Asks a question. It is charged if it ends with EPSILON or WITHIN, and only then."""
        self._check_open()
        self.release = self._table = None
        if _CHANGES.match(operation):
            raise NotSupportedError(
                "This connection can only ask questions: it changes no table."
            )
        with translating_errors():
            filled = fill_placeholders(operation, tuple(parameters or ()))
            question, price = split_price_clause(filled)
            session = self.connection.session
            if "epsilon" in price or split_within_clause(question)[1] is not None:
                self.release = session.sql(question, **price)
                table = interval_table(self.release.answer, self.release.units)
                if self.release.for_population:
                    table = self.release.population().to_arrow()
            else:
                table = pa.table({"explanation": explain_preview(session, question)})
        self._table = table
        columns = [column.to_pylist() for column in table.columns]
        self._rows = zip(*columns, strict=True)

    def executemany(self, operation: str, seq_of_parameters: Sequence[Any]) -> None:
        """Not offered: each would be charged."""
        raise NotSupportedError("Ask one question at a time: each is charged by itself.")

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row, or None."""
        self._check_answer()
        return next(self._rows, None)

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows, `arraysize` unless given."""
        self._check_answer()
        count = self.arraysize if size is None else size
        return [row for _, row in zip(range(count), self._rows, strict=False)]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        self._check_answer()
        return list(self._rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        self._check_answer()
        return self._rows

    def setinputsizes(self, sizes: object) -> None:
        """Does nothing, as PEP 249 allows."""

    def setoutputsize(self, size: object, column: object = None) -> None:
        """Does nothing, as PEP 249 allows."""

    def close(self) -> None:
        """Ends the cursor."""
        self._closed, self._table, self._rows = True, None, iter(())

    def _check_open(self) -> None:
        if self._closed or self.connection.closed:
            raise InterfaceError("This cursor, or its connection, was closed.")

    def _check_answer(self) -> None:
        self._check_open()
        if self._table is None:
            raise InterfaceError("There is no answer yet: call execute() first.")
