"""What every way to release quantiles has in common."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

from deniable.exact.bits import BitSource
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.quantiles.order_statistics import PLACE_BITS
from deniable.mechanisms.quantiles.stretched_cells import Stretch
from deniable.privacy import Loss, Neighbors


@dataclass(frozen=True, slots=True)
class DrawnQuantiles:
    """Released cells, in the order of the quantiles; and the number of rows, if released."""

    cells: list[int]
    rows: int | None = None


@dataclass(frozen=True)
class Method(ABC):
    """Quantiles in ascending order, on a grid of so many cells.

    `place_bits` says into how many places a cell is cut where ties are broken by chance; fewer
    make a small law that can be listed whole. `atoms` are cells as wide as several, see
    `stretch`.
    """

    quantiles: tuple[Fraction, ...]
    epsilon: Fraction
    neighbors: Neighbors
    size: int
    place_bits: int = PLACE_BITS
    atoms: tuple[tuple[int, int], ...] = ()

    name: ClassVar[str]

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What one release costs."""

    @abstractmethod
    def draw(self, data: Histogram, source: BitSource) -> DrawnQuantiles:
        """One release."""

    @abstractmethod
    def ranks(self, chance: float, rows: int) -> float:
        """With all but this chance, no quantile is further than this from its target rank."""

    @property
    def width(self) -> int:
        """How many cells' room there is, wide ones counted as several."""
        return Stretch(self.size, self.atoms).width

    def apart(self, rows: float) -> float:
        """How many ranks lie between neighbouring targets, at least."""
        return float(min(self.shares[1:-1], default=Fraction(0))) * rows

    def inside(self, rows: float) -> float:
        """How many ranks lie below the first target, and above the last, at least."""
        return float(min(self.shares[0], self.shares[-1])) * rows

    @property
    def shares(self) -> list[Fraction]:
        """What part of the rows lies between neighbouring quantiles, ends included."""
        return [b - a for a, b in pairwise([Fraction(0), *self.quantiles, Fraction(1)])]


@lru_cache(maxsize=1024)  # the same for all quantiles of a release
def strayed(
    size: int,
    rows: int,
    unit: float,
    chance: float,
    choices: int = 1,
    apart: float = 0.0,
    inside: float = 0.0,
) -> float:
    """How large D can get, at most, when a place o weighs exp(-unit D(o)).

    If the candidates within a radius r hold a share M of all places, then D > s has a chance
    below exp(unit (r - s)) / M. They hold 2k = r records or more, or all there are, so k of
    them lie in one cell, or a whole cell does. The spacings of c uniform places, k of them in
    a row, add up to less than a share x of their cell with a chance of at most (e c x / k)**k.
    So M is at least k chance**(1/k) / (e rows size), but for that chance. For `choices` made
    together the shares multiply and the radii add.

    Tuples are in order, so of `size`**m there are only one in m!, and as few of those whose
    members may lie anywhere near their targets; but not if the targets are more than 4k ranks
    `apart`: then all of these are in order, and their share is m! times as large. See also
    `_disjoint`, for targets that are that far `inside` of the records too.
    """
    best = _disjoint(size, rows, unit, chance, choices, min(apart / 2, inside))
    ordered = _ordered(size, choices)
    for k in range(1, 65):
        share = 1 + math.log(max(rows, k) / k) + math.log(2 * choices / chance) / k
        logs = choices * (math.log(size) + share) + math.log(2 / chance)
        logs -= ordered if apart > 4 * k else 0.0
        best = min(best, choices * 2 * k * (2 if choices > 1 else 1) + logs / unit)
    return best


def _disjoint(
    size: int, rows: int, unit: float, chance: float, choices: int, room: float
) -> float:
    """The same, more closely, where every target has `room` for k ranks on both sides.

    Tuples whose every member is within k ranks of its target are in order and have D of at
    most 2 k m. Each member has 2k ranks in a row to choose from. If they are in one cell,
    their places are 2k spacings of at most `rows` uniform places, whose sum has a density of
    at most rows**2k x**(2k - 1) / (2k - 1)!; if they are in two, the end of one and the start
    of the other hold one more spacing, and the densities of both parts have such a bound for
    their sum; if there is a cell between, all of it is theirs. So the sum is below x with a
    chance of at most (rows x)**2k / (2k)!. Rounding to places takes less than one of them.
    """
    best = math.inf
    for k in range(1, min(65, math.ceil(room))):  # less than `room`
        spacings = 2 * k
        few = math.lgamma(spacings + 1) + math.log(chance / (2 * choices))
        share = math.exp(few / spacings) / rows - 2.0**-PLACE_BITS
        if share > 0:
            logs = choices * (math.log(size) - math.log(share)) + math.log(2 / chance)
            logs -= _ordered(size, choices)
            best = min(best, 2 * k * choices + logs / unit)
    return best


def _ordered(size: int, choices: int) -> float:
    """The logarithm of how many orders a tuple of different places has, and no less for
    tuples of places that may be equal."""
    return max(0.0, math.lgamma(choices + 1) - choices * math.log1p(choices / size))
