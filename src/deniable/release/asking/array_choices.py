"""Functions of one array whose answer is a chosen value: medians, quantiles, ends, modes.

As in `arrays`: text names a column, and an array is released directly.
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
    name_or_release,
)
from deniable.release.session.release import Release


@overload
def median(of: str) -> Aggregate: ...
@overload
def median(
    of: Values, *, bounds: Bounds, epsilon: Number, **how: Unpack[ArrayOptions]
) -> Release: ...
@check_call
def median(
    of: Values, *, bounds: Bounds | None = None, epsilon: Number | None = None, **how: Any
) -> Any:
    """A median, of a named column or of an array.

    >>> str(median("cost"))
    'MEDIAN(cost)'
    >>> abs(median(range(1000), bounds=(0, 1000), epsilon=1).value - 500) < 200
    True
    """
    return name_or_release("median", builder.median, of, bounds, epsilon, how)


@overload
def min(of: str) -> Aggregate: ...
@overload
def min(
    of: Values, *, bounds: Bounds, epsilon: Number, **how: Unpack[ArrayOptions]
) -> Release: ...
@check_call
def min(
    of: Values, *, bounds: Bounds | None = None, epsilon: Number | None = None, **how: Any
) -> Any:
    """Approximately the least value: a quantile as near to the lower end as is private.

    >>> str(min("cost"))
    'MIN(cost)'
    >>> min(range(1000), bounds=(0, 1000), epsilon=1).value < 200
    True
    """
    return name_or_release("min", builder.min, of, bounds, epsilon, how)


@overload
def max(of: str) -> Aggregate: ...
@overload
def max(
    of: Values, *, bounds: Bounds, epsilon: Number, **how: Unpack[ArrayOptions]
) -> Release: ...
@check_call
def max(
    of: Values, *, bounds: Bounds | None = None, epsilon: Number | None = None, **how: Any
) -> Any:
    """Approximately the greatest value: a quantile as near to the upper end as is private.

    >>> str(max("cost"))
    'MAX(cost)'
    >>> max(range(1000), bounds=(0, 1000), epsilon=1).value > 800
    True
    """
    return name_or_release("max", builder.max, of, bounds, epsilon, how)


@overload
def quantile(of: str, level: Number) -> Aggregate: ...
@overload
def quantile(
    of: Values, level: Number, *, bounds: Bounds, epsilon: Number, **how: Unpack[ArrayOptions]
) -> Release: ...
@check_call
def quantile(
    of: Values,
    level: Number,
    *,
    bounds: Bounds | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """A quantile: the share `level` of the rows lies below it.

    >>> str(quantile("cost", 0.9))
    'QUANTILE_CONT(cost, 0.9)'
    >>> abs(quantile(range(1000), 0.25, bounds=(0, 1000), epsilon=1).value - 250) < 200
    True
    """
    return name_or_release(
        "quantile", lambda text: builder.quantile(text, level), of, bounds, epsilon, how
    )


@overload
def quantiles(of: str, levels: Sequence[Number]) -> Aggregate: ...
@overload
def quantiles(
    of: Values,
    levels: Sequence[Number],
    *,
    bounds: Bounds,
    epsilon: Number,
    **how: Unpack[ArrayOptions],
) -> Release: ...
@check_call
def quantiles(
    of: Values,
    levels: Sequence[Number],
    *,
    bounds: Bounds | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """Several quantiles, for the price of one release.

    >>> quartiles = [0.25, 0.5, 0.75]
    >>> quantiles(range(1000), quartiles, bounds=(0, 1000), epsilon=1).columns
    ('quantiles[0.25]', 'quantiles[0.5]', 'quantiles[0.75]')
    """

    def named(text: str) -> Aggregate:
        return builder.quantiles(text, levels)

    return name_or_release("quantiles", named, of, bounds, epsilon, how)


@overload
def mode(of: str) -> Aggregate: ...
@overload
def mode(
    of: Values,
    *,
    keys: Sequence[KeyValue] | None = None,
    bounds: Bounds | None = None,
    epsilon: Number,
    **how: Unpack[ArrayOptions],
) -> Release: ...
@check_call
def mode(
    of: Values,
    *,
    keys: Sequence[KeyValue] | None = None,
    bounds: Bounds | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """The most frequent of the declared keys.

    >>> str(mode("ward"))
    'MODE(ward)'
    >>> mode(["A", "B", "B"] * 100, keys=["A", "B", "C"], epsilon=1).value
    'B'
    """
    return name_or_release("mode", builder.mode, of, bounds, epsilon, how, keys)
