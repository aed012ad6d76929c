"""The Python door: the same questions as in SQL, built step by step.

    table.where("age >= 18").group_by("ward").agg(n=count(), cost=mean("cost"))

Columns and conditions are SQL expressions in text, read by the same reader.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast, get_args

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.rationals import Number, rational
from deniable.query.language import sql_aggregates
from deniable.query.language.expressions import conjunction
from deniable.query.language.parse import check_encodable, parse_expression, parse_relation
from deniable.query.language.question import Question
from deniable.query.language.sql_selects import check_names, expand_aliases, output_name
from deniable.query.language.syntax_tree import Aggregate, Expression, Literal, Named


def count(of: str | None = None) -> Aggregate:
    """How many rows, or how many rows where something is known.

    >>> str(count()), str(count("age"))
    ('COUNT(*)', 'COUNT(age)')
    """
    return Aggregate("count", None if of is None else parse_expression(of))


def count_units(unit: str) -> Aggregate:
    """How many privacy units.

    >>> str(count_units("patient"))
    'COUNT(DISTINCT patient)'
    """
    return Aggregate("count_units", parse_expression(unit))


def sum(of: str) -> Aggregate:
    """A sum.

    >>> str(sum("cost + 1"))
    'SUM((cost + 1))'
    """
    return Aggregate("sum", parse_expression(of))


def mean(of: str) -> Aggregate:
    """An average.

    >>> str(mean("cost"))
    'AVG(cost)'
    """
    return Aggregate("avg", parse_expression(of))


def variance(of: str, *, population: bool = False) -> Aggregate:
    """A variance: of the sample (divided by n - 1) unless the rows are the population.

    >>> str(variance("age"))
    'VAR_SAMP(age)'
    """
    return Aggregate("var_pop" if population else "var_samp", parse_expression(of))


def stddev(of: str, *, population: bool = False) -> Aggregate:
    """A standard deviation.

    >>> str(stddev("age", population=True))
    'STDDEV_POP(age)'
    """
    return Aggregate("stddev_pop" if population else "stddev_samp", parse_expression(of))


def count_distinct(of: str) -> Aggregate:
    """How many different values, each counted once however many hold it.

    >>> str(count_distinct("diagnosis"))
    'COUNT(DISTINCT diagnosis)'
    """
    return Aggregate("count_units", parse_expression(of))


def median(of: str) -> Aggregate:
    """The median.

    >>> str(median("cost"))
    'MEDIAN(cost)'
    """
    return sql_aggregates.quantile(parse_expression(of), sql_aggregates.MEDIAN[0])


def quantile(of: str, level: Number) -> Aggregate:
    """One quantile, at a level above 0 and below 1.

    >>> str(quantile("cost", 0.9))
    'QUANTILE_CONT(cost, 0.9)'
    """
    return sql_aggregates.quantile(parse_expression(of), rational(level, "level"))


def quantiles(of: str, levels: Sequence[Number]) -> Aggregate:
    """Several quantiles for the price of one release, a column each.

    >>> str(quantiles("cost", [0.25, 0.5, 0.75]))
    'QUANTILE_CONT(cost, [0.25, 0.5, 0.75])'
    """
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise InvalidParameter(
            f"`levels` must be a list of numbers, such as [0.25, 0.5, 0.75]. Found {levels!r}."
        )
    return sql_aggregates.quantiles(
        parse_expression(of), [rational(level, "levels") for level in levels]
    )


def min(of: str) -> Aggregate:
    """About the least value: a quantile so near to the lower end as is private.

    >>> str(min("cost"))
    'MIN(cost)'
    """
    return Aggregate("min", parse_expression(of))


def max(of: str) -> Aggregate:
    """About the greatest value: a quantile so near to the upper end as is private.

    >>> str(max("cost"))
    'MAX(cost)'
    """
    return Aggregate("max", parse_expression(of))


def mode(of: str) -> Aggregate:
    """The most frequent of a column's declared values.

    >>> str(mode("ward"))
    'MODE(ward)'
    """
    return Aggregate("mode", parse_expression(of))


def top_k(of: str, k: int) -> Aggregate:
    """The k most frequent of a column's declared values, a column each.

    >>> str(top_k("ward", 2))
    'TOP_K(ward, 2)'
    """
    return sql_aggregates.top_k((parse_expression(of), Literal(Fraction(k))))


def corr(of: str, other: str) -> Aggregate:
    """The correlation of two columns.

    >>> str(corr("cost", "age"))
    'CORR(cost, age)'
    """
    return Aggregate("corr", parse_expression(of), second=parse_expression(other))


def covariance(of: str, other: str, *, population: bool = False) -> Aggregate:
    """A covariance: of the sample (divided by n - 1) unless the rows are the population.

    >>> str(covariance("cost", "age"))
    'COVAR_SAMP(cost, age)'
    """
    name = "covar_pop" if population else "covar_samp"
    return Aggregate(name, parse_expression(of), second=parse_expression(other))


def slope(of: str, by: str) -> Aggregate:
    """By how much one column rises with another, by least squares.

    >>> str(slope("cost", by="age"))
    'REGR_SLOPE(cost, age)'
    """
    return Aggregate("regr_slope", parse_expression(of), second=parse_expression(by))


def intercept(of: str, by: str) -> Aggregate:
    """Where the line of least squares crosses zero of the other column.

    >>> str(intercept("cost", by="age"))
    'REGR_INTERCEPT(cost, age)'
    """
    return Aggregate("regr_intercept", parse_expression(of), second=parse_expression(by))


def histogram(of: str, bins: int = 10) -> Aggregate:
    """How many rows fall into each of some bins, or have each declared value.

    >>> str(histogram("age", bins=5))
    'HISTOGRAM(age, 5)'
    """
    return sql_aggregates.histogram((parse_expression(of), parse_expression(str(bins))))


def clipped(column: str) -> Aggregate:
    """How many values of a column lie outside of its bounds, and so were clipped.

    >>> str(clipped("cost"))
    'SUM(CASE(OUTSIDE(cost), 1, 0))'
    """
    return sql_aggregates.clipped((parse_expression(column),))


@dataclass(frozen=True, slots=True)
class QuestionBuilder:
    """A question in the making; every step returns a new one.

    >>> asked = QuestionBuilder("visits").where("age >= 18").group_by("ward").agg(n=count())
    >>> from deniable.query.language.parse import parse
    >>> asked == parse("SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward")
    True
    """

    table: str
    conditions: tuple[Expression, ...] = ()
    keys: tuple[Named, ...] = ()

    def where(self, text: str) -> "QuestionBuilder":
        """Keeps the rows for which a condition holds; several must all hold."""
        return replace(self, conditions=(*self.conditions, parse_expression(text)))

    def group_by(self, *columns: str, **named: str) -> "QuestionBuilder":
        """Groups by columns, or by expressions under a name: decade="FLOOR(age / 10) * 10"."""
        found = [parse_expression(column) for column in columns]
        keys = [Named(output_name(one), one) for one in found]
        keys += [Named(name, parse_expression(text)) for name, text in named.items()]
        return replace(self, keys=(*self.keys, *keys))

    def agg(
        self,
        *,
        having: str | None = None,
        order_by: str | None = None,
        descending: bool = False,
        limit: int | None = None,
        **outputs: Aggregate | str,
    ) -> Question:
        """The question: the keys, and these aggregates under these names."""
        if not outputs:
            raise InvalidQuery("Ask for an aggregate: agg(n=count(), cost=mean('cost')).")
        named = tuple(Named(name, _asked(name, one)) for name, one in outputs.items())
        answer = (*self.keys, *named)
        for one in answer:
            check_encodable(one.name, "The name of a column of the answer")
        check_names(answer, "give one of them another name, as in agg(n=...)")
        return Question(
            table=parse_relation(self.table),
            where=conjunction(self.conditions),
            keys=self.keys,
            outputs=answer,
            having=None if having is None else expand_aliases(parse_expression(having), answer),
            order=()
            if order_by is None
            else ((expand_aliases(parse_expression(order_by), answer), descending),),
            limit=limit,
        )


def _asked(name: str, one: object) -> Expression:
    """An aggregate, or one that is written in SQL."""
    if isinstance(one, str):
        return parse_expression(one)
    if isinstance(one, get_args(Expression)):
        return cast(Expression, one)
    raise InvalidQuery(
        f"`{name}` must be an aggregate, such as count() or mean('cost'), or SQL for one. "
        f"Found {type(one).__name__}."
    )
