"""The delta curve of many dominating pairs together, by convolution on a grid.

No choice on the way (tilt, grid, window) can make a bound wrong: `compute_curve` adds the
error that each of them may cause.
"""

import math
from functools import lru_cache

from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.arithmetic.floats import UNIT
from deniable.privacy.compose.convolution import GridTerm, convolve
from deniable.privacy.compose.delta_curve import DeltaCurve
from deniable.privacy.compose.grid_cells import RARE, discretize, effective_range
from deniable.privacy.compose.loss_grid import LARGEST, QUICK, choose_grid
from deniable.privacy.compose.tail_bounds import CountedCells, TailBounds


def compute_curve(
    pairs: CountedPairs,
    tilt: float,
    origin: float,
    delta: float,
    precision: float | None = None,
) -> DeltaCurve:
    """The curve of the pairs, tilted for losses near `origin`, where it is about `delta`."""
    grid = choose_grid(pairs, precision)
    h = grid.step
    cells = _discretize_all(pairs, h)
    terms, heights, doubt, slop = [], [], 0.0, 0.0
    for cell, count in cells:
        mass, log, unsure = cell.tilted(tilt)
        rough = (32 + 4 * tilt * h * mass.size + abs(log)) * UNIT  # of exp, sum and log
        terms.append(GridTerm(cell.first, mass, count, rough))
        heights.append(count * log)
        doubt += count * unsure
        slop += count * rough
    variance = grid.off * h * h / 4
    tails, start = TailBounds(cells, tilt), origin - 16 * math.sqrt(variance)
    first, size, complete = _window(tails, start, delta, h)
    if size > QUICK << 4:
        tails = TailBounds(cells, tilt, close=True)
        first, size, complete = _window(tails, start, delta, h)
    if size > LARGEST:  # what is cut off counts as beyond or as wrapped
        first, size, complete = math.floor(start / h) - 4, LARGEST, False
    convolved = convolve(terms, first, size)
    width, end = size * h, (first + size) * h
    beyond = 0.0 if complete or first + size > tails.most else tails.above(end)
    from_below = math.exp(-tilt * width) / -math.expm1(-tilt * width) * tails.below(first * h)
    wrapped = 0.0 if complete else from_below + 2 * tails.above(origin + width, tilt * width)
    return DeltaCurve(
        h, first, convolved.mass, tilt, math.fsum(heights), origin, convolved.error,
        (beyond + _infinite(cells)) * (1 + 1e-12), wrapped, doubt, variance, grid.drift,
        slop + 1e-12,
    )  # fmt: skip


@lru_cache(maxsize=4)  # the curves of one sum share their cells
def _discretize_all(pairs: CountedPairs, step: float) -> CountedCells:
    return tuple(
        (discretize(pair, step, effective_range(pair, RARE)), count) for pair, count in pairs
    )


def _infinite(cells: CountedCells) -> float:
    """The probability that some loss is infinite."""
    if any(cell.infinite >= 1 for cell, _ in cells):
        return 1.0
    return -math.expm1(math.fsum(count * math.log1p(-cell.infinite) for cell, count in cells))


def _window(tails: TailBounds, origin: float, delta: float, h: float) -> tuple[int, int, bool]:
    """First index and number of cells of the window, and whether it holds the whole sum."""
    rare = math.log(delta) - 29
    top, t, s = tails.top(rare), tails.tilt, tails.spread
    bottom = max(top - 45 / t, tails.bottom(-40.0))
    bottom = min(bottom, origin - min(4 / t, 4 * s)) - 4 * h
    least = sum(cell.first * count for cell, count in tails.cells)
    most = tails.most
    if (most - least) * h <= 1.5 * (top - bottom):
        return least, _length(most - least + 1), True
    bottom = min(bottom, top - tails.width(origin, rare))
    first = math.floor(bottom / h)
    return first, _length(min(math.ceil(top / h), most) - first + 1), False


def _length(size: int) -> int:
    """A length of at least `size` for which the transform is fast."""
    power = 1 << max(size - 1, 1).bit_length()
    return next((n for n in (power * 5 // 8, power * 3 // 4, power) if n >= size), power)
