"""Sums of one array: `mean("cost")` names an aggregate, `mean(values, ...)` releases one.

Each call opens a session for one question about the array (`array_session`), so its privacy
is that of the question's plan.
"""

from collections.abc import Sequence
from typing import Any, Unpack, overload

from deniable.exact.rationals import Number
from deniable.mechanisms.named_arguments import check_call
from deniable.policy import KeyValue
from deniable.query.language import builder
from deniable.query.language.syntax_tree import Aggregate
from deniable.release.asking.array_session import (
    ArrayOptions,
    Bounds,
    Values,
    is_column_name,
    name_or_release,
    release_array,
)
from deniable.release.session.release import Release


@overload
def count(of: str | None = None) -> Aggregate: ...
@overload
def count(of: Values, *, epsilon: Number, **how: Unpack[ArrayOptions]) -> Release: ...
@check_call
def count(of: Values = None, *, epsilon: Number | None = None, **how: Any) -> Any:
    """The number of rows; of a column or an array, the number of values that are not missing.

    >>> str(count()), str(count("age"))
    ('COUNT(*)', 'COUNT(age)')
    >>> abs(count([1.5, None, 2.5] * 100, epsilon=1).value - 200) < 60
    True
    """
    if is_column_name(of, epsilon) or of is None:
        return builder.count(of)
    return release_array("count", builder.count("value"), of, None, epsilon, how)


@overload
def sum(of: str) -> Aggregate: ...
@overload
def sum(
    of: Values, *, bounds: Bounds, epsilon: Number, **how: Unpack[ArrayOptions]
) -> Release: ...
@check_call
def sum(
    of: Values, *, bounds: Bounds | None = None, epsilon: Number | None = None, **how: Any
) -> Any:
    """A sum, of a named column or of an array.

    >>> str(sum("cost + 1"))
    'SUM((cost + 1))'
    >>> abs(sum([0.2, 0.9] * 500, bounds=(0, 1), epsilon=1).value - 550) < 60
    True
    """
    return name_or_release("sum", builder.sum, of, bounds, epsilon, how)


@overload
def mean(of: str) -> Aggregate: ...
@overload
def mean(
    of: Values, *, bounds: Bounds, epsilon: Number, **how: Unpack[ArrayOptions]
) -> Release: ...
@check_call
def mean(
    of: Values, *, bounds: Bounds | None = None, epsilon: Number | None = None, **how: Any
) -> Any:
    """An average, of a named column or of an array.

    >>> str(mean("cost"))
    'AVG(cost)'
    >>> abs(mean([0.2, 0.9] * 500, bounds=(0, 1), epsilon=1).value - 0.55) < 0.1
    True
    """
    return name_or_release("mean", builder.mean, of, bounds, epsilon, how)


@overload
def variance(of: str, *, population: bool = False) -> Aggregate: ...
@overload
def variance(
    of: Values,
    *,
    population: bool = False,
    bounds: Bounds,
    epsilon: Number,
    **how: Unpack[ArrayOptions],
) -> Release: ...
@check_call
def variance(
    of: Values,
    *,
    population: bool = False,
    bounds: Bounds | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """A variance: of the sample (divided by n - 1), or of the population (divided by n).

    >>> str(variance("age"))
    'VAR_SAMP(age)'
    >>> abs(variance([0, 1] * 500, bounds=(0, 1), epsilon=1).value - 0.25) < 0.1
    True
    """

    def named(text: str) -> Aggregate:
        return builder.variance(text, population=population)

    return name_or_release("variance", named, of, bounds, epsilon, how)


@overload
def stddev(of: str, *, population: bool = False) -> Aggregate: ...
@overload
def stddev(
    of: Values,
    *,
    population: bool = False,
    bounds: Bounds,
    epsilon: Number,
    **how: Unpack[ArrayOptions],
) -> Release: ...
@check_call
def stddev(
    of: Values,
    *,
    population: bool = False,
    bounds: Bounds | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """A standard deviation, of the sample or of the population.

    >>> str(stddev("age", population=True))
    'STDDEV_POP(age)'
    >>> abs(stddev([0, 1] * 500, bounds=(0, 1), epsilon=1).value - 0.5) < 0.1
    True
    """

    def named(text: str) -> Aggregate:
        return builder.stddev(text, population=population)

    return name_or_release("stddev", named, of, bounds, epsilon, how)


@overload
def histogram(of: str, bins: int = 10) -> Aggregate: ...
@overload
def histogram(
    of: Values,
    bins: int = 10,
    *,
    bounds: Bounds | None = None,
    keys: Sequence[KeyValue] | None = None,
    epsilon: Number,
    **how: Unpack[ArrayOptions],
) -> Release: ...
@check_call
def histogram(
    of: Values,
    bins: int = 10,
    *,
    bounds: Bounds | None = None,
    keys: Sequence[KeyValue] | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """The number of rows in each bin, or with each declared key.

    >>> str(histogram("age", bins=5))
    'HISTOGRAM(age, 5)'
    >>> histogram(["A", "B"] * 300, keys=["A", "B"], epsilon=1).columns
    ('histogram[A]', 'histogram[B]')
    """

    def named(text: str) -> Aggregate:
        return builder.histogram(text, bins)

    return name_or_release("histogram", named, of, bounds, epsilon, how, keys)
