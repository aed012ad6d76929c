"""The rows that a statement adds up: clean, kept by WHERE, in whole steps, of listed groups.

clean      the columns that are used, cast to their kind and clipped
said       of the rows that WHERE keeps: the keys k0, k1, ... and the arguments y0, y1, ...
rows       the arguments in whole steps x0, x1, ..., clipped once more; declared keys only
"""

from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from deniable.query.language.expressions import ColumnRef, Expression, Literal
from deniable.query.plan.key_list import listing, unbroken
from deniable.query.plan.plan import GroupKey
from deniable.query.relations.clean_columns import clean
from deniable.query.relations.functions import (
    Sql,
    case,
    clip,
    double,
)
from deniable.query.relations.scope import Scope, double_literal
from deniable.query.relations.sql_terms import (
    column,
    named,
    number,
    subquery,
    try_cast,
)
from deniable.query.statements.statistics import Statistic

_LARGEST_INT = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Grouping:
    """A key of the plan, and the row expression that it groups by."""

    key: GroupKey
    expression: Expression


@dataclass(frozen=True, slots=True)
class Rows:
    """What the rows of a statement are made from."""

    scope: Scope
    where: Expression | None
    groupings: tuple[Grouping, ...]
    statistics: tuple[Statistic, ...]
    other: bool

    def sql(self) -> exp.Select:
        """Of each row: its unit u, its keys and its arguments."""
        unit = [column("u")] if self.scope.table.unit is not None else []
        steps = [named(self._steps(i, one), f"x{i}") for i, one in self._with_argument()]
        rows = subquery(self._said(), "said").select(
            *(unit + key_columns(self.groupings) + steps or [number(1)]), copy=False
        )
        return rows.where(*self._listed(), copy=False)

    def _said(self) -> exp.Select:
        unit = [column("u")] if self.scope.table.unit is not None else []
        keys = [named(self._key_sql(one), f"k{i}") for i, one in enumerate(self.groupings)]
        values = [
            named(self.scope.sql(one.argument), f"y{i}")
            for i, one in self._with_argument()
            if one.argument is not None
        ]
        said = subquery(self._clean(), "clean").select(
            *(unit + keys + values or [number(1)]), copy=False
        )
        if self.where is None:
            return said
        return said.where(self.scope.sql(self.where), copy=False)

    def _clean(self) -> exp.Select:
        used = [one.expression for one in self.groupings if self._whole_key(one) is None]
        used += [one.argument for _, one in self._with_argument() if one.argument is not None]
        used += [] if self.where is None else [self.where]
        whole = dict.fromkeys(filter(None, map(self._whole_key, self.groupings)))
        return clean(self.scope, used, whole, outermost=True)

    def _whole_key(self, grouping: Grouping) -> str | None:
        """The column, if a key is one of integers: no need to go through doubles."""
        one = grouping.expression
        if (
            isinstance(one, ColumnRef)
            and grouping.key.kind == "number"
            and grouping.key.step == 1
        ):
            return one.name if self.scope.column(one.name).integer else None
        return None

    def _steps(self, i: str, one: Statistic) -> Sql:
        """An argument in whole steps; a column was clipped to the same limits already."""
        assert one.argument is not None
        value, kind = column(f"y{i}"), self.scope.facts(one.argument).kind
        if one.kind == "present" or kind not in ("number", "boolean"):
            return value
        if kind == "boolean":
            value = double(value)
        if one.step != 1:
            value = exp.Mul(this=value, expression=double_literal(1 / one.step))
        if not isinstance(one.argument, ColumnRef):
            value = clip(value, number(one.low), number(one.high))
        wide = max(abs(one.low), abs(one.high), one.width) > _LARGEST_INT
        return exp.cast(value, "bigint" if wide else "int", copy=False)

    def _key_sql(self, grouping: Grouping) -> Sql:
        key, value = grouping.key, self.scope.sql(grouping.expression)
        whole = self._whole_key(grouping)
        if whole is not None:
            value = column(f"{self.scope.alias(whole)}_key")
        elif key.kind == "number":
            scaled = exp.Mul(
                this=value, expression=double_literal(1 / (key.step or Fraction(1)))
            )
            value = try_cast(exp.func("ROUND", scaled, copy=False), "bigint")
        elif key.kind == "date":
            value = try_cast(try_cast(value, "date"), "text")
        if self.other and key.values is not None:
            return case(self._in(value.copy(), key), value)
        return value

    def _listed(self) -> list[Sql]:
        """Only declared keys make groups, unless the rest is asked for."""
        if self.other:
            return []
        return [
            self._in(column(f"k{i}"), one.key)
            for i, one in enumerate(self.groupings)
            if one.key.values is not None
        ]

    def _in(self, value: Sql, key: GroupKey) -> Sql:
        assert key.values is not None
        if key.kind == "number":
            ends = listing(key.values).steps(key.step or Fraction(1))
            assert ends is not None  # or the key would have been refused
            if len(ends) > 1 and unbroken(ends):
                first, last = (exp.Literal.number(int(ends[i])) for i in (0, -1))
                return exp.Between(this=value, low=first, high=last)
            listed = [exp.Literal.number(one) for one in ends.tolist()]
            return exp.In(this=value, expressions=listed)
        if key.kind == "boolean" and len(key.values) == 2:
            return exp.Not(this=exp.Is(this=value, expression=exp.null()))
        kept = [one if isinstance(one, bool) else str(one) for one in key.values]
        return exp.In(this=value, expressions=[self.scope.sql(Literal(one)) for one in kept])

    def _with_argument(self) -> list[tuple[str, Statistic]]:
        """What is in the rows: by place, the second of a pair with a letter behind it."""
        found: list[tuple[str, Statistic]] = []
        for i, one in enumerate(self.statistics):
            if one.argument is not None and one.kind not in ("units", "distinct"):
                found.append((f"{i}", one))
            if one.beside is not None:
                found.append((f"{i}b", one.beside))
        return found


def key_columns(groupings: tuple[Grouping, ...]) -> list[Sql]:
    """The columns k0, k1, ... of the keys."""
    return [column(f"k{i}") for i in range(len(groupings))]
