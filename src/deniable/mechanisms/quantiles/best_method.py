"""Which method fits: by how many quantiles are wanted, and by the neighbouring relation."""

from deniable.errors import InvalidParameter
from deniable.mechanisms.quantiles.fixed_target import FixedTarget
from deniable.mechanisms.quantiles.independent import Independent
from deniable.mechanisms.quantiles.joint import Joint
from deniable.mechanisms.quantiles.method import Method
from deniable.mechanisms.quantiles.noisy_tree import MOST_CELLS, NoisyTree
from deniable.mechanisms.quantiles.recursive import Recursive
from deniable.privacy import Neighbors

METHODS: dict[str, type[Method]] = {
    method.name: method for method in (Independent, Joint, FixedTarget, Recursive, NoisyTree)
}
# Where the rank errors of `make figures` cross, for a wide grid and for one of a few hundred
# cells, whose tree has two levels only.
MOST_JOINT = 40
FEWEST_TREE = {"replace": 64, "add-remove": 128}
FEWEST_SMALL_TREE = 25
SMALL = 256


def choose(
    wanted: str, count: int, neighbors: Neighbors, size: int
) -> tuple[type[Method], str]:
    """The method, and why it is the one."""
    if wanted == "auto":
        return _best(count, neighbors, size)
    if wanted not in METHODS:
        names = ", ".join(f'"{name}"' for name in ("auto", *METHODS))
        raise InvalidParameter(f"`method` must be one of {names}. Found {wanted!r}.")
    if wanted == FixedTarget.name and neighbors == "replace":
        raise InvalidParameter(
            '`method="fixed-target"` spends on the number of rows, which neighbors="replace" '
            'makes public: use method="joint", which then is the same for less.'
        )
    return METHODS[wanted], "asked for by name"


def _best(count: int, neighbors: Neighbors, size: int) -> tuple[type[Method], str]:
    if count == 1:
        return Independent, "one quantile: nothing to share, and ties cost nothing"
    fewest = FEWEST_SMALL_TREE if size <= SMALL else FEWEST_TREE[neighbors]
    if count >= fewest and size <= MOST_CELLS:
        return NoisyTree, f"{count} quantiles: the tree's error does not grow with their number"
    if count > MOST_JOINT:
        return Recursive, f"{count} quantiles: the error grows with the logarithm of it only"
    if neighbors == "replace":
        return Joint, f"{count} quantiles of a public number of rows: one choice of them all"
    if count <= 3:
        return Recursive, f"{count} quantiles: too few to pay for a count of the rows first"
    return FixedTarget, f"{count} quantiles: a count first lets one choice decay twice as fast"
