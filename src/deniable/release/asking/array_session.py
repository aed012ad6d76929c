"""A session for one question about one array.

The array becomes a table with one column, `value`; the privacy unit is the row. How values are
read depends only on their declared type and on public arguments, never on the values: lists are
read as doubles, or as text if the keys are text. A value that cannot be read is missing, like
NaN.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

import numpy as np
import pyarrow as pa

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number
from deniable.policy import KeyValue, Policy, Table
from deniable.policy.suggestions import suggest
from deniable.privacy.neighbors import Neighbors
from deniable.query.language.builder import QuestionBuilder
from deniable.query.language.syntax_tree import Aggregate
from deniable.release.asking.stages import release_question
from deniable.release.session.connecting import connect
from deniable.release.session.door import Door
from deniable.release.session.release import Release

Bounds: TypeAlias = tuple[Number, Number] | Literal["find"]
# A NumPy array, an Arrow array, a pandas or Polars Series, or any sequence of values.
Values: TypeAlias = Any


class ArrayOptions(TypedDict):
    """The options of a release from an array, in addition to its bounds and its epsilon."""

    delta: NotRequired[Number]
    step: NotRequired[Number]
    confidence: NotRequired[Number]
    neighbors: NotRequired[Neighbors]


def name_or_release(
    name: str,
    aggregate: Callable[[str], Aggregate],
    of: Values,
    bounds: Bounds | None,
    epsilon: Number | None,
    how: dict[str, Any],
    keys: Sequence[KeyValue] | None = None,
) -> Any:
    """The aggregate of a named column, or its release from an array."""
    if is_column_name(of, epsilon, bounds, keys, *how.values()):
        return aggregate(of)
    _check_options(name, how)
    if bounds is None and keys is None:
        raise InvalidParameter(
            f"`bounds` is missing: one person could change the {name} by any amount. Give "
            "bounds that are known without looking at the data, such as bounds=(0, 100); or "
            'bounds="find", which spends a fifth of epsilon on finding them.'
        )
    kind = "text" if keys is not None and isinstance(next(iter(keys), ""), str) else "number"
    values = to_arrow_column(of, kind)
    return release_array(name, aggregate("value"), values, bounds, epsilon, how, keys)


def is_column_name(of: Values, *given: object) -> bool:
    """Whether `of` names a column. Then no other argument may be given."""
    if not isinstance(of, str):
        return False
    if any(argument is not None for argument in given):
        raise InvalidParameter(
            f"{of!r} names a column of a session's table, so it takes no other arguments. To "
            "release directly, give an array of values instead of a name."
        )
    return True


def _check_options(name: str, how: Mapping[str, Any]) -> None:
    optional = ArrayOptions.__annotations__
    for option in how:
        if option not in optional:
            hint = suggest(option, ("epsilon", "bounds", *optional), "The options are")
            raise InvalidParameter(f"Unknown option `{option}` of {name}(). {hint}")


def release_array(
    name: str,
    aggregate: Aggregate,
    values: "pa.Array[Any]",
    bounds: Bounds | None,
    epsilon: Number | None,
    how: dict[str, Any],
    keys: Sequence[KeyValue] | None = None,
) -> Release:
    """The answer of a session that is opened for this question."""
    _check_options(name, how)
    if epsilon is None:
        raise InvalidParameter(
            f"`epsilon` is missing: it is the price of the {name}. 1 is a common choice; a "
            "smaller epsilon is safer and has wider margins."
        )
    delta, confidence = how.get("delta", 0), how.get("confidence", 0.95)
    find = bounds == "find"
    facts: dict[str, Any] = {
        "bounds": None if find else bounds,
        "step": how.get("step"),
        "keys": keys,
    }
    table = Table.declare(
        "data",
        pa.table({"value": values}),
        neighbors=how.get("neighbors", "add-remove"),
        **{option: {"value": fact} for option, fact in facts.items() if fact},
    )
    outputs: dict[str, Any] = {name: aggregate}
    question = QuestionBuilder(table.name).agg(**outputs)
    options = {"epsilon": epsilon, "delta": delta, "confidence": confidence}
    with connect(Policy([table], epsilon=epsilon, delta=delta), Door) as session:
        return release_question(
            session, question, {**options, "bounds": "find" if find else None}
        )


def to_arrow_column(values: Values, kind: str, *, count: bool = False) -> Any:
    """The values as one Arrow column, whose type depends on no value.

    With `count`, the list of whether each value is present.
    """
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InvalidData(f"The array must have one dimension. Found {values.ndim}.")
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        column = pa.array(values, from_pandas=True)  # NaN is missing
    elif str(getattr(values, "dtype", "")).lower() != "object" and (
        hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")
    ):
        column = _from_arrow(values)
    elif isinstance(values, Iterable) and not isinstance(values, bytes | dict):
        read = _to_double if kind == "number" and not count else _to_text
        type_ = pa.float64() if read is _to_double else pa.string()
        column = pa.array([read(value) for value in values], type_)
    else:
        raise InvalidData(
            f"Give an array, a Series or a list of values. Found {type(values).__name__}."
        )
    return column.is_valid().to_pylist() if count else column


def _from_arrow(values: Any) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    stream = hasattr(values, "__arrow_c_stream__")
    return pa.chunked_array(values) if stream else pa.array(values)


def _to_double(value: object) -> float | None:
    """A number as a double. Anything else, and NaN, is missing."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _to_text(value: object) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value)
