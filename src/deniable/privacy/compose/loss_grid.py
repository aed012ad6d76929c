"""How fine a grid of losses a sum of pairs needs.

A poor choice makes the bounds of `numerical_curve` wider, not wrong.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, DiscretePair, Pair
from deniable.privacy.arithmetic.floats import UNIT
from deniable.privacy.compose.coarse_sum import CoarseSum, coarse_sum
from deniable.privacy.compose.grid_cells import RARE, effective_range

_NOMINAL = 1e-9  # the delta for which the grid is chosen, so that all deltas share it
# Without a requested precision: the best that QUICK cells give, between these two, unless that
# takes more than _USUAL cells. With one: up to LARGEST cells.
_PRECISIONS = (1e-7, 2e-4)
QUICK, _USUAL, LARGEST = 1 << 14, 1 << 18, 1 << 23
_LONGEST = 1 << 21  # cells of a single pair


@dataclass(frozen=True)
class LossGrid:
    """The step of the grid; `off` counts the pairs that are not exactly on it."""

    step: float
    off: int
    drift: float


@lru_cache(maxsize=64)
def choose_grid(pairs: CountedPairs, precision: float | None) -> LossGrid:
    """A step with which the upper bound exceeds the true value by about `precision` at most.

    With n pairs off the grid the excess is n step**2 / 12 times the hazard, tilt + 1. Without
    a precision, the sum has a size that takes a fraction of a second.
    """
    rough = coarse_sum(pairs)
    tilt = rough.tilt_for_delta(_NOMINAL)
    unit = common_lattice(pairs)
    width = _width(pairs, rough, tilt)
    if unit is not None and max(_widest(pairs) / _LONGEST, width / _USUAL) > unit:
        unit = None  # too fine to be useful
    if unit is not None and all(_is_on_lattice(pair) for pair, _ in pairs):
        return LossGrid(unit, 0, _drift(pairs, unit))
    off = sum(count for _, count in pairs)
    fine, coarse = (math.sqrt(4 * p / (off * (tilt + 1))) for p in _PRECISIONS)
    if precision is not None:
        step = max(math.sqrt(4 * precision / (off * (tilt + 1))), width / LARGEST)
    else:
        step = max(min(max(fine, width / QUICK), coarse), width / _USUAL)
    step = min(step, max(width, 1e-9) / 1024)
    step = max(step, _widest(pairs) / _LONGEST)
    if unit is not None and unit >= 2 * step:
        step = unit / math.ceil(unit / step)
        off = sum(count for pair, count in pairs if not _is_on_lattice(pair))
    return LossGrid(step, off, _drift(pairs, step))


def _widest(pairs: CountedPairs) -> float:
    ends = [effective_range(pair, RARE) for pair, _ in pairs]
    return max(high - low for low, high in ends)


def _is_on_lattice(pair: Pair) -> bool:
    return isinstance(pair, DiscretePair) and (pair.unit is not None or not any(pair.losses))


def _drift(pairs: CountedPairs, step: float) -> float:
    ends = [(max(map(abs, effective_range(pair, RARE))) + step) * n for pair, n in pairs]
    error = 1e-13 if any(_is_on_lattice(pair) for pair, _ in pairs) else 16 * UNIT
    return math.fsum(ends) * error


def _width(pairs: CountedPairs, rough: CoarseSum, tilt: float) -> float:
    high = rough.tilt_for_delta(_NOMINAL * 1e-9)
    top = rough.epsilon(high, _NOMINAL * 1e-9)
    wide = max(top - max(rough.epsilon(tilt, _NOMINAL), 0.0), 45 / tilt)
    low, far = _support(pairs)
    return min(wide, far - low)


def _support(pairs: CountedPairs) -> tuple[float, float]:
    ends = [(effective_range(pair, RARE), count) for pair, count in pairs]
    return (
        math.fsum(low * count for (low, _), count in ends),
        math.fsum(high * count for (_, high), count in ends),
    )


def common_lattice(pairs: CountedPairs) -> float | None:
    """The common unit of all pairs that have one, rounded to the nearest float."""
    units = {pair.unit for pair, _ in pairs if isinstance(pair, DiscretePair)} - {None}
    if not units:
        return None
    if len(units) == 1:
        (only,) = units
        assert only is not None
        return float(sum(only.enclose(80)) / 2)
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
