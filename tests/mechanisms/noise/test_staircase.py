import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from deniable.audit import check
from deniable.mechanisms import Laplace, Staircase
from deniable.mechanisms.noise.staircase import StaircaseNoise
from tests.mechanisms.contract import AdditiveContract, Claims, fit


class TestStaircase(AdditiveContract):
    mechanism = Staircase(epsilon=2, sensitivity=5)
    neighbors = (
        (0, 1, 2, 3, 4, 5),
        (-7, -2),
        (0.3, 5.3),
        (0.5, 3.1),
    )
    outputs = range(-90, 90)
    must_be_told_apart = Staircase(epsilon=2 / 1.1, sensitivity=5)
    half_noise = Staircase(epsilon=4, sensitivity=5)

    def draw(self, mechanism, value):  # a list would get Laplace noise
        return Counter((value + mechanism.noise().draw(self.draws)).tolist())

    def test_release_of_one_number_draws_that_noise(self):
        counts = Counter(self.mechanism.release(0) for _ in range(3000))
        assert fit(counts, self.mechanism, 0) > 1e-9
        assert fit(counts, Laplace(epsilon=2, sensitivity=5), 0) < 1e-9


class TestOneStepStairs(AdditiveContract):
    mechanism = Staircase(odds=4)
    neighbors = ((0, 1),)
    outputs = range(-60, 60)
    must_be_told_apart = Staircase(epsilon=1.25)
    half_noise = Staircase(odds=16)

    def test_it_is_laplace(self):
        for z in range(5):
            assert self.mechanism.pmf(z, 0) == Laplace(odds=4).pmf(z, 0)


def expected_error(law):
    far = 60 * law.stair * max(1, math.ceil(1 / law.epsilon))
    total = [law.pmf(z, 128)[0] / 2**128 for z in range(far)]
    return 2 * sum(z * mass for z, mass in enumerate(total))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3), Fraction(7)])
@pytest.mark.parametrize("stair", [1, 2, 3, 10])
def test_the_split_of_a_stair_has_the_least_error(epsilon, stair):
    chosen = Staircase(epsilon=epsilon, sensitivity=stair).noise()
    errors = [
        expected_error(StaircaseNoise(epsilon, stair, flat)) for flat in range(1, stair + 1)
    ]
    assert expected_error(chosen) == pytest.approx(min(errors), rel=1e-9)


def test_fine_grids_reach_the_optimum_of_the_continuum():
    for epsilon in (1, 3, 5):
        law = Staircase(epsilon=epsilon, sensitivity=1000).noise()
        drawn = np.abs(law.draw(200_000)).mean() / 1000
        best = math.exp(epsilon / 2) / (math.exp(epsilon) - 1)
        assert drawn == pytest.approx(best, rel=0.05)
        assert law.flat == pytest.approx(1000 / (1 + math.exp(epsilon / 2)), abs=1)


class Naive:
    """The stairs of one number on every number of a list."""

    def __init__(self, mechanism):
        self.mechanism, self.loss = mechanism, mechanism.loss

    def pmf_bounds(self, output, value, bits=256):
        lo = hi = 1 << bits
        for end, start in zip(output, value, strict=True):
            mass = self.mechanism.noise().pmf(end - start, bits)
            lo, hi = lo * mass[0] >> bits, -(-hi * mass[1] >> bits)
        return lo, hi


def test_a_list_is_private_and_stairs_on_each_number_would_not_be():
    mechanism = Staircase(epsilon=2, sensitivity=4)
    grid = [[a, b] for a in range(-20, 20) for b in range(-20, 20)]
    neighbors = (
        ([0, 0], [2, 2]),
        ([0, 0], [4, 0]),
        ([0, 0], [1, 3]),
    )
    assert check(mechanism, neighbors, grid).private
    assert check(Naive(mechanism), neighbors, grid).violated


def test_ignored_sensitivity_is_caught():
    broken = Claims(Staircase(epsilon=1, sensitivity=4), Staircase(epsilon=1, sensitivity=5))
    assert check(broken, [(0, 5)], range(-60, 60)).violated


def test_zero_is_drawn_once_not_twice():
    law = Staircase(epsilon=3, sensitivity=4).noise()
    zeros = (law.draw(100_000) == 0).mean()
    assert zeros == pytest.approx(law.pmf(0, 64)[0] / 2**64, abs=0.012)


def test_huge_stairs_do_not_wrap_around():
    law = Staircase(epsilon=0.01, sensitivity=2**60).noise()
    drawn = law.draw(100)
    assert drawn.dtype == object or max(abs(drawn)) < 2**62
    assert {int(value) > 0 for value in drawn} == {True, False}


def test_parts_of_a_step_do_not_lengthen_a_stair():
    mechanism = Staircase(epsilon=2, sensitivity=2.5)
    assert (mechanism.noise().stair, mechanism.noise(real=True).stair) == (2, 3)
    assert check(
        mechanism, [(0, 2), (0.4, 2.9), (0.5, 3.0), (-2.6, -0.1)], range(-50, 50)
    ).private
    short = Claims(Staircase(epsilon=2, sensitivity=1), mechanism)
    assert check(short, [(0.4, 2.9)], range(-50, 50)).violated


@pytest.mark.parametrize("sensitivity", [10**9, 10**160, 10**400])
def test_stairs_longer_than_floats_can_square(sensitivity):
    """Far beyond what can be drawn, the shape still is the one of long stairs."""
    law = Staircase(epsilon=3, sensitivity=sensitivity).noise()
    share = Fraction(law.flat, law.stair)
    assert float(share) == pytest.approx(1 / (1 + math.exp(1.5)), rel=1e-6)
    assert Staircase(epsilon=3, sensitivity=sensitivity).margin() > sensitivity // 4
