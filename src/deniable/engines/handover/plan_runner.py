"""What every engine does with a Plan, whatever its driver: run, hand over, fail in one way.

An engine says how one statement is run (`_rows`), what its tables hold (`_columns`) and how
it recovers (`_mend`); the rest is here. Whatever goes wrong once a statement has started has
one message and a reference number. A driver's own words may quote a row, so they are kept
out of the log as well, and out of the exception's context.
"""

import logging
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import pyarrow as pa

from deniable.engines.handover.exact_groups import CellCounts, ExactGroups, to_integers
from deniable.engines.handover.withheld import Withheld
from deniable.errors import EngineFailed, InvalidPolicy
from deniable.exact.bits import SYSTEM
from deniable.policy import Policy
from deniable.policy.suggestions import suggest
from deniable.query.plan.plan import Plan, Statement

log = logging.getLogger("deniable.engine")


class PlanRunner(ABC):
    """An engine over sources by name.

    `progress` is called with the share of a statement that is done, from 0 to 1, by engines
    that know it.
    """

    name: ClassVar[str]
    progress: Callable[[float], None] | None = None

    def __init__(self, sources: Mapping[str, Any]) -> None:
        self._sources = dict(sources)
        self._lock = threading.Lock()
        # Which groups of a unit are kept hangs on this number and on nothing else about the
        # session. Always 63 bits long, so that its type is always the same.
        self._salt = 2**62 + int(SYSTEM.draw(62, 1)[0])

    @classmethod
    def open(cls, tables: Policy | Mapping[str, Any]) -> Self:
        """The engine over a policy's sources, or over sources by name."""
        if isinstance(tables, Policy):
            return cls({name: table.source for name, table in tables.tables.items()})
        return cls(tables)

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        """The tables that a source holds, as they may stand after # in it; none where there
        is nothing to choose from."""
        return []

    def schema(self, table: str) -> dict[str, str]:
        """The table's columns and their types, which are public; no value is read."""
        if table not in self._sources:
            raise InvalidPolicy(
                f"There is no table {table!r}. "
                + suggest(table, self._sources, "The tables are")
            )
        with self._lock:
            return self._columns(table)

    def check(self, plan: Plan) -> None:
        """Raises Unsupported if this engine has no words for the plan; nothing is run."""
        for statement in plan.statements:
            self._check(statement.sql)

    def run(self, plan: Plan) -> Withheld[ExactGroups]:
        """The Plan's integers, withheld; or the one error, whatever went wrong."""
        return Withheld(ExactGroups.joined(self._batches(plan)))

    def stream(self, plan: Plan) -> Withheld[Iterator[ExactGroups]]:
        """The same in batches, so that no more than one need be in memory. The statement
        starts when the first is asked for, and no other does before the last was read."""
        return Withheld(self._batches(plan))

    def _check(self, sql: str) -> None:
        """Raises Unsupported if a statement cannot be written for this engine."""
        return

    @abstractmethod
    def close(self) -> None:
        """Lets go of the sources."""

    @abstractmethod
    def _columns(self, table: str) -> dict[str, str]:
        """The columns of a source, and their types as DuckDB calls them."""

    @abstractmethod
    def _rows(self, sql: str) -> "Iterator[pa.RecordBatch]":
        """What one statement finds: a batch or more."""

    @abstractmethod
    def _mend(self) -> None:
        """After a failure: lets go of what may be broken, so that the next statement works."""

    def _batches(self, plan: Plan) -> Iterator[ExactGroups]:
        with self._lock:
            try:
                yield from self._read(plan)
                return
            except Exception as problem:
                self._mend()
                reference = secrets.token_hex(4)
                log.error(
                    "reference %s: %s while running %s",
                    reference,
                    type(problem).__name__,
                    "; ".join(one.sql for one in plan.statements),
                )
        raise EngineFailed(reference)

    def _read(self, plan: Plan) -> Iterator[ExactGroups]:
        """The groups, a batch at a time; cells come whole, with the first of them."""
        cells = {
            one.name: self._cells(plan, one) for one in plan.statements if one.kind == "cells"
        }
        if not plan.engine_sql:
            yield ExactGroups((), None, {}, cells)
            return
        for batch in self._rows(plan.engine_sql):
            yield _to_groups(plan, batch, cells)
            cells = {}

    def _cells(self, plan: Plan, statement: Statement) -> CellCounts:
        """What one statement about cells finds."""
        found = pa.Table.from_batches(list(self._rows(statement.sql)))
        keys = (_widen_integers(found[f"k{i}"].combine_chunks()) for i in range(len(plan.keys)))
        return CellCounts(tuple(keys), to_integers(found["cell"]), to_integers(found["n"]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._sources)})"


def _to_groups(
    plan: Plan, batch: "pa.RecordBatch", cells: dict[str, CellCounts]
) -> ExactGroups:
    return ExactGroups(
        keys=tuple(_widen_integers(batch[f"k{i}"]) for i in range(len(plan.keys))),
        units=None if plan.thresholding is None else to_integers(batch["units"]),
        features={name: to_integers(batch[name]) for name in plan.features},
        cells=cells,
    )


def _widen_integers(column: "pa.Array[Any]") -> "pa.Array[Any]":
    """A column of keys; integers in one width."""
    return column.cast(pa.int64()) if pa.types.is_integer(column.type) else column
