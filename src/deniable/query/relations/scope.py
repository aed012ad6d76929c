"""Row expressions over one table: their names, value ranges and SQL."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery, UnboundedColumn
from deniable.exact.suggestions import did_you_mean
from deniable.policy import Column as Declared
from deniable.policy import Table
from deniable.query.language.date_parts import DATE_PARTS, DIFFERENCE_UNITS
from deniable.query.language.sql_dates import read_constant
from deniable.query.language.syntax_tree import Aggregate, Call, ColumnRef, Expression, Literal
from deniable.query.plan.grid_steps import coarsen_by_tens
from deniable.query.relations import value_ranges
from deniable.query.relations.function_table import FUNCTIONS
from deniable.query.relations.kind_checks import (
    JOINING,
    as_text,
    case_parts,
    check_case,
    check_joined,
    check_kinds,
    check_replaced,
    compare_alike,
    flatten,
    no_limit,
    not_a_number,
    not_in_rows,
    read_number,
    taken_by,
)
from deniable.query.relations.row_origin import NO_ORIGIN, RowOrigin, RowSource
from deniable.query.relations.sql_nodes import (
    Sql,
    case,
    clip,
    double,
    double_literal,
    is_nan,
    literal_sql,
    one_sign,
    try_cast,
)
from deniable.query.relations.text_functions import check_number_joined
from deniable.query.relations.value_ranges import ValueRange, literal_range

_TYPES = {"text": "text", "boolean": "boolean", "date": "timestamp"}
# A window and its functions that show a value of another row, which is a date if that is.
_OF_ANOTHER_ROW = {"window", "lag", "lead", "first value", "last value", "min", "max"}
_COMPARISONS = {"=", "<>", "<", "<=", ">", ">=", "in", "coalesce", "nullif"}
# Functions whose results are integers in SQL, and those that keep integers as integers.
_INTEGER = {
    "cast integer",
    "length",
    "strpos",
    *DATE_PARTS,
    *(f"{unit}s between" for unit in DIFFERENCE_UNITS),
}
_KEEP_INTEGER = {"+", "-", "*", "negative", "abs", "mod", "quotient", "least", "greatest"}
_KEEP_INTEGER |= {"clamp", "coalesce", "nullif"}
_LENGTH_OF_A_DAY = 10  # 2026-01-31
_DEFAULT_BITS = 20  # of a grid without a declared step


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns that an expression may name: those of a table, or of a relation.

    `source` makes the rows, if they are not simply those of a table. `table` holds what is
    known about the rows before any row is read. `nan_is_null` is that of the question.
    """

    table: Table
    source: RowSource | None = None
    origin: RowOrigin = NO_ORIGIN
    nan_is_null: bool = False
    # By identity; the expression is kept, so that its identity is not used again.
    _ranges: dict[int, tuple[Expression, ValueRange]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def resolve(
        self, expression: Expression, _cache: dict[int, Expression] | None = None
    ) -> Expression:
        """The expression with the table's spelling of columns. Text that is compared to a date
        is read as a date. A part that is used in many places stays one part."""
        cache = {} if _cache is None else _cache
        if id(expression) not in cache:
            cache[id(expression)] = self._resolve(expression, cache)
        return cache[id(expression)]

    def _resolve(self, expression: Expression, cache: dict[int, Expression]) -> Expression:
        if isinstance(expression, ColumnRef):
            return ColumnRef(self.column(expression.name).name)
        if isinstance(expression, Aggregate):
            first, second = (
                None if argument is None else self.resolve(argument, cache)
                for argument in (expression.argument, expression.second)
            )
            return replace(expression, argument=first, second=second)
        if not isinstance(expression, Call):
            return expression
        arguments = tuple(self.resolve(argument, cache) for argument in expression.arguments)
        if expression.name == "-" and all(map(self._is_date, arguments)):
            return self._subtract_dates(expression, arguments)
        if expression.name in ("+", "-") and any(map(self._is_date, arguments)):
            return self._add_days(expression.name, arguments)
        if expression.name.endswith((" between", " later")):
            arguments = tuple(map(_constant_date, arguments))
        if expression.name in _COMPARISONS:
            arguments = self._alike(expression.name, arguments)
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

    def _alike(self, name: str, arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """The arguments of a comparison after the casts that DuckDB would make."""
        if any(map(self._is_number, arguments)):
            arguments = tuple(map(read_number, arguments))
        try:
            kinds = [self.value_range(argument).kind for argument in arguments]
        except InvalidQuery:  # of what is not a value of a row; refused where it matters
            return arguments
        return compare_alike(name, arguments, kinds, list(map(self.is_integer, arguments)))

    def _subtract_dates(self, written: Call, arguments: tuple[Expression, ...]) -> Expression:
        """The days between two dates. Of moments, DuckDB would make an INTERVAL."""
        if len(arguments) != 2 or any(map(self._has_time, arguments)):
            raise InvalidQuery(
                f"{written} is an interval, and only whole units can be added up. Write "
                f"DATE_DIFF('hour', {arguments[-1]}, {arguments[0]}), or 'day' for 'hour'."
            )
        return Call("days between", arguments[::-1])

    def _add_days(self, sign: str, arguments: tuple[Expression, ...]) -> Expression:
        """A day plus or minus a number is another day."""
        date, days = arguments if self._is_date(arguments[0]) else arguments[::-1]
        if self._has_time(date) or (sign == "-" and date is not arguments[0]):
            raise InvalidQuery(
                f"{Call(sign, arguments)} is not a date. Write {date} + INTERVAL ({days}) DAY."
            )
        return Call("days later", (date, days if sign == "+" else Call("negative", (days,))))

    def _has_time(self, date: Expression) -> bool:
        constant = isinstance(date, Call) and date.name == "cast date" and date.arguments[0]
        if isinstance(constant, Literal):
            return len(str(constant.value)) > _LENGTH_OF_A_DAY
        return self.value_range(date).timed

    def _is_number(self, expression: Expression) -> bool:
        return isinstance(expression, ColumnRef) and (
            self.column(expression.name).kind == "number"
        )

    def _is_date(self, expression: Expression) -> bool:
        if isinstance(expression, ColumnRef):
            return self.column(expression.name).kind == "date"
        if not isinstance(expression, Call):
            return False
        if expression.name in ("coalesce", "nullif"):
            return any(map(self._is_date, expression.arguments))
        if expression.name in _OF_ANOTHER_ROW:
            return self._is_date(expression.arguments[0])
        name = expression.name
        return name == "cast date" or name.startswith("start of ") or name.endswith(" later")

    def is_integer(self, expression: Expression) -> bool:
        """Whether a value has an integer type in SQL, and so is written without a point."""
        if isinstance(expression, ColumnRef):
            return bool(self.column(expression.name).integer)
        if isinstance(expression, Literal):
            value = expression.value
            return value is None or (isinstance(value, Fraction) and value.denominator == 1)
        assert isinstance(expression, Call)
        if expression.name == "case":
            _, branches = case_parts(expression.arguments)
            return all(map(self.is_integer, branches))
        if expression.name in _KEEP_INTEGER:
            return all(map(self.is_integer, expression.arguments))
        return expression.name in _INTEGER

    def value_range(self, expression: Expression) -> ValueRange:
        """The range of an expression's values, from the policy. Refuses invalid expressions.

        A part that is used in many places, or asked about several times, is visited once.
        """
        known = self._ranges.get(id(expression))
        if known is None:
            known = self._ranges[id(expression)] = expression, self._range(expression)
        return known[1]

    def _range(self, expression: Expression) -> ValueRange:
        if isinstance(expression, Literal):
            return literal_range(expression)
        if isinstance(expression, ColumnRef):
            return self._column_range(self.column(expression.name))
        if isinstance(expression, Aggregate):
            raise InvalidQuery(
                f"{expression} is an aggregate, but a value of a single row is needed here. "
                "Use aggregates in SELECT, HAVING or ORDER BY, and not inside one another."
            )
        assert isinstance(expression, Call)
        return self._call_range(
            expression, [self.value_range(argument) for argument in expression.arguments]
        )

    def _call_range(self, call: Call, ranges: list[ValueRange]) -> ValueRange:
        function = FUNCTIONS.get(call.name)
        if function is None:
            raise InvalidQuery(not_in_rows(call))
        if not function.least <= len(ranges) <= function.most:
            raise InvalidQuery(
                f"{call} has the wrong number of arguments: {taken_by(function)}. Found "
                f"{len(ranges)}."
            )
        check_kinds(call, function.kind, [argument.kind for argument in ranges])
        if call.name == "case":
            check_case(call, [argument.kind for argument in ranges])
        if call.name == "replace":
            check_replaced(call)
        if call.name in JOINING:
            check_joined(call, list(map(self.is_integer, call.arguments)), ranges)
            check_number_joined(len(flatten(call)))
        if call.name == "cast text" and ranges[0].kind == "date":
            # DuckDB 2.0 fails on timestamps out of range, which a row could hold.
            raise InvalidQuery(
                f"{call}: Dates cannot be cast to text. Compare them to dates, or group by "
                "YEAR(...), MONTH(...) or DATE_TRUNC."
            )
        return value_ranges.shorten(function.value_range(ranges))

    def _column_range(self, column: Declared) -> ValueRange:
        if column.elements is not None:
            raise InvalidQuery(
                f"Column {column.name} holds lists. Ask about their elements, in FROM "
                f"{self.table.name}, UNNEST({column.name}) AS u(element)."
            )
        if column.kind is None:
            raise InvalidQuery(
                f"Column {column.name} cannot be used in a question: its type is not a number, "
                "text, boolean, date or timestamp. Convert it in the source, or leave it out. "
                "If it holds lists, declare their `length`, and read them with UNNEST."
            )
        if column.kind != "number":
            return ValueRange(column.kind, timed=column.timed)
        if column.bounds is None:
            return ValueRange("number", step=Fraction(1) if column.integer else column.step)
        low, high = column.bounds
        step = column.step or (Fraction(1) if column.integer else None)
        return ValueRange("number", low, high, step)

    def column(self, name: str) -> Declared:
        """The column of that name, in upper or lower case."""
        by_name = {key.lower(): column for key, column in self.table.columns.items()}
        column = by_name.get(name.lower())
        if column is None:
            hint = f"{did_you_mean(name, self.table.columns)} ".lstrip()
            raise InvalidQuery(
                f"Table {self.table.name} has no column {name}. {hint}Its columns are "
                f"{', '.join(sorted(self.table.columns))}."
            )
        return column

    def sql(self, expression: Expression) -> Sql:
        """The expression as SQL for the engine, over clean columns (`clean_column`)."""
        self.value_range(expression)
        return self._sql(expression)

    def _sql(self, expression: Expression) -> Sql:
        if isinstance(expression, Literal):
            return literal_sql(expression)
        if isinstance(expression, ColumnRef):
            return exp.column(self.alias(expression.name))
        assert isinstance(expression, Call)
        if expression.name in JOINING:
            parts = [as_text(text, self.value_range(text)) for text in flatten(expression)]
            return FUNCTIONS[expression.name].sql([self._sql(part) for part in parts])
        arguments = [self._sql(argument) for argument in expression.arguments]
        if expression.name == "cast text":
            if self.is_integer(expression.arguments[0]):
                arguments = [try_cast(arguments[0], "bigint")]
            elif self.value_range(expression.arguments[0]).kind == "number":
                arguments = [one_sign(arguments[0])]
        return FUNCTIONS[expression.name].sql(arguments)

    def alias(self, name: str) -> str:
        """The name of a clean column inside a statement: c0, c1, ..."""
        return f"c{list(self.table.columns).index(self.column(name).name)}"

    def _raw(self, column: Declared) -> Sql:
        """A column as the source has it."""
        if self.source is None:
            return exp.column(column.name, quoted=True)
        return exp.column(f"d{list(self.table.columns).index(column.name)}")

    @property
    def identity(self) -> list[Sql]:
        """What a keyed hash may use of a unit. A row's number depends on other rows, so it is
        not used."""
        return [] if self.origin.numbered else [exp.column("u")]

    def define_row_numbers(self, inner: exp.Select) -> exp.Select:
        """The statement, with definitions of the numbered rows that it uses."""
        numbered = self.origin.numbered
        for place, rows in enumerate(numbered):
            inner = rows.define_in(inner, place, len(numbered))
        return inner

    def clean_column(self, name: str) -> Sql:
        """A column as it enters a statement: cast to its kind (NULL if that fails), clipped."""
        column = self.column(name)
        raw = self._raw(column)
        if column.kind != "number":
            assert column.kind is not None  # `value_range` refuses it
            return try_cast(raw, _TYPES[column.kind])
        clean = double(raw)
        if column.bounds is not None:
            low, high = (double_literal(end) for end in column.bounds)
            clean = clip(clean, low, high)
        if self.nan_is_null and not column.integer:
            return case(is_nan(double(raw.copy())), exp.null(), clean)
        return clean

    def clean_integer_column(self, name: str) -> Sql:
        """A column of integers as it enters a statement as a group key: an integer, clipped."""
        column = self.column(name)
        bare = self._raw(column)
        if column.elements is not None or (column.narrow and column.bounds is None):
            return bare  # grouping by a wider type takes a fifth longer
        raw = exp.TryCast(this=bare, to=exp.DataType.build("bigint"), safe=True)
        if column.bounds is None:
            return raw
        low, high = column.bounds
        ends = (exp.Literal.number(end) for end in (low.__ceil__(), high.__floor__()))
        return clip(raw, *ends)

    def is_outside_bounds(self, name: str) -> Sql:
        """SQL for whether a column's value lies outside its bounds, before it is clipped."""
        column = self.column(name)
        if self.source is not None:
            raise InvalidQuery(
                f"CLIPPED({name}) counts the values of a table's own column outside its "
                "bounds. Ask for it without joins, groups and sub-queries in FROM."
            )
        if column.bounds is None:
            raise InvalidQuery(
                f"CLIPPED({column.name}): {column.name} has no bounds, so no value is clipped. "
                "Declare bounds in the policy to clip values."
            )
        raw = double(self._raw(column))
        low, high = (double_literal(end) for end in column.bounds)
        return exp.or_(
            exp.GT(this=raw, expression=high), exp.LT(this=raw.copy(), expression=low)
        )

    def grid(self, argument: Expression) -> tuple[int, int, Fraction]:
        """The argument's bounds in whole steps, and the step. Refuses unbounded arguments.

        Where a bound lies too many steps from zero, the grid is coarser than declared.
        """
        values = self.value_range(argument)
        if values.kind == "boolean":
            return 0, 1, Fraction(1)
        if values.kind != "number":
            raise InvalidQuery(not_a_number(argument, values.kind, self.table))
        if values.low is None or values.high is None:
            raise UnboundedColumn(no_limit(argument, self.table))
        step = values.step
        # A constant has width 0. Then any power of ten will do.
        width = values.high - values.low or abs(values.high) or Fraction(1)
        if step is None or width / step > 1 << 40:
            step = _power_of_ten(width / (1 << _DEFAULT_BITS))
        low, high = values.low / step, values.high / step
        return coarsen_by_tens(low.__floor__(), high.__ceil__(), step)


def _constant_date(expression: Expression) -> Expression:
    """A text constant as the date that it is, as in DATEDIFF(day, '2026-01-31')."""
    dated = isinstance(expression, Literal) and read_constant(expression) is not None
    return Call("cast date", (expression,)) if dated else expression


def _power_of_ten(step: Fraction) -> Fraction:
    """The largest power of ten that is at most `step`."""
    power = Fraction(1)
    while power > step:
        power /= 10
    while power * 10 <= step:
        power *= 10
    return power
