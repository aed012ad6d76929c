"""A grid of losses for a sum of pairs: its step, and what it costs to put the pairs on it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from deniable.privacy.arithmetic.dominating_pairs import DiscretePair
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.floats import UNIT
from deniable.privacy.arithmetic.repeated_pairs import GridPair, GridPairs, RepeatedPair
from deniable.privacy.compose.grid_cells import RARE, effective_range

_MOST = 1 << 18  # cells of a lattice; a finer one is not used


@dataclass(frozen=True)
class LossGrid:
    """The step of the grid; `off` counts the pairs that are not exactly on it."""

    step: float
    off: int
    drift: float  # how far rounding may move the sum


def lattice_grid(pairs: GridPairs, width: float) -> LossGrid | None:
    """The grid on which every loss lies exactly, if there is one and it is not too fine."""
    unit = _usable_lattice(pairs, width)
    if unit is None or not all(_is_on_lattice(pair) for pair, _ in pairs):
        return None
    return LossGrid(unit, 0, _drift(pairs, unit))


def fine_grid(pairs: GridPairs, step: float, width: float) -> LossGrid:
    """A grid whose step is at most `step`; the pairs that have a lattice lie on it if they
    can."""
    off = sum(count for _, count in pairs)
    unit = _usable_lattice(pairs, width)
    if unit is not None and unit >= 2 * step:
        step = unit / math.ceil(unit / step)
        off = sum(count for pair, count in pairs if not _is_on_lattice(pair))
    return LossGrid(step, off, _drift(pairs, step))


def _usable_lattice(pairs: GridPairs, width: float) -> float | None:
    unit = common_lattice(pairs)
    if unit is not None and max(widest(pairs) / 8, width) > unit * _MOST:
        return None
    return unit


def widest(pairs: GridPairs, rare: float = RARE) -> float:
    """The widest range of losses of a single pair."""
    ends = [effective_range(pair, rare) for pair, _ in pairs]
    return max(high - low for low, high in ends)


def _is_on_lattice(pair: GridPair) -> bool:
    zero = isinstance(pair, DiscretePair) and not any(pair.losses)
    return zero or _unit(pair) is not None


def _unit(pair: GridPair) -> ExactEpsilon | None:
    if isinstance(pair, RepeatedPair):
        return pair.each.unit
    return pair.unit if isinstance(pair, DiscretePair) else None


def _drift(pairs: GridPairs, step: float) -> float:
    ends = [(_farthest(pair) + step) * n for pair, n in pairs]
    discrete = any(isinstance(pair, DiscretePair | RepeatedPair) for pair, _ in pairs)
    error = 1e-13 if discrete else 16 * UNIT  # what counts as on the grid may be beside it
    return math.fsum(ends) * error


def _farthest(pair: GridPair) -> float:
    if isinstance(pair, RepeatedPair):
        return pair.reach  # its losses are differences of numbers as large as that
    return max(map(abs, effective_range(pair, RARE)))


def support(pairs: GridPairs, rare: float = RARE) -> tuple[float, float]:
    """The least and the greatest sum."""
    ends = [(effective_range(pair, rare), count) for pair, count in pairs]
    return (
        math.fsum(low * count for (low, _), count in ends),
        math.fsum(high * count for (_, high), count in ends),
    )


@lru_cache(maxsize=16)  # a sum asks for it several times
def common_lattice(pairs: GridPairs) -> float | None:
    """The common unit of all pairs that have one, rounded to the nearest float."""
    units = {_unit(pair) for pair, _ in pairs} - {None}
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
