"""The rows that a statement counts or adds up, as its innermost select.

clean      the columns that are used, cast to their kind and clipped
said       of the rows that pass WHERE: the keys k0, k1, ... and the arguments y0, y1, ...
steps      the arguments in whole steps x0, x1, ...; declared keys only
rows       the integers x0, x1, ... clipped to their limits

The integers are clipped last, always. A double at its bound may round to one step beyond, and
the sensitivity counts on the limits.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from sqlglot import exp

from deniable.query.language.syntax_tree import Call, ColumnRef, Expression, Literal
from deniable.query.plan.key_list import (
    MOST_JOINED,
    is_beside,
    is_consecutive,
    key_list_of,
    key_relation,
)
from deniable.query.plan.plan import GroupKey
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import (
    Sql,
    case,
    clip,
    column,
    copies,
    double,
    double_literal,
    named,
    number,
    relation,
    subquery,
    try_cast,
)
from deniable.query.relations.views import select_clean_columns
from deniable.query.statements.numbered_tests import number_of_test
from deniable.query.statements.statistics import OF_VALUES, Statistic

_LARGEST_INT = 2_000_000_000
_Argument: TypeAlias = tuple[str, Statistic, Expression]  # its place, limits and expression


@dataclass(frozen=True, slots=True)
class Grouping:
    """A key of the plan, and the row expression that it groups by."""

    key: GroupKey
    expression: Expression
    in_plan: bool = True  # whether it is one of the plan's keys, which engines can read
    total: bool = False  # whether every row has a declared value, so that none is looked up
    plan_place: int | None = None  # of its key in the plan, if the plan has fewer keys
    # The key is the number of the first of these that holds, and not the expression's value.
    tests: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class InputRows:
    """Everything that the rows of a statement are made from."""

    scope: Scope
    where: Expression | None
    groupings: tuple[Grouping, ...]
    statistics: tuple[Statistic, ...]
    other: bool
    late: bool = False  # whether very many keys are left to `late_conditions`

    def sql(self) -> exp.Select:
        """Of each row: its unit u, its keys and its arguments."""
        arguments = self._arguments()
        unit = [exp.column("u")] if self.scope.table.unit is not None else []
        carried = unit + key_columns(self.groupings)
        steps = [
            named(self._in_steps(place, statistic, argument), f"x{place}")
            for place, statistic, argument in arguments
        ]
        rows = subquery(self._filter_rows(arguments), "said").select(
            *(carried + steps or [number(1)]), copy=False
        )
        rows = rows.where(*self._declared_keys_only(), copy=False)
        if not any(self._is_counted_in_steps(which, what) for _, which, what in arguments):
            return rows
        clipped = [
            named(self._clip_steps(*argument), f"x{argument[0]}") for argument in arguments
        ]
        return subquery(rows, "steps").select(*copies(carried), *clipped, copy=False)

    def _filter_rows(self, arguments: list[_Argument]) -> exp.Select:
        """Keys and arguments of the rows that pass WHERE."""
        unit = [exp.column("u")] if self.scope.table.unit is not None else []
        keys = [
            named(self._key_sql(i, grouping), f"k{i}")
            for i, grouping in enumerate(self.groupings)
        ]
        values = [
            named(self.scope.sql(argument), f"y{place}") for place, _, argument in arguments
        ]
        filtered = subquery(self._select_clean(arguments), "clean").select(
            *(unit + keys + values or [number(1)]), copy=False
        )
        if self.where is None:
            return filtered
        return filtered.where(self.scope.sql(self.where), copy=False)

    def _select_clean(self, arguments: list[_Argument]) -> exp.Select:
        used = [
            part
            for grouping in self.groupings
            if self._integer_key(grouping) is None
            for part in grouping.tests or [grouping.expression]
        ]
        used += [argument for _, _, argument in arguments]
        used += [] if self.where is None else [self.where]
        integers = dict.fromkeys(filter(None, map(self._integer_key, self.groupings)))
        return select_clean_columns(self.scope, used, integers, outermost=True)

    def _integer_key(self, grouping: Grouping) -> str | None:
        """The name of a key that is a column of integers: it needs no cast to double."""
        expression = grouping.expression
        if (
            isinstance(expression, ColumnRef)
            and grouping.key.kind == "number"
            and grouping.key.step == 1
            and not grouping.tests
        ):
            return expression.name if self.scope.column(expression.name).integer else None
        return None

    def _is_counted_in_steps(self, statistic: Statistic, argument: Expression) -> bool:
        """Whether an argument is a number that is added up, ranked or put into bins."""
        kind = self.scope.value_range(argument).kind
        return statistic.kind != "present" and kind in ("number", "boolean")

    def _in_steps(self, place: str, statistic: Statistic, argument: Expression) -> Sql:
        """An argument in whole steps. It is clipped first, so that the cast cannot fail; a
        column was already clipped to its bounds."""
        value: Sql = exp.column(f"y{place}")
        if not self._is_counted_in_steps(statistic, argument):
            return value
        if self.scope.value_range(argument).kind == "boolean":
            value = double(value)
        if statistic.step != 1:
            value = exp.Mul(this=value, expression=double_literal(1 / statistic.step))
        low, high = statistic.low, statistic.high
        if not isinstance(argument, ColumnRef):
            value = clip(value, number(low), number(high))
        wide = max(abs(low), abs(high), high - low) > _LARGEST_INT
        return exp.cast(value, "bigint" if wide else "int", copy=False)

    def _clip_steps(self, place: str, statistic: Statistic, argument: Expression) -> Sql:
        """The integer of an argument, clipped to its limits. NULL stays NULL."""
        value = exp.column(f"x{place}")
        if not self._is_counted_in_steps(statistic, argument):
            return value
        return clip(value, number(statistic.low), number(statistic.high))

    def _key_sql(self, place: int, grouping: Grouping) -> Sql:
        key = grouping.key
        if grouping.tests:
            return number_of_test(grouping.tests, self.scope.sql, total=grouping.total)
        value = self.scope.sql(
            _seconds(grouping.expression) if key.kind == "moment" else grouping.expression
        )
        integer = self._integer_key(grouping)
        if integer is not None:
            value = exp.column(f"{self.scope.alias(integer)}_key")
        elif key.kind in ("number", "moment"):
            scaled = exp.Mul(
                this=value, expression=double_literal(1 / (key.step or Fraction(1)))
            )
            value = try_cast(exp.func("ROUND", scaled, copy=False), "bigint")
        elif key.kind == "date":
            value = try_cast(try_cast(value, "date"), "text")
        if self.other and key.values is not None:
            return case(self._in(value.copy(), place, grouping), value)
        return value

    def _declared_keys_only(self) -> list[Sql]:
        """Only declared keys make groups, unless the question asks for the other rows too."""
        return [
            self._in(exp.column(f"k{i}"), i, grouping)
            for i, grouping in enumerate(self.groupings)
            if grouping.key.values is not None
            and not (self.other or grouping.total)
            and not self._is_late(grouping)
        ]

    def late_conditions(self) -> list[Sql]:
        """The same for very many keys: each group is looked up, and not each row."""
        return [
            self._in(exp.column(f"k{i}"), i, grouping)
            for i, grouping in enumerate(self.groupings)
            if self._is_late(grouping)
        ]

    def _is_late(self, grouping: Grouping) -> bool:
        key = grouping.key
        many = key.values is not None and len(key.values) > MOST_JOINED
        return self.late and not self.other and grouping.in_plan and many and is_beside(key)

    def _in(self, value: Sql, place: int, grouping: Grouping) -> Sql:
        """Whether a value is one of the declared ones."""
        key = grouping.key
        if key.nulls:
            known = Grouping(replace(key, values=key.known), grouping.expression, False)
            absent = exp.Is(this=value.copy(), expression=exp.null())
            return exp.paren(exp.or_(absent, self._in(value, place, known), copy=False))
        if grouping.in_plan and is_beside(key):
            keys = exp.Select(expressions=[column("key")])
            own = place if grouping.plan_place is None else grouping.plan_place
            keys = keys.from_(relation(key_relation(own)), copy=False)
            return exp.In(this=value, query=exp.Subquery(this=keys))
        if key.kind == "number":
            steps = key_list_of(key.known).steps(key.step or Fraction(1))
            assert steps is not None  # `key_of` refuses keys that are too far from zero
            if len(steps) > 1 and is_consecutive(steps):
                first, last = (exp.Literal.number(int(steps[i])) for i in (0, -1))
                return exp.Between(this=value, low=first, high=last)
            listed = [exp.Literal.number(step) for step in steps.tolist()]
            return exp.In(this=value, expressions=listed)
        if key.kind == "boolean" and len(key.known) == 2:
            return exp.Not(this=exp.Is(this=value, expression=exp.null()))
        declared = [
            key_value if isinstance(key_value, bool) else str(key_value)
            for key_value in key.known
        ]
        literals = [self.scope.sql(Literal(key_value)) for key_value in declared]
        return exp.In(this=value, expressions=literals)

    def _arguments(self) -> list[_Argument]:
        """Every argument with its place: a number, and a letter for the second of a pair."""
        arguments: list[_Argument] = []
        for i, first in enumerate(self.statistics):
            if first.argument is not None and first.kind not in ("units", *OF_VALUES):
                arguments.append((f"{i}", first, first.argument))
            second = first.second
            if second is not None and second.argument is not None:
                arguments.append((f"{i}b", second, second.argument))
        return arguments


def _seconds(moment: Expression) -> Expression:
    """The whole seconds from 1970 to a moment."""
    return Call("seconds between", (Call("cast date", (Literal("1970-01-01"),)), moment))


def key_columns(groupings: tuple[Grouping, ...]) -> list[Sql]:
    """The columns k0, k1, ... of the keys."""
    return [exp.column(f"k{i}") for i in range(len(groupings))]


def most_groups(groupings: tuple[Grouping, ...], *, other: bool) -> int | None:
    """How many groups there can be; None where a key is private: any number. None with NULL,
    too: the kernel reads the number of groups off a list of values, and NULL is in none."""
    count = 1
    for grouping in groupings:
        if grouping.key.values is None or grouping.key.nulls:
            return None
        count *= len(grouping.key.values) + other
    return count
