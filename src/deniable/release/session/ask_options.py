"""The options of a question: its price or its accuracy, and how the answer is shown."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from deniable.exact.rationals import Number


class AskOptions(TypedDict):
    """The keyword arguments of `sql`, `plan`, `explain` and `release` of a built question."""

    epsilon: NotRequired[Number | None]
    margin: NotRequired[Number | Mapping[str, Number] | None]  # instead of epsilon
    relative: NotRequired[Number | Mapping[str, Number] | None]  # a margin as a share of a size
    of: NotRequired[object]  # that size: a number, or an earlier release
    bounds: NotRequired[str | Sequence[str] | Mapping[str, str] | None]  # "find"
    delta: NotRequired[Number | None]
    confidence: NotRequired[Number]
    weights: NotRequired[Mapping[str, Number] | None]
    nonnegative: NotRequired[bool]
    other: NotRequired[bool]
