"""Small instances of our mechanisms, each also with half its noise, for `deniable check`."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.mechanisms import (
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    RandomizedResponse,
    Staircase,
)


@dataclass(frozen=True, slots=True)
class SelfTestCase:
    """A mechanism, neighbouring inputs, and a broken copy that a check must catch.

    >>> len(SELF_TEST_CASES) > 5
    True
    """

    name: str
    mechanism: Any
    halved: Any
    neighbors: tuple[tuple[Any, ...], ...]


SCORES = (((0, 1, 2), (1, 0, 1)), ((2, 2, 2), (3, 1, 2)))

SELF_TEST_CASES = (
    SelfTestCase(
        "Laplace, epsilon 1", Laplace(epsilon=1), Laplace(epsilon=2), ((0, 1), (0.25, 1.25))
    ),
    SelfTestCase(
        "Laplace, odds 3, sensitivity 2, step 1/2",
        Laplace(odds=3, sensitivity=2, step=0.5),
        Laplace(odds=9, sensitivity=2, step=0.5),
        ((0, 1, 2),),
    ),
    SelfTestCase(
        "Gaussian, mu 1/2, sensitivity 2",
        Gaussian(mu=0.5, sensitivity=2),
        Gaussian(mu=1, sensitivity=2),
        ((5, 6, 7), (0.2, 2.2)),
    ),
    SelfTestCase(
        "Gaussian, epsilon 2, delta 1e-4",
        Gaussian.calibrated(epsilon=2, delta=1e-4),
        Gaussian(sigma=0.85),
        ((0, 1),),
    ),
    SelfTestCase(
        "Staircase, epsilon 2, sensitivity 5",
        Staircase(epsilon=2, sensitivity=5),
        Staircase(epsilon=4, sensitivity=5),
        ((0, 3, 5),),
    ),
    SelfTestCase(
        "two coins",  # they lie once in four times; half of that is once in eight
        RandomizedResponse.from_coins(),
        RandomizedResponse(odds=7),
        ((0, 1),),
    ),
    SelfTestCase(
        "randomized response, epsilon 1, four answers",
        RandomizedResponse(epsilon=1, categories=4),
        RandomizedResponse(epsilon=2, categories=4),
        ((0, 1, 2, 3),),
    ),
    SelfTestCase(
        "unequal coins: truth 1/10, yes 1/10",
        RandomizedResponse.from_coins(truth=Fraction(1, 10), yes=Fraction(1, 10)),
        RandomizedResponse.from_coins(truth=Fraction(55, 100), yes=Fraction(1, 10)),
        ((0, 1),),
    ),
    SelfTestCase("exponential", Exponential(epsilon=1), Exponential(epsilon=2), SCORES),
    SelfTestCase(
        "permute and flip", PermuteAndFlip(epsilon=1), PermuteAndFlip(epsilon=2), SCORES
    ),
    SelfTestCase("noisy max", NoisyMax(epsilon=1), NoisyMax(epsilon=2), SCORES),
)
