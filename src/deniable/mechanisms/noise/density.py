"""The density of a column: noisy coefficients in a cosine basis, cut off after a few terms.

With u in (0, 1) a value's place between the bounds, the density is 1 + 2 sum_k c_k cos(pi k u),
c_k the mean of cos(pi k u) over all rows. Each value goes to one of `bins` places first, and
each cosine is rounded to a whole multiple of 2**-20, so every sum is an integer and so is what
one record adds: a table of `bins` columns. From that table come the sensitivities, exactly:
under add-remove the largest L1 norm of a column (with the row count as one more sum), under
replace the largest L1 distance of two columns. Discrete Laplace noise does the rest; cutting
negative heights off is post-processing. Wasserman & Zhou, "A statistical framework for
differential privacy", 2010.

Few terms blur the density, many carry more noise, as each shares one epsilon with the others.
How many is decided from public facts: for a density with two square-integrable derivatives,
noise and blur balance at about (rows * epsilon)**(2/7) terms, sampling and blur at
rows**(1/5). Or `terms="private"` spends a fifth of epsilon on it: an exponential mechanism
weighs what is cut off, in the L2 norm of the sums, against the noise that it saves. A norm
moves by no more than the norm of what one record adds.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.buckets import choose
from deniable.exact.rationals import Number, rational, whole
from deniable.mechanisms import strength
from deniable.mechanisms.grid import Numbers
from deniable.mechanisms.histogram import ColumnGrid, Histogram
from deniable.mechanisms.noise.laplace import Laplace
from deniable.mechanisms.quantiles.released_quantiles import confident
from deniable.privacy import Loss, Neighbors, PureLoss, RangeLoss, neighboring

BINS = 512
MOST_TERMS = 64
_UNIT = 1 << 20  # a cosine of 1, in whole numbers
_MANY = 1 << 42  # rows from which on a sum might leave int64
_CANDIDATES = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64)
_CHOICE_SHARE = Fraction(1, 5)

Sums: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, init=False)
class Density:
    """The density of a column between public bounds, as a smooth curve.

    Say about how many `rows` there are, and the number of terms follows from it; or give
    `terms` themselves; or `terms="private"`, which looks at the data and pays for it.

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
        exact_epsilon, exact_odds = strength.one_of(epsilon, odds)
        grid = _bins(bounds)
        if (terms is None) == (rows is None):
            raise InvalidParameter(
                "Give either `rows`, about how many there are, so that the number of terms "
                'follows from it, or `terms`: a number, or "private" to spend a fifth of '
                "epsilon on choosing it."
            )
        if terms is None:
            terms = public_terms(
                whole(rows or 0, "rows"), strength.rate(exact_epsilon, exact_odds)
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
            return strength.loss(self.epsilon, self.odds)
        return PureLoss(self._noise_rate) + RangeLoss(self._rate - self._noise_rate)

    def release(self, values: Numbers) -> "ReleasedDensity":
        """The curve of a list or an array; numbers out of bounds count as the bound."""
        return self._released(Histogram.of_values(self.grid, values))

    def release_cells(self, cells: Any, counts: Any) -> "ReleasedDensity":
        """The curve of a histogram: ascending bin numbers, of `grid`, and their counts."""
        return self._released(Histogram.of_cells(self.grid, cells, counts))

    def margin(
        self, confidence: Number = 0.95, *, rows: int, terms: int | None = None
    ) -> float:
        """With this probability, noise moves no point of the curve by more than this.

        Noise only: blur from cutting off terms, and chance in who is in the data, come on
        top. For `terms="private"`, say for which number of them.

        >>> Density(epsilon=1, bounds=(0, 1), neighbors="replace", terms=3).margin(rows=10**6)
        6.2...e-05
        """
        from scipy.special import gammaincinv

        count = self._asked(terms)
        missed = float(1 - confident(confidence))
        noise = self.noise(count)
        scale = float(noise.sensitivity) / float(self._noise_rate)
        # |Z| is below an exponential of its scale, plus one; their sum is a Gamma.
        sums = scale * float(gammaincinv(count, 1 - missed / 2)) + count
        size = float(_UNIT) * whole(rows, "rows")
        if self.neighbors == "add-remove":
            off = scale * math.log(2 / missed) + 1
            sums, size = sums + count * off, size - off
        width = float(self.grid.step * self.grid.size)
        return 2 * sums / size / width if size > 0 else math.inf

    def noise(self, terms: int) -> Laplace:
        """What is added to the sums of so many cosines."""
        return Laplace(epsilon=self._noise_rate, sensitivity=sensitivity(terms, self.neighbors))

    @property
    def _rate(self) -> Fraction:
        return strength.rate(self.epsilon, self.odds)

    @property
    def _noise_rate(self) -> Fraction:
        return self._rate * (1 - _CHOICE_SHARE) if self.terms == "private" else self._rate

    def _asked(self, terms: int | None) -> int:
        if self.terms != "private":
            return int(self.terms)
        if terms is None:
            raise InvalidParameter("`terms` are not known before the release: say how many.")
        return whole(terms, "terms")

    def _released(self, data: Histogram) -> "ReleasedDensity":
        terms = self._chosen(data) if self.terms == "private" else int(self.terms)
        sums = summed(data, terms)
        if self.neighbors == "replace":
            noisy, size = np.array(self.noise(terms).release(sums[1:])), sums[0]
        else:
            size, *rest = self.noise(terms).release(sums).tolist()
            noisy = np.array(rest)
        means = noisy / max(float(size), 1.0)
        return ReleasedDensity(self.grid, tuple(means.tolist()), self.loss)

    def _chosen(self, data: Histogram) -> int:
        """A number of terms: the norm of what is cut off, plus that of the noise."""
        costs = scores(data, self.neighbors, self._noise_rate)
        # Rounding the root down may add one to how far neighbours are apart.
        unit = (self._rate - self._noise_rate) / (2 * (spread(self.neighbors) + 1))
        return _CANDIDATES[choose([1] * len(costs), costs, unit)]


@dataclass(frozen=True, slots=True)
class ReleasedDensity:
    """A private density: a curve that is nowhere negative and has area one.

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
        found = np.where(inside, self.heights[nearest], 0.0)
        return found if found.ndim else float(found)


def public_terms(rows: int, epsilon: Fraction) -> int:
    """How many terms balance blur against noise and chance, from public facts alone.

    >>> public_terms(1000, Fraction(1)), public_terms(10**6, Fraction(1, 100))
    (12, 42)
    """
    noise, chance = math.pow(rows * float(epsilon), 2 / 7), math.pow(rows, 1 / 5)
    return max(1, min(MOST_TERMS, round(3 * min(noise, chance))))


def sensitivity(terms: int, neighbors: Neighbors) -> int:
    """How far one record moves all sums together, in the L1 norm, exactly."""
    return _norms(terms, neighbors)[0]


def directions(terms: int, neighbors: Neighbors) -> int:
    """The square of how far one record can move so many sums together, in the L2 norm, rounded
    down a little.

    >>> directions(1, "replace") < (2 * 2**20) ** 2
    True
    """
    return (_norms(terms, neighbors)[1] - 1) ** 2


def spread(neighbors: Neighbors) -> int:
    """How far one record moves all sums together, in the L2 norm, rounded up."""
    return _norms(MOST_TERMS, neighbors)[1]


def scores(data: Histogram, neighbors: Neighbors, epsilon: Fraction) -> list[int]:
    """What each number of terms costs: L2 norms, of the sums cut off and of the noise."""
    squares = summed(data, MOST_TERMS)[1:].astype(object) ** 2
    costs = []
    for terms in _CANDIDATES:
        blur = math.isqrt(int(sum(squares[terms:])))
        scale = sensitivity(terms, neighbors) / epsilon
        costs.append(blur + math.isqrt(math.ceil(2 * terms * scale**2)))
    return costs


def summed(data: Histogram, terms: int) -> Sums:
    """The sum of every cosine over all rows, the constant one first."""
    waves, counts = _cosines(terms)[:, data.cells], data.counts
    if data.rows >= _MANY:
        return np.asarray(waves.astype(object) @ counts.astype(object))
    return waves @ counts


def _bins(bounds: tuple[Number, Number]) -> ColumnGrid:
    """The middles of so many bins between the bounds."""
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
        return int(np.abs(table).sum(axis=0).max()), _root(int((table**2).sum(axis=0).max()))
    ones = np.zeros((BINS, BINS), dtype=np.int64)
    twos = np.zeros((BINS, BINS), dtype=np.int64)
    for wave in table[1:]:
        apart = np.abs(wave[:, None] - wave)
        ones += apart
        twos += apart**2
    return int(ones.max()), _root(int(twos.max()))


def _root(square: int) -> int:
    return math.isqrt(square) + 1
