"""Shared by all methods that release quantiles."""

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
from deniable.mechanisms.quantiles.stretched_cells import StretchedCells
from deniable.privacy import Loss, Neighbors

# The fastest decay of a joint draw. A candidate that is one rank worse is then exp(-256) as
# likely. A larger epsilon would need integers of 1.4 epsilon bits and change nothing else.
MOST_UNIT = Fraction(256)


@dataclass(frozen=True, slots=True)
class DrawnQuantiles:
    """Released cells, in the order of the quantiles; and the number of rows, if released."""

    cells: list[int]
    rows: int | None = None


@dataclass(frozen=True)
class QuantileMethod(ABC):
    """Quantiles in ascending order, on a grid of `size` cells.

    A cell is cut into 2**`place_bits` places, to break ties at random; with few places, tests
    can list the whole distribution. `atoms` are cells as wide as several, see
    `stretched_cells`.
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
    def rank_margin(self, chance: float, rows: int) -> float:
        """With probability 1 - chance, all quantiles are within this of their target ranks."""

    @property
    def width(self) -> int:
        """The number of cells, where a wide cell counts as several."""
        return StretchedCells(self.size, self.atoms).width

    def apart(self, rows: float) -> float:
        """The least number of ranks between neighbouring targets."""
        return float(min(self.shares[1:-1], default=Fraction(0))) * rows

    def inside(self, rows: float) -> float:
        """The least number of ranks below the first target or above the last."""
        return float(min(self.shares[0], self.shares[-1])) * rows

    @property
    def shares(self) -> list[Fraction]:
        """The share of rows between neighbouring quantiles, and outside the first and last."""
        return [b - a for a, b in pairwise([Fraction(0), *self.quantiles, Fraction(1)])]


@lru_cache(maxsize=1024)  # the same for all quantiles of a release
def largest_distance(
    size: int,
    rows: int,
    unit: float,
    chance: float,
    choices: int = 1,
    apart: float = 0.0,
    inside: float = 0.0,
) -> float:
    """An upper bound on D with probability 1 - chance; a place o has weight exp(-unit D(o)).

    Let the candidates within a radius r hold a share M of all places. Then P(D > s) is below
    exp(unit (r - s)) / M. They hold at least 2k = r records, or all records, so k of these lie
    in one cell, or a whole cell lies within the radius. For c uniform places, k spacings in a
    row add up to less than a share x of their cell with probability at most (e c x / k)**k.
    Choosing x gives M of at least k chance**(1/k) / (e rows size), except with probability
    `chance`. For `choices` made together the shares multiply and the radii add.

    Tuples are in order, so only one in m! of all `size`**m tuples is a candidate. The same
    holds for tuples near their targets, unless the targets are more than 4k ranks `apart`: then
    all of these are in order, and their share is m! times as large.
    `_largest_distance_far_apart` is for targets that are also that far `inside` the records.
    """
    best = _largest_distance_far_apart(
        size, rows, unit, chance, choices, min(apart / 2, inside)
    )
    ordered = _log_orders(size, choices)
    for k in range(1, 65):
        share = 1 + math.log(max(rows, k) / k) + math.log(2 * choices / chance) / k
        logs = choices * (math.log(size) + share) + math.log(2 / chance)
        logs -= ordered if apart > 4 * k else 0.0
        best = min(best, choices * 2 * k * (2 if choices > 1 else 1) + logs / unit)
    return best


def _largest_distance_far_apart(
    size: int, rows: int, unit: float, chance: float, choices: int, room: float
) -> float:
    """A tighter bound, if every target has `room` for k ranks on both sides.

    Tuples with every member within k ranks of its target are in order, and D is at most 2 k m.
    Each member has 2k ranks in a row to choose from. If these are in one cell, their places are
    2k spacings of at most `rows` uniform places, and the density of the sum of spacings is at
    most rows**2k x**(2k - 1) / (2k - 1)!. If they are in two cells, the end of one and the
    start of the other hold one more spacing, and the sum of both parts has the same bound. If a
    whole cell lies between, all of it belongs to them. So the sum is below x with probability
    at most (rows x)**2k / (2k)!. Rounding to places loses less than one place.
    """
    best = math.inf
    for k in range(1, min(65, math.ceil(room))):  # less than `room`
        spacings = 2 * k
        log_probability = math.lgamma(spacings + 1) + math.log(chance / (2 * choices))
        share = math.exp(log_probability / spacings) / rows - 2.0**-PLACE_BITS
        if share > 0:
            logs = choices * (math.log(size) - math.log(share)) + math.log(2 / chance)
            logs -= _log_orders(size, choices)
            best = min(best, 2 * k * choices + logs / unit)
    return best


def _log_orders(size: int, choices: int) -> float:
    """The logarithm of the number of orders of a tuple of different places; also a lower bound
    for tuples in which places may be equal."""
    return max(0.0, math.lgamma(choices + 1) - choices * math.log1p(choices / size))
