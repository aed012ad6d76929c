"""The largest p-value over all that is unknown: a test that holds whatever the nuisance is.

What a null hypothesis leaves open (the common share, the numbers of rows, the margins of a
table) is taken from a set that holds the right values with a chance of 99.9 %. The p-value is
the largest over that set, plus 0.1 % (Berger and Boos 1994). A p-value at the estimated values
alone is not valid: at epsilon 0.1 such a chi-square test rejects a true hypothesis in about a
tenth of all cases.

P-values are simulated with the exact law of the noise, with the same random numbers at every
point, and at the worst points again with more. The seed is fixed: a release has one p-value.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
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
_FIRST, _AGAIN = 2_000, 20_000  # simulations at each point, and at the worst ones
_WORST = 3
_CLEAR = 0.2  # above this p-value more simulations change nothing


def worst_p(
    observed: float,
    simulate: Simulate,
    points: Iterable[Point],
    *,
    enough: float | None = None,
) -> float:
    """The largest p-value over the points, plus the chance that none of them is right.

    `simulate(point, rng, many)` draws the statistic under the hypothesis; large values speak
    against it. With `enough` the search ends at the first point whose p-value is above it: who
    only asks whether the hypothesis is rejected need not know more.

    >>> round(
    ...     worst_p(1.96, lambda spread, rng, many: abs(rng.normal(0, spread, many)), [1, 2]), 1
    ... )
    0.3
    """
    first: list[tuple[float, Point]] = []
    for point in points:
        p = _share_above(observed, simulate, point, _FIRST)
        if enough is not None and p > enough:
            return min(1.0, p + float(SET_CHANCE))
        first.append((p, point))
    first.sort(key=lambda pair: pair[0], reverse=True)
    worst = first[0][0]
    if worst < _CLEAR:
        again = (point for _, point in first[:_WORST])
        worst = max(_share_above(observed, simulate, point, _AGAIN) for point in again)
    return min(1.0, worst + float(SET_CHANCE))


def _share_above(observed: float, simulate: Simulate, point: Point, many: int) -> float:
    drawn = simulate(point, np.random.default_rng(_SEED), many)
    return float((1 + np.count_nonzero(drawn >= observed - 1e-9)) / (many + 1))


def draw_noise(noise: Noise, rng: np.random.Generator, size: tuple[int, ...]) -> Floats:
    """Noise of a mechanism's law, for simulations: it protects nobody.

    >>> from deniable.mechanisms import Laplace
    >>> drawn = draw_noise(Laplace(epsilon=1).noise(), np.random.default_rng(1), (10_000,))
    >>> bool(abs(drawn.var() - 1.84) < 0.15)
    True
    """
    if isinstance(noise, GaussianNoise):
        return np.asarray(np.rint(rng.normal(0, float(noise.variance) ** 0.5, size)))
    assert isinstance(noise, LaplaceNoise)
    chance = -np.expm1(-float(1 / noise.scale))
    return (rng.geometric(chance, size) - rng.geometric(chance, size)).astype(np.float64)
