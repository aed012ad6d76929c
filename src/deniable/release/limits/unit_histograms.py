"""Noisy histograms of how much one unit has, and the shares that follow from them.

One histogram counts units by their number of groups, the other counts pairs of a unit and a
group by their number of rows. Both are cut at a public cap. Let c[j] units have j groups and
d[i] pairs have i rows. A limit of g groups and r rows in each then leaves out

    E = sum of max(0, i - r) * d[i]     rows of pairs with more than r,
    D = sum of max(0, j - g) * c[j]     whole pairs, of which each still has 1 to r rows.

So between E + D and E + r * D of the T = sum of i * d[i] rows are left out; and, as a stricter
limit of t rows leaves out no less, at most E(t) + t * D for any t up to r. How many rows the
left-out pairs have is not known, so this is a range, unless D is 0 for sure or r is 1. All ends
are ratios of sums of noisy numbers, with Fieller's interval each. If several upper ends are
compared, they share what may go wrong. All of this is post-processing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
from deniable.query.margins.linear_forms import LinearForm
from deniable.query.margins.noise_quantiles import LATTICE_STEP, moments, spread_quantile

Floats: TypeAlias = NDArray[np.float64]

_SHARES = np.linspace(0.0, 1.0, 401)
_STRICTER = (1, 2, 4, 8, 16, 32, 64, 128)
_PADDING = 1.02  # the table of quantiles is exact to about one per cent


@dataclass(frozen=True, slots=True)
class Share:
    """A share between 0 and 1: the best guess, and the ends of its interval or range."""

    value: float
    low: float
    high: float
    ranged: bool = False  # whether more than noise lies between the ends


@dataclass(frozen=True, slots=True)
class UnitHistogram:
    """Noisy counts of 1, 2, ..., cap things; the last one counts the cap or more.

    >>> from deniable.mechanisms import Laplace
    >>> groups = UnitHistogram("groups", (50, 30, 20), Laplace(epsilon=1).noise())
    >>> groups.cap, groups.total(), groups.beyond(2).weights
    (3, 170.0, (('groups 003', Fraction(1, 1)),))
    """

    name: str
    counts: tuple[int, ...]
    noise: Noise  # of each count

    @property
    def cap(self) -> int:
        """The largest number that is told apart."""
        return len(self.counts)

    def form(self, weights: Iterable[int]) -> LinearForm:
        """A weighted sum of the counts, from the first on."""
        named = {f"{self.name} {i:03}": Fraction(w) for i, w in enumerate(weights, 1)}
        return LinearForm.of(Fraction(0), named)

    def all(self) -> LinearForm:
        """How many things all units have, up to the cap."""
        return self.form(range(1, self.cap + 1))

    def beyond(self, limit: int) -> LinearForm:
        """How many of them a limit leaves out."""
        return self.form(max(0, i - limit) for i in range(1, self.cap + 1))

    def above(self, limit: int) -> LinearForm:
        """How many units have more than the limit."""
        return self.form(int(i > limit) for i in range(1, self.cap + 1))

    def total(self) -> float:
        """The noisy number of all things, up to the cap."""
        return float(self.all().at(self.features))

    @property
    def features(self) -> dict[str, float]:
        """The counts by the names that forms use."""
        return {f"{self.name} {i:03}": float(n) for i, n in enumerate(self.counts, 1)}

    def above_noise(self, confidence: Fraction) -> tuple[int, ...]:
        """The counts, with 0 for negative ones and for a tail that noise alone explains.

        >>> from deniable.mechanisms import Laplace
        >>> rows = UnitHistogram("rows", (90, 40, 3, -2, 4), Laplace(epsilon=1).noise())
        >>> rows.above_noise(Fraction(19, 20))
        (90, 40, 0, 0, 0)
        """
        variance, fourth = moments(self.noise)
        cells = np.arange(self.cap, 0, -1, dtype=np.float64)  # in the tail from each count on
        each = 1 - (1 - confidence) / self.cap
        reach = spread_quantile(cells * variance, cells * fourth, each)
        tails = np.cumsum(self.counts[::-1])[::-1]
        last = int(max(np.flatnonzero(tails > reach), default=-1))
        return tuple(max(0, n) if i <= last else 0 for i, n in enumerate(self.counts))

    def quantile(self, level: Fraction, confidence: Fraction) -> tuple[int, int | None]:
        """Between which numbers this share of units lies; None if the end is the cap or more.

        >>> from deniable.mechanisms import Laplace
        >>> rows = UnitHistogram("rows", (900, 50, 50), Laplace(epsilon=1).noise())
        >>> rows.quantile(Fraction(1, 2), Fraction(19, 20))
        (1, 1)
        """
        every = self.form([1] * self.cap)
        rest = float(1 - level)
        low = high = None
        for limit in range(1, self.cap):
            share = read_share(self.above(limit), every, (self,), confidence)
            low = limit if low is None and share.low <= rest else low
            high = limit if high is None and share.high <= rest else high
        return (self.cap if low is None else low), high


def read_share(
    above: LinearForm,
    below: LinearForm,
    histograms: Iterable[UnitHistogram],
    confidence: Fraction,
) -> Share:
    """One weighted sum of counts over another, between 0 and 1, with its interval.

    Fieller's set: all shares s for which |above - s * below| is within the quantile of its
    noise. There are many noises, and the quantile is that of a sum with the same variance and
    fourth cumulant, padded by what this may be wrong.
    """
    if not above.weights:
        return Share(0.0, 0.0, 0.0)
    features: dict[str, float] = {}
    cumulants: dict[str, tuple[float, float]] = {}
    for histogram in histograms:
        features |= histogram.features
        cumulants |= dict.fromkeys(histogram.features, moments(histogram.noise))
    part, whole = float(above.at(features)), float(below.at(features))
    over, under = dict(above.weights), dict(below.weights)
    names = list(cumulants)
    first, second = (
        np.array([[float(weights.get(name, 0))] for name in names]) for weights in (over, under)
    )
    variances, fourths = np.array([cumulants[name] for name in names]).T

    def reach(shares: Floats) -> Floats:
        weights = np.abs(first - shares * second)
        quantile = spread_quantile(variances @ weights**2, fourths @ weights**4, confidence)
        return np.asarray(_PADDING * quantile + LATTICE_STEP * weights.max(axis=0))

    value = min(1.0, max(0.0, part / whole)) if whole > 0 else 0.0
    shares = _SHARES
    if whole > 0:  # the interval may be narrower than the steps between 0 and 1
        near = value + 2 * (_SHARES - 0.5) * 3 * float(reach(np.array([value]))[0]) / whole
        shares = np.unique(np.clip(np.concatenate([shares, near, [value]]), 0.0, 1.0))
    places = np.flatnonzero(np.abs(part - shares * whole) <= reach(shares))
    if not places.size:  # beyond 0 or 1, by chance: as if the sum were the nearest possible one
        part = min(max(part, 0.0), max(whole, 0.0))
        places = np.flatnonzero(np.abs(part - shares * whole) <= reach(shares))
    low, high = max(0, places[0] - 1), min(shares.size - 1, places[-1] + 1)
    first_share, last_share = float(shares[low]), float(shares[high])
    return Share(min(last_share, max(first_share, value)), first_share, last_share)


@dataclass(frozen=True, slots=True)
class UnitHistograms:
    """Both histograms: of groups (None if there is only one group), and of rows."""

    groups: UnitHistogram | None
    rows: UnitHistogram
    keys: int | None  # how many groups there are; None: not known
    confidence: Fraction

    @property
    def both(self) -> tuple[UnitHistogram, ...]:
        """The histograms that were measured."""
        return (self.rows,) if self.groups is None else (self.groups, self.rows)

    def pairs_left_out(self, groups: int) -> Share:
        """The share of pairs of a unit and a group that a limit of groups leaves out."""
        own = self.groups
        if own is None:
            return Share(0.0, 0.0, 0.0)
        return read_share(own.beyond(groups), own.all(), (own,), self.confidence)

    def rows_left_out(self, groups: int, rows: int) -> Share:
        """The share of rows, up to the caps, that both limits together leave out.

        The guess is that the pairs that are left out have as many rows as the others.
        """
        within, every = self.rows.beyond(rows), self.rows.all()
        dropped = LinearForm.of(Fraction(0), {})
        if self.groups is not None:
            dropped = self.groups.beyond(groups)
        least = read_share(within.plus(dropped), every, self.both, self.confidence)
        most = min(rows, self.rows.cap)
        if not dropped.weights or most == 1:
            return least
        stricter = [*(limit for limit in _STRICTER if limit < most), most]
        level = 1 - (1 - self.confidence) / len(stricter)
        high = min(
            read_share(
                self.rows.beyond(limit).plus(dropped, Fraction(limit)), every, self.both, level
            ).high
            for limit in stricter
        )
        own = read_share(within, every, self.both, self.confidence).value
        guess = own + self.pairs_left_out(groups).value * (1 - own)
        # Noise may put the upper end below the lower one. Then the range is what lies between.
        low, high = sorted((least.low, high))
        return Share(min(high, max(low, guess)), low, high, ranged=True)
