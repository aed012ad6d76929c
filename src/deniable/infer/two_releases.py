"""Numbers of two releases in one calculation: sums, differences, ratios and shares.

Two releases have noises of their own, drawn independently, so the law of a sum or a ratio of
their numbers is as exact as within one. One answer that was given twice has one noise: it is
refused as a pair.
"""

from collections.abc import Sequence
from typing import NamedTuple

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level
from deniable.infer.calculator import check_choice
from deniable.infer.groups.group_means import Key
from deniable.infer.inferred import THESE_ROWS, Inferred
from deniable.infer.sums import (
    WeighedSum,
    ends_of_ratio,
    ends_of_sum,
    find_places,
    name_groups,
    read_amounts,
    weigh,
)
from deniable.release.session.release import Release


class ReleasedNumbers(NamedTuple):
    """Groups of one release and the column of their numbers."""

    release: Release
    groups: Sequence[Key]
    value: str


def calculate_with_both(
    first: ReleasedNumbers,
    operation: str,
    second: ReleasedNumbers,
    *,
    confidence: Number = 0.95,
) -> Inferred:
    """The sum of the groups of two releases, their difference, or the first over the second.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A"] * 4000 + ["B"] * 1000})
    >>> visits = dp.protect(rows, keys={"ward": ["A", "B"]}, epsilon=2)
    >>> all_rows = visits.sql("SELECT COUNT(*) AS n FROM data", epsilon=1)
    >>> wards = visits.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=1)
    >>> part = ReleasedNumbers(wards, ["A"], "n")
    >>> share = calculate_with_both(part, "share", ReleasedNumbers(all_rows, [()], "n"))
    >>> share.low < 0.8 < share.high < 0.81
    True
    """
    level = confidence_level(confidence)
    check_choice(operation, first.groups, second.groups, both=True)
    if first.release.plan == second.release.plan and first.release.answer.table.equals(
        second.release.answer.table
    ):
        raise InvalidParameter(
            "Both are the same answer, with one noise. Choose the groups in one release."
        )
    above, over = _weigh(first, "first")
    sign = -1 if operation == "difference" else 1
    below, under = _weigh(second, "second", sign)
    if over == under:
        over, under = f"{over} (first)", f"{under} (second)"
    if operation in ("sum", "difference"):
        word = "less" if operation == "difference" else "and"
        middle, ends = ends_of_sum([above, below], level)
        name = f"{over} {word} {under}"
    else:
        ends = ends_of_ratio(above, below, level)
        middle = above.value / below.value if below.value else float("nan")
        name = f"{over} over {under}"
    null = float(operation in ("ratio", "share"))
    return Inferred(name, middle, ends, ends, None, float(level), THESE_ROWS, null=null)


def _weigh(numbers: ReleasedNumbers, of: str, sign: int = 1) -> tuple[WeighedSum, str]:
    amounts = read_amounts(numbers.release, numbers.value)
    places = find_places(amounts, numbers.groups)
    name = f"{numbers.value} of {name_groups(amounts, places)}"
    return weigh(amounts, places, sign, of=f"{of} "), name
