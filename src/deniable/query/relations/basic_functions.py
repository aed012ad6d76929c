"""Functions of rows: arithmetic, comparisons, logic, CASE and CAST.

Each function is total: it cannot fail in an engine, whatever the rows hold. Division by zero is
NULL, casts that fail are NULL, and numbers are doubles.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from deniable.query.plan.grid_steps import common_step
from deniable.query.relations import value_ranges
from deniable.query.relations.sql_nodes import Sql, case, clip, double
from deniable.query.relations.value_ranges import ValueRange

ANY = 10_000  # any number of arguments


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its arguments, the range of its values, and its SQL."""

    least: int  # arguments
    most: int
    # The kind of all arguments; "same": all the same; None: any; a tuple: one for each.
    kind: str | tuple[str, ...] | None
    value_range: Callable[[list[ValueRange]], ValueRange]
    sql: Callable[[list[Sql]], Sql]


def _in_brackets(tree: Sql) -> Sql:
    """Without them, `a = b IS NULL` would mean `(a = b) IS NULL`."""
    return exp.paren(tree, copy=False)


def _infix(kind: type[exp.Expr]) -> Callable[[list[Sql]], Sql]:
    return lambda arguments: exp.paren(
        kind(this=arguments[0], expression=arguments[1]), copy=False
    )


def _sum(kind: type[exp.Expr], *alike: type[exp.Expr]) -> Callable[[list[Sql]], Sql]:
    """`((a + b) - c)` is written `(a + b - c)`, which is the same, so a long sum nests no
    deeper than a short one."""

    def write(arguments: list[Sql]) -> Sql:
        left, right = arguments
        inner: Sql = left.this if isinstance(left, exp.Paren) else left
        first = inner if isinstance(inner, (kind, *alike)) else left
        return exp.paren(kind(this=first, expression=right), copy=False)

    return write


def _chain(kind: type[exp.Expr]) -> Callable[[list[Sql]], Sql]:
    def balanced(arguments: list[Sql]) -> Sql:
        """A balanced tree, so that a long chain does not nest deeply."""
        if len(arguments) == 1:
            return arguments[0]
        middle = len(arguments) // 2
        left, right = balanced(arguments[:middle]), balanced(arguments[middle:])
        return exp.paren(kind(this=left, expression=right), copy=False)

    return balanced


def _function(name: str) -> Callable[[list[Sql]], Sql]:
    return lambda arguments: exp.func(name, *arguments, copy=False)


def _try_cast(kind: str) -> Callable[[list[Sql]], Sql]:
    return lambda arguments: exp.TryCast(
        this=arguments[0], to=exp.DataType.build(kind), safe=True
    )


def _unbounded(kind: str) -> Callable[[list[ValueRange]], ValueRange]:
    return lambda arguments: ValueRange(kind)


def _case_range(arguments: list[ValueRange]) -> ValueRange:
    """The range of CASE: of its values, which are every second argument, and of its ELSE."""
    values = arguments[1::2] + (arguments[-1:] if len(arguments) % 2 else [])
    return value_ranges.hull(values)


def _divide(arguments: list[Sql]) -> Sql:
    zero = exp.Literal.number(0)
    below = exp.func("NULLIF", arguments[1], zero, copy=False)
    return exp.paren(exp.Div(this=arguments[0], expression=below, typed=False), copy=False)


def _greatest_range(arguments: list[ValueRange]) -> ValueRange:
    return value_ranges.negative(
        value_ranges.least([value_ranges.negative(argument) for argument in arguments])
    )


def _clamp_range(arguments: list[ValueRange]) -> ValueRange:
    _, low, high = arguments
    if low.low is None or high.high is None:
        return ValueRange("number")
    return ValueRange(
        "number", low.low, high.high, common_step([argument.step for argument in arguments])
    )


def _clamp(arguments: list[Sql]) -> Sql:
    value, low, high = arguments
    return clip(value, low, high)


def _comparison(kind: type[exp.Expr]) -> Function:
    return Function(2, 2, "same", _unbounded("boolean"), _infix(kind))


FUNCTIONS: dict[str, Function] = {
    "+": Function(2, 2, "number", lambda a: value_ranges.plus(*a), _sum(exp.Add, exp.Sub)),
    "-": Function(
        2,
        2,
        "number",
        lambda a: value_ranges.plus(a[0], value_ranges.negative(a[1])),
        _sum(exp.Sub, exp.Add),
    ),
    "*": Function(2, 2, "number", lambda a: value_ranges.times(*a), _sum(exp.Mul)),
    "/": Function(2, 2, "number", lambda a: value_ranges.quotient(*a), _divide),
    "negative": Function(
        1,
        1,
        "number",
        lambda a: value_ranges.negative(a[0]),
        lambda a: _in_brackets(exp.Neg(this=a[0])),
    ),
    "abs": Function(1, 1, "number", lambda a: value_ranges.absolute(a[0]), _function("ABS")),
    "floor": Function(1, 1, "number", lambda a: value_ranges.rounded(a[0]), _function("FLOOR")),
    "ceil": Function(1, 1, "number", lambda a: value_ranges.rounded(a[0]), _function("CEIL")),
    "round": Function(1, 1, "number", lambda a: value_ranges.rounded(a[0]), _function("ROUND")),
    "least": Function(1, ANY, "number", value_ranges.least, _function("LEAST")),
    "greatest": Function(1, ANY, "number", _greatest_range, _function("GREATEST")),
    "clamp": Function(3, 3, "number", _clamp_range, _clamp),
    "coalesce": Function(1, ANY, "same", value_ranges.hull, _function("COALESCE")),
    "case": Function(2, ANY, None, _case_range, lambda a: case(*a)),
    "=": _comparison(exp.EQ),
    "<>": _comparison(exp.NEQ),
    "<": _comparison(exp.LT),
    "<=": _comparison(exp.LTE),
    ">": _comparison(exp.GT),
    ">=": _comparison(exp.GTE),
    "and": Function(2, ANY, "boolean", _unbounded("boolean"), _chain(exp.And)),
    "or": Function(2, ANY, "boolean", _unbounded("boolean"), _chain(exp.Or)),
    "not": Function(
        1,
        1,
        "boolean",
        _unbounded("boolean"),
        lambda a: _in_brackets(exp.Not(this=exp.paren(a[0], copy=False))),
    ),
    "is null": Function(
        1,
        1,
        None,
        _unbounded("boolean"),
        lambda a: _in_brackets(exp.Is(this=a[0], expression=exp.null())),
    ),
    "outside": Function(1, 1, "number", _unbounded("boolean"), lambda a: _was_clipped(a[0])),
    "in": Function(
        2,
        ANY,
        "same",
        _unbounded("boolean"),
        lambda a: _in_brackets(exp.In(this=a[0], expressions=a[1:])),
    ),
    "like": Function(2, 2, "text", _unbounded("boolean"), _infix(exp.Like)),
    "cast integer": Function(
        1, 1, None, lambda a: value_ranges.rounded(_number_range(a[0])), lambda a: _round(a[0])
    ),
    "cast number": Function(1, 1, None, lambda a: _number_range(a[0]), lambda a: double(a[0])),
    "cast text": Function(1, 1, None, _unbounded("text"), _try_cast("text")),
    "cast boolean": Function(1, 1, None, _unbounded("boolean"), _try_cast("boolean")),
    "cast date": Function(1, 1, None, lambda a: _date_range(a[0]), _try_cast("timestamp")),
}


def _number_range(value: ValueRange) -> ValueRange:
    if value.kind == "boolean":
        return ValueRange("number", Fraction(0), Fraction(1), Fraction(1))
    return value if value.kind == "number" else ValueRange("number")


def _date_range(value: ValueRange) -> ValueRange:
    """A cast to a timestamp. A date keeps to whole days; text may hold a time of day."""
    return value if value.kind == "date" else ValueRange("date", timed=True)


def _round(value: Sql) -> Sql:
    return exp.func("ROUND", double(value), copy=False)


def _was_clipped(column: Sql) -> Sql:
    """Whether a clean column was clipped: the first step has a column for that."""
    return exp.column(f"{column.name}_out")
