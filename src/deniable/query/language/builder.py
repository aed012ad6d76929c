"""The Python builder: the same questions as in SQL, built step by step.

    table.where("age >= 18").group_by("ward").agg(n=count(), cost=mean("cost"))

Columns and conditions are SQL expressions as text, read by the same parser.
"""

from collections import Counter
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
from deniable.query.language.sql_selects import output_name
from deniable.query.language.syntax_tree import Aggregate, Expression, Literal, Named


def count(of: str | None = None) -> Aggregate:
    """The number of rows, or of rows where an expression is not NULL.

    >>> str(count()), str(count("age"))
    ('COUNT(*)', 'COUNT(age)')
    """
    return Aggregate("count", None if of is None else parse_expression(of))


def count_units(unit: str) -> Aggregate:
    """The number of privacy units.

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


def sum_distinct(of: str) -> Aggregate:
    """The sum of the different values.

    >>> str(sum_distinct("cost"))
    'SUM(DISTINCT cost)'
    """
    return Aggregate("sum_distinct", parse_expression(of))


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
    """The number of different values.

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
    """Several quantiles in one release, a column for each.

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
    """Approximately the least value: a quantile as near to the lower end as is private.

    >>> str(min("cost"))
    'MIN(cost)'
    """
    return Aggregate("min", parse_expression(of))


def max(of: str) -> Aggregate:
    """Approximately the greatest value: a quantile as near to the upper end as is private.

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
    """The k most frequent of a column's declared values, a column for each.

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
    """The slope of the least-squares line of one column against another.

    >>> str(slope("cost", by="age"))
    'REGR_SLOPE(cost, age)'
    """
    return Aggregate("regr_slope", parse_expression(of), second=parse_expression(by))


def intercept(of: str, by: str) -> Aggregate:
    """The intercept of the least-squares line of one column against another.

    >>> str(intercept("cost", by="age"))
    'REGR_INTERCEPT(cost, age)'
    """
    return Aggregate("regr_intercept", parse_expression(of), second=parse_expression(by))


def histogram(of: str, bins: int = 10) -> Aggregate:
    """The number of rows in each bin, or with each declared value.

    >>> str(histogram("age", bins=5))
    'HISTOGRAM(age, 5)'
    """
    return sql_aggregates.histogram((parse_expression(of), parse_expression(str(bins))))


def clipped(column: str) -> Aggregate:
    """The number of values of a column that lie outside its bounds, and so are clipped.

    >>> str(clipped("cost"))
    'CLIPPED(cost)'
    """
    return sql_aggregates.clipped((parse_expression(column),))


@dataclass(frozen=True, slots=True)
class QuestionBuilder:
    """A question that is not complete yet. Every step returns a new builder.

    >>> from deniable.query.language.parse import parse
    >>> built = QuestionBuilder("visits").where("age >= 18").group_by("ward").agg(n=count())
    >>> built == parse("SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward")
    True
    """

    table: str
    conditions: tuple[Expression, ...] = ()
    keys: tuple[Named, ...] = ()

    def where(self, text: str) -> "QuestionBuilder":
        """Keeps the rows for which a condition holds. Several conditions must all hold."""
        return replace(self, conditions=(*self.conditions, parse_expression(text)))

    def group_by(self, *columns: str, **named: str) -> "QuestionBuilder":
        """Groups by columns, or by expressions under a name: decade="FLOOR(age / 10) * 10"."""
        expressions = [parse_expression(column) for column in columns]
        keys = [Named(output_name(expression), expression) for expression in expressions]
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
            raise InvalidQuery(
                "agg() needs an aggregate, for example   agg(n=count(), cost=mean('cost'))"
            )
        named = tuple(Named(name, _output(name, given)) for name, given in outputs.items())
        answer = (*self.keys, *named)
        for column in answer:
            check_encodable(column.name, "The name of a column of the answer")
        _check_names(answer, "Give one of them another name, as in agg(n=...)")
        return Question(
            table=parse_relation(self.table),
            where=conjunction(self.conditions),
            keys=self.keys,
            outputs=answer,
            having=None if having is None else parse_expression(having),
            order=() if order_by is None else ((parse_expression(order_by), descending),),
            limit=limit,
        )


def _output(name: str, given: object) -> Expression:
    """An aggregate, or the SQL text of one."""
    if isinstance(given, str):
        return parse_expression(given)
    if isinstance(given, get_args(Expression)):
        return cast(Expression, given)
    raise InvalidQuery(
        f"`{name}` must be an aggregate, such as count() or mean('cost'), or SQL text such as "
        f"'AVG(cost)'. Found {type(given).__name__}."
    )


def _check_names(outputs: Iterable[Named], mend: str) -> None:
    """Refuses two columns with the same name."""
    names = Counter(output.name.lower() for output in outputs)
    doubled = next((name for name, count in names.items() if count > 1), None)
    if doubled is not None:
        raise InvalidQuery(f"Two columns of the answer have the name {doubled}. {mend}.")
