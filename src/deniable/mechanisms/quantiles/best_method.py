"""Chooses the quantile method by the number of quantiles and the neighbouring relation."""

from deniable.errors import InvalidParameter
from deniable.mechanisms.quantiles.fixed_target import FixedTargetQuantiles
from deniable.mechanisms.quantiles.independent import IndependentQuantiles
from deniable.mechanisms.quantiles.joint import JointQuantiles
from deniable.mechanisms.quantiles.noisy_tree import MOST_CELLS, TreeQuantiles
from deniable.mechanisms.quantiles.quantile_method import QuantileMethod
from deniable.mechanisms.quantiles.recursive import RecursiveQuantiles
from deniable.privacy import Neighbors

METHODS: dict[str, type[QuantileMethod]] = {
    method.name: method
    for method in (
        IndependentQuantiles,
        JointQuantiles,
        FixedTargetQuantiles,
        RecursiveQuantiles,
        TreeQuantiles,
    )
}
# Where the rank errors of `make figures` cross, for a wide grid and for a grid of a few hundred
# cells, whose tree has only two levels.
MOST_JOINT = 40
FEWEST_TREE = {"replace": 64, "add-remove": 128}
FEWEST_SMALL_TREE = 25
SMALL = 256


def choose_method(
    method: str, count: int, neighbors: Neighbors, size: int
) -> tuple[type[QuantileMethod], str]:
    """The method, and the reason for it."""
    if method == "auto":
        return _choose_best(count, neighbors, size)
    if method not in METHODS:
        names = ", ".join(f'"{name}"' for name in ("auto", *METHODS))
        raise InvalidParameter(f"`method` must be one of {names}. Found {method!r}.")
    if method == FixedTargetQuantiles.name and neighbors == "replace":
        raise InvalidParameter(
            '`method="fixed-target"` spends epsilon on the number of rows, but under '
            'neighbors="replace" that number is public. Use method="joint": the same choice, '
            "without that cost."
        )
    return METHODS[method], "asked for by name"


def _choose_best(
    count: int, neighbors: Neighbors, size: int
) -> tuple[type[QuantileMethod], str]:
    if count == 1:
        return IndependentQuantiles, "one quantile: no epsilon to share, and ties cost nothing"
    fewest = FEWEST_SMALL_TREE if size <= SMALL else FEWEST_TREE[neighbors]
    method: type[QuantileMethod]
    if count >= fewest and size <= MOST_CELLS:
        method, why = TreeQuantiles, "the tree's error does not grow with their number"
    elif count > MOST_JOINT:
        method, why = RecursiveQuantiles, "the error grows only with log(number of quantiles)"
    elif neighbors == "replace":
        method, why = JointQuantiles, "the number of rows is public, so one choice draws all"
    elif count <= 3:
        method, why = RecursiveQuantiles, "too few to pay for a count of the rows first"
    else:
        method, why = (
            FixedTargetQuantiles,
            "a noisy count first makes one choice twice as sharp",
        )
    return method, f"{count} quantiles: {why}"
