"""sqlglot's trees read into ours: what is not on these lists does not pass."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language import sql_aggregates
from deniable.query.language.expressions import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    SubQuery,
)
from deniable.query.language.sources import Selection
from deniable.query.language.sql_calls import check_places, part, read_call
from deniable.query.language.sql_comparisons import read_comparison, read_escape

_BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "and",
    exp.Or: "or",
    exp.Pow: "power",
}
_UNARY: dict[type[exp.Expr], str] = {
    exp.Neg: "negative",
    exp.Not: "not",
    exp.Abs: "abs",
    exp.Sqrt: "sqrt",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
}
_MANY: dict[type[exp.Expr], str] = {
    exp.Least: "least",
    exp.Greatest: "greatest",
    exp.Coalesce: "coalesce",
}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
}
_CASTS = {
    "integer": {"TINYINT", "SMALLINT", "INT", "BIGINT", "INT128"},
    "number": {"DOUBLE", "FLOAT", "DECIMAL"},
    "text": {"TEXT", "VARCHAR", "CHAR"},
    "boolean": {"BOOLEAN"},
    "date": {"DATE", "TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"},
}
_SPELT = {"prefix": ("starts with", 2), "suffix": ("ends with", 2)}  # and how many arguments
LARGEST = Fraction(10) ** 30  # of a literal: far beyond any bound, far below any overflow
SMALLEST = Fraction(1, 10**100)  # but for 0
_MOST_BINS, _MOST_DIGITS = 1000, 1000
_NUMBER = re.compile(r"([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(e[+-]?[0-9]+)?", re.I)


def read(node: exp.Expr) -> Expression:
    """One expression.

    >>> from sqlglot import parse_one
    >>> str(read(parse_one("SUM(cost + 1) / COUNT(*)", dialect="duckdb")))
    '(SUM((cost + 1)) / COUNT(*))'
    """
    kind = type(node)
    several = read_comparison(node, read)
    if several is not None:
        return several
    if kind in (exp.And, exp.Or):  # long chains are one flat call, not a deep tree
        return Call(_BINARY[kind], tuple(read(one) for one in _chain(node)))
    if kind in _BINARY:
        check_places(node, "this", "expression")
        return Call(_BINARY[kind], (read(node.this), read(node.expression)))
    if kind in _UNARY:
        check_places(node, "this")
        return Call(_UNARY[kind], (read(node.this),))
    if kind in _MANY:
        check_places(node, "this", "expressions")
        rest = [node.this, *node.expressions] if node.this is not None else node.expressions
        return Call(_MANY[kind], tuple(read(one) for one in rest))
    if kind in _AGGREGATES:
        return _aggregate(_AGGREGATES[kind], node.this)
    if kind in sql_aggregates.KINDS:
        return sql_aggregates.read(node, read)
    special = _SPECIAL.get(kind)
    if special is None:
        made = read_call(node, read)
        if made is not None:
            return made
        raise InvalidQuery(
            f"{shown(node)} is not supported. Rows may use + - * / %, comparisons, AND, OR, "
            "NOT, IN, BETWEEN, LIKE, IS NULL, CASE, CAST and the functions of numbers, text "
            "and dates that docs/sql.md lists; groups COUNT, SUM, AVG, VARIANCE, STDDEV, "
            "HISTOGRAM, MEDIAN, QUANTILE_CONT, MIN, MAX, MODE, TOP_K, CORR, COVAR_POP and "
            "REGR_SLOPE."
        )
    return special(node)


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of one operator, in order."""
    rest, found = node, []
    while type(rest) is type(node):
        found.append(rest.expression)
        rest = rest.this
    return [rest, *reversed(found)]


def shown(node: exp.Expr) -> str:
    """A piece of the analyst's own text, cut short."""
    try:
        text = node.sql(dialect="duckdb", comments=False)
    except Exception:  # the writer of another tree than ours: it promises nothing
        text = type(node).__name__.upper()
    return text if len(text) <= 60 else text[:57] + "..."


def _aggregate(name: str, argument: exp.Expr) -> Aggregate:
    if isinstance(argument, exp.Distinct):
        raise InvalidQuery(
            f"{name.upper()}(DISTINCT ...) is not supported: one person may hold any number of "
            "distinct values. COUNT(DISTINCT ...) is."
        )
    return Aggregate(name, read(argument))


def _count(node: exp.Expr) -> Aggregate:
    if isinstance(node.this, exp.Star):
        return Aggregate("count", None)
    if isinstance(node.this, exp.Distinct):
        if len(node.this.expressions) != 1:
            raise InvalidQuery("COUNT(DISTINCT ...) takes one column or expression.")
        return Aggregate("count_units", read(node.this.expressions[0]))
    argument = read(node.this)
    some = isinstance(argument, Literal) and argument.value is not None
    return Aggregate("count", None if some else argument)


def _filtered(node: exp.Expr) -> Aggregate:
    """An aggregate FILTER (WHERE ...): of what it is over, NULL where that does not hold."""
    check_places(node, "this", "expression")
    inner = read(node.this)
    if not isinstance(inner, Aggregate) or not isinstance(node.expression, exp.Where):
        raise InvalidQuery(f"{shown(node)}: FILTER (WHERE ...) stands behind an aggregate.")
    return replace(inner, argument=_only(read(node.expression.this), inner.argument))


def _only(condition: Expression, value: Expression | None) -> Call:
    return Call("case", (condition, value or Literal(Fraction(1)), Literal(None)))


def _anonymous(node: exp.Expr) -> Expression:
    name = str(node.this).lower()
    arguments = tuple(read(one) for one in node.expressions)
    if name == "clamp":
        return Call("clamp", arguments)
    if name in _SPELT and len(arguments) == _SPELT[name][1]:
        return Call(_SPELT[name][0], arguments)
    if name in ("date_part", "datepart") and len(arguments) == 2:
        given = arguments[0].value if isinstance(arguments[0], Literal) else None
        return part(str(given), arguments[1])
    if name in ("ceiling", "pow"):
        return Call({"ceiling": "ceil", "pow": "power"}[name], arguments)
    if name == "histogram":
        return histogram(arguments)
    if name == "clipped":
        return clipped(arguments)
    if name == "top_k":
        return sql_aggregates.top(arguments)
    raise InvalidQuery(f"There is no function {name.upper()} here: see the list of functions.")


def histogram(arguments: tuple[Expression, ...]) -> Aggregate:
    """HISTOGRAM(column) or HISTOGRAM(column, bins)."""
    bins = 10
    if len(arguments) == 2:
        given = arguments[1].value if isinstance(arguments[1], Literal) else None
        bins = int(given) if isinstance(given, Fraction) and given.denominator == 1 else 0
    if not 1 <= len(arguments) <= 2 or not 1 <= bins <= _MOST_BINS:
        raise InvalidQuery(f"HISTOGRAM takes a column and 1 to {_MOST_BINS:,} bins.")
    return Aggregate("histogram", arguments[0], bins=bins)


def clipped(arguments: tuple[Expression, ...]) -> Aggregate:
    """CLIPPED(column): how many values lie outside of the column's bounds."""
    if len(arguments) != 1 or not isinstance(arguments[0], ColumnRef):
        raise InvalidQuery("CLIPPED takes one column: it counts the values outside its bounds.")
    ones = Literal(Fraction(1)), Literal(Fraction(0))
    return Aggregate("sum", Call("case", (Call("outside", arguments), *ones)))


def _column(node: exp.Expr) -> ColumnRef:
    if node.args.get("db") or not isinstance(node.this, exp.Identifier):
        raise InvalidQuery(f"{shown(node)} is not a column of the table.")
    return ColumnRef(node.name, node.text("table") or None)


def _literal(node: exp.Expr) -> Literal:
    if node.args.get("is_string"):
        return Literal(node.this)
    digits, _, power = node.this.lower().partition("e")
    if _NUMBER.fullmatch(node.this) is None:
        raise InvalidQuery(
            f"{node.this[:40]} is no number: write digits, and after an e a whole power of "
            "ten, as in 1.5e6."
        )
    if len(digits) > _MOST_DIGITS or len(power) > _MOST_DIGITS or abs(int(power or 0)) > 1000:
        raise InvalidQuery(
            f"The number {node.this[:40]} has too many digits: write it with {_MOST_DIGITS} at "
            "most, between 1e-100 and 1e30."
        )
    value = Fraction(node.this)
    if abs(value) > LARGEST or 0 < abs(value) < SMALLEST:
        raise InvalidQuery(
            f"The number {node.this} is too large or too small: write one between 1e-100 and "
            "1e30, or 0."
        )
    return Literal(value)


def _case(node: exp.Expr) -> Call:
    subject = None if node.this is None else read(node.this)
    flat: list[Expression] = []
    for branch in node.args["ifs"]:
        when = read(branch.this)
        flat.append(when if subject is None else Call("=", (subject, when)))
        flat.append(read(branch.args["true"]))
    default = node.args.get("default")
    return Call("case", (*flat, Literal(None) if default is None else read(default)))


def _cast(node: exp.Expr) -> Call:
    check_places(node, "this", "to")
    wanted = node.args["to"].this.name if isinstance(node.args["to"], exp.DataType) else "?"
    for kind, names in _CASTS.items():
        if wanted in names:
            made = Call(f"cast {kind}", (read(node.this),))
            # A date has no time of day; a constant is written without one.
            timed = wanted == "DATE" and not isinstance(made.arguments[0], Literal)
            return Call("start of day", (made,)) if timed else made
    raise InvalidQuery(
        f"CAST to {wanted} is not supported: INTEGER, DOUBLE, TEXT, BOOLEAN, DATE."
    )


def _in(node: exp.Expr) -> Expression:
    if node.args.get("query"):
        return SubQuery("in", _selection(node.args["query"]), read(node.this))
    check_places(node, "this", "expressions")
    if not node.expressions:
        raise InvalidQuery("IN takes a list of constants, or a sub-query.")
    return Call("in", (read(node.this), *(read(one) for one in node.expressions)))


def _selection(node: exp.Expr) -> Selection:
    from deniable.query.language.sql_selects import selection

    found = selection(node)
    if not isinstance(found, Selection):
        raise InvalidQuery("UNION ALL stands in FROM only: FROM (SELECT ... UNION ALL ...).")
    return found


def _between(node: exp.Expr) -> Call:
    check_places(node, "this", "low", "high")
    value = read(node.this)
    low, high = read(node.args["low"]), read(node.args["high"])
    return Call("and", (Call(">=", (value, low)), Call("<=", (value, high))))


def _is(node: exp.Expr) -> Call:
    if isinstance(node.expression, exp.Null):
        return Call("is null", (read(node.this),))
    if isinstance(node.expression, exp.Boolean):  # true or false even where it is NULL
        wanted = bool(node.expression.this)
        known = Call("coalesce", (read(node.this), Literal(not wanted)))
        return known if wanted else Call("not", (known,))
    raise InvalidQuery(f"{shown(node)} is not supported: IS NULL, IS TRUE and IS FALSE are.")


_SPECIAL: dict[type[exp.Expr], Callable[[exp.Expr], Expression]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node: Literal(bool(node.this)),
    exp.Null: lambda node: Literal(None),
    exp.Paren: lambda node: read(node.this),
    exp.Count: _count,
    exp.CountIf: lambda node: Aggregate("count", _only(read(node.this), None)),
    exp.Filter: _filtered,
    exp.Anonymous: _anonymous,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Escape: lambda node: read_escape(node, read),
    exp.Exists: lambda node: SubQuery("exists", _selection(node.this)),
    exp.Subquery: lambda node: SubQuery("value", _selection(node)),
}
