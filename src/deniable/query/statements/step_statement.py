"""The statement of a step of learning: sums of whole numbers of rows, at places of rows.

    kept       the rows that count, with the cells k0, k1, ... of their columns
    stored     their numbers c0, c1, ..., from 0: the same for all steps of a training
    l0, l1     one select for each level of named numbers, computed from those before
    placed     the places p0, p1, ... of a row, and the numbers v0, v1, ... to be added up
    the answer the sums of v0, v1, ... at each place: one grouping set for each of p0, p1, ...

A row has one place for each entry of `places`; their ranges do not meet, so that a row counts
at most once at each place. Without `places` there is one sum of each number over all rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from sqlglot import exp

from deniable.query.plan.key_list import is_consecutive, key_list_of, listed_values
from deniable.query.plan.plan import STORED
from deniable.query.plan.statement_text import StatementText
from deniable.query.relations.sql_nodes import Sql, clip, named, number, relation, subquery
from deniable.query.statements.input_rows import Grouping
from deniable.query.statements.marginal_statement import MarginalStatement
from deniable.query.statements.row_integers import Range, RowInteger

PLACE = "k0"


def sum_name(place: int) -> str:
    """The name of the sum of a step's number."""
    return f"n{place}"


@dataclass(frozen=True)
class StepProgram:
    """What a step adds up: `values` of each row, at each of its `places`.

    `levels` name numbers that later levels, places and values may use. `columns` are how many
    cells each column has; their numbers are c0, c1, ...
    """

    columns: tuple[int, ...]
    levels: tuple[Mapping[str, RowInteger], ...]
    places: tuple[RowInteger, ...]
    values: tuple[RowInteger, ...]

    @property
    def ranges(self) -> dict[str, Range]:
        """The range of every named number."""
        ranges = {f"c{i}": (0, size - 1) for i, size in enumerate(self.columns)}
        for level in self.levels:
            ranges |= {name: value.range(ranges) for name, value in level.items()}
        return ranges

    @property
    def size(self) -> int:
        """How many places there are. Refuses places whose ranges meet."""
        ranges = self.ranges
        ends = sorted(place.range(ranges) for place in self.places)
        if any(low[1] >= high[0] for low, high in pairwise(ends)) or (ends and ends[0][0] < 0):
            raise ValueError("The places of a step begin at 0, and their ranges do not meet.")
        return ends[-1][1] + 1 if ends else 1

    @property
    def value_ranges(self) -> list[Range]:
        """The range of each number that is added up."""
        ranges = self.ranges
        return [value.range(ranges) for value in self.values]


@dataclass(frozen=True, slots=True)
class StepStatement:
    """Writes the statements of all steps of one training: each reads the stored rows."""

    rows: MarginalStatement

    def write_stored(self) -> StatementText:
        """The statement of the stored rows. Their numbers have the smallest type that holds
        them, because there may be many rows."""
        return StatementText(self._coded())

    def _coded(self) -> exp.Select:
        parts = enumerate(self.rows.groupings)
        codes = [named(_number_cell(grouping, i), f"c{i}") for i, grouping in parts]
        return subquery(self.rows.kept(), "kept").select(*codes, copy=False)

    def write(self, program: StepProgram) -> StatementText:
        """The statement that adds up a step's numbers."""
        names = [f"c{i}" for i in range(len(program.columns))]
        read = [named(exp.cast(exp.column(name), "int", copy=False), name) for name in names]
        rows = exp.select(*read, copy=False).from_(relation(STORED), copy=False)
        for depth, level in enumerate(program.levels):
            new_columns = [named(value.sql(), name) for name, value in level.items()]
            old_columns = [exp.column(name) for name in names]
            rows = subquery(rows, f"l{depth}").select(*old_columns, *new_columns, copy=False)
            names += level
        if not program.places:  # products are added up as such, so that the kernel sees them
            sums = [
                named(exp.Sum(this=value.sql()), sum_name(i))
                for i, value in enumerate(program.values)
            ]
            return StatementText(subquery(rows, "said").select(*sums, copy=False))
        values = [named(value.sql(), f"v{i}") for i, value in enumerate(program.values)]
        places = [named(place.sql(), f"p{i}") for i, place in enumerate(program.places)]
        placed = subquery(subquery(rows, "said").select(*places, *values, copy=False), "placed")
        own, group = _group_by([exp.column(place.alias) for place in places])
        sums = [
            named(exp.Sum(this=exp.column(f"v{i}")), sum_name(i)) for i in range(len(values))
        ]
        answer = placed.select(named(own, PLACE), *sums, copy=False)
        return StatementText(answer.group_by(group, copy=False))


def _group_by(places: Sequence[Sql]) -> tuple[Sql, Sql]:
    """The place of a group, and what makes the groups. With several places a row counts once
    in each set: there, the other places are NULL."""
    if len(places) == 1:
        return places[0], places[0].copy()
    sets = [exp.Paren(this=place.copy()) for place in places]
    first, *others = places
    coalesced = exp.Coalesce(this=first, expressions=others)
    return coalesced, exp.GroupingSets(expressions=sets)


def _number_cell(grouping: Grouping, place: int) -> Sql:
    """The number of a row's cell in a column, from 0. Every row has one of the declared cells;
    the text says so again, so that the range can be read from it."""
    cell: Sql = exp.column(f"k{place}")
    key = grouping.key
    if grouping.tests:
        whole = cell if grouping.total else exp.func("COALESCE", cell, number(0))
        return exp.cast(whole, _type_of(len(key.known)), copy=False)
    values = listed_values(key)
    if key.kind == "number":
        steps = key_list_of(key.known).steps(key.step or Fraction(1))
        if steps is not None and is_consecutive(steps):
            first, last = int(steps[0]), int(steps[-1])
            inside = exp.func(
                "COALESCE", clip(cell, number(first), number(last)), number(first)
            )
            whole = inside if first == 0 else exp.Sub(this=inside, expression=number(first))
            return exp.cast(whole, _type_of(last - first + 1), copy=False)
    cases = exp.Case(this=cell)
    for code, value in enumerate(values[:-1]):
        cases = cases.when(_literal(value), number(code), copy=False)
    last_code = number(len(values) - 1)
    coded = cases.else_(last_code, copy=False) if len(values) > 1 else last_code
    return exp.cast(coded, _type_of(len(values)), copy=False)


def _type_of(size: int) -> str:
    """The type of numbers below `size`."""
    return "tinyint" if size < 1 << 7 else "smallint" if size < 1 << 15 else "int"


def _literal(value: str | int | bool) -> Sql:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    return number(value) if isinstance(value, int) else exp.Literal.string(value)
