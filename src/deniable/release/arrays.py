"""One-liners: `mean("cost")` names an aggregate, `mean(values, ...)` releases one at once.

An array is a table of one column, `value`, in which each value is somebody: it is protected by
a session that lives for one question, so that what happens is the plan of that question and
nothing else. What becomes of the values is decided by their declared type and by the public
arguments, never by the values themselves: lists are read as doubles, or as text where text is
counted, and what cannot be read so is missing, as NaN is.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import pyarrow as pa

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number
from deniable.policy import KeyValue
from deniable.privacy.neighbors import Neighbors
from deniable.query import build
from deniable.query.expressions import Aggregate
from deniable.release.release import Release

Bounds: TypeAlias = tuple[Number, Number] | Literal["find"]
# A NumPy array, an Arrow array, a pandas or Polars Series, or any sequence of values.
Values: TypeAlias = Any


class How(TypedDict):
    """What may be said about a release from an array, beside its bounds and its price."""

    delta: NotRequired[Number]
    step: NotRequired[Number]
    confidence: NotRequired[Number]
    neighbors: NotRequired[Neighbors]


@overload
def count(of: str | None = None) -> Aggregate: ...
@overload
def count(of: Values, *, epsilon: Number, **how: Unpack[How]) -> Release: ...
def count(of: Values = None, *, epsilon: Number | None = None, **how: Any) -> Any:
    """How many rows, or how many where something is known; of an array, how many values.

    >>> str(count()), str(count("age"))
    ('COUNT(*)', 'COUNT(age)')
    >>> abs(count([1.5, None, 2.5] * 100, epsilon=1).value - 200) < 60
    True
    """
    if _is_text(of, epsilon) or of is None:
        return build.count(of)
    known = pa.array([True if one else None for one in _column(of, "number", count=True)])
    return _released("count", build.count("value"), known, None, epsilon, how)


@overload
def sum(of: str) -> Aggregate: ...
@overload
def sum(of: Values, *, bounds: Bounds, epsilon: Number, **how: Unpack[How]) -> Release: ...
def sum(
    of: Values, *, bounds: Bounds | None = None, epsilon: Number | None = None, **how: Any
) -> Any:
    """A sum, of a column by its name or of an array's values.

    >>> str(sum("cost + 1"))
    'SUM((cost + 1))'
    >>> abs(sum([0.2, 0.9] * 500, bounds=(0, 1), epsilon=1).value - 550) < 60
    True
    """
    return _asked("sum", build.sum, of, bounds, epsilon, how)


@overload
def mean(of: str) -> Aggregate: ...
@overload
def mean(of: Values, *, bounds: Bounds, epsilon: Number, **how: Unpack[How]) -> Release: ...
def mean(
    of: Values, *, bounds: Bounds | None = None, epsilon: Number | None = None, **how: Any
) -> Any:
    """An average, of a column by its name or of an array's values.

    >>> str(mean("cost"))
    'AVG(cost)'
    >>> abs(mean([0.2, 0.9] * 500, bounds=(0, 1), epsilon=1).value - 0.55) < 0.1
    True
    """
    return _asked("mean", build.mean, of, bounds, epsilon, how)


@overload
def variance(of: str, *, population: bool = False) -> Aggregate: ...
@overload
def variance(
    of: Values,
    *,
    population: bool = False,
    bounds: Bounds,
    epsilon: Number,
    **how: Unpack[How],
) -> Release: ...
def variance(
    of: Values,
    *,
    population: bool = False,
    bounds: Bounds | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """A variance: of the sample (divided by n - 1) unless the rows are the population.

    >>> str(variance("age"))
    'VAR_SAMP(age)'
    >>> abs(variance([0, 1] * 500, bounds=(0, 1), epsilon=1).value - 0.25) < 0.1
    True
    """

    def named(text: str) -> Aggregate:
        return build.variance(text, population=population)

    return _asked("variance", named, of, bounds, epsilon, how)


@overload
def stddev(of: str, *, population: bool = False) -> Aggregate: ...
@overload
def stddev(
    of: Values,
    *,
    population: bool = False,
    bounds: Bounds,
    epsilon: Number,
    **how: Unpack[How],
) -> Release: ...
def stddev(
    of: Values,
    *,
    population: bool = False,
    bounds: Bounds | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """A standard deviation.

    >>> str(stddev("age", population=True))
    'STDDEV_POP(age)'
    >>> abs(stddev([0, 1] * 500, bounds=(0, 1), epsilon=1).value - 0.5) < 0.1
    True
    """

    def named(text: str) -> Aggregate:
        return build.stddev(text, population=population)

    return _asked("stddev", named, of, bounds, epsilon, how)


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
    **how: Unpack[How],
) -> Release: ...
def histogram(
    of: Values,
    bins: int = 10,
    *,
    bounds: Bounds | None = None,
    keys: Sequence[KeyValue] | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """How many rows fall into each of some bins, or have each declared value.

    >>> str(histogram("age", bins=5))
    'HISTOGRAM(age, 5)'
    >>> histogram(["A", "B"] * 300, keys=["A", "B"], epsilon=1).columns
    ('histogram[A]', 'histogram[B]')
    """

    def named(text: str) -> Aggregate:
        return build.histogram(text, bins)

    return _asked("histogram", named, of, bounds, epsilon, how, keys)


def _asked(
    name: str,
    aggregate: Callable[[str], Aggregate],
    of: Values,
    bounds: Bounds | None,
    epsilon: Number | None,
    how: dict[str, Any],
    keys: Sequence[KeyValue] | None = None,
) -> Any:
    """The aggregate of a column by its name, or its release from an array."""
    if _is_text(of, epsilon, bounds, keys, *how.values()):
        return aggregate(of)
    if bounds is None and keys is None:
        raise InvalidParameter(
            f"`bounds` is missing: one person could change the {name} by any amount. Say what "
            'is known without looking, such as bounds=(0, 100); or bounds="find", which spends '
            "a fifth of epsilon on finding them."
        )
    kind = "text" if keys is not None and isinstance(next(iter(keys), ""), str) else "number"
    column = _column(of, kind)
    return _released(name, aggregate("value"), column, bounds, epsilon, how, keys)


def _is_text(of: Values, *given: object) -> bool:
    """Whether a column is named, for which nothing else may be given."""
    if not isinstance(of, str):
        return False
    if any(one is not None for one in given):
        raise InvalidParameter(
            f"{of!r} names a column of a session's table, which has its own bounds and price. "
            "Give an array to release at once."
        )
    return True


def _released(
    name: str,
    aggregate: Aggregate,
    column: "pa.Array[Any]",
    bounds: Bounds | None,
    epsilon: Number | None,
    how: dict[str, Any],
    keys: Sequence[KeyValue] | None = None,
) -> Release:
    """The answer of a session about one column that lives for one question."""
    from deniable.release.opening import protect

    if epsilon is None:
        raise InvalidParameter(
            f"`epsilon` is missing: what may the {name} cost? 1 is a usual choice; less is "
            "safer and has wider margins."
        )
    delta, confidence = how.pop("delta", 0), how.pop("confidence", 0.95)
    declared: dict[str, Any] = {"neighbors": how.pop("neighbors", "add-remove")}
    given = {"bounds": None if bounds == "find" else bounds, "step": how.pop("step", None)}
    declared |= {k: {"value": one} for k, one in {**given, "keys": keys}.items() if one}
    if how:
        raise InvalidParameter(f"`{next(iter(how))}` is not known to {name} of an array.")
    frame = pa.table({"value": column})
    with protect(frame, epsilon=epsilon, delta=delta, **declared) as session:
        outputs: dict[str, Any] = {name: aggregate}
        ready = session.table("data").agg(**outputs)
        find: dict[str, Any] = {"bounds": "find"} if bounds == "find" else {}
        return ready.release(epsilon=epsilon, delta=delta, confidence=confidence, **find)


def _column(values: Values, kind: str, *, count: bool = False) -> Any:
    """The values as one Arrow column of a type that no value decides; or which are known."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InvalidData(f"The array must have one dimension. Found {values.ndim}.")
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        found = pa.array(values, from_pandas=True)  # NaN is missing
    elif str(getattr(values, "dtype", "")).lower() != "object" and (
        hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")
    ):
        found = _arrow(values)
    elif isinstance(values, Iterable) and not isinstance(values, bytes | dict):
        read = _double if kind == "number" and not count else _text
        listed = [read(one) for one in values]
        found = pa.array(listed, pa.float64() if read is _double else pa.string())
    else:
        raise InvalidData(
            f"An array, a Series or a list of values is needed. Found {type(values).__name__}."
        )
    return found.is_valid().to_pylist() if count else found


def _arrow(values: Any) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    stream = hasattr(values, "__arrow_c_stream__")
    return pa.chunked_array(values) if stream else pa.array(values)


def _double(value: object) -> float | None:
    """A number as a double; what is none, or NaN, is missing."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _text(value: object) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value)
