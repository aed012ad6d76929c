"""Decides which groups to show, when the name of a group may itself reveal a person.

A group of n privacy units (people, not rows) is shown if n + Z > K, and n + Z may be shown with
it. Z is discrete Laplace noise cut to [-K, K], so P(Z = z) is proportional to exp(-epsilon |z|)
there, and K is the least whole number with P(Z = K) <= delta. One unit more or less moves n by
one: the odds of every output change by at most exp(epsilon), except for the outermost output,
whose probability is at most delta. A group without units is never shown, so the empty groups
need not be listed. No way of choosing groups shows more of them at equal loss, up to the
rounding of K to a whole number: Desfontaines, Voss, Gipson & Mandayam, "Differentially private
partition selection", 2022.

A unit in up to k groups changes k counts by one, and 2 k counts if it is replaced by another
unit. With c such changes each group gets epsilon / c and 1 - (1 - delta)**(1 / c). The epsilons
add up, and with probability at least 1 - delta the c groups reveal nothing more.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import discrete_laplace, geometric, uniform_below
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure, exp_neg, log
from deniable.exact.least_integer import find_least
from deniable.exact.rationals import Number, positive, rational, whole
from deniable.mechanisms.named_arguments import check_arguments
from deniable.mechanisms.noise.additive import least_margin
from deniable.privacy import ApproximateLoss, Neighbors, neighboring
from deniable.privacy.arithmetic import floats

ShownCount: TypeAlias = int | None  # a noisy number of units; None if the group is not shown

_BITS = 256


@dataclass(frozen=True, slots=True, init=False)
class Thresholding:
    """Shows the groups that have enough privacy units, with noisy numbers of units.

    `groups` is how many groups one unit can be in. Count units, never rows: one person with
    many rows must not be able to make a group appear.

    >>> rare = Thresholding(epsilon=1, delta=1e-5)
    >>> rare.threshold, rare.loss
    (11, ApproximateLoss(1, delta=1e-05))
    >>> rare.keep_probability(1) <= 1e-5, rare.keep_probability(23)
    (True, 1.0)
    >>> kept, noisy = rare.release([500, 0, 1000])
    >>> kept.tolist()
    [True, False, True]
    """

    epsilon: Fraction
    delta: Fraction
    groups: int
    neighbors: Neighbors

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        groups: int = 1,
        neighbors: Neighbors = "add-remove",
    ) -> None:
        exact = rational(delta, "delta")
        if not 0 < exact < 1:
            raise InvalidParameter(
                f"`delta` must be above 0 and below 1. Found {delta}. If one person can make a "
                "group appear, hiding it fails with a small probability. If the keys are "
                "public, declare them: then no delta is needed."
            )
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", exact)
        object.__setattr__(self, "groups", whole(groups, "groups"))
        object.__setattr__(self, "neighbors", neighboring(neighbors))

    @property
    def loss(self) -> ApproximateLoss:
        """What one release of all groups costs.

        >>> Thresholding(epsilon=1, delta=1e-6, groups=4).loss
        ApproximateLoss(1, delta=1e-06)
        """
        return ApproximateLoss(self.epsilon, self.delta)

    @property
    def noise(self) -> "TruncatedNoise":
        """The distribution of the noise on each group's number of units.

        >>> Thresholding(epsilon=1, delta=1e-5, groups=2).noise.scale
        Fraction(2, 1)
        """
        changes = self.groups * (2 if self.neighbors == "replace" else 1)
        return _narrowest_noise(self.epsilon / changes, _delta_per_change(self.delta, changes))

    @property
    def threshold(self) -> int:
        """K: a group is shown if its noisy number of units is above this.

        >>> Thresholding(epsilon=0.1, delta=1e-5).threshold
        86
        """
        return self.noise.bound

    def release(self, units: Any) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Whether each group is shown, and its noisy number of units (0 where it is not).

        >>> kept, noisy = Thresholding(epsilon=1, delta=1e-5).release([0, 0])
        >>> kept.tolist(), noisy.tolist()
        ([False, False], [0, 0])
        """
        counts = np.asarray(units)
        if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
            raise InvalidData("`units` must be whole numbers, one for each group.")
        if counts.size and (int(counts.min()) < 0 or int(counts.max()) >= 2**62):
            raise InvalidData("`units` must be numbers of units, from 0 to 2**62.")
        law = self.noise
        noisy = counts.astype(np.int64) + law.draw(counts.size)
        kept = noisy > law.bound
        return kept, np.where(kept, noisy, 0)

    def keep_probability(self, units: int) -> float:
        """The probability that a group of `units` units is shown; rounded up.

        >>> [Thresholding(epsilon=1, delta=1e-5).keep_probability(n) for n in (0, 23)]
        [0.0, 1.0]
        """
        bits = _BITS + 2 * self.delta.denominator.bit_length()
        return min(1.0, floats.up(Fraction(self.keep_bounds(units, bits)[1], 1 << bits)))

    def keep_bounds(self, units: int, bits: int = _BITS) -> Enclosure:
        """Encloses 2**bits * P(a group of `units` units is shown), with certainty.

        >>> Thresholding(epsilon=1, delta=1e-5).keep_bounds(23, 8)
        (256, 256)
        """
        law = self.noise
        return law.above(law.bound - whole(units, "units", least=0), bits)

    def margin(self, confidence: Number = 0.95) -> int:
        """The least m with P(|noisy - true| <= m) >= confidence, before anything is hidden.

        >>> Thresholding(epsilon=1, delta=1e-5).margin(0.95)
        3
        """
        return least_margin(self.noise, confidence)

    def pmf(self, output: ShownCount | list[ShownCount], value: int | list[int]) -> float:
        """P(release(value) = output) of one group or several; None is a group not shown.

        >>> round(Thresholding(epsilon=1, delta=1e-5).pmf(12, 12), 4)
        0.4621
        """
        bits = 2 * _BITS
        lo, hi = self.pmf_bounds(output, value, bits)
        return float(Fraction(lo + hi, 2 << bits))

    def pmf_bounds(
        self, output: ShownCount | list[ShownCount], value: int | list[int], bits: int = _BITS
    ) -> Enclosure:
        """Encloses 2**bits * pmf(output, value) between two integers, with certainty.

        >>> Thresholding(epsilon=1, delta=1e-5).pmf_bounds(11, 11)
        (0, 0)
        """
        outputs = output if isinstance(output, list) else [output]
        values = value if isinstance(value, list) else [value]
        lo = hi = 1 << bits
        for shown, units in zip(outputs, values, strict=True):
            factor = self._enclose_group(shown, units, bits)
            lo, hi = lo * factor[0] >> bits, -(-hi * factor[1] >> bits)
        return lo, hi

    def _enclose_group(self, shown: ShownCount, units: int, bits: int) -> Enclosure:
        if shown is None:
            lo, hi = self.keep_bounds(units, bits)
            return (1 << bits) - hi, (1 << bits) - lo
        if shown <= self.threshold:
            return 0, 0
        return self.noise.pmf(shown - units, bits)


@dataclass(frozen=True, slots=True)
class TruncatedNoise:
    """P(Z = z) proportional to a**|z| for |z| <= bound, with a = exp(-1 / scale)."""

    scale: Fraction
    bound: int

    def draw(self, size: int, *, source: BitSource = SYSTEM) -> NDArray[np.int64]:
        """Draws again what is not kept. At least a third is kept, whatever the bound is."""
        drawn, kept = self._propose(size, source)
        while (again := np.flatnonzero(~kept)).size:
            drawn[again], kept[again] = self._propose(again.size, source)
        return drawn.astype(np.int64)

    def _propose(self, size: int, source: BitSource) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Laplace noise, kept within the bound. If the bound is below the scale, most noise
        would lie outside: then uniform noise, kept with probability exp(-|z| / scale)."""
        if self.bound >= self.scale:
            drawn = np.asarray(discrete_laplace(self.scale, size, source=source))
            return drawn, np.abs(drawn) <= self.bound
        drawn = uniform_below(2 * self.bound + 1, size, source=source) - self.bound
        return drawn, geometric(self.scale, size, source=source) >= np.abs(drawn)

    def pmf(self, z: int, bits: int) -> Enclosure:
        if abs(z) > self.bound:
            return 0, 0
        return self._over_norm(abs(z), abs(z) + 1, bits)

    def above(self, c: int, bits: int) -> Enclosure:
        """Encloses P(Z > c)."""
        if c >= self.bound:
            return 0, 0
        if c >= 0:
            return self._over_norm(c + 1, self.bound + 1, bits)
        lo, hi = self.above(-c - 1, bits)
        return (1 << bits) - hi, (1 << bits) - lo

    def outside(self, c: int, bits: int) -> Enclosure:
        """Encloses P(|Z| > c), for c >= 0."""
        lo, hi = self.above(c, bits)
        return 2 * lo, 2 * hi

    def _over_norm(self, first: int, end: int, bits: int) -> Enclosure:
        """P(first <= Z < end) = (a**first - a**end) / (1 + a - 2 a**(bound + 1))."""
        extra = 24 + int(self.scale).bit_length()
        work = bits + extra
        powers = [exp_neg(n / self.scale, work) for n in (first, end, 1, self.bound + 1)]
        (f_lo, f_hi), (e_lo, e_hi), (a_lo, a_hi), (b_lo, b_hi) = powers
        one = 1 << work
        up = max(0, f_lo - e_hi), f_hi - e_lo
        norm = one + a_lo - 2 * b_hi, one + a_hi - 2 * b_lo
        return (up[0] << work) // norm[1] >> extra, -(-(up[1] << work) // norm[0] >> extra)


def _delta_per_change(delta: Fraction, changes: int) -> Fraction:
    """1 - (1 - delta)**(1 / changes), rounded down."""
    if changes == 1:
        return delta
    bits = _BITS + 2 * delta.denominator.bit_length()
    _, hi = log(1 - delta, bits)
    return 1 - Fraction(exp_neg(Fraction(-hi, changes << bits), bits)[1], 1 << bits)


@lru_cache(maxsize=128)
def _narrowest_noise(epsilon: Fraction, delta: Fraction) -> TruncatedNoise:
    """Noise with the least bound whose outermost value has probability at most `delta`.

    That probability falls as the bound grows. If an enclosure cannot decide, the wider bound
    is used.
    """
    bits = _BITS + 2 * delta.denominator.bit_length()

    def enough(bound: int) -> bool:
        _, hi = TruncatedNoise(1 / epsilon, bound).pmf(bound, bits)
        return hi <= delta * (1 << bits)

    return TruncatedNoise(1 / epsilon, find_least(enough))
