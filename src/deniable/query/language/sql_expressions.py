"""Expressions: sqlglot's trees read into our own. What is not listed is refused."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language import sql_aggregates
from deniable.query.language.function_names import (
    AGGREGATES,
    FUNCTIONS,
    LISTS,
    unknown_function,
)
from deniable.query.language.spellings.respell import respell
from deniable.query.language.spellings.written_windows import read_window
from deniable.query.language.sql_calls import (
    argument_of,
    check_places,
    quote_sql,
    read_call,
    read_date_part,
)
from deniable.query.language.sql_comparisons import read_comparison, read_escape
from deniable.query.language.sql_dates import (
    COMPARISONS,
    compare_moved,
    is_moved,
    move,
    read_moved,
    subtract_epochs,
)
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
_SYNONYMS = {"prefix": ("starts with", 2), "suffix": ("ends with", 2)}  # (name, arguments)
LARGEST = Fraction(10) ** 30  # of a literal: far above any bound, far below any overflow
SMALLEST = Fraction(1, 10**100)  # of a literal other than 0
_MOST_DIGITS = 1000
_NUMBER = re.compile(r"([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(e[+-]?[0-9]+)?", re.I)


def _unknown(node: exp.Expr) -> InvalidQuery:
    """The refusal of what is not listed."""
    if isinstance(node, exp.Func):
        return unknown_function(node.meta.get("written") or node.sql_name())
    text = (
        f"{quote_sql(node)} is not supported. docs/reference/sql.md lists what is, and what to"
    )
    lists = f" {LISTS}" if isinstance(node, exp.Bracket) else ""
    return InvalidQuery(f"{text} write instead.{lists}")


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
        other = respell(node)
        if other is not None:
            return self.read(other)
        kind = type(node)
        comparison = read_comparison(node, self.read)
        if comparison is not None:
            return comparison
        if isinstance(node, exp.Window):
            return read_window(node, self.read)
        if kind in (exp.And, exp.Or):  # a long chain becomes one flat call, not a deep tree
            return Call(_BINARY[kind], tuple(self.read(operand) for operand in _chain(node)))
        if kind in _BINARY:
            check_places(node, "this", "expression")
            return self._binary(node, _BINARY[kind])
        if kind in _UNARY:
            return Call(_UNARY[kind], (self.read(argument_of(node)),))
        if kind in _MANY:
            check_places(node, "this", "expressions")
            first = [] if node.this is None else [node.this]
            operands = [*first, *node.expressions]
            return Call(_MANY[kind], tuple(self.read(operand) for operand in operands))
        if kind in _AGGREGATES:
            return self._aggregate(_AGGREGATES[kind], argument_of(node))
        if kind in sql_aggregates.KINDS:
            return sql_aggregates.read(node, self.read)
        special = _SPECIAL.get(kind)
        if special is None:
            call = read_call(node, self.read)
            if call is not None:
                return call
            raise _unknown(node)
        return special(self, node)

    def _binary(self, node: exp.Expr, name: str) -> Expression:
        moved = read_moved(node, self.read) if name in ("+", "-") else None
        if moved is not None:
            return moved
        left, right = self.read(node.this), self.read(node.expression)
        if name in COMPARISONS and (is_moved(left) or is_moved(right)):
            return compare_moved(name, left, right, quote_sql(node))
        between = subtract_epochs(left, right) if name == "-" else None
        return between or Call(name, (left, right))

    def _add_date(self, node: exp.Expr) -> Expression:
        """DATE_ADD(d, INTERVAL 2 DAY), and DATE_ADD(d, 2)."""
        check_places(node, "this", "expression")
        if isinstance(node.expression, exp.Interval):
            return self.read(exp.Add(this=node.this, expression=node.expression))
        return move(self.read(node.this), self.read(node.expression), "day", quote_sql(node))

    def _add_months(self, node: exp.Expr) -> Expression:
        """ADD_MONTHS(d, 2)."""
        check_places(node, "this", "expression")
        months = self.read(node.expression)
        return move(self.read(node.this), months, "month", quote_sql(node))

    def _aggregate(self, name: str, argument: exp.Expr) -> Aggregate:
        if isinstance(argument, exp.Distinct):
            return sql_aggregates.of_distinct_values(name, argument, self.read)
        return Aggregate(name, self.read(argument))

    def _count(self, node: exp.Expr) -> Aggregate:
        if node.this is None:  # COUNT() is COUNT(*)
            check_places(node)
            return Aggregate("count", None)
        counted = argument_of(node)
        if isinstance(counted, exp.Star):
            check_places(counted)
            return Aggregate("count", None)
        if isinstance(counted, exp.Distinct):
            if len(counted.expressions) != 1:
                raise InvalidQuery("COUNT(DISTINCT ...) takes one column or expression.")
            return Aggregate("count_units", self.read(counted.expressions[0]))
        argument = self.read(counted)
        some = isinstance(argument, Literal) and argument.value is not None
        return Aggregate("count", None if some else argument)

    def _filtered(self, node: exp.Expr) -> Aggregate:
        """An aggregate FILTER (WHERE ...): its argument is NULL where the condition fails."""
        check_places(node, "this", "expression")
        inner = self.read(node.this)
        if not isinstance(inner, Aggregate) or not isinstance(node.expression, exp.Where):
            raise InvalidQuery(
                f"{quote_sql(node)}: FILTER (WHERE ...) must follow an aggregate."
            )
        return replace(inner, argument=_only(self.read(node.expression.this), inner.argument))

    def _anonymous(self, node: exp.Expr) -> Expression:
        name = str(node.this).lower()
        if name == "date_sub" and len(node.expressions) == 2:
            date, span = node.expressions
            if not isinstance(span, exp.Interval):  # a number of days, as in Spark
                span = exp.Interval(this=exp.paren(span), unit=exp.var("DAY"))
            return self.read(exp.Sub(this=date, expression=span))
        if name in ("dateadd", "timestampadd") and len(node.expressions) == 3:
            return self._move_by_name(node)
        if name == "datepart" and len(node.expressions) == 2:
            unit, date = node.expressions
            if isinstance(unit, exp.Column):
                return read_date_part(unit.name, self.read(date))
        arguments = tuple(self.read(expression) for expression in node.expressions)
        if name in AGGREGATES and len(arguments) == 1:
            return Aggregate(AGGREGATES[name], arguments[0])
        if name == "isnull":
            return _is_null(arguments)
        if name in FUNCTIONS:
            return Call(FUNCTIONS[name], arguments)
        if name in _SYNONYMS and len(arguments) == _SYNONYMS[name][1]:
            return Call(_SYNONYMS[name][0], arguments)
        if name in ("date_part", "datepart") and len(arguments) == 2:
            given = arguments[0].value if isinstance(arguments[0], Literal) else None
            return read_date_part(str(given), arguments[1])
        if name == "histogram":
            return sql_aggregates.histogram(arguments)
        if name == "clipped":
            return sql_aggregates.clipped(arguments)
        if name == "top_k":
            return sql_aggregates.top_k(arguments)
        raise unknown_function(name)

    def _move_by_name(self, node: exp.Expr) -> Expression:
        """DATEADD(day, 30, d), as SQL Server writes it."""
        unit, count, date = node.expressions
        return move(self.read(date), self.read(count), unit.name, quote_sql(node))

    def _date(self, node: exp.Expr) -> Expression:
        """DATE(ts) is CAST(ts AS DATE)."""
        return self._cast(exp.Cast(this=argument_of(node), to=exp.DataType.build("date")))

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
        target = node.args["to"].this.name if isinstance(node.args["to"], exp.DataType) else "?"
        for kind, names in _CASTS.items():
            if target in names:
                cast = Call(f"cast {kind}", (self.read(node.this),))
                # A date has no time of day; a constant is written without one.
                timed = target == "DATE" and not isinstance(cast.arguments[0], Literal)
                return Call("start of day", (cast,)) if timed else cast
        raise InvalidQuery(
            f"CAST to {target} is not supported. Use INTEGER, DOUBLE, TEXT, BOOLEAN or DATE."
        )

    def _in(self, node: exp.Expr) -> Expression:
        if node.args.get("query"):
            return SubQuery("in", self._selection(node.args["query"]), self.read(node.this))
        if not node.expressions:
            raise InvalidQuery(f"IN takes a list of constants, or a sub-query. {LISTS}")
        check_places(node, "this", "expressions")
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
        if isinstance(node.expression, exp.Boolean):  # true or false, even for NULL
            truth = bool(node.expression.this)
            known = Call("coalesce", (self.read(node.this), Literal(not truth)))
            return known if truth else Call("not", (known,))
        raise InvalidQuery(
            f"{quote_sql(node)} is not supported. Use IS NULL, IS TRUE or IS FALSE."
        )


def _is_null(arguments: tuple[Expression, ...]) -> Call:
    """ISNULL(x) of MySQL is a condition; ISNULL(x, 0) of SQL Server replaces NULL."""
    if len(arguments) not in (1, 2):
        raise InvalidQuery(
            "ISNULL takes one argument, ISNULL(x), or two, ISNULL(x, 0). Use COALESCE for more."
        )
    return Call("is null" if len(arguments) == 1 else "coalesce", arguments)


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of one operator, in order."""
    first, others = node, []
    while type(first) is type(node):
        others.append(first.expression)
        first = first.this
    return [first, *reversed(others)]


def _only(condition: Expression, value: Expression | None) -> Call:
    return Call("case", (condition, value or Literal(Fraction(1)), Literal(None)))


def _column(node: exp.Expr) -> ColumnRef:
    if not isinstance(node.this, exp.Identifier):
        raise InvalidQuery(f"{quote_sql(node)} is not a column. Write column or table.column.")
    return ColumnRef(node.name, node.text("table") or None)


def _literal(node: exp.Expr) -> Literal:
    if node.args.get("is_string"):
        return Literal(node.this)
    digits, _, power = node.this.lower().partition("e")
    if _NUMBER.fullmatch(node.this) is None:
        raise InvalidQuery(
            f"{node.this[:40]} is not a number. Write digits, and after an e a whole power of "
            "ten, as in 1.5e6."
        )
    if len(digits) > _MOST_DIGITS or len(power) > _MOST_DIGITS or abs(int(power or 0)) > 1000:
        raise InvalidQuery(
            f"The number {node.this[:40]} has too many digits. Write at most {_MOST_DIGITS:,} "
            "digits, for a number between 1e-100 and 1e30."
        )
    value = Fraction(node.this)
    if abs(value) > LARGEST or 0 < abs(value) < SMALLEST:
        raise InvalidQuery(
            f"The number {node.this} is too large or too small. Write one between 1e-100 and "
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
    exp.CountIf: lambda reader, node: Aggregate(
        "count", _only(reader.read(argument_of(node)), None)
    ),
    exp.Filter: ExpressionReader._filtered,
    exp.Date: ExpressionReader._date,
    exp.DateAdd: ExpressionReader._add_date,
    exp.AddMonths: ExpressionReader._add_months,
    exp.TimeToUnix: lambda reader, node: read_date_part(
        "epoch", reader.read(argument_of(node))
    ),
    exp.ApproxDistinct: lambda reader, node: Aggregate(
        "count_units", reader.read(argument_of(node))
    ),
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
