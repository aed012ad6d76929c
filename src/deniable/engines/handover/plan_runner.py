"""What every engine does with a Plan, whatever its driver: run, hand over, fail in one way.

A subclass runs one statement (`_run_statement`), describes its tables (`_columns`) and
recovers from failures (`_recover`). The rest is here. Every failure after a statement has
started has the same message, with a reference number. A driver's own message may quote a
row, so it appears neither in the log nor in the exception's context.
"""

import logging
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import pyarrow as pa

from deniable.engines.handover.exact_groups import (
    CellCounts,
    ExactGroups,
    JointCells,
    to_integers,
)
from deniable.engines.handover.unit_columns import refuse_unit_columns
from deniable.engines.handover.withheld import Withheld
from deniable.engines.handover.written_plan import WrittenPlan, WrittenStatement
from deniable.errors import EngineFailed, InvalidPolicy
from deniable.exact.bits import SYSTEM
from deniable.exact.suggestions import suggest
from deniable.policy import Policy
from deniable.query.plan.plan import Plan, Statement

log = logging.getLogger("deniable.engine")
MOST_ROWS = 1 << 40  # in one cell, so that sums of scaled counts fit into 64 bits


class PlanRunner(ABC):
    """An engine over named sources.

    Engines that know the progress of a statement call `progress` with a number from 0 to 1.
    """

    name: ClassVar[str]
    runs_plan_text = False  # whether it runs the text that the kernel reads, or one of its own
    progress: Callable[[float], None] | None = None

    def __init__(self, sources: Mapping[str, Any]) -> None:
        self._sources = dict(sources)
        self._lock = threading.Lock()
        # The choice of the groups that a unit keeps depends on this number, and on nothing
        # else about the session. It always has 63 bits, so its type is always the same.
        self._salt = 2**62 + int(SYSTEM.draw(62, 1)[0])

    @classmethod
    def open(cls, tables: Policy | Mapping[str, Any]) -> Self:
        """Opens the engine over a policy's sources, or over sources by name."""
        if not isinstance(tables, Policy):
            return cls(tables)
        engine = cls._open_policy(tables)
        try:
            engine._check_policy(tables)
        except BaseException:
            engine.close()
            raise
        return engine

    @classmethod
    def _open_policy(cls, policy: Policy) -> Self:
        refuse_unit_columns(policy, cls.name)
        return cls({name: table.source for name, table in policy.tables.items()})

    def _check_policy(self, policy: Policy) -> None:
        """Refuses what a policy declares about a source if the source does not allow it."""
        for table in policy.tables.values():
            columns = () if table.id_column is None else self.schema(table.name)
            for column in columns:
                if column.lower() == str(table.id_column).lower():
                    self._check_unit(table.name, column)

    def _check_unit(self, table: str, unit: str) -> None:
        """Refuses a privacy unit that the database compares by a collation."""
        if self._has_collation(table, unit):
            raise InvalidPolicy(
                f"The privacy unit of table {table!r} is {unit}. The database compares it "
                "by a collation in which different texts are equal, such as 'a' and 'A'; "
                "Deniable compares text by its bytes, so one person could be two units. Store "
                "it without that collation, "
                f"as in   CREATE TABLE ... AS SELECT lower({unit}) AS {unit}, ...",
                where=("tables", table, "unit"),
            )

    @classmethod
    def read_schemas(cls, sources: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        """The columns of each source and their types, which are public. Reads no value."""
        with cls.open(sources) as engine:
            return {name: engine.schema(name) for name in sources}

    @classmethod
    def list_tables(cls, source: str) -> list[str]:
        """The tables in a source, as they can be written after # in it; empty if the source
        is a single table."""
        return []

    def schema(self, table: str) -> dict[str, str]:
        """The table's columns and their types, which are public. Reads no value."""
        if table not in self._sources:
            raise InvalidPolicy(
                f"There is no table {table!r}. "
                + suggest(table, self._sources, "The tables are")
            )
        with self._lock:
            return self._columns(table)

    def prepare(self, plan: Plan) -> WrittenPlan:
        """The plan's statements in the final text of this engine. Runs nothing.

        Raises Unsupported if the engine cannot run them. `run` and `stream` take the result,
        and run exactly this text.
        """
        return WrittenPlan(
            plan,
            tuple(self._write_statement(plan, statement) for statement in plan.statements),
        )

    def run(self, plan: Plan | WrittenPlan) -> Withheld[ExactGroups]:
        """Runs a plan and withholds its integers; any failure raises EngineFailed. A session
        gives what `prepare` has written; any other plan is written first."""
        return Withheld(ExactGroups.join(self._batches(self._written(plan))))

    def stream(self, plan: Plan | WrittenPlan) -> Withheld[Iterator[ExactGroups]]:
        """The same in batches, so that memory need hold only one. The statement starts when
        the first batch is read; no other statement starts before the last batch is read."""
        return Withheld(self._batches(self._written(plan)))

    def _written(self, plan: Plan | WrittenPlan) -> WrittenPlan:
        return plan if isinstance(plan, WrittenPlan) else self.prepare(plan)

    def _has_collation(self, table: str, column: str) -> bool:
        """Whether the source takes different texts of a column for equal."""
        return False

    def _write_statement(self, plan: Plan, statement: Statement) -> WrittenStatement:
        """A statement in this engine's text; raises Unsupported if it cannot be written."""
        return WrittenStatement(statement.kind, statement.name, statement.sql)

    @abstractmethod
    def close(self) -> None:
        """Closes the sources."""

    @abstractmethod
    def _columns(self, table: str) -> dict[str, str]:
        """The columns of a source, and their types as DuckDB calls them."""

    @abstractmethod
    def _run_statement(self, statement: WrittenStatement) -> "Iterator[pa.RecordBatch]":
        """Runs one statement; yields one batch or more."""

    @abstractmethod
    def _recover(self) -> None:
        """Closes what a failure may have broken, so that the next statement works."""

    def _batches(self, written: WrittenPlan) -> Iterator[ExactGroups]:
        with self._lock:
            try:
                yield from self._read_groups(written)
                return
            except Exception as problem:
                self._recover()
                reference = secrets.token_hex(4)
                texts = "; ".join(statement.sql for statement in written.statements)
                log.error(
                    "reference %s: %s while running %s",
                    reference,
                    type(problem).__name__,
                    texts.replace(str(self._salt), "$salt"),  # some engines write it there
                )
        raise EngineFailed(reference)

    def _read_groups(self, written: WrittenPlan) -> Iterator[ExactGroups]:
        """The groups in batches; all cells come with the first batch."""
        plan = written.plan
        cells = {
            statement.name: self._count_cells(plan, statement)
            for statement in written.statements
            if statement.kind == "cells"
        }
        if not plan.engine_sql:
            yield ExactGroups((), None, {}, cells, self._count_joint(written))
            return
        for batch in self._run_statement(written.statements[0]):
            yield _to_groups(plan, batch, cells)
            cells = {}

    def _count_cells(self, plan: Plan, statement: WrittenStatement) -> CellCounts:
        """Runs one statement that counts cells."""
        rows = pa.Table.from_batches(list(self._run_statement(statement)))
        keys = (rows[f"k{i}"].combine_chunks() for i in range(len(plan.keys)))
        return CellCounts(tuple(keys), to_integers(rows["cell"]), to_integers(rows["n"]))

    def _count_joint(self, written: WrittenPlan) -> JointCells | None:
        """Runs the statement that counts joint cells, if there is one."""
        distances = written.plan.distances
        for statement in written.statements:
            if statement.kind == "joint" and distances is not None:
                rows = self._run_statement(statement)
                return JointCells.read(rows, distances.sizes, MOST_ROWS)
        return None

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
        keys=tuple(batch[f"k{i}"] for i in range(len(plan.keys))),
        units=None if plan.thresholding is None else to_integers(batch["units"]),
        features={name: to_integers(batch[name]) for name in plan.features},
        cells=cells,
    )
