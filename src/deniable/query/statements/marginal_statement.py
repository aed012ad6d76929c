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

from dataclasses import dataclass

from sqlglot import exp

from deniable.query.plan.key_list import listed_values
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


@dataclass(frozen=True, slots=True)
class MarginalStatement:
    """What the statements of all marginals of one table have in common."""

    scope: Scope
    groupings: tuple[Grouping, ...]  # every column's cells
    max_rows_per_unit: int
    partial: bool  # whether a row may have no cell in some column; it is left out everywhere

    def count(self, places: tuple[int, ...]) -> StatementText:
        """The counts of the combinations of the cells of the columns at these places."""
        count = named(exp.Count(this=exp.Star()), COUNT)
        if not places:
            used = self.groupings if self.partial else ()
            rows = self._keep_rows() if self._with_units else self._cells(used)
            return StatementText(subquery(rows, "kept").select(count, copy=False))
        parts = _part_columns(places)
        keys = [named(part.copy(), f"k{i}") for i, part in enumerate(parts)]
        answer = self._parts(places).select(*keys, count, copy=False)
        return StatementText(answer.group_by(*parts, copy=False))

    def number_cells(self, places: tuple[int, ...]) -> StatementText:
        """The same with one number for each combination, `cell`: the last column's cells vary
        fastest."""
        cell: Sql | None = None
        parts = _part_columns(places)
        for part, place in zip(parts, places, strict=True):
            key = self.groupings[place].key
            own = exp.Case(this=part.copy())
            for number_of, value in enumerate(listed_values(key)):
                own = own.when(_literal(value), number(number_of), copy=False)
            size = number(len(key.values or ()))
            wide = exp.cast(own, "bigint", copy=False)  # small literals are small integers
            cell = wide if cell is None else _times_plus(cell, size, wide)
        assert cell is not None
        count = named(exp.Count(this=exp.Star()), COUNT)
        answer = self._parts(places).select(named(cell, "cell"), count, copy=False)
        return StatementText(answer.group_by(*parts, copy=False))

    @property
    def _with_units(self) -> bool:
        return self.scope.table.unit is not None

    def _parts(self, places: tuple[int, ...]) -> exp.Select:
        """The rows that count, with the cells at these places as p0, p1, ... So no name stands
        for two columns at once: GROUP BY could mean either of them."""
        if self._with_units or self.partial:
            shown: list[Sql] = [exp.column(f"k{place}") for place in places]
            rows = self._keep_rows() if self._with_units else self._cells(self.groupings)
        else:
            used = tuple(self.groupings[place] for place in places)
            shown, rows = key_columns(used), self._cells(used)
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


def _times_plus(before: Sql, size: Sql, own: Sql) -> Sql:
    return exp.Add(this=exp.Mul(this=before, expression=size), expression=own)


def _literal(value: str | int | bool) -> Sql:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    return number(value) if isinstance(value, int) else exp.Literal.string(value)
