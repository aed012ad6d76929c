"""A session for one question about one array.

The array becomes a table with one column, `value`; the privacy unit is the row. The function
and its arguments decide how values are read, never the values or the type that they gave the
array: as the kind of the keys if there are keys, else as doubles. `count` only looks which
values are there. A value that cannot be read is missing, like NaN. So no value can change the
plan or make a call fail.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

import pyarrow as pa

from deniable.engines.duckdb.series import read_array, read_presence
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number
from deniable.exact.suggestions import suggest
from deniable.policy import KeyValue, Policy, Table
from deniable.policy.column import kind_of_keys, to_tuple
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
    brackets: NotRequired[bool]  # False: quantiles without intervals, but sharper


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
    check_options(name, how)
    if bounds is None and keys is None:
        text = ' For texts, give the keys to count, such as keys=["A", "B"].'
        raise InvalidParameter(
            f"`bounds` is missing: one person could change the {name} by any amount. Give "
            "bounds that are known without looking at the data, such as bounds=(0, 100); or "
            'bounds="find", which spends a fifth of epsilon on finding them.'
            + text
            * (name in ("histogram", "mode"))
        )
    return release_array(name, aggregate("value"), of, bounds, epsilon, how, keys)


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


def check_options(name: str, how: Mapping[str, Any]) -> None:
    """Refuses an unknown option of a function of arrays."""
    optional = ArrayOptions.__annotations__
    for option in how:
        if option not in optional:
            hint = suggest(option, ("epsilon", "bounds", *optional), "The options are")
            raise InvalidParameter(f"Unknown option `{option}` of {name}(). {hint}")


def release_array(
    name: str,
    aggregate: Aggregate,
    values: Values,
    bounds: Bounds | None,
    epsilon: Number | None,
    how: dict[str, Any],
    keys: Sequence[KeyValue] | None = None,
) -> Release:
    """The answer of a session that is opened for this question."""
    check_options(name, how)
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
    column = (
        read_presence(values)
        if bounds is None and keys is None
        else read_array(values, kind_of_keys(to_tuple(keys) or ()) or "number")
    )
    table = Table.declare(
        "data",
        pa.table({"value": column}),
        neighbors=how.get("neighbors", "add-remove"),
        **{option: {"value": fact} for option, fact in facts.items() if fact is not None},
    )
    outputs: dict[str, Any] = {name: aggregate}
    question = QuestionBuilder(table.name).agg(**outputs)
    options = {"epsilon": epsilon, "delta": delta, "confidence": confidence}
    options["brackets"] = how.get("brackets", True)
    with connect(Policy([table], epsilon=epsilon, delta=delta), Door) as session:
        return release_question(
            session, question, {**options, "bounds": "find" if find else None}
        )
