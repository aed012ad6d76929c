"""Aggregates other than sums: quantiles, extremes, frequent values, histograms, two columns.

QUANTILE_CONT and PERCENTILE_CONT take a level or a list of levels, either after the column or
before WITHIN GROUP (ORDER BY column). With a descending order, a level counts from the top. The
result is a point of the column's grid, so QUANTILE_DISC and QUANTILE mean the same.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.sql_calls import check_places, quote_sql
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
)

Reader: TypeAlias = Callable[[exp.Expr], Expression]

MOST_LEVELS = 1000
MOST_TOP = 100
_MOST_BINS = 1000
MEDIAN = (Fraction(1, 2),)
_QUANTILES = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile, exp.ApproxQuantile)
_PAIRS: dict[type[exp.Expr], str] = {
    exp.Corr: "corr",
    exp.CovarPop: "covar_pop",
    exp.CovarSamp: "covar_samp",
    exp.RegrSlope: "regr_slope",
    exp.RegrIntercept: "regr_intercept",
}
_EXTREMES: dict[type[exp.Expr], str] = {exp.Min: "min", exp.Max: "max"}
# sqlglot's names of arguments after the first one.
_FURTHER: dict[type[exp.Expr], tuple[str, ...]] = {
    **dict.fromkeys(_PAIRS, ("expression",)),
    **dict.fromkeys(_QUANTILES, ("expression", "quantile")),
    exp.ApproxTopK: ("expression",),
}
KINDS = frozenset(
    [*_QUANTILES, *_PAIRS, *_EXTREMES, exp.Median, exp.Mode, exp.ApproxTopK, exp.WithinGroup]
)


def read(node: exp.Expr, reader: Reader) -> Aggregate:
    """The aggregate of a node of one of these `KINDS`."""
    kind = type(node)
    if kind is exp.WithinGroup:
        return _read_within_group(node, reader)
    check_places(node, "this", *_FURTHER.get(kind, ()))
    argument = _argument(node, reader)
    if kind in _PAIRS:
        if node.expression is None:
            raise InvalidQuery(
                f"{_PAIRS[kind].upper()} takes two columns, as in "
                f"{_PAIRS[kind].upper()}(cost, age)."
            )
        return Aggregate(_PAIRS[kind], argument, second=reader(node.expression))
    if kind in _EXTREMES:
        return Aggregate(_EXTREMES[kind], argument)
    if kind is exp.Median:
        return Aggregate("quantile", argument, levels=MEDIAN)
    if kind is exp.Mode:
        return Aggregate("mode", argument)
    if kind is exp.ApproxTopK:
        return top_k((argument, *_optional(node.expression, reader)))
    return _quantiles(argument, node.args.get("quantile") or node.expression, reader)


def of_distinct_values(name: str, node: exp.Distinct, reader: Reader) -> Aggregate:
    """SUM(DISTINCT x)."""
    if name != "sum" or len(node.expressions) != 1:
        raise InvalidQuery(
            f"{name.upper()}(DISTINCT ...) is not supported. COUNT(DISTINCT x), "
            "SUM(DISTINCT x) and AVG(DISTINCT x) of one column are, and so is "
            f"{name.upper()}(x), which is over all rows."
        )
    return Aggregate("sum_distinct", reader(node.expressions[0]))


def _argument(node: exp.Expr, reader: Reader) -> Expression:
    if isinstance(node.this, exp.Distinct):
        raise InvalidQuery(
            "DISTINCT inside this aggregate is not supported. It is in COUNT(DISTINCT x), "
            "SUM(DISTINCT x), AVG(DISTINCT x), MIN and MAX."
        )
    if node.this is None:
        raise InvalidQuery(
            f"{quote_sql(node)} needs a column, as in MEDIAN(cost) or "
            "MODE() WITHIN GROUP (ORDER BY ward)."
        )
    return reader(node.this)


def _optional(node: exp.Expr | None, reader: Reader) -> list[Expression]:
    return [] if node is None else [reader(node)]


def _read_within_group(node: exp.Expr, reader: Reader) -> Aggregate:
    """PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost), and MODE() in the same way."""
    order = node.expression.expressions if isinstance(node.expression, exp.Order) else []
    if len(order) != 1:
        raise InvalidQuery("WITHIN GROUP takes one column, as in WITHIN GROUP (ORDER BY cost).")
    inner, by = node.this, reader(order[0].this)
    if isinstance(inner, exp.Mode) and inner.this is None:
        return Aggregate("mode", by)
    if not isinstance(inner, _QUANTILES) or inner.expression is not None:
        raise InvalidQuery("WITHIN GROUP is supported after PERCENTILE_CONT(level) and MODE().")
    return _quantiles(by, inner.this, reader, down=bool(order[0].args.get("desc")))


def _quantiles(
    argument: Expression, given: exp.Expr | None, reader: Reader, *, down: bool = False
) -> Aggregate:
    if given is None:
        raise InvalidQuery(
            f"The quantile of {argument} needs a level, as in QUANTILE_CONT({argument}, 0.9)."
        )
    several = isinstance(given, exp.Array)
    listed = [reader(node) for node in (given.expressions if several else [given])]
    levels = [_level(value) for value in listed]
    if down:
        levels = [1 - level for level in levels]
    return quantiles(argument, levels) if several else quantile(argument, levels[0])


def quantile(argument: Expression, level: Fraction) -> Aggregate:
    """One quantile."""
    return quantiles(argument, [level], name="quantile")


def quantiles(
    argument: Expression, levels: Sequence[Fraction], *, name: str = "quantiles"
) -> Aggregate:
    """Several quantiles, with one column of the answer for each.

    >>> str(quantiles(ColumnRef("cost"), [Fraction(1, 4), Fraction(1, 2)]))
    'QUANTILE_CONT(cost, [0.25, 0.5])'
    """
    ordered = tuple(sorted(levels))
    apart = all(a < b for a, b in pairwise(ordered))
    if not ordered or not apart or not 0 < ordered[0] <= ordered[-1] < 1:
        raise InvalidQuery(
            "The levels of quantiles must be distinct numbers above 0 and below 1, as in "
            f"QUANTILE_CONT({argument}, [0.25, 0.5, 0.75]). For the ends, use MIN and MAX."
        )
    if len(ordered) > MOST_LEVELS:
        raise InvalidQuery(
            f"Ask for at most {MOST_LEVELS:,} quantiles at once. Found {len(ordered):,}."
        )
    return Aggregate(name, argument, levels=ordered)


def _level(given: Expression) -> Fraction:
    negative = isinstance(given, Call) and given.name == "negative"
    if negative or not isinstance(given, Literal) or not isinstance(given.value, Fraction):
        raise InvalidQuery(
            f"The level of a quantile must be a number, such as 0.9. Found {given}."
        )
    return given.value


def top_k(arguments: tuple[Expression, ...]) -> Aggregate:
    """TOP_K(column, k): the k most frequent of a column's declared values.

    >>> str(top_k((ColumnRef("ward"), Literal(Fraction(2)))))
    'TOP_K(ward, 2)'
    """
    count = arguments[1] if len(arguments) == 2 else None
    given = count.value if isinstance(count, Literal) else None
    most = int(given) if isinstance(given, Fraction) and given.denominator == 1 else 0
    if not 1 <= most <= MOST_TOP:
        raise InvalidQuery(
            f"TOP_K takes a column and a number of values from 1 to {MOST_TOP}, as in "
            "TOP_K(ward, 3)."
        )
    return Aggregate("top_k", arguments[0], bins=most)


def histogram(arguments: tuple[Expression, ...]) -> Aggregate:
    """HISTOGRAM(column) or HISTOGRAM(column, bins)."""
    bins = 10
    if len(arguments) == 2:
        given = arguments[1].value if isinstance(arguments[1], Literal) else None
        bins = int(given) if isinstance(given, Fraction) and given.denominator == 1 else 0
    if not 1 <= len(arguments) <= 2 or not 1 <= bins <= _MOST_BINS:
        raise InvalidQuery(
            f"HISTOGRAM takes a column and a number of bins from 1 to {_MOST_BINS:,}, as in "
            "HISTOGRAM(age, 10)."
        )
    return Aggregate("histogram", arguments[0], bins=bins)


def clipped(arguments: tuple[Expression, ...]) -> Aggregate:
    """CLIPPED(column): the number of values outside the column's bounds."""
    if len(arguments) != 1 or not isinstance(arguments[0], ColumnRef):
        raise InvalidQuery(
            "CLIPPED takes one column, as in CLIPPED(cost): it counts the values outside the "
            "column's bounds."
        )
    one_or_zero = Literal(Fraction(1)), Literal(Fraction(0))
    return Aggregate("sum", Call("case", (Call("outside", arguments), *one_or_zero)))
