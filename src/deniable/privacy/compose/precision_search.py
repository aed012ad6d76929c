"""Which grid, and which curve on it, bring the bounds on epsilon as close as was asked for.

Nothing here is a bound. A poor choice makes the bounds of `numerical_curve` wider, not wrong.

With n pairs off a grid of step h, the two bounds on epsilon differ by about n h**2 times the
hazard, which is the tilt + 1 unless the tails are heavy. So a first grid is chosen by this
rule, and a finer one by the difference that the first one shows.
"""

import math
from functools import lru_cache

from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.compose.coarse_sum import coarse_sum
from deniable.privacy.compose.delta_curve import DeltaCurve
from deniable.privacy.compose.loss_grid import (
    LossGrid,
    fine_grid,
    lattice_grid,
    support,
    widest,
)
from deniable.privacy.compose.numerical_curve import (
    FEW,
    coarse_sum_near,
    compute_curve,
    heavy_coarse_sum,
    rare_for,
)

PRECISION = 1e-4  # of epsilon, times epsilon if that is above 1, unless another is asked for
_DELTAS = (1e-4, 1e-9, 1e-14)  # for these, so that all deltas between them share one grid
_USUAL, _MOST = 1 << 20, 1 << 22  # cells: without a requested precision, and with one
_TRIES = 6
_CHEAP = 1 << 14  # cells that need not be spared
_HEAVY = 20.0  # tails are heavy if Chernoff's bound exceeds delta by this factor
_TRIAL = 1 << 12  # cells of a curve that only shows about where epsilon lies


@lru_cache(maxsize=64)
def choose_grid(pairs: CountedPairs, delta: float | None, precision: float | None) -> LossGrid:
    """A grid for this precision at this delta or, without one, for all usual deltas."""
    few = len(pairs) <= FEW
    deltas = (delta,) if delta is not None else _DELTAS if few else _DELTAS[1:2]
    most = _USUAL if precision is None else _MOST
    width = max(_width(pairs, x) for x in deltas)
    exact = lattice_grid(pairs, width)
    if exact is not None:
        return exact
    step = min(_first_step(pairs, x, precision) for x in deltas)
    least = max(width, widest(pairs, rare_for(pairs, min(deltas)))) / most
    for x in deltas if few or precision is not None else ():
        step = _refine(pairs, x, precision, max(step, least), least)
    return fine_grid(pairs, max(step, least), width)


def _first_step(pairs: CountedPairs, delta: float, precision: float | None) -> float:
    coarse = coarse_sum_near(pairs, delta)
    tilt = coarse.tilt_for_delta(delta)
    few = len(pairs) <= FEW
    goal = precision or (_usual_goal(coarse.epsilon(tilt, delta)) if few else PRECISION)
    count = sum(n for _, n in pairs)
    step = math.sqrt(0.8 * goal / (count * (tilt + 1)))
    if not few:
        return step
    cells = max(_width(pairs, delta), widest(pairs, rare_for(pairs, delta)), 1e-9)
    return min(step, cells / _CHEAP)


def _usual_goal(epsilon: float) -> float:
    return PRECISION * max(epsilon, 1.0)


def _refine(
    pairs: CountedPairs, delta: float, precision: float | None, step: float, least: float
) -> float:
    """A step, at most the given one, at which the bounds are about as close as they should."""
    trial, before = 4 * step, math.inf
    for _ in range(_TRIES):
        curve = curve_near_delta(pairs, fine_grid(pairs, trial, 0.0), delta)
        high = curve.sufficient_epsilon(delta)
        gap = high - curve.insufficient_epsilon(delta, high)
        gap = math.inf if math.isnan(gap) else gap  # no bound: a finer grid may have one
        goal = precision or _usual_goal(high)
        fitting = trial * math.sqrt(0.7 * goal / gap) if gap > 0 else math.inf
        if precision is None and (gap <= goal or fitting >= trial / 8):
            return min(step, max(fitting, least))
        if gap <= goal or trial <= least or gap > before / 1.2:
            return trial if gap < before else 2 * trial
        trial, before = max(min(fitting, 0.9 * trial), trial / 8, least), gap
    return trial


def curve_near_delta(pairs: CountedPairs, grid: LossGrid, delta: float) -> DeltaCurve:
    """The curve tilted for the epsilon at which it is `delta`."""
    coarse = coarse_sum_near(pairs, delta)
    tilt = coarse.tilt_for_delta(delta)
    epsilon = max(coarse.epsilon(tilt, delta), 0.0)
    if len(pairs) > FEW or not grid.off:
        return compute_curve(pairs, grid, tilt, epsilon, delta)
    epsilon = _try_epsilon(pairs, grid, delta)
    return curve_at(pairs, grid, epsilon, delta)


def curve_at(pairs: CountedPairs, grid: LossGrid, epsilon: float, delta: float) -> DeltaCurve:
    """The curve tilted for this epsilon, at which it is about `delta`."""
    coarse = coarse_sum_near(pairs, delta)
    tilt = coarse.tilt_for_epsilon(epsilon)
    if len(pairs) > FEW or coarse.bound(tilt, epsilon) < math.log(delta * _HEAVY):
        return compute_curve(pairs, grid, tilt, epsilon, delta)
    tilt = heavy_coarse_sum(pairs, delta).tilt_for_epsilon(epsilon)
    return compute_curve(pairs, grid, tilt, epsilon, delta, heavy=True)


def _try_epsilon(pairs: CountedPairs, grid: LossGrid, delta: float) -> float:
    """About the epsilon at this delta. Chernoff's bound is far above it if tails are heavy."""
    coarse = coarse_sum_near(pairs, delta)
    tilt = coarse.tilt_for_delta(delta)
    epsilon = max(coarse.epsilon(tilt, delta), 0.0)
    step = max(grid.step, min(_width(pairs, delta), 45 / tilt) / _TRIAL)
    rough = LossGrid(step, grid.off, 0.0)
    curve = compute_curve(pairs, rough, tilt, epsilon, delta)
    epsilon = min(epsilon, curve.sufficient_epsilon(delta))
    curve = curve_at(pairs, rough, epsilon, delta)
    return min(epsilon, curve.sufficient_epsilon(delta))


def curve_near_epsilon(pairs: CountedPairs, grid: LossGrid, epsilon: float) -> DeltaCurve:
    """The curve tilted for this epsilon."""
    coarse = coarse_sum(pairs)
    log = coarse.bound(coarse.tilt_for_epsilon(epsilon), epsilon)
    for _ in range(_TRIES):
        delta = math.exp(min(max(log, -57.0), -1e-9))
        curve = curve_at(pairs, grid, epsilon, delta)
        found = math.log(max(curve.above(epsilon), 1e-300))
        if found > log - 5.0 or log <= -57.0:
            break
        log = found
    return curve


def _width(pairs: CountedPairs, delta: float) -> float:
    """About the width of a window for deltas near `delta`."""
    coarse = coarse_sum_near(pairs, delta)
    tilt, high = coarse.tilt_for_delta(delta), coarse.tilt_for_delta(delta * 1e-9)
    top = coarse.epsilon(high, delta * 1e-9)
    wide = max(top - max(coarse.epsilon(tilt, delta), 0.0), 45 / tilt)
    low, far = support(pairs, rare_for(pairs, delta))
    return min(wide, far - low)
