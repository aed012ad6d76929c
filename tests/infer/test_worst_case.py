from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from deniable.infer.worst_case import draw_noise, worst_p
from deniable.mechanisms import Gaussian, Laplace


def normal(spread, rng, many):
    return np.abs(rng.normal(0, spread, many))


def test_the_p_value_is_that_of_the_worst_point():
    many = worst_p(2.0, normal, [0.2, 1.0, 0.7])
    assert many == pytest.approx(2 * norm.sf(2.0) + 0.001, abs=0.006)
    assert worst_p(2.0, normal, [1.0]) == many


@pytest.mark.parametrize("observed", [0.5, 1.9, 2.05, 4.0])
def test_who_asks_for_a_level_gets_the_right_side_of_it(observed):
    points = [0.2, 1.0, 0.7, 0.9]
    whole, quick = (worst_p(observed, normal, points, level=level) for level in (None, 0.05))
    assert (whole <= 0.05) == (quick <= 0.05)


def test_parts_of_a_statistic_have_noise_of_their_own():
    noise = Laplace(epsilon=0.3).noise()
    first, second = (draw_noise(noise, (5_000,), part) for part in (0, 1))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06
    assert (draw_noise(noise, (5_000,)) == first).all()
    assert not first.flags.writeable


@pytest.mark.parametrize("part", [0, 1, 2])
def test_noise_does_not_depend_on_the_samples(part):
    """NumPy draws the same from the seeds 7 and (7, 0): then samples and noise go together."""
    noise, seen = Gaussian(rho=Fraction(1, 50)).noise(), []

    def simulate(point, rng, many):
        seen.append((rng.normal(0, 1, many), draw_noise(noise, (many,), part)))
        return seen[-1][0]

    worst_p(2.0, simulate, [1.0])
    sample, drawn = seen[-1]
    assert sample.size > 10_000
    assert abs(np.corrcoef(sample, drawn)[0, 1]) < 0.05


def test_it_is_never_below_the_chance_of_the_set():
    assert 0.001 < worst_p(50.0, normal, [1.0]) < 0.002


def test_it_is_the_same_each_time_and_at_most_1():
    assert worst_p(1.0, normal, [1.0, 3.0]) == worst_p(1.0, normal, [1.0, 3.0])
    assert worst_p(-1.0, normal, [1.0]) == 1.0


@pytest.mark.parametrize("mechanism", [Laplace(epsilon=0.3), Gaussian(rho=Fraction(1, 50))])
def test_simulated_noise_has_the_law_of_the_mechanism(mechanism):
    noise = mechanism.noise()
    drawn = draw_noise(noise, (200_000,))
    for z in (0, 1, 4):
        expected = noise.pmf(z, 60)[0] / 2**60
        share = (drawn == z).mean()
        assert share == pytest.approx(expected, abs=5 * np.sqrt(expected / drawn.size))
