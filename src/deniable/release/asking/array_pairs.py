"""Functions of two columns or two arrays: `corr("cost", "age")`, `corr(costs, ages, ...)`."""

from typing import Any, TypeAlias, Unpack, overload

import pyarrow as pa

from deniable.engines.duckdb.series import read_array
from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number
from deniable.mechanisms.named_arguments import check_call
from deniable.policy import Policy, Table
from deniable.query.language import builder
from deniable.query.language.builder import QuestionBuilder
from deniable.query.language.syntax_tree import Aggregate
from deniable.release.asking.array_session import ArrayOptions, Values, check_options
from deniable.release.asking.stages import release_question
from deniable.release.session.connecting import connect
from deniable.release.session.door import Door
from deniable.release.session.release import Release

PairBounds: TypeAlias = tuple[Number, Number] | tuple[tuple[Number, Number], ...]


@overload
def corr(of: str, other: str) -> Aggregate: ...
@overload
def corr(
    of: Values,
    other: Values,
    *,
    bounds: PairBounds,
    epsilon: Number,
    **how: Unpack[ArrayOptions],
) -> Release: ...
@check_call
def corr(
    of: Values,
    other: Values,
    *,
    bounds: PairBounds | None = None,
    epsilon: Number | None = None,
    **how: Any,
) -> Any:
    """The correlation of two columns, or of two arrays: a pair of values is one person's.

    `bounds` are those of both arrays, or one pair of bounds for each.

    >>> str(corr("cost", "age"))
    'CORR(cost, age)'
    >>> x, y = list(range(1000)), [2 * i for i in range(1000)]
    >>> corr(x, y, bounds=((0, 1000), (0, 2000)), epsilon=1).value > 0.8
    True
    """
    if isinstance(of, str) and isinstance(other, str):
        if bounds is not None or epsilon is not None or how:
            raise InvalidParameter(
                f"{of!r} and {other!r} name columns of a session's table, so corr() takes no "
                "other arguments. To release directly, give two arrays instead of names."
            )
        return builder.corr(of, other)
    check_options("corr", how)
    limits = _read_bounds(bounds)
    if epsilon is None:
        raise InvalidParameter("`epsilon` is missing: it is the price of the corr, such as 1.")
    columns = [read_array(values, "number") for values in (of, other)]
    if len(columns[0]) != len(columns[1]):
        raise InvalidData("The two arrays of corr() have different lengths.")
    table = Table.declare(
        "data",
        pa.table(dict(zip("xy", columns, strict=True))),
        bounds=dict(zip("xy", limits, strict=True)),
        neighbors=how.get("neighbors", "add-remove"),
        **({"step": dict.fromkeys("xy", how["step"])} if "step" in how else {}),
    )
    question = QuestionBuilder(table.name).agg(corr=builder.corr("x", "y"))
    delta = how.get("delta", 0)
    options = {"delta": delta, "confidence": how.get("confidence", 0.95)}
    with connect(Policy([table], epsilon=epsilon, delta=delta), Door) as session:
        return release_question(session, question, {"epsilon": epsilon, **options})


def _read_bounds(bounds: Any) -> tuple[Any, Any]:
    """One pair of bounds for each array."""
    try:
        first, second = bounds
        nested = [isinstance(bound, tuple | list) for bound in (first, second)]
    except (TypeError, ValueError):
        nested = [True, False]
    if nested == [True, True]:
        return tuple(first), tuple(second)
    if nested == [False, False]:
        return (first, second), (first, second)
    raise InvalidParameter(
        "`bounds` of corr() are those of both arrays, such as bounds=(0, 100), or one pair for "
        f"each, such as bounds=((0, 100), (0, 1)). Found {bounds!r}."
    )
