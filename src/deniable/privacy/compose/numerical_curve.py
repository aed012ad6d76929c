"""The delta curve of many dominating pairs together, by convolution on a grid.

No choice on the way (tilt, grid, window, where a pair is cut off) can make a bound wrong:
`compute_curve` adds the error that each of them may cause.
"""

import math
from functools import lru_cache

import numpy as np

from deniable.privacy.arithmetic.floats import UNIT
from deniable.privacy.arithmetic.repeated_pairs import GridPairs
from deniable.privacy.compose.coarse_sum import CoarseSum, coarse_sum
from deniable.privacy.compose.convolution import GridTerm, convolve, convolve_jumps, fast_length
from deniable.privacy.compose.curve_part import CurvePart
from deniable.privacy.compose.delta_curve import DeltaCurve
from deniable.privacy.compose.grid_cells import RARE, discretize_all
from deniable.privacy.compose.loss_grid import LossGrid
from deniable.privacy.compose.tail_bounds import CountedCells, Heights, TailBounds

_NEGLECTED = 1e-10  # of delta: what each cut may cost
FEW = 32  # up to this many different pairs, their cells cost little
_LARGEST = 1 << 23  # cells of a window


def rare_for(pairs: GridPairs, delta: float) -> float:
    """The probability that each pair may have beyond its grid, where deltas are near `delta`.

    It is the same within a power of ten, so that deltas close together share their cells. For
    many pairs it is always the least, so that all deltas do.
    """
    if len(pairs) > FEW:
        return RARE
    decade = 10.0 ** math.floor(math.log10(delta))
    return max(_NEGLECTED * decade / sum(count for _, count in pairs), RARE)


def coarse_sum_near(pairs: GridPairs, delta: float) -> CoarseSum:
    """The approximation of the sum that is good for deltas near `delta`."""
    return coarse_sum(pairs, rare_for(pairs, delta))


def compute_curve(
    pairs: GridPairs,
    grid: LossGrid,
    tilt: float,
    origin: float,
    delta: float,
    *,
    heavy: bool = False,
) -> DeltaCurve:
    """The curve of the pairs, tilted for losses near `origin`, where it is about `delta`.

    If the tails are heavy, one or two large losses matter as much as all small ones together,
    and no tilt is good for both. Then the sum is computed in two parts: no loss above a point
    that is rarely passed (a jump), and one or two of them. Three are negligible.
    """
    cells = _discretize_all(pairs, grid.step, rare_for(pairs, delta))
    count = sum(n for _, n in pairs)
    often = _jumps_in_all(delta) if heavy else 0.0
    split = [(cell.split(often / count), n) for cell, n in cells] if heavy else []
    bulk = tuple((kept, n) for (kept, _), n in split) or cells
    jumps = tuple((jump, n) for (_, jump), n in split)
    variance = grid.off * grid.step**2 / 4
    start = origin - 16 * math.sqrt(variance)
    parts = [_bulk_part(bulk, tilt, start, origin, delta, _far_tilt(pairs, delta, often))]
    if any(jump.mass.any() for jump, _ in jumps):
        parts.append(_jump_part(bulk, jumps, start, origin, delta))
    raised = sum(n * cell.raised for cell, n in cells)
    beyond = _infinite(cells) + often**3 / 6 * (1 + 1e-9)
    return DeltaCurve(tuple(parts), origin, beyond, raised, variance, grid.drift)


def _jumps_in_all(delta: float) -> float:
    """How many jumps are expected at most: three of them have probability 1e-9 delta."""
    return float((6e-9 * delta) ** (1 / 3))


def heavy_coarse_sum(pairs: GridPairs, delta: float) -> CoarseSum:
    """The approximation of the sum without jumps."""
    return coarse_sum(pairs, _jumps_in_all(delta) / sum(n for _, n in pairs))


def _far_tilt(pairs: GridPairs, delta: float, often: float) -> float:
    coarse = heavy_coarse_sum(pairs, delta) if often else coarse_sum_near(pairs, delta)
    return coarse.tilt_for_delta(delta * _NEGLECTED)


def _bulk_part(
    cells: CountedCells, tilt: float, start: float, origin: float, delta: float, far: float
) -> CurvePart:
    h = cells[0][0].step
    terms, logs, doubt, slop = _tilt_all(cells, tilt)
    tails = TailBounds(Heights(cells), tilt, (far,))
    first, size = _window(tails, start, delta, h)
    grid_sum = convolve(terms, first, size)
    height = math.fsum(n * log for log, (_, n) in zip(logs, cells, strict=True))
    outside = None if _is_complete(tails, first, size) else tails
    return CurvePart(
        h, first, grid_sum.mass, tilt, height, origin, grid_sum.error, outside, doubt, slop
    )


def _jump_part(
    bulk: CountedCells, jumps: CountedCells, start: float, origin: float, delta: float
) -> CurvePart:
    h = bulk[0][0].step
    heights = Heights(bulk, jumps)
    reach = max(cell.losses[-1] for cell, _ in jumps)
    tilt = min(
        (k / reach for k in (1, 2, 4, 8, 16, 32)),
        key=lambda t: heights(t) - t * origin - math.log(t * (1 + t)),
    )
    terms, logs, doubt, slop = _tilt_all(bulk, tilt)
    raised, unsure, total = [], 0.0, 0.0
    for (cell, n), log, term in zip(jumps, logs, terms, strict=True):
        factor = np.exp(tilt * cell.losses - log)
        mass = cell.mass * factor
        raised.append(GridTerm(cell.first, mass, n, term.error * float(mass.sum())))
        total += n * float(mass.sum())
        unsure += n * float((cell.doubt * factor).sum())
    tails = TailBounds(heights, tilt, tuple(k / reach for k in (16, 64, 256)))
    first, size = _window(tails, start, delta, h)
    grid_sum = convolve_jumps(terms, raised, first, size)
    height = math.fsum(n * log for log, (_, n) in zip(logs, bulk, strict=True))
    outside = None if _is_complete(tails, first, size) else tails
    moved = (total + total**2) * doubt + (1 + total) * unsure
    return CurvePart(
        h, first, grid_sum.mass, tilt, height, origin, grid_sum.error, outside, moved, 2 * slop
    )


def _tilt_all(
    cells: CountedCells, tilt: float
) -> tuple[list[GridTerm], list[float], float, float]:
    """Tilted terms, ln of their sums before scaling, how much of all of them is in doubt, and
    the relative error of all of them."""
    terms, logs, doubt, slop = [], [], 0.0, 1e-12
    for cell, count in cells:
        mass, log, unsure = cell.tilted(tilt)
        rough = (32 + 4 * tilt * cell.step * mass.size + abs(log)) * UNIT  # exp, sum and log
        terms.append(GridTerm(cell.first, mass, count, rough))
        logs.append(log)
        doubt += count * unsure
        slop += count * (rough + cell.error)
    return terms, logs, doubt, slop


def _is_complete(tails: TailBounds, first: int, size: int) -> bool:
    return first <= tails.height.least and tails.height.most < first + size


@lru_cache(maxsize=4)  # the curves of one sum share their cells
def _discretize_all(pairs: GridPairs, step: float, rare: float) -> CountedCells:
    cells = discretize_all([pair for pair, _ in pairs], step, rare)
    return tuple((cell, n) for cell, (_, n) in zip(cells, pairs, strict=True))


def _infinite(cells: CountedCells) -> float:
    """The probability that some loss is infinite."""
    if any(cell.infinite >= 1 for cell, _ in cells):
        return 1.0
    return -math.expm1(math.fsum(count * math.log1p(-cell.infinite) for cell, count in cells))


def _window(tails: TailBounds, origin: float, delta: float, h: float) -> tuple[int, int]:
    """First index and number of cells of the window."""
    rare = math.log(delta * _NEGLECTED)
    top, t, s = tails.top(rare), tails.tilt, tails.height.spread
    least, most = tails.height.least, tails.height.most
    bottom = max(top - 55 / t, tails.bottom(rare))
    bottom = min(bottom, origin - min(4 / t, 4 * s)) - 4 * h
    if (most - least) * h <= 1.5 * (top - bottom):
        return least, fast_length(most - least + 1)
    width = tails.width(origin, rare)
    first = max(math.floor(min(bottom, top - width) / h), least)
    size = min(math.ceil(max(top / h, first + width / h)), most) - first + 1
    return first, min(fast_length(size), _LARGEST)
