"""The density of a column: noisy coefficients in a cosine basis, cut off after a few terms.

Let u in (0, 1) be a value's place between the bounds. The density is
1 + 2 sum_k c_k cos(pi k u), where c_k is the mean of cos(pi k u) over all rows. Each value
first goes to one of `BINS` places, and each cosine is rounded to a multiple of 2**-20. So every
sum is an integer, and what one record adds is one column of a table of integers. This table
gives the exact sensitivities: under add-remove the largest L1 norm of a column (with the row
count as one more sum), under replace the largest L1 distance of two columns. The noise is
discrete Laplace; setting negative heights to zero is post-processing. Wasserman & Zhou, "A
statistical framework for differential privacy", 2010.

Few terms blur the density. Many terms carry more noise, because they share one epsilon. The
number of terms follows from public facts: for a density with two square-integrable
derivatives, noise and blur balance at about (rows * epsilon)**(2/7) terms, sampling and blur at
rows**(1/5). Or `terms="private"` spends a fifth of epsilon on the choice: an exponential
mechanism compares what is cut off (the L2 norm of the sums) with the noise that this saves. A
norm moves by at most the norm of what one record adds.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, confidence_level, rational, whole
from deniable.exact.weighted_choice import choose
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.grid import Numbers
from deniable.mechanisms.histogram import ColumnGrid, Histogram
from deniable.mechanisms.named_arguments import check_arguments
from deniable.mechanisms.noise.laplace import Laplace
from deniable.privacy import Loss, Neighbors, PureLoss, RangeLoss, neighboring

BINS = 512
MOST_TERMS = 64
_UNIT = 1 << 20  # a cosine of 1, in whole numbers
_MANY = 1 << 42  # rows; with more, a sum might not fit into int64
_CANDIDATES = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64)
_CHOICE_SHARE = Fraction(1, 5)

Sums: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, init=False)
class Density:
    """The density of a column between public bounds, as a smooth curve.

    Give `rows`, the approximate number of rows: it decides the number of terms. Or give
    `terms`, a number. Or give `terms="private"`, which looks at the data and pays for it.

    >>> heights = Density(epsilon=1, bounds=(0, 250), neighbors="add-remove", rows=10_000)
    >>> heights.terms, heights.loss.epsilon()
    (19, 1.0)
    >>> curve = heights.release(np.linspace(150, 200, 10_000))
    >>> bool(curve.at(175) > curve.at(50))
    True
    """

    epsilon: Fraction | None
    odds: Fraction | None
    grid: ColumnGrid
    neighbors: Neighbors
    terms: int | Literal["private"]

    @check_arguments
    def __init__(
        self,
        *,
        bounds: tuple[Number, Number],
        neighbors: Neighbors,
        epsilon: Number | None = None,
        odds: Number | None = None,
        terms: int | Literal["private"] | None = None,
        rows: int | None = None,
    ) -> None:
        exact_epsilon, exact_odds = epsilon_or_odds.read(epsilon, odds)
        grid = _bin_grid(bounds)
        if (terms is None) == (rows is None):
            raise InvalidParameter(
                "Give either `rows`, the approximate number of rows, which decides the number "
                'of terms; or `terms`: a number, or "private" to spend a fifth of epsilon on '
                "choosing it."
            )
        if terms is None:
            terms = public_terms(
                whole(rows or 0, "rows"), epsilon_or_odds.rate(exact_epsilon, exact_odds)
            )
        elif terms != "private" and whole(terms, "terms") > MOST_TERMS:
            raise InvalidParameter(f"`terms` must be at most {MOST_TERMS}. Found {terms}.")
        for name, value in {
            "epsilon": exact_epsilon,
            "odds": exact_odds,
            "grid": grid,
            "neighbors": neighboring(neighbors),
            "terms": terms,
        }.items():
            object.__setattr__(self, name, value)

    @property
    def loss(self) -> Loss:
        """What one release costs.

        >>> Density(odds=3, bounds=(0, 1), neighbors="replace", terms=5).loss
        PureLoss(odds=3)
        """
        if self.terms != "private":
            return epsilon_or_odds.loss(self.epsilon, self.odds)
        return PureLoss(self._noise_rate) + RangeLoss(self._rate - self._noise_rate)

    def release(self, values: Numbers) -> "ReleasedDensity":
        """The curve of a list or an array. Numbers outside the bounds are clipped to them."""
        return self._release_histogram(Histogram.of_values(self.grid, values))

    def release_cells(self, cells: Any, counts: Any) -> "ReleasedDensity":
        """The curve of a histogram: bin numbers of `grid` in ascending order, and counts."""
        return self._release_histogram(Histogram.of_cells(self.grid, cells, counts))

    def margin(
        self, confidence: Number = 0.95, *, rows: int, terms: int | None = None
    ) -> float:
        """With probability `confidence`, noise moves no point of the curve by more than this.

        This covers only the noise. Blur from cutting off terms and sampling error are extra.
        With `terms="private"`, give the number of terms here.

        >>> Density(epsilon=1, bounds=(0, 1), neighbors="replace", terms=3).margin(rows=10**6)
        6.2...e-05
        """
        from scipy.special import gammaincinv

        count = self._count_terms(terms)
        missed = float(1 - confidence_level(confidence))
        noise = self.noise(count)
        scale = float(noise.sensitivity) / float(self._noise_rate)
        # |Z| is below an exponential of its scale, plus one; their sum is a Gamma.
        sums = scale * float(gammaincinv(count, 1 - missed / 2)) + count
        size = float(_UNIT) * whole(rows, "rows")
        if self.neighbors == "add-remove":
            count_error = scale * math.log(2 / missed) + 1
            sums, size = sums + count * count_error, size - count_error
        width = float(self.grid.step * self.grid.size)
        return 2 * sums / size / width if size > 0 else math.inf

    def noise(self, terms: int) -> Laplace:
        """The noise that is added to the sums of `terms` cosines."""
        return Laplace(
            epsilon=self._noise_rate, sensitivity=l1_sensitivity(terms, self.neighbors)
        )

    @property
    def _rate(self) -> Fraction:
        return epsilon_or_odds.rate(self.epsilon, self.odds)

    @property
    def _noise_rate(self) -> Fraction:
        return self._rate * (1 - _CHOICE_SHARE) if self.terms == "private" else self._rate

    def _count_terms(self, terms: int | None) -> int:
        if self.terms != "private":
            return int(self.terms)
        if terms is None:
            raise InvalidParameter(
                "Give `terms` to margin(): the number of terms is chosen during the release."
            )
        return whole(terms, "terms")

    def _release_histogram(self, data: Histogram) -> "ReleasedDensity":
        terms = self._choose_terms(data) if self.terms == "private" else int(self.terms)
        sums = sum_cosines(data, terms)
        if self.neighbors == "replace":
            noisy, size = np.array(self.noise(terms).release(sums[1:])), sums[0]
        else:
            size, *rest = self.noise(terms).release(sums).tolist()
            noisy = np.array(rest)
        means = noisy / max(float(size), 1.0)
        return ReleasedDensity(self.grid, tuple(means.tolist()), self.loss)

    def _choose_terms(self, data: Histogram) -> int:
        """Draws a number of terms; its cost is the norm of what is cut off plus the noise."""
        costs = term_costs(data, self.neighbors, self._noise_rate)
        # Rounding the root down may add one to the distance between neighbours.
        unit = (self._rate - self._noise_rate) / (2 * (l2_sensitivity(self.neighbors) + 1))
        return _CANDIDATES[choose([1] * len(costs), costs, unit)]


@dataclass(frozen=True, slots=True)
class ReleasedDensity:
    """A private density: a curve that is never negative and has area one.

    >>> ages = Density(epsilon=1, bounds=(0, 100), neighbors="replace", terms=2)
    >>> curve = ages.release([35, 41, 47, 38] * 1000)
    >>> curve.terms, bool(curve.at(40) > curve.at(90)), curve.at(120)
    (2, True, 0.0)
    """

    grid: ColumnGrid
    coefficients: tuple[float, ...]  # noisy means of cos(pi k u), k = 1, 2, ...
    loss: Loss
    heights: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        waves = _cosines(len(self.coefficients))[1:] / _UNIT
        curve = np.maximum(1 + 2 * (np.array(self.coefficients) @ waves), 0)
        area = curve.mean() * float(self.grid.step * self.grid.size)
        object.__setattr__(self, "heights", curve / area)

    @property
    def terms(self) -> int:
        """How many cosines it is made of."""
        return len(self.coefficients)

    def at(self, x: Any) -> Any:
        """The density at one point or at an array of them; 0 outside the bounds."""
        cells = (np.asarray(x, dtype=float) - float(self.grid.lowest)) / float(self.grid.step)
        inside = (cells >= -0.5) & (cells <= self.grid.size - 0.5)
        nearest = np.clip(np.rint(cells), 0, self.grid.size - 1).astype(np.int64)
        heights = np.where(inside, self.heights[nearest], 0.0)
        return heights if heights.ndim else float(heights)


def public_terms(rows: int, epsilon: Fraction) -> int:
    """How many terms balance blur against noise and sampling error, from public facts only.

    >>> public_terms(1000, Fraction(1)), public_terms(10**6, Fraction(1, 100))
    (12, 42)
    """
    strength = float(min(rows * epsilon, Fraction(10**300)))
    noise, chance = math.pow(strength, 2 / 7), math.pow(rows, 1 / 5)
    return max(1, min(MOST_TERMS, round(3 * min(noise, chance))))


def l1_sensitivity(terms: int, neighbors: Neighbors) -> int:
    """How far one record moves all sums together, in the L1 norm, exactly."""
    return _norms(terms, neighbors)[0]


def squared_l2_reach(terms: int, neighbors: Neighbors) -> int:
    """The square of how far one record can move `terms` sums together (L2); rounded down.

    >>> squared_l2_reach(1, "replace") < (2 * 2**20) ** 2
    True
    """
    return (_norms(terms, neighbors)[1] - 1) ** 2


def l2_sensitivity(neighbors: Neighbors) -> int:
    """How far one record moves all sums together, in the L2 norm, rounded up."""
    return _norms(MOST_TERMS, neighbors)[1]


def term_costs(data: Histogram, neighbors: Neighbors, epsilon: Fraction) -> list[int]:
    """The cost of each number of terms: L2 norms of the sums cut off and of the noise."""
    squares = sum_cosines(data, MOST_TERMS)[1:].astype(object) ** 2
    costs = []
    for terms in _CANDIDATES:
        blur = math.isqrt(int(sum(squares[terms:])))
        scale = l1_sensitivity(terms, neighbors) / epsilon
        costs.append(blur + math.isqrt(math.ceil(2 * terms * scale**2)))
    return costs


def sum_cosines(data: Histogram, terms: int) -> Sums:
    """The sum of every cosine over all rows, the constant one first."""
    waves, counts = _cosines(terms)[:, data.cells], data.counts
    if data.rows >= _MANY:
        return np.asarray(waves.astype(object) @ counts.astype(object))
    return waves @ counts


def _bin_grid(bounds: tuple[Number, Number]) -> ColumnGrid:
    """The middles of `BINS` bins between the bounds."""
    try:
        low, high = (rational(end, "bounds") for end in bounds)
    except (TypeError, ValueError):
        low = high = Fraction(0)
    if low >= high:
        raise InvalidParameter(
            f"`bounds` must be a pair of numbers, the lower one first. Found {bounds!r}."
        )
    step = (high - low) / BINS
    return ColumnGrid(low + step / 2, step, BINS)


@lru_cache(maxsize=64)
def _cosines(terms: int) -> Sums:
    """Row k, column b: cos(pi k u) at the middle of bin b, in whole parts of 1 / _UNIT."""
    places = (np.arange(BINS) + 0.5) / BINS
    waves = np.cos(np.pi * np.arange(terms + 1)[:, None] * places)
    table: Sums = np.rint(waves * _UNIT).astype(np.int64)
    table.setflags(write=False)
    return table


@lru_cache(maxsize=256)
def _norms(terms: int, neighbors: Neighbors) -> tuple[int, int]:
    """The largest L1 and L2 norms of what one record changes."""
    table = _cosines(terms)
    if neighbors == "add-remove":
        return int(np.abs(table).sum(axis=0).max()), _root_above(
            int((table**2).sum(axis=0).max())
        )
    ones = np.zeros((BINS, BINS), dtype=np.int64)
    twos = np.zeros((BINS, BINS), dtype=np.int64)
    for wave in table[1:]:
        apart = np.abs(wave[:, None] - wave)
        ones += apart
        twos += apart**2
    return int(ones.max()), _root_above(int(twos.max()))


def _root_above(square: int) -> int:
    return math.isqrt(square) + 1
