"""The largest p-value over all that is unknown: a test that holds whatever the nuisance is.

What a null hypothesis leaves open (the common share, the numbers of rows, the margins of a
table) is taken from a set that holds the right values with a chance of 99.9 %. The p-value is
the largest over that set, plus 0.1 % (Berger and Boos 1994). A p-value at the estimated values
alone is not valid: at epsilon 0.1 such a chi-square test rejects a true hypothesis in about a
tenth of all cases.

P-values are simulated with the exact law of the noise, with the same random numbers at every
point, and at the worst points again with more of them. The seed is fixed: a release has one
p-value.
"""

import itertools
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.noise.additive import Noise
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.mechanisms.noise.laplace import LaplaceNoise

Floats: TypeAlias = NDArray[np.float64]
Point: TypeAlias = Any
Simulate: TypeAlias = Callable[[Point, np.random.Generator, int], Floats]

SET_CHANCE = Fraction(1, 1000)  # that the right values are outside of the set
_SEED = 1994
# How many simulations at each point, how many of the worst points get more of them, and the
# p-value above which more would change nothing.
_STAGES = ((500, 12, 1.0), (2_000, 3, 0.2), (20_000, 0, 0.0))
# The same for one side of a level of 5 % or more. All points share their random numbers, so few
# simulations show which points are the worst, if p-values there are not too small.
_QUICK = ((100, 10, 1.0), (500, 5, 1.0), (2_000, 3, 0.2), (20_000, 0, 0.0))
_LEAST_QUICK = 0.05
_GLANCE = 60  # simulations that end most searches for one side of a level
_SURE = 3  # standard errors


def worst_p(
    observed: float,
    simulate: Simulate,
    points: Iterable[Point],
    *,
    level: float | None = None,
) -> float:
    """The largest p-value over the points, plus the chance that none of them is right.

    `simulate(point, rng, many)` draws the statistic under the hypothesis; large values speak
    against it. With `level` the search ends as soon as it is clear on which side of it the
    p-value is: who only asks whether the hypothesis is rejected need not know more.

    >>> round(
    ...     worst_p(1.96, lambda spread, rng, many: abs(rng.normal(0, spread, many)), [1, 2]), 1
    ... )
    0.3
    """
    worst, waiting = 1.0, iter(points)
    if level is not None:
        likeliest = next(waiting)
        p = _share_above(observed, simulate, likeliest, _GLANCE) + float(SET_CHANCE)
        if p > level + _doubt(level, _GLANCE):
            return min(1.0, p)
        waiting = itertools.chain([likeliest], waiting)
    stages = _STAGES if level is None or level < _LEAST_QUICK else _QUICK
    for many, survivors, clear in stages:
        last = many == stages[-1][0]
        doubt = 0.0 if level is None or last else _doubt(level, many)
        ranking: list[tuple[float, Point]] = []
        for point in waiting:
            p = _share_above(observed, simulate, point, many) + float(SET_CHANCE)
            if level is not None and p > level + doubt:
                return min(1.0, p)
            ranking.append((p, point))
        ranking.sort(key=lambda pair: pair[0], reverse=True)
        worst = ranking[0][0]
        if worst > clear or (level is not None and worst < level - doubt):
            break
        waiting = iter([point for _, point in ranking[:survivors]])
    return min(1.0, worst)


def _doubt(level: float, many: int) -> float:
    return float(_SURE * (level * (1 - level) / many) ** 0.5)


def _share_above(observed: float, simulate: Simulate, point: Point, many: int) -> float:
    statistics = simulate(point, np.random.default_rng(_SEED), many)
    return float((1 + np.count_nonzero(statistics >= observed - 1e-9)) / (many + 1))


def draw_noise(noise: Noise, shape: tuple[int, ...], part: int = 0) -> Floats:
    """Noise of a mechanism's law, for simulations: it protects nobody. It is the same at each
    point; each part of a statistic has noise of its own, and none depends on the samples.

    >>> from deniable.mechanisms import Laplace
    >>> drawn = draw_noise(Laplace(epsilon=1).noise(), (10_000,))
    >>> bool(abs(drawn.var() - 1.84) < 0.15)
    True
    """
    assert isinstance(noise, GaussianNoise | LaplaceNoise)
    return _drawn(noise, shape, part)


@lru_cache(maxsize=16)
def _drawn(noise: GaussianNoise | LaplaceNoise, shape: tuple[int, ...], part: int) -> Floats:
    rng = np.random.default_rng((_SEED, 1 + part))  # (_SEED, 0) is the stream of the samples
    if isinstance(noise, GaussianNoise):
        numbers = np.rint(rng.normal(0, float(noise.variance) ** 0.5, shape))
    else:
        chance = -np.expm1(-float(1 / noise.scale))
        numbers = (rng.geometric(chance, shape) - rng.geometric(chance, shape)).astype(
            np.float64
        )
    numbers.setflags(write=False)
    return numbers
