"""Weights enclose the law's probabilities; nothing is forgotten after the last listed cell."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from deniable.exact.distributions import (
    ExponentialDistribution,
    GaussianDistribution,
    ListedDistribution,
    RoundedGaussianDistribution,
)

F = Fraction


def cell(index, signed):
    return index >> 1 ^ -(index & 1) if signed else index


def exponential(law, number):
    start = number << law.shift if number >= 0 else (~number << law.shift) + 1
    return mpmath.exp(-mpmath.mpf(start) * law.scale.denominator / law.scale.numerator)


def gaussian(law, number):
    mirror = 0 if law.rounds else 1
    start = number << law.shift if number >= 0 else (~number << law.shift) + mirror
    variance = mpmath.mpf(law.variance.numerator) / law.variance.denominator
    return mpmath.exp(-(mpmath.mpf(start) ** 2) / (2 * variance))


def rounded(law, number):
    sigma = mpmath.sqrt(mpmath.mpf(law.variance.numerator) / law.variance.denominator)
    return mpmath.ncdf((number + 0.5) / sigma) - mpmath.ncdf((number - 0.5) / sigma)


LAWS = [
    (ExponentialDistribution(F(1, 2)), exponential),
    (ExponentialDistribution(F(10, 3)), exponential),
    (ExponentialDistribution(F(7), signed=False), exponential),
    (ExponentialDistribution(F(1000, 3), shift=4), exponential),
    (GaussianDistribution(F(1, 9)), gaussian),
    (GaussianDistribution(F(50)), gaussian),
    (GaussianDistribution(F(50), rounds=True), gaussian),
    (GaussianDistribution(F(10**6), shift=5), gaussian),
    (GaussianDistribution(F(10**6), shift=5, rounds=True), gaussian),
    (RoundedGaussianDistribution(F(1, 9)), rounded),
    (RoundedGaussianDistribution(F(200, 7)), rounded),
]


@pytest.mark.parametrize(("law", "truth"), LAWS, ids=[str(law) for law, _ in LAWS])
@pytest.mark.parametrize("bits", [16, 104])
@pytest.mark.parametrize("spare", [0, 1])
def test_weights_enclose_the_law_and_the_tail_covers_the_rest(law, truth, bits, spare):
    with mpmath.workprec(400):
        count = law.cells_needed(bits // 3) + spare
        lows, highs, after = law.weights(count, bits)
        for index, (low, high) in enumerate(zip(lows, highs, strict=True)):
            number = truth(law, cell(index, law.signed)) * mpmath.mpf(2) ** bits
            assert low <= number <= high
            assert high - low <= (3 + index) ** 2  # two nested running products, a unit a step
        beyond = range(count, law.cells_needed(300))
        rest = mpmath.fsum(truth(law, cell(index, law.signed)) for index in beyond)
        assert 0 < rest * mpmath.mpf(2) ** bits <= after


@pytest.mark.parametrize(("law", "truth"), LAWS, ids=[str(law) for law, _ in LAWS])
def test_reach_leaves_next_to_nothing(law, truth):
    lows, _, after = law.weights(law.cells_needed(64), 128)
    assert after * 2**58 < sum(lows)


WIDE = [
    ExponentialDistribution(F(1000, 3), shift=4),
    GaussianDistribution(F(10**6), shift=5),
    GaussianDistribution(F(10**6), shift=5, rounds=True),
    GaussianDistribution(F(2**100), shift=44, rounds=True),
]


@pytest.mark.parametrize("law", WIDE, ids=str)
def test_penalties_lead_from_the_cell_to_the_place(law):
    """exp(-penalty) times the weight of the cell is the law at the place."""
    plain = (
        (lambda x: x / law.scale)
        if isinstance(law, ExponentialDistribution)
        else (lambda x: x * x / (2 * law.variance))
    )
    for number in (0, 1, 40, -1, -2, -41):
        mirrored = number < 0
        shifted = 0 if isinstance(law, GaussianDistribution) and law.rounds else 1
        nearest = (~number << law.shift) + shifted if mirrored else number << law.shift
        for place in (0, 1, (1 << law.shift) - 1):
            exact = law.exact_penalty(number, F(place))
            assert exact == plain(F(nearest + place)) - plain(F(nearest))
            near = law.penalty(
                np.array([float(~number if mirrored else number)]),
                np.array([float(mirrored)]),
                np.array([float(place)]),
            )[0]
            assert abs(F(float(near)) - exact) <= F(1, 2**50) * max(1, exact)


def test_listed_cells_weigh_length_times_exponential():
    lows, highs, after = ListedDistribution((3, 0, 1), (F(0), F(1), F(2))).weights(3, 40)
    assert after == 0
    assert lows[0] == highs[0] == 3 << 40
    assert lows[1] == highs[1] == 0
    assert lows[2] / 2**40 < 0.1353353 < highs[2] / 2**40 + 1e-6
