"""Copies of two tables of one unit: parents, such as patients, and their children, visits.

The parents are copied with the number of their children, and the children with their parent's
columns. Then each parent of the copy gets as many children as its number says, drawn from the
copied children whose parent has the same cells. What is lost: how the children of one parent
depend on each other, and everything about a unit beyond its limits. The scorecards and
certificates are of the two copies before they are joined, and not of the joined children.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
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
from deniable.synth.copies.copy_plans import CopySource
from deniable.synth.copies.copy_requests import plan_source
from deniable.synth.copies.copy_run import check_room, run_copy
from deniable.synth.copies.early_checks import check_early
from deniable.synth.copies.table_copy import TableCopy
from deniable.synth.crosstabs.crosstab_plans import find_table, read_delta

_MOST_CHILDREN = 40
_LOST = (
    "The children of one parent were drawn independently of each other: what they have in "
    "common beyond their parent's cells is lost. Keys are made up. The scorecards and "
    "certificates below are of the two copies before they were joined: the children that are "
    "delivered were drawn again for each parent, and are neither scored nor certified."
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
        """Writes both tables as Parquet files into a folder."""
        from pyarrow import parquet

        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, rows in zip(self.names, (self.parents, self.children), strict=True):
            parquet.write_table(rows, str(Path(folder) / f"{name}.parquet"))

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
        asked = dict(options)
        asked |= {what: _held(given, source) for what, given in shared.items()}
        asked |= {"columns": _columns(source.table), "epsilon": price, "delta": spare}
        plans.append(plan_source(session, source, **asked))
    if explain:
        return [made.explain(session) for made in plans]
    checked = [check_early(session, made) for made in plans]
    check_room(session, 2 * price, 2 * spare, "The two copies")
    copies = [run_copy(session, *both) for both in zip(plans, checked, strict=True)]
    return join_copies(copies[0], copies[1], (tables[0].name, tables[1].name), count)


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


def join_copies(
    parents: TableCopy, children: TableCopy, names: tuple[str, str], count: str
) -> RelatedCopies:
    """Children for every parent: from the copied children with the same parent's cells; if
    there is no such child, with the same in fewer columns, from the last one."""
    chance = np.random.default_rng()
    shared = [name for name in parents.rows.column_names if name != count]
    wanted = [int(number or 0) for number in parents.rows[count].to_pylist()]
    keys = _cells(parents, shared)
    pools = _pools(_cells(children, shared), len(shared))
    drawn, owners = list[int](), list[int]()
    for owner, (key, number) in enumerate(zip(keys, wanted, strict=True)):
        pool = next(
            (pools[i][key[:i]] for i in range(len(key), -1, -1) if key[:i] in pools[i]), []
        )
        if number and pool:
            drawn += [pool[i] for i in chance.integers(0, len(pool), number)]
            owners += [owner + 1] * number
    unit = str(parents.plan.table.unit)
    made = children.rows.drop_columns(shared).take(pa.array(drawn, pa.int64()))
    own = parents.rows.drop_columns([count])
    return RelatedCopies(
        own.add_column(0, unit, pa.array(range(1, len(own) + 1), pa.int64())),
        made.add_column(0, unit, pa.array(owners, pa.int64())),
        parents,
        children,
        names,
    )


def _cells(copy: TableCopy, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The values of some columns of each row; numbers that were cut, in coarse steps."""
    columns = []
    for name in names:
        values, column = copy.rows[name].to_pylist(), copy.plan.table.columns[name]
        if column.kind == "number" and column.bounds is not None:
            low, high = column.bounds
            width = max((high - low) / 10, Fraction(1, 10**9))
            values = [None if v is None else (Fraction(v) - low) // width for v in values]
        columns.append([str(v)[:7] if column.kind == "date" else v for v in values])
    return list(zip(*columns, strict=True)) if columns else [()] * len(copy)


def _pools(
    keys: Sequence[tuple[Any, ...]], most: int
) -> list[dict[tuple[Any, ...], list[int]]]:
    """The rows with the same first columns, for every number of columns."""
    pools: list[dict[tuple[Any, ...], list[int]]] = [{} for _ in range(most + 1)]
    for row, key in enumerate(keys):
        for count in range(most + 1):
            pools[count].setdefault(key[:count], []).append(row)
    return pools
