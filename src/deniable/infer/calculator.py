"""A calculator over one release: which numbers it has, and what can be computed from them."""

from collections.abc import Sequence

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number
from deniable.infer.comparisons import difference, ratio
from deniable.infer.groups.group_means import Key
from deniable.infer.groups.readings import mean_columns
from deniable.infer.inferred import Inferred
from deniable.infer.sums import share, total
from deniable.release.session.release import Release

OPERATIONS = ("sum", "difference", "ratio", "share")


def number_columns(release: Release) -> tuple[str, ...]:
    """The columns with noisy numbers that have a margin in their own unit.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> visits = dp.protect(
    ...     pa.table({"ward": ["A", "B"]}), keys={"ward": ["A", "B"]}, epsilon=1
    ... )
    >>> answer = visits.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> number_columns(answer)
    ('n',)
    """
    return tuple(name for name in release.answer.margins if name not in release.units)


def calculate(
    release: Release,
    operation: str,
    first: Sequence[Key],
    second: Sequence[Key] = (),
    *,
    value: str,
    confidence: Number = 0.95,
) -> Inferred:
    """The sum of the first groups' numbers; that less the sum of the second ones; or the one
    over the other. The share is that of the first groups in the second ones; without these, in
    all groups.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> visits = dp.protect(
    ...     pa.table({"ward": ["A", "B"]}), keys={"ward": ["A", "B"]}, epsilon=1
    ... )
    >>> answer = visits.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> calculate(answer, "sum", ["A", "B"], value="n").value == sum(answer["n"])
    True
    """
    check_choice(operation, first, second)
    if value in mean_columns(release) and operation in ("difference", "ratio"):
        return _compare_means(release, operation, first, second, value, confidence)
    if operation == "sum":
        return total(release, first, value=value, confidence=confidence)
    if operation == "difference":
        return total(release, first, less=second, value=value, confidence=confidence)
    return share(release, first, second or None, value=value, confidence=confidence)


def check_choice(
    operation: str, first: Sequence[Key], second: Sequence[Key], *, both: bool = False
) -> None:
    """Refuses an operation that is not there, or without groups that it needs."""
    if operation not in OPERATIONS:
        raise InvalidParameter(f"`operation` must be one of {', '.join(OPERATIONS)}.")
    if not first:
        raise InvalidParameter("Tick at least one group of the first kind.")
    if (both or operation in ("difference", "ratio")) and not second:
        raise InvalidParameter(f"A {operation} needs a group of the second kind as well.")


def _compare_means(
    release: Release,
    operation: str,
    first: Sequence[Key],
    second: Sequence[Key],
    value: str,
    confidence: Number,
) -> Inferred:
    if len(first) != 1 or len(second) != 1:
        raise InvalidParameter(
            f"{value} is a mean: compare one group with one other. Means of several groups "
            "cannot be added."
        )
    compare = difference if operation == "difference" else ratio
    return compare(
        release, first[0], second[0], value=value, sampling=False, confidence=confidence
    )
