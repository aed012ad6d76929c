"""Row expressions of one table: checked, limited and written as the engine's SQL."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import TypeVar

from sqlglot import exp

from deniable.errors import InvalidQuery, UnboundedColumn
from deniable.policy import Column as Declared
from deniable.policy import Table
from deniable.query.language.date_parts import DATE_PARTS, DIFFERENCE_UNITS
from deniable.query.language.syntax_tree import Aggregate, Call, ColumnRef, Expression, Literal
from deniable.query.relations import value_ranges
from deniable.query.relations.function_table import FUNCTIONS
from deniable.query.relations.row_origin import NO_ORIGIN, RowOrigin, RowSource
from deniable.query.relations.sql_nodes import Sql, clip, double, double_literal, try_cast
from deniable.query.relations.value_ranges import ValueRange

_TYPES = {"text": "text", "boolean": "boolean", "date": "timestamp"}
_COMPARISONS = {"=", "<>", "<", "<=", ">", ">=", "in", "coalesce", "nullif"}
# What SQL makes integers of, and what leaves integers what they are.
_WHOLE = {
    "cast integer",
    "length",
    "strpos",
    *DATE_PARTS,
    *(f"{one}s between" for one in DIFFERENCE_UNITS),
}
_KEEP_WHOLE = {"+", "-", "*", "negative", "abs", "mod", "quotient", "least", "greatest"}
_KEEP_WHOLE |= {"clamp", "coalesce", "nullif"}
_FINEST = 20  # bits of a grid that nobody declared

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns that an expression may name: those of a table, or of what is made of some.

    Where rows are made of others, `source` makes them, and `table` holds what is known about
    them before any is read.
    """

    table: Table
    source: RowSource | None = None
    origin: RowOrigin = NO_ORIGIN

    def resolve(
        self, expression: Expression, _known: dict[int, Expression] | None = None
    ) -> Expression:
        """The expression with columns spelt as the table spells them, and with text that is
        compared to a date read as one. A part that stands in many places stays one part."""
        known = {} if _known is None else _known
        if id(expression) not in known:
            known[id(expression)] = self._resolved(expression, known)
        return known[id(expression)]

    def _resolved(self, expression: Expression, known: dict[int, Expression]) -> Expression:
        if isinstance(expression, ColumnRef):
            return ColumnRef(self.column(expression.name).name)
        if isinstance(expression, Aggregate):
            two = expression.argument, expression.second
            one, other = (None if part is None else self.resolve(part, known) for part in two)
            return replace(expression, argument=one, second=other)
        if not isinstance(expression, Call):
            return expression
        arguments = tuple(self.resolve(argument, known) for argument in expression.arguments)
        if expression.name in _COMPARISONS and any(
            self._is_date(argument) for argument in arguments
        ):
            arguments = tuple(
                Call("cast date", (argument,))
                if isinstance(argument, Literal) and isinstance(argument.value, str)
                else argument
                for argument in arguments
            )
        return Call(expression.name, arguments)

    def _is_date(self, expression: Expression) -> bool:
        if isinstance(expression, ColumnRef):
            return self.column(expression.name).kind == "date"
        if not isinstance(expression, Call):
            return False
        if expression.name in ("coalesce", "nullif"):
            return any(map(self._is_date, expression.arguments))
        return expression.name == "cast date" or expression.name.startswith("start of ")

    def _is_whole(self, expression: Expression) -> bool:
        """Whether a value is an integer to SQL, and so is written without a point."""
        if isinstance(expression, ColumnRef):
            return bool(self.column(expression.name).integer)
        if isinstance(expression, Literal):
            value = expression.value
            return value is None or (isinstance(value, Fraction) and value.denominator == 1)
        assert isinstance(expression, Call)
        if expression.name == "case":
            _, branches = _case_parts(expression.arguments)
            return all(map(self._is_whole, branches))
        if expression.name in _KEEP_WHOLE:
            return all(map(self._is_whole, expression.arguments))
        return expression.name in _WHOLE

    def value_range(
        self, expression: Expression, _known: dict[int, ValueRange] | None = None
    ) -> ValueRange:
        """What the policy says about an expression's value; refuses what has no meaning.

        A part that stands in many places is looked at once.
        """
        known = {} if _known is None else _known
        if id(expression) not in known:
            known[id(expression)] = self._facts(expression, known)
        return known[id(expression)]

    def _facts(self, expression: Expression, known: dict[int, ValueRange]) -> ValueRange:
        if isinstance(expression, Literal):
            return _literal_facts(expression)
        if isinstance(expression, ColumnRef):
            return self._column_facts(self.column(expression.name))
        if isinstance(expression, Aggregate):
            raise InvalidQuery(
                f"{expression} stands where a value of a single row is needed. Aggregates "
                "belong into SELECT, HAVING or ORDER BY, and not inside one another."
            )
        assert isinstance(expression, Call)
        return self._call_facts(
            expression, [self.value_range(argument, known) for argument in expression.arguments]
        )

    def _call_facts(self, call: Call, known: list[ValueRange]) -> ValueRange:
        function = FUNCTIONS.get(call.name)
        if function is None:
            raise InvalidQuery(f"{call} works on aggregates only, such as {call.name}(AVG(x)).")
        if not function.least <= len(known) <= function.most:
            raise InvalidQuery(f"{call} has the wrong number of arguments.")
        _check_kinds(call, function.kind, [one.kind for one in known])
        if call.name == "case":
            _check_case(call, known)
        if call.name == "cast text" and known[0].kind == "date":
            # DuckDB 2.0 fails on timestamps out of range, which a row could hold.
            raise InvalidQuery(f"{call}: dates are compared to dates here, not made into text.")
        return value_ranges.shorten(function.value_range(known))

    def _column_facts(self, column: Declared) -> ValueRange:
        if column.kind != "number":
            return ValueRange(column.kind)
        if column.bounds is None:
            return ValueRange("number", step=Fraction(1) if column.integer else column.step)
        low, high = column.bounds
        step = column.step or (Fraction(1) if column.integer else None)
        return ValueRange("number", low, high, step)

    def column(self, name: str) -> Declared:
        """The column of that name, in any case of letters."""
        by_name = {one.lower(): declared for one, declared in self.table.columns.items()}
        found = by_name.get(name.lower())
        if found is None:
            near = get_close_matches(name, list(self.table.columns), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InvalidQuery(
                f"Table {self.table.name} has no column {name}.{hint} It has "
                f"{', '.join(sorted(self.table.columns))}."
            )
        return found

    def sql(self, expression: Expression) -> Sql:
        """The expression in the engine's words, over columns that `leaf` has cleaned."""
        self.value_range(expression)
        return self._sql(expression)

    def _sql(self, expression: Expression) -> Sql:
        if isinstance(expression, Literal):
            return _literal_sql(expression)
        if isinstance(expression, ColumnRef):
            return exp.column(self.alias(expression.name))
        assert isinstance(expression, Call)
        arguments = [self._sql(argument) for argument in expression.arguments]
        if expression.name == "cast text" and self._is_whole(expression.arguments[0]):
            arguments = [try_cast(argument, "bigint") for argument in arguments]
        return FUNCTIONS[expression.name].sql(arguments)

    def alias(self, name: str) -> str:
        """What a cleaned column is called inside a query, whatever the table calls it."""
        return f"c{list(self.table.columns).index(self.column(name).name)}"

    def _raw(self, column: Declared) -> Sql:
        """A column as the source has it."""
        if self.source is None:
            return exp.column(column.name, quoted=True)
        return exp.column(f"d{list(self.table.columns).index(column.name)}")

    @property
    def identity(self) -> list[Sql]:
        """What of a unit a keyed hash may draw on: a row's number hangs on other rows."""
        return [] if self.origin.numbered else [exp.column("u")]

    def define_row_numbers(self, inner: exp.Select) -> exp.Select:
        """The statement, with the numbers of rows that it draws on."""
        counted = self.origin.numbered
        for place, one in enumerate(counted):
            inner = one.define_in(inner, place, len(counted))
        return inner

    def clean_column(self, name: str) -> Sql:
        """A column as it enters a query: cast to its kind, NULL where that fails, clipped."""
        column = self.column(name)
        raw = self._raw(column)
        if column.kind != "number":
            return exp.TryCast(
                this=raw, to=exp.DataType.build(_TYPES[column.kind or "text"]), safe=True
            )
        if column.bounds is None:
            return double(raw)
        low, high = (double_literal(end) for end in column.bounds)
        return clip(double(raw), low, high)

    def clean_integer_column(self, name: str) -> Sql:
        """A column of integers as it enters a query as a group key: an integer, clipped."""
        column = self.column(name)
        bare = self._raw(column)
        if column.narrow and column.bounds is None:
            return bare  # grouping by a wider type takes a fifth longer
        raw = exp.TryCast(this=bare, to=exp.DataType.build("bigint"), safe=True)
        if column.bounds is None:
            return raw
        low, high = column.bounds
        ends = (exp.Literal.number(end) for end in (low.__ceil__(), high.__floor__()))
        return clip(raw, *ends)

    def is_outside_bounds(self, name: str) -> Sql:
        """Whether a column's value lies outside of its bounds, before it is clipped."""
        column = self.column(name)
        if self.source is not None:
            raise InvalidQuery(
                f"CLIPPED({name}) counts what the bounds of a table's own column cut: ask it "
                "of the table alone, without joins and groups."
            )
        if column.bounds is None:
            raise InvalidQuery(f"{column.name} has no bounds, so nothing of it is clipped.")
        raw = double(self._raw(column))
        low, high = (double_literal(end) for end in column.bounds)
        return exp.or_(
            exp.GT(this=raw, expression=high), exp.LT(this=raw.copy(), expression=low)
        )

    def grid(self, argument: Expression) -> tuple[int, int, Fraction]:
        """The argument's limits in whole steps, and the step; refuses what has no limit."""
        known = self.value_range(argument)
        if known.kind == "boolean":
            return 0, 1, Fraction(1)
        if known.kind != "number":
            raise InvalidQuery(
                f"{argument} is {known.kind}, and only numbers can be added up or ranked. "
                "COUNT it; or ask for its most frequent values, with MODE or TOP_K."
            )
        if known.low is None or known.high is None:
            raise UnboundedColumn(_no_limit(argument))
        step = known.step
        # A constant has no width, and any power of ten is more than nothing.
        width = known.high - known.low or abs(known.high) or Fraction(1)
        if step is None or width / step > 1 << 40:
            step = _nice_step(width / (1 << _FINEST))
        low, high = known.low / step, known.high / step
        return low.__floor__(), high.__ceil__(), step


def _no_limit(argument: Expression) -> str:
    if isinstance(argument, ColumnRef):
        return (
            f"SUM({argument}) has no limit: one person could change it by any amount.\n"
            f"  Declare bounds in the policy, for example   "
            f"{argument} = {{ bounds = [0, 1000], step = 1 }}"
        )
    return (
        f"SUM({argument}) has no limit: one person could change it by any amount.\n"
        f"  Declare bounds of its columns in the policy, or write CLAMP({argument}, 0, 1000)."
    )


def _nice_step(step: Fraction) -> Fraction:
    """The largest power of ten that is at most `step`."""
    power = Fraction(1)
    while power > step:
        power /= 10
    while power * 10 <= step:
        power *= 10
    return power


def _check_kinds(
    call: Call, kind: str | tuple[str, ...] | None, found: list[str | None]
) -> None:
    if isinstance(kind, tuple):
        last = len(kind) - 1
        wrong = [one for i, one in enumerate(found) if one not in (kind[min(i, last)], None)]
        takes = ", then ".join(kind)
    else:
        kinds = {one for one in found if one is not None}
        alike = kinds if kind == "same" else {kind}
        wrong = [] if kind is None or (kinds <= alike and len(kinds) < 2) else sorted(kinds)
        takes = "values of one kind" if kind == "same" else str(kind)
    if wrong:
        shown = ", ".join(sorted({str(one) for one in found if one is not None}))
        raise InvalidQuery(
            f"{call} mixes kinds: it takes {takes}. Found {shown}. CAST one of them."
        )


def _case_parts(parts: Sequence[_Part]) -> tuple[list[_Part], list[_Part]]:
    """The conditions of CASE, and its values."""
    odd = len(parts) % 2
    return [*parts[: len(parts) - odd : 2]], [*parts[1::2], *(parts[-1:] if odd else ())]


def _check_case(call: Call, known: list[ValueRange]) -> None:
    conditions, branches = _case_parts(known)
    values = {branch.kind for branch in branches if branch.kind is not None}
    if any(condition.kind not in ("boolean", None) for condition in conditions):
        raise InvalidQuery(f"{call}: what follows WHEN must be true or false.")
    if len(values) > 1:
        raise InvalidQuery(f"{call}: its values must be of one kind. Found {sorted(values)}.")


def _literal_facts(literal: Literal) -> ValueRange:
    if literal.value is None:
        return ValueRange(None)
    if isinstance(literal.value, bool):
        return ValueRange("boolean")
    return (
        ValueRange("text")
        if isinstance(literal.value, str)
        else value_ranges.constant(literal.value)
    )


def _literal_sql(literal: Literal) -> Sql:
    if literal.value is None:
        return exp.null()
    if isinstance(literal.value, bool):
        return exp.true() if literal.value else exp.false()
    if isinstance(literal.value, str):
        return exp.Literal.string(literal.value)
    return double_literal(literal.value)
