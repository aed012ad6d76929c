"""Statements that count marginals: how many rows have each combination of some columns' cells.

    rows       the cells k0, k1, ... of each row (`input_rows`)
    numbered   a unit's equal rows with different numbers
    ranked     of each unit: its rows in the order of a keyed hash
    kept       the first `max_rows_per_unit` rows of each unit
    the answer the rows of each combination counted

All marginals of one table are counted over the same rows, so that they add up to each other:
which rows of a unit are kept depends on all columns, and not only on those of one marginal.
With row privacy no row is left out for its unit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from deniable.query.plan.key_list import listed_values
from deniable.query.plan.plan import GroupKey
from deniable.query.plan.statement_text import StatementText
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import (
    Sql,
    copies,
    keep_rows,
    keyed_hash,
    named,
    number,
    subquery,
)
from deniable.query.statements.input_rows import Grouping, InputRows, key_columns

COUNT = "n"  # the name of the counts
Merged: TypeAlias = Mapping[int, Sequence[int]]  # new numbers of cells, by the column's place
_NONE: Merged = {}


@dataclass(frozen=True, slots=True)
class MarginalStatement:
    """What the statements of all marginals of one table have in common."""

    scope: Scope
    groupings: tuple[Grouping, ...]  # every column's cells
    max_rows_per_unit: int
    partial: bool  # whether a row may have no cell in some column; it is left out everywhere

    def count(self, places: tuple[int, ...], merged: Merged = _NONE) -> StatementText:
        """The counts of the combinations of the cells of the columns at these places. Where
        `merged` gives a column's cells other numbers, those are counted."""
        count = named(exp.Count(this=exp.Star()), COUNT)
        if not places:
            used = self.groupings if self.partial else ()
            rows = self._keep_rows() if self._with_units else self._cells(used)
            return StatementText(subquery(rows, "kept").select(count, copy=False))
        parts = _part_columns(places)
        keys = [named(part.copy(), f"k{i}") for i, part in enumerate(parts)]
        answer = self._parts(places, merged).select(*keys, count, copy=False)
        return StatementText(answer.group_by(*parts, copy=False))

    def count_joint(self) -> StatementText:
        """The counts of the combinations of all columns' cells, which are numbered c0, c1, ...
        Every marginal can be added up from them."""
        places = tuple(range(len(self.groupings)))
        parts = _part_columns(places)
        cells = [
            named(_numbered(part, self.groupings[place].key), f"c{place}")
            for part, place in zip(parts, places, strict=True)
        ]
        count = named(exp.Count(this=exp.Star()), COUNT)
        answer = self._parts(places, {}).select(*cells, count, copy=False)
        return StatementText(answer.group_by(*parts, copy=False))

    def kept(self) -> exp.Select:
        """The rows that count, with the cells k0, k1, ... of all columns."""
        return self._keep_rows() if self._with_units else self._cells(self.groupings)

    @property
    def _with_units(self) -> bool:
        return self.scope.table.unit is not None

    def _parts(self, places: tuple[int, ...], merged: Merged) -> exp.Select:
        """The rows that count, with the cells at these places as p0, p1, ... So no name stands
        for two columns at once: GROUP BY could mean either of them."""
        if self._with_units or self.partial:
            shown: list[Sql] = [exp.column(f"k{place}") for place in places]
            rows = self.kept()
        else:
            used = tuple(self.groupings[place] for place in places)
            shown, rows = key_columns(used), self._cells(used)
        shown = [
            _merge(key, self.groupings[place].key, merged[place]) if place in merged else key
            for key, place in zip(shown, places, strict=True)
        ]
        parts = [named(key.copy(), f"p{i}") for i, key in enumerate(shown)]
        return subquery(subquery(rows, "kept").select(*parts, copy=False), "parts")

    def _cells(self, groupings: tuple[Grouping, ...]) -> exp.Select:
        return InputRows(self.scope, None, groupings, (), other=False).sql()

    def _keep_rows(self) -> exp.Select:
        """The first rows of each unit, by a hash of all their cells."""
        cells = key_columns(self.groupings)
        place = exp.Window(
            this=exp.RowNumber(),
            partition_by=[exp.column("u"), *copies(cells)],
            order=exp.Order(expressions=[exp.Ordered(this=cells[0].copy())]),
            over="OVER",
        )
        held = subquery(self._cells(self.groupings), "rows")
        numbered = held.select(exp.Star(), named(place, "j"), copy=False)
        own: list[Sql] = [*copies(cells), exp.column("j")]
        drawn = keyed_hash([*self.scope.identity, *copies(own)])
        return keep_rows(numbered, [drawn, *own], self.max_rows_per_unit)


def _part_columns(places: tuple[int, ...]) -> list[Sql]:
    return [exp.column(f"p{i}") for i in range(len(places))]


def _numbered(part: Sql, key: GroupKey) -> Sql:
    """The number of a cell among those of its column."""
    listed = list(listed_values(key))
    if key.kind == "number" and listed == list(range(len(listed))):
        return part.copy()
    own = exp.Case(this=part.copy())
    for place, value in enumerate(listed):
        own = own.when(_literal(value), number(place), copy=False)
    return exp.cast(own, "bigint", copy=False)  # small literals are small integers


def _merge(part: Sql, key: GroupKey, numbers: Sequence[int]) -> Sql:
    """The new number of a cell; most have their own, and the last number is that of all
    others."""
    last = max(numbers)
    own = exp.Case(this=part.copy())
    for value, place in zip(listed_values(key), numbers, strict=True):
        if place != last:
            own = own.when(_literal(value), number(place), copy=False)
    return own.else_(number(last), copy=False) if own.args.get("ifs") else number(last)


def _literal(value: str | int | bool) -> Sql:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    return number(value) if isinstance(value, int) else exp.Literal.string(value)
