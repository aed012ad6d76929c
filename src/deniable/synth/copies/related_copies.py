"""Copies of two tables of one unit: parents, such as patients, and their children, visits.

The parents are copied with the number of their children, and the children with their parent's
columns. Each parent of the copy gets as many children as its number says, drawn from sampled
children whose parent is in about the same cells (`child_rows`); these are scored and certified.
What is lost: how the children of one parent depend on each other, and everything about a unit
beyond its limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.engines.duckdb.public_rows import query_rows
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive
from deniable.policy import Column, Table
from deniable.query.language.parse import parse
from deniable.query.plan.quoting import quote_name
from deniable.release.session.door import Door
from deniable.synth.copies.child_rows import ChildRows
from deniable.synth.copies.copy_plans import CopyPlan, CopySource
from deniable.synth.copies.copy_requests import plan_source
from deniable.synth.copies.copy_run import check_room, run_copy
from deniable.synth.copies.early_checks import check_early
from deniable.synth.copies.table_copy import TableCopy, draw_rows
from deniable.synth.crosstabs.crosstab_plans import find_table, read_delta
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.sample.tree_rows import Codes

_MOST_CHILDREN = 40
_LOST = (
    "The children of one parent were drawn independently of each other: what they have in "
    "common beyond their parent's cells is lost. Keys are made up. The scorecards below are of "
    "the rows that are delivered: parents with their number of children, and children with "
    "their parent's columns."
)


@dataclass(frozen=True, slots=True, repr=False)
class RelatedCopies:
    """Two tables of rows that are joined by a made-up key, and the copies they come from."""

    parents: "pa.Table" = field(compare=False)
    children: "pa.Table" = field(compare=False)
    of_parents: TableCopy
    of_children: TableCopy
    names: tuple[str, str]

    def sql(self, text: str) -> "pa.Table":
        """The answer to any SQL about both tables, for nothing."""
        return query_rows(
            dict(zip(self.names, (self.parents, self.children), strict=True)), text
        )

    def save(self, folder: str | Path) -> None:
        """Writes both tables as Parquet files into a folder, and their certificates as JSON."""
        from pyarrow import parquet

        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, rows in zip(self.names, (self.parents, self.children), strict=True):
            parquet.write_table(rows, str(Path(folder) / f"{name}.parquet"))
        for name, copy in zip(self.names, (self.of_parents, self.of_children), strict=True):
            if copy.certificate is not None:
                copy.save(Path(folder) / f"{name}.json")

    def __str__(self) -> str:
        parent, child = self.names
        head = f"Copies of {parent} ({len(self.parents):,} rows) and {child} "
        head += f"({len(self.children):,} rows)."
        return "\n".join([head, _LOST, str(self.of_parents), str(self.of_children)])

    __repr__ = __str__


def release_related(
    session: Door,
    parent: str,
    child: str,
    *,
    epsilon: Number,
    delta: Number | None = None,
    explain: bool = False,
    **options: Any,
) -> Any:
    """Copies of two tables of one unit, for half of the price each; or what they measure."""
    tables = [find_table(session.policy, name) for name in (parent, child)]
    sources, count = _read_sources(*tables)
    price, spare = positive(epsilon, "epsilon") / 2, read_delta(session.policy, delta) / 2
    shared = {name: options.pop(name, {}) or {} for name in ("cuts", "dates")}
    if options.pop("missing", True) is not True:
        raise InvalidParameter(
            "Two tables are copied with missing=True: a parent without children has no number "
            "of them, and would be left out. Nothing was spent."
        )
    if strange := set(options) - {"method", "confidence"}:
        raise InvalidParameter(f"Two tables are copied without {', '.join(sorted(strange))}.")
    plans = []
    for source in sources:
        arguments = dict(options)
        arguments |= {what: _held(settings, source) for what, settings in shared.items()}
        arguments |= {"columns": _columns(source.table), "epsilon": price, "delta": spare}
        plans.append(plan_source(session, source, **arguments))
    if explain:
        return [copy_plan.explain(session) for copy_plan in plans]
    checked = [check_early(session, copy_plan) for copy_plan in plans]
    check_room(session, 2 * price, 2 * spare, "The two copies")
    key = str(tables[0].unit)
    parents = run_copy(session, plans[0], checked[0], deliver=_ParentRows(key))
    own = ChildRows(parents.rows, key, count)
    children = run_copy(session, plans[1], checked[1], deliver=own)
    return RelatedCopies(
        parents.rows.drop_columns([count]),
        children.rows.select([key, *_columns(tables[1])]),
        parents,
        children,
        (tables[0].name, tables[1].name),
    )


@dataclass(frozen=True, slots=True)
class _ParentRows:
    """Delivers parents with made-up keys: 1, 2 and so on."""

    key: str

    def __call__(
        self,
        copy_plan: CopyPlan,
        cells: Sequence[ColumnCells],
        codes: Codes,
        chance: np.random.Generator,
    ) -> tuple[Codes, "pa.Table"]:
        rows = draw_rows(copy_plan, cells, codes, chance)
        keys = pa.array(range(1, len(rows) + 1), pa.int64())
        return codes, rows.add_column(0, self.key, keys)


def _held(given: Mapping[str, Any], source: CopySource) -> dict[str, Any]:
    """What is given for columns of one of the two."""
    names = {name.lower() for name in source.table.columns}
    return {name: values for name, values in given.items() if str(name).lower() in names}


def _columns(table: Table) -> list[str]:
    return [name for name in table.columns if name.lower() != (table.unit or "").lower()]


def _read_sources(parent: Table, child: Table) -> tuple[list[CopySource], str]:
    """The parents with their numbers of children, and the children with their parents."""
    _check_tables(parent, child)
    most = child.max_rows_per_unit_per_group
    count = f"{child.name} count"
    key, (p, c) = quote_name(str(parent.unit)), map(quote_name, (parent.name, child.name))
    number = quote_name(count)
    with_count = (
        f"SELECT COUNT(*) AS n FROM {p} AS a LEFT JOIN (SELECT {key}, COUNT(*) AS {number} "
        f"FROM {c} GROUP BY {key}) AS b ON a.{key} = b.{key}"
    )
    with_parent = f"SELECT COUNT(*) AS n FROM {c} AS a JOIN {p} AS b ON a.{key} = b.{key}"
    counted = Column(count, bounds=(0, most), step=1).with_type(count, "BIGINT")
    names = parent.name, child.name
    return [
        CopySource(
            replace_columns(parent, {**parent.columns, count: counted}),
            parse(with_count).table,
            names,
            parent.max_rows_per_unit_per_group,
        ),
        CopySource(
            replace_columns(child, {**parent.columns, **child.columns}),
            parse(with_parent).table,
            names[::-1],
            most,
        ),
    ], count


def _check_tables(parent: Table, child: Table) -> None:
    """Refuses tables that are not parents, one of a unit, and their children."""
    unit = (parent.unit or "").lower()
    if not unit or unit != (child.unit or "").lower() or parent.name == child.name:
        raise InvalidParameter(
            f"{parent.name} and {child.name} must be two tables of one privacy unit. Nothing "
            "was spent."
        )
    both = {*map(str.lower, _columns(parent))} & {*map(str.lower, _columns(child))}
    if both:
        raise InvalidParameter(
            f"{parent.name} and {child.name} both have {', '.join(sorted(both))}. Rename one."
        )
    if (own := parent.max_rows_per_unit_per_group) > 1:
        raise InvalidParameter(
            f"A unit may have {own} rows of {parent.name}, and a child has one parent. "
            "Declare max_rows_per_unit_per_group = 1, or name the tables "
            "in the other order. Nothing was spent."
        )
    most = child.max_rows_per_unit_per_group
    if most > _MOST_CHILDREN:
        raise InvalidParameter(
            f"A unit may have {most} rows of {child.name}; at most {_MOST_CHILDREN} are "
            "possible here. Declare a smaller max_rows_per_unit_per_group."
        )


def replace_columns(table: Table, columns: Mapping[str, Column]) -> Table:
    """The table with other columns. It is never opened: only its declarations are read."""
    return Table(
        table.name,
        unit=table.unit,
        neighbors=table.neighbors,
        max_groups_per_unit=table.max_groups_per_unit,
        max_rows_per_unit_per_group=table.max_rows_per_unit_per_group,
        row_ceiling=table.row_ceiling,
        columns=dict(columns),
    )
