"""A session that lives for one question about one array.

An array is a table of one column, `value`, in which each value is somebody. What becomes of
the values is decided by their declared type and by the public arguments, never by the values
themselves: lists are read as doubles, or as text where text is counted, and what cannot be
read so is missing, as NaN is.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

import numpy as np
import pyarrow as pa

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number
from deniable.policy import KeyValue, Policy, Table
from deniable.privacy.neighbors import Neighbors
from deniable.query.language.builder import QuestionBuilder
from deniable.query.language.syntax_tree import Aggregate
from deniable.release.asking import stages
from deniable.release.session.connecting import connect
from deniable.release.session.door import Door
from deniable.release.session.release import Release

Bounds: TypeAlias = tuple[Number, Number] | Literal["find"]
# A NumPy array, an Arrow array, a pandas or Polars Series, or any sequence of values.
Values: TypeAlias = Any


class ArrayOptions(TypedDict):
    """What may be said about a release from an array, beside its bounds and its price."""

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
    """The aggregate of a column by its name, or its release from an array."""
    if is_column_name(of, epsilon, bounds, keys, *how.values()):
        return aggregate(of)
    if bounds is None and keys is None:
        raise InvalidParameter(
            f"`bounds` is missing: one person could change the {name} by any amount. Say what "
            'is known without looking, such as bounds=(0, 100); or bounds="find", which spends '
            "a fifth of epsilon on finding them."
        )
    kind = "text" if keys is not None and isinstance(next(iter(keys), ""), str) else "number"
    found = to_arrow_column(of, kind)
    return release_array(name, aggregate("value"), found, bounds, epsilon, how, keys)


def is_column_name(of: Values, *given: object) -> bool:
    """Whether a column is named, for which nothing else may be given."""
    if not isinstance(of, str):
        return False
    if any(one is not None for one in given):
        raise InvalidParameter(
            f"{of!r} names a column of a session's table, which has its own bounds and price. "
            "Give an array to release at once."
        )
    return True


def release_array(
    name: str,
    aggregate: Aggregate,
    values: "pa.Array[Any]",
    bounds: Bounds | None,
    epsilon: Number | None,
    how: dict[str, Any],
    keys: Sequence[KeyValue] | None = None,
) -> Release:
    """The answer of a session about one column that lives for one question."""
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
    frame = pa.table({"value": values})
    table = Table.declare("data", frame, **declared)
    outputs: dict[str, Any] = {name: aggregate}
    question = QuestionBuilder(table.name).agg(**outputs)
    wishes: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "confidence": confidence}
    if bounds == "find":
        wishes["bounds"] = "find"
    with connect(Policy([table], epsilon=epsilon, delta=delta), Door) as door:
        return stages.release_question(door, question, wishes)


def to_arrow_column(values: Values, kind: str, *, count: bool = False) -> Any:
    """The values as one Arrow column of a type that no value decides; or which are known."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InvalidData(f"The array must have one dimension. Found {values.ndim}.")
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        found = pa.array(values, from_pandas=True)  # NaN is missing
    elif str(getattr(values, "dtype", "")).lower() != "object" and (
        hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")
    ):
        found = _from_arrow(values)
    elif isinstance(values, Iterable) and not isinstance(values, bytes | dict):
        read = _to_double if kind == "number" and not count else _to_text
        listed = [read(one) for one in values]
        found = pa.array(listed, pa.float64() if read is _to_double else pa.string())
    else:
        raise InvalidData(
            f"An array, a Series or a list of values is needed. Found {type(values).__name__}."
        )
    return found.is_valid().to_pylist() if count else found


def _from_arrow(values: Any) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    stream = hasattr(values, "__arrow_c_stream__")
    return pa.chunked_array(values) if stream else pa.array(values)


def _to_double(value: object) -> float | None:
    """A number as a double; what is none, or NaN, is missing."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _to_text(value: object) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value)
