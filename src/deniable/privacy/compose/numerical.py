"""Many worst pairs together, by numbers: where to tilt, how fine a grid, and then the curve.

None of these choices can make a bound wrong: `curve` adds what each of them costs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import (
    Atoms,
    CountedPairs,
    Floats,
    Pair,
)
from deniable.privacy.arithmetic.floats import UNIT
from deniable.privacy.compose.convolution import Term, total
from deniable.privacy.compose.delta_curve import DeltaCurve
from deniable.privacy.compose.grid_cells import GridCells, cells, reach

Laid: TypeAlias = tuple[tuple[GridCells, int], ...]

_RARE = 1e-30  # how much of a pair may lie off its grid
_COARSE, _FINER = 48, 2048  # cells of a pair, and of few pairs, while the tilt is sought
_NOMINAL = 1e-9  # the delta for which the grid is chosen, so that all deltas share it
# Where no precision is asked for: the best that _QUICK cells give, within these two, unless
# that takes more than _USUAL cells. Where one is, up to _LARGEST.
_PRECISIONS = (1e-7, 2e-4)
_QUICK, _USUAL, _LARGEST = 1 << 14, 1 << 18, 1 << 23
_LONGEST = 1 << 21  # cells of a single pair
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Sketch:
    """A plan on coarse grids, to see where the mass of its sum lies."""

    plan: CountedPairs

    @cached_property
    def _atoms(self) -> tuple[Floats, Floats, Floats, Floats, list[int]]:
        losses, weights, peaks, starts, place = [], [], [], [], 0
        number = max(_COARSE, _FINER // len(self.plan))
        for pair, _ in self.plan:
            low, high = reach(pair, _RARE)
            if isinstance(pair, Atoms) and len(pair.losses) <= number:
                y, w = pair.arrays
            else:
                found = cells(pair, max((high - low) / number, 1e-300), (low, high))
                y, w = found.losses, found.mass
            losses.append(y)
            weights.append(w)
            peaks.append(np.full(y.size, y[-1]))
            starts.append(place)
            place += y.size
        tops = np.array([y[-1] for y in losses])
        return *(np.concatenate(a) for a in (losses, weights, peaks)), tops, starts  # type: ignore[return-value]

    @cached_property
    def _counts(self) -> Floats:
        return np.array([float(count) for _, count in self.plan])

    def height(self, tilt: float) -> float:
        """About K(tilt)."""
        losses, weights, peaks, tops, starts = self._atoms
        sums = np.add.reduceat(weights * np.exp(tilt * (losses - peaks)), starts)
        if not sums.all():
            return math.inf
        return float((self._counts * (np.log(sums) + tilt * tops)).sum())

    def epsilon(self, tilt: float, delta: float) -> float:
        """An epsilon that Chernoff's bound gives at this delta, about."""
        return (self.height(tilt) + _weight(tilt) - math.log(delta)) / tilt

    def tilt_for_delta(self, delta: float) -> float:
        return _lowest(lambda t: self.epsilon(t, delta), self._steepest)

    def bound(self, tilt: float, epsilon: float) -> float:
        """ln of the delta that Chernoff's bound gives at this epsilon, about."""
        return self.height(tilt) - tilt * epsilon + _weight(tilt)

    def tilt_for_epsilon(self, epsilon: float) -> float:
        return _lowest(lambda t: self.bound(t, epsilon), self._steepest)

    @cached_property
    def _steepest(self) -> float:
        """A tilt beyond which nothing is won: the tilted sum is at its top already."""
        losses, weights, _, _, starts = self._atoms
        means = np.add.reduceat(weights * losses, starts)
        squares = np.add.reduceat(weights * losses * losses, starts)
        variance = float((self._counts * (squares - means * means)).sum())
        return 60 / math.sqrt(max(variance, 1e-12))


def _weight(tilt: float) -> float:
    """ln of the greatest e**(-t z) (1 - e**-z)."""
    return -tilt * math.log1p(1 / tilt) - math.log1p(tilt)


def _lowest(function: Callable[[float], float], steepest: float) -> float:
    """Where, on a logarithmic scale, `function` is about least."""
    low, high = -7.0, math.log(steepest)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(math.exp(left)), function(math.exp(right))
    while high - low > 0.02:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(math.exp(right))
    return math.exp((low + high) / 2)


@lru_cache(maxsize=64)
def sketch(plan: CountedPairs) -> Sketch:
    return Sketch(plan)


@dataclass(frozen=True)
class LossGrid:
    """The step of a plan's grid; `off` counts the uses of pairs that are not on it."""

    step: float
    off: int
    drift: float


@lru_cache(maxsize=64)
def grid(plan: CountedPairs, precision: float | None) -> LossGrid:
    """A step with which the upper bound exceeds the truth by less than `precision`, about.

    With n pairs off the grid the excess is n step**2 / 12 times the hazard, tilt + 1. Where
    no precision is asked for, the sum is kept to a size that takes a fraction of a second.
    """
    seen = sketch(plan)
    tilt = seen.tilt_for_delta(_NOMINAL)
    unit = lattice(plan)
    width = _width(plan, seen, tilt)
    if unit is not None and max(_widest(plan) / _LONGEST, width / _USUAL) > unit:
        unit = None  # too fine to be of use
    if unit is not None and all(_on(pair) for pair, _ in plan):
        return LossGrid(unit, 0, _drift(plan, unit))
    off = sum(count for _, count in plan)
    fine, coarse = (math.sqrt(4 * p / (off * (tilt + 1))) for p in _PRECISIONS)
    if precision is not None:
        step = max(math.sqrt(4 * precision / (off * (tilt + 1))), width / _LARGEST)
    else:
        step = max(min(max(fine, width / _QUICK), coarse), width / _USUAL)
    step = min(step, max(width, 1e-9) / 1024)
    step = max(step, _widest(plan) / _LONGEST)
    if unit is not None and unit >= 2 * step:
        step = unit / math.ceil(unit / step)
        off = sum(count for pair, count in plan if not _on(pair))
    return LossGrid(step, off, _drift(plan, step))


def _widest(plan: CountedPairs) -> float:
    ends = [reach(pair, _RARE) for pair, _ in plan]
    return max(high - low for low, high in ends)


def _on(pair: Pair) -> bool:
    return isinstance(pair, Atoms) and (pair.unit is not None or not any(pair.losses))


def _drift(plan: CountedPairs, step: float) -> float:
    ends = [(max(map(abs, reach(pair, _RARE))) + step) * n for pair, n in plan]
    rough = 1e-13 if any(_on(pair) for pair, _ in plan) else 16 * UNIT
    return math.fsum(ends) * rough


def _width(plan: CountedPairs, seen: Sketch, tilt: float) -> float:
    high = seen.tilt_for_delta(_NOMINAL * 1e-9)
    top = seen.epsilon(high, _NOMINAL * 1e-9)
    wide = max(top - max(seen.epsilon(tilt, _NOMINAL), 0.0), 45 / tilt)
    low, far = _support(plan)
    return min(wide, far - low)


def _support(plan: CountedPairs) -> tuple[float, float]:
    ends = [(reach(pair, _RARE), count) for pair, count in plan]
    return (
        math.fsum(low * count for (low, _), count in ends),
        math.fsum(high * count for (_, high), count in ends),
    )


def lattice(plan: CountedPairs) -> float | None:
    """The common unit of all pairs that have one, rounded to the nearest float."""
    units = {pair.unit for pair, _ in plan if isinstance(pair, Atoms)} - {None}
    if not units:
        return None
    if len(units) == 1:
        (only,) = units
        assert only is not None
        return float(sum(only._enclosure(80)) / 2)
    common = Fraction(0)
    for unit in units:
        assert unit is not None
        if unit.logs:
            return None
        common = _gcd(common, unit.rational)
    return float(common)


def _gcd(a: Fraction, b: Fraction) -> Fraction:
    top = math.gcd(a.numerator * b.denominator, b.numerator * a.denominator)
    return Fraction(top, a.denominator * b.denominator)


@dataclass(frozen=True)
class Chernoff:
    """Bounds on the tails of a sum of cells, from a few tilts above and below."""

    laid: Laid
    tilt: float
    close: bool = False  # with tilts close by, where those afar meet a heavier tail

    @cached_property
    def most(self) -> int:
        """The greatest index that the sum can reach."""
        return sum((cell.first + cell.mass.size - 1) * count for cell, count in self.laid)

    @cached_property
    def spread(self) -> float:
        variance = math.fsum(count * cell.moments[1] for cell, count in self.laid)
        return math.sqrt(variance) or self.laid[0][0].step

    @cached_property
    def heights(self) -> dict[float, float]:
        """K at some tilts, rounded up."""
        t, s = self.tilt, self.spread
        tilts = [1.5 * t, 3 * t, t + 4 / s, t + 8 / s, -8 / s]
        if self.close:
            tilts += [t * (1 - 2.0**-k) for k in range(1, 4)]
            tilts += [t, *(t * (1 + 2.0**-k) for k in range(2, 9))]
        return {x: self._height(x) for x in tilts}

    def _height(self, tilt: float) -> float:
        logs = [count * cell.height(tilt) for cell, count in self.laid]
        return math.fsum(logs) + 1e-12 * math.fsum(map(abs, logs))

    def above(self, loss: float, raised: float = 0.0) -> float:
        """e**raised P(L >= loss), at most."""
        return min(_exp(k - s * loss + raised) for s, k in self.heights.items() if s > 0)

    def below(self, loss: float) -> float:
        """P(L <= loss), at most."""
        return min(1.0, *(_exp(k - s * loss) for s, k in self.heights.items() if s < 0))

    def top(self, log: float) -> float:
        """A loss above which there is at most e**log."""
        return min((k - log) / s for s, k in self.heights.items() if s > 0)

    def width(self, loss: float, log: float) -> float:
        """So wide that what wraps from above onto `loss` is, untilted, at most e**log."""
        t = self.tilt
        return min((k - s * loss - log) / (s - t) for s, k in self.heights.items() if s > t)

    def bottom(self, log: float) -> float:
        """A loss below which there is at most e**log."""
        return max((k - log) / s for s, k in self.heights.items() if s < 0)


def curve(
    plan: CountedPairs, tilt: float, origin: float, delta: float, precision: float | None = None
) -> DeltaCurve:
    """The curve of a plan, tilted for losses near `origin`, where it is about `delta`."""
    mesh = grid(plan, precision)
    h = mesh.step
    laid = tuple((cells(pair, h, reach(pair, _RARE)), count) for pair, count in plan)
    terms, heights, doubt, slop = [], [], 0.0, 0.0
    for cell, count in laid:
        mass, log, unsure = cell.tilted(tilt)
        rough = (32 + 4 * tilt * h * mass.size + abs(log)) * UNIT  # of exp, sum and log
        terms.append(Term(cell.first, mass, count, rough))
        heights.append(count * log)
        doubt += count * unsure
        slop += count * rough
    variance = mesh.off * h * h / 4
    tails, start = Chernoff(laid, tilt), origin - 16 * math.sqrt(variance)
    first, size, whole = _window(tails, start, delta, h)
    if size > _QUICK << 4:
        tails = Chernoff(laid, tilt, close=True)
        first, size, whole = _window(tails, start, delta, h)
    if size > _LARGEST:  # then the rest is what lies beyond, or below
        first, size, whole = math.floor(start / h) - 4, _LARGEST, False
    found = total(terms, first, size)
    width, end = size * h, (first + size) * h
    beyond = 0.0 if whole or first + size > tails.most else tails.above(end)
    from_below = math.exp(-tilt * width) / -math.expm1(-tilt * width) * tails.below(first * h)
    wrapped = 0.0 if whole else from_below + 2 * tails.above(origin + width, tilt * width)
    return DeltaCurve(
        h, first, found.mass, tilt, math.fsum(heights), origin, found.error,
        (beyond + _infinite(laid)) * (1 + 1e-12), wrapped, doubt, variance, mesh.drift,
        slop + 1e-12,
    )  # fmt: skip


def _infinite(laid: Laid) -> float:
    """The probability that some loss is infinite."""
    if any(cell.infinite >= 1 for cell, _ in laid):
        return 1.0
    return -math.expm1(math.fsum(count * math.log1p(-cell.infinite) for cell, count in laid))


def _window(tails: Chernoff, origin: float, delta: float, h: float) -> tuple[int, int, bool]:
    """First index and number of cells that the sum needs, and whether it has no others."""
    rare = math.log(delta) - 29
    top, t, s = tails.top(rare), tails.tilt, tails.spread
    bottom = max(top - 45 / t, tails.bottom(-40.0))
    bottom = min(bottom, origin - min(4 / t, 4 * s)) - 4 * h
    least = sum(cell.first * count for cell, count in tails.laid)
    most = tails.most
    if (most - least) * h <= 1.5 * (top - bottom):
        return least, _length(most - least + 1), True
    bottom = min(bottom, top - tails.width(origin, rare))
    first = math.floor(bottom / h)
    return first, _length(min(math.ceil(top / h), most) - first + 1), False


def _length(size: int) -> int:
    """A length at least `size` that transforms fast."""
    power = 1 << max(size - 1, 1).bit_length()
    return next((n for n in (power * 5 // 8, power * 3 // 4, power) if n >= size), power)


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf
