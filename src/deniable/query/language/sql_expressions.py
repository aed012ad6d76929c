"""sqlglot's trees read into ours: what is not on these lists does not pass."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language import sql_aggregates
from deniable.query.language.sql_calls import check_places, read_call, read_date_part
from deniable.query.language.sql_comparisons import read_comparison, read_escape
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Selection,
    SubQuery,
)

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
_MOST_DIGITS = 1000
_NUMBER = re.compile(r"([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(e[+-]?[0-9]+)?", re.I)


class ExpressionReader:
    """Reads expressions. `read_selection` reads the sub-queries in them."""

    def __init__(self, read_selection: Callable[[exp.Expr], Selection]) -> None:
        self._selection = read_selection

    def read(self, node: exp.Expr) -> Expression:
        """One expression.

        >>> from sqlglot import parse_one
        >>> reader = ExpressionReader(lambda node: ...)  # no sub-queries here
        >>> str(reader.read(parse_one("SUM(cost + 1) / COUNT(*)", dialect="duckdb")))
        '(SUM((cost + 1)) / COUNT(*))'
        """
        kind = type(node)
        several = read_comparison(node, self.read)
        if several is not None:
            return several
        if kind in (exp.And, exp.Or):  # long chains are one flat call, not a deep tree
            return Call(_BINARY[kind], tuple(self.read(one) for one in _chain(node)))
        if kind in _BINARY:
            check_places(node, "this", "expression")
            return Call(_BINARY[kind], (self.read(node.this), self.read(node.expression)))
        if kind in _UNARY:
            check_places(node, "this")
            return Call(_UNARY[kind], (self.read(node.this),))
        if kind in _MANY:
            check_places(node, "this", "expressions")
            rest = [node.this, *node.expressions] if node.this is not None else node.expressions
            return Call(_MANY[kind], tuple(self.read(one) for one in rest))
        if kind in _AGGREGATES:
            return self._aggregate(_AGGREGATES[kind], node.this)
        if kind in sql_aggregates.KINDS:
            return sql_aggregates.read(node, self.read)
        special = _SPECIAL.get(kind)
        if special is None:
            made = read_call(node, self.read)
            if made is not None:
                return made
            raise InvalidQuery(
                f"{quote_sql(node)} is not supported. Rows may use + - * / %, comparisons, AND, OR, "
                "NOT, IN, BETWEEN, LIKE, IS NULL, CASE, CAST and the functions of numbers, text "
                "and dates that docs/sql.md lists; groups COUNT, SUM, AVG, VARIANCE, STDDEV, "
                "HISTOGRAM, MEDIAN, QUANTILE_CONT, MIN, MAX, MODE, TOP_K, CORR, COVAR_POP and "
                "REGR_SLOPE."
            )
        return special(self, node)

    def _aggregate(self, name: str, argument: exp.Expr) -> Aggregate:
        if isinstance(argument, exp.Distinct):
            raise InvalidQuery(
                f"{name.upper()}(DISTINCT ...) is not supported: one person may hold any number of "
                "distinct values. COUNT(DISTINCT ...) is."
            )
        return Aggregate(name, self.read(argument))

    def _count(self, node: exp.Expr) -> Aggregate:
        if isinstance(node.this, exp.Star):
            return Aggregate("count", None)
        if isinstance(node.this, exp.Distinct):
            if len(node.this.expressions) != 1:
                raise InvalidQuery("COUNT(DISTINCT ...) takes one column or expression.")
            return Aggregate("count_units", self.read(node.this.expressions[0]))
        argument = self.read(node.this)
        some = isinstance(argument, Literal) and argument.value is not None
        return Aggregate("count", None if some else argument)

    def _filtered(self, node: exp.Expr) -> Aggregate:
        """An aggregate FILTER (WHERE ...): of what it is over, NULL where that does not hold."""
        check_places(node, "this", "expression")
        inner = self.read(node.this)
        if not isinstance(inner, Aggregate) or not isinstance(node.expression, exp.Where):
            raise InvalidQuery(
                f"{quote_sql(node)}: FILTER (WHERE ...) stands behind an aggregate."
            )
        return replace(inner, argument=_only(self.read(node.expression.this), inner.argument))

    def _anonymous(self, node: exp.Expr) -> Expression:
        name = str(node.this).lower()
        arguments = tuple(self.read(expression) for expression in node.expressions)
        if name == "clamp":
            return Call("clamp", arguments)
        if name in _SPELT and len(arguments) == _SPELT[name][1]:
            return Call(_SPELT[name][0], arguments)
        if name in ("date_part", "datepart") and len(arguments) == 2:
            given = arguments[0].value if isinstance(arguments[0], Literal) else None
            return read_date_part(str(given), arguments[1])
        if name in ("ceiling", "pow"):
            return Call({"ceiling": "ceil", "pow": "power"}[name], arguments)
        if name == "histogram":
            return sql_aggregates.histogram(arguments)
        if name == "clipped":
            return sql_aggregates.clipped(arguments)
        if name == "top_k":
            return sql_aggregates.top_k(arguments)
        raise InvalidQuery(
            f"There is no function {name.upper()} here: see the list of functions."
        )

    def _case(self, node: exp.Expr) -> Call:
        subject = None if node.this is None else self.read(node.this)
        flat: list[Expression] = []
        for branch in node.args["ifs"]:
            when = self.read(branch.this)
            flat.append(when if subject is None else Call("=", (subject, when)))
            flat.append(self.read(branch.args["true"]))
        default = node.args.get("default")
        return Call("case", (*flat, Literal(None) if default is None else self.read(default)))

    def _cast(self, node: exp.Expr) -> Call:
        check_places(node, "this", "to")
        wanted = node.args["to"].this.name if isinstance(node.args["to"], exp.DataType) else "?"
        for kind, names in _CASTS.items():
            if wanted in names:
                made = Call(f"cast {kind}", (self.read(node.this),))
                # A date has no time of day; a constant is written without one.
                timed = wanted == "DATE" and not isinstance(made.arguments[0], Literal)
                return Call("start of day", (made,)) if timed else made
        raise InvalidQuery(
            f"CAST to {wanted} is not supported: INTEGER, DOUBLE, TEXT, BOOLEAN, DATE."
        )

    def _in(self, node: exp.Expr) -> Expression:
        if node.args.get("query"):
            return SubQuery("in", self._selection(node.args["query"]), self.read(node.this))
        check_places(node, "this", "expressions")
        if not node.expressions:
            raise InvalidQuery("IN takes a list of constants, or a sub-query.")
        return Call(
            "in",
            (self.read(node.this), *(self.read(expression) for expression in node.expressions)),
        )

    def _between(self, node: exp.Expr) -> Call:
        check_places(node, "this", "low", "high")
        value = self.read(node.this)
        low, high = self.read(node.args["low"]), self.read(node.args["high"])
        return Call("and", (Call(">=", (value, low)), Call("<=", (value, high))))

    def _is(self, node: exp.Expr) -> Call:
        if isinstance(node.expression, exp.Null):
            return Call("is null", (self.read(node.this),))
        if isinstance(node.expression, exp.Boolean):  # true or false even where it is NULL
            wanted = bool(node.expression.this)
            known = Call("coalesce", (self.read(node.this), Literal(not wanted)))
            return known if wanted else Call("not", (known,))
        raise InvalidQuery(
            f"{quote_sql(node)} is not supported: IS NULL, IS TRUE and IS FALSE are."
        )


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of one operator, in order."""
    rest, found = node, []
    while type(rest) is type(node):
        found.append(rest.expression)
        rest = rest.this
    return [rest, *reversed(found)]


def quote_sql(node: exp.Expr) -> str:
    """A piece of the analyst's own text, cut short."""
    try:
        text = node.sql(dialect="duckdb", comments=False)
    except Exception:  # the writer of another tree than ours: it promises nothing
        text = type(node).__name__.upper()
    return text if len(text) <= 60 else text[:57] + "..."


def _only(condition: Expression, value: Expression | None) -> Call:
    return Call("case", (condition, value or Literal(Fraction(1)), Literal(None)))


def _column(node: exp.Expr) -> ColumnRef:
    if node.args.get("db") or not isinstance(node.this, exp.Identifier):
        raise InvalidQuery(f"{quote_sql(node)} is not a column of the table.")
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


_SPECIAL: dict[type[exp.Expr], Callable[[ExpressionReader, exp.Expr], Expression]] = {
    exp.Column: lambda reader, node: _column(node),
    exp.Literal: lambda reader, node: _literal(node),
    exp.Boolean: lambda reader, node: Literal(bool(node.this)),
    exp.Null: lambda reader, node: Literal(None),
    exp.Paren: lambda reader, node: reader.read(node.this),
    exp.Count: ExpressionReader._count,
    exp.CountIf: lambda reader, node: Aggregate("count", _only(reader.read(node.this), None)),
    exp.Filter: ExpressionReader._filtered,
    exp.Anonymous: ExpressionReader._anonymous,
    exp.Case: ExpressionReader._case,
    exp.Cast: ExpressionReader._cast,
    exp.TryCast: ExpressionReader._cast,
    exp.In: ExpressionReader._in,
    exp.Between: ExpressionReader._between,
    exp.Is: ExpressionReader._is,
    exp.Escape: lambda reader, node: read_escape(node, reader.read),
    exp.Exists: lambda reader, node: SubQuery("exists", reader._selection(node.this)),
    exp.Subquery: lambda reader, node: SubQuery("value", reader._selection(node)),
}
