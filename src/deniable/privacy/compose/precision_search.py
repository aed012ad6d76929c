"""Which grid, and which curve on it, bring the bounds on epsilon as close as was asked for.

Nothing here is a bound. A poor choice makes the bounds of `numerical_curve` wider, not wrong.

With n pairs off a grid of step h, the two bounds on epsilon differ by about n h**2 times the
hazard, which is the tilt + 1 unless the tails are heavy. So a first grid is chosen by this
rule, and a finer one by the difference that the first one shows.
"""

import math
from functools import lru_cache

from deniable.privacy.arithmetic.dominating_pairs import (
    DiscretePair,
    GaussianPair,
    LaplacePair,
    ReversedPair,
    SubsampledPair,
)
from deniable.privacy.arithmetic.repeated_pairs import GridPair, GridPairs, RepeatedPair
from deniable.privacy.compose.coarse_sum import coarse_sum
from deniable.privacy.compose.delta_curve import DeltaCurve
from deniable.privacy.compose.grid_cells import RARE, effective_range
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
_SHARP = 1 << 18  # cells of a grid that is close at every delta, even beside an atom
_FAR = 16  # noise of that many sqrt(V) hides atoms
_FEW_LAPLACE = 64  # of which the greatest sum has a probability that matters
_MOST_MOVED = 0.4  # n h**2, above which the lower bound gets much worse
_CHEAP = 1 << 14  # cells that need not be spared
_HEAVY = 20.0  # tails are heavy if Chernoff's bound exceeds delta by this factor
_TRIAL = 1 << 12  # cells of a curve that only shows about where epsilon lies


@lru_cache(maxsize=64)
def choose_grid(pairs: GridPairs, delta: float | None, precision: float | None) -> LossGrid:
    """A grid for this precision at this delta or, without one, for all usual deltas."""
    few = len(pairs) <= FEW
    deltas = (delta,) if delta is not None else _DELTAS if few else _DELTAS[1:2]
    most = _USUAL if precision is None else _MOST
    width = max(_width(pairs, x) for x in deltas)
    exact = lattice_grid(pairs, width)
    if exact is not None:
        return exact
    reach = max(width, widest(pairs, rare_for(pairs, min(deltas))))
    least = reach / most
    step = max(min(_first_step(pairs, x, precision) for x in deltas), least)
    if precision is None and _may_have_atoms(pairs, step):
        safe = min(_safe_step(pairs, x, width) for x in deltas)
        finest = (reach if few else _sum_of_widths(pairs)) / _SHARP
        step = min(step, max(safe, finest))
        if finest <= safe:
            return fine_grid(pairs, step, width)
    for x in deltas if few or precision is not None else ():
        step = max(_refine(pairs, x, precision, step, least), least)
    return fine_grid(pairs, step, width)


def _first_step(pairs: GridPairs, delta: float, precision: float | None) -> float:
    coarse = coarse_sum_near(pairs, delta)
    tilt = coarse.tilt_for_delta(delta)
    few = len(pairs) <= FEW
    goal = precision or (usual_precision(coarse.epsilon(tilt, delta)) if few else PRECISION)
    count = sum(n for _, n in pairs)
    moved = min((0.8 if few else 1.6) * goal / (tilt + 1), _MOST_MOVED)
    step = math.sqrt(moved / count)
    if not few:
        return step
    cells = max(_width(pairs, delta), widest(pairs, rare_for(pairs, delta)), 1e-9)
    return min(step, cells / _CHEAP)


def _safe_step(pairs: GridPairs, delta: float, width: float) -> float:
    """A step at which the bounds are close at every delta, even beside an atom of the sum:
    they hardly ever differ by more than ten times sqrt(V), with V of `delta_curve`."""
    coarse = coarse_sum_near(pairs, delta)
    goal = usual_precision(coarse.epsilon(coarse.tilt_for_delta(delta), delta))
    off = fine_grid(pairs, goal, width).off
    return goal / (5 * math.sqrt(max(off, 1)))


def _sum_of_widths(pairs: GridPairs) -> float:
    ends = [effective_range(pair, RARE) for pair, _ in pairs]
    return math.fsum(high - low for low, high in ends)


def _may_have_atoms(pairs: GridPairs, step: float) -> bool:
    """Whether single values of the sum may have a probability that matters, on a grid of that
    step: there are atoms, and no noise beside them that spreads them farther than the grid."""
    count = sum(n for _, n in pairs)
    spread = math.sqrt(math.fsum(n * _spread_of(pair) ** 2 for pair, n in pairs))
    return math.sqrt(count) * step / 2 > spread / _FAR and any(
        isinstance(pair, DiscretePair | RepeatedPair)
        or (isinstance(pair, LaplacePair) and n <= _FEW_LAPLACE)
        for pair, n in pairs
    )


def _spread_of(pair: GridPair) -> float:
    """About how far a pair spreads its most likely losses, if it is continuous."""
    if isinstance(pair, GaussianPair):
        return pair.mu
    if isinstance(pair, ReversedPair):
        return _spread_of(pair.pair)
    if isinstance(pair, SubsampledPair):
        inner = _spread_of(pair.pair)
        return pair.rate * inner * math.exp(-(inner**2) / 2)
    return 0.0


def usual_precision(epsilon: float) -> float:
    """How close the bounds should be if no other precision is asked for."""
    return PRECISION * max(epsilon, 1.0)


def _refine(
    pairs: GridPairs, delta: float, precision: float | None, step: float, least: float
) -> float:
    """A step, at most the given one, at which the bounds are about as close as they should."""
    trial, before = 4 * step, math.inf
    for _ in range(_TRIES):
        curve = curve_near_delta(pairs, fine_grid(pairs, trial, 0.0), delta)
        gap = curve.gap(delta)
        goal = precision or usual_precision(curve.sufficient_epsilon(delta))
        fitting = trial * math.sqrt(0.7 * goal / gap) if gap > 0 else math.inf
        if precision is None and (gap <= goal or fitting >= trial / 8):
            return min(step, max(fitting, least))
        if gap <= goal or trial <= least or gap > before / 1.2:
            return trial if gap < before else 2 * trial
        trial, before = max(min(fitting, 0.9 * trial), trial / 8, least), gap
    return trial


def curve_near_delta(pairs: GridPairs, grid: LossGrid, delta: float) -> DeltaCurve:
    """The curve tilted for the epsilon at which it is `delta`."""
    coarse = coarse_sum_near(pairs, delta)
    tilt = coarse.tilt_for_delta(delta)
    epsilon = max(coarse.epsilon(tilt, delta), 0.0)
    if len(pairs) > FEW or not grid.off:
        return compute_curve(pairs, grid, tilt, epsilon, delta)
    epsilon = _try_epsilon(pairs, grid, delta)
    return curve_at(pairs, grid, epsilon, delta)


def curve_at(pairs: GridPairs, grid: LossGrid, epsilon: float, delta: float) -> DeltaCurve:
    """The curve tilted for this epsilon, at which it is about `delta`."""
    coarse = coarse_sum_near(pairs, delta)
    tilt = coarse.tilt_for_epsilon(epsilon)
    if len(pairs) > FEW or coarse.bound(tilt, epsilon) < math.log(delta * _HEAVY):
        return compute_curve(pairs, grid, tilt, epsilon, delta)
    tilt = heavy_coarse_sum(pairs, delta).tilt_for_epsilon(epsilon)
    return compute_curve(pairs, grid, tilt, epsilon, delta, heavy=True)


def _try_epsilon(pairs: GridPairs, grid: LossGrid, delta: float) -> float:
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


def curve_near_epsilon(pairs: GridPairs, grid: LossGrid, epsilon: float) -> DeltaCurve:
    """The curve tilted for this epsilon."""
    coarse = coarse_sum(pairs)
    log = coarse.bound(coarse.tilt_for_epsilon(epsilon), epsilon)
    for _ in range(_TRIES):
        delta = math.exp(min(max(log, -57.0), -1e-9))
        curve = curve_at(pairs, grid, epsilon, delta)
        log_delta = math.log(max(curve.above(epsilon), 1e-300))
        if log_delta > log - 5.0 or log <= -57.0:
            break
        log = log_delta
    return curve


def _width(pairs: GridPairs, delta: float) -> float:
    """About the width of a window for deltas near `delta`."""
    coarse = coarse_sum_near(pairs, delta)
    tilt, high = coarse.tilt_for_delta(delta), coarse.tilt_for_delta(delta * 1e-9)
    top = coarse.epsilon(high, delta * 1e-9)
    wide = max(top - max(coarse.epsilon(tilt, delta), 0.0), 45 / tilt)
    low, far = support(pairs, rare_for(pairs, delta))
    return min(wide, far - low)
