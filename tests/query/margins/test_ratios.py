from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms import Gaussian, Laplace
from deniable.query.margins.lattice_quantiles import QuantileTable, angle_grid, cumulative
from deniable.query.margins.linear_forms import LinearForm, RatioForm
from deniable.query.margins.noise_quantiles import moments
from deniable.query.margins.ratios import interval

LEVEL = Fraction(19, 20)


def linear(**weights):
    return LinearForm.of(
        Fraction(weights.pop("one", 0)), {k: Fraction(w) for k, w in weights.items()}
    )


@pytest.mark.parametrize("true", [(30, 100), (50, 100), (3, 12), (0, 40), (400, -200)])
@pytest.mark.parametrize("epsilon", ["0.5", "1.7", "2.8", "3.9"])
def test_the_set_covers_on_the_lattice(epsilon, true):
    law, draws = Laplace(epsilon=Fraction(epsilon)).noise(), 40_000
    ratio = RatioForm(linear(a=1), linear(b=1))
    got = {
        name: value + law.draw(draws).astype(np.float64)
        for name, value in zip("ab", true, strict=True)
    }
    low, high = interval(ratio, dict.fromkeys("ab", law), got, LEVEL)
    truth = true[0] / true[1]
    covered = np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high))
    assert covered >= 0.95 - 4 * (0.0475 / draws) ** 0.5


def test_a_table_is_as_exact_as_counting():
    """At every angle it covers 95 %, and a quantile 3 % shorter would not do or hardly."""
    for law in (
        Laplace(epsilon=1).noise(),
        Gaussian(mu=1).noise(),
        Laplace(epsilon=0.1).noise(),
    ):
        deviation = moments(law)[0] ** 0.5
        weights = ((1 / deviation, 0.0), (0.0, 1 / deviation))
        table = QuantileTable(weights, (law, law), LEVEL)
        a, d = (law.draw(200_000) / deviation for _ in range(2))
        for place in (0, 37, 64, 128, 200):
            angle = angle_grid()[place]
            size = np.abs(np.cos(angle) * a - np.sin(angle) * d)
            assert np.mean(size <= table.quantiles()[place]) >= 0.9475
            assert table.quantiles()[place] <= 1.03 * np.quantile(size, 0.951) + 0.02


def test_ranges_of_angles_have_their_largest_quantile():
    law = Laplace(epsilon=2).noise()
    deviation = moments(law)[0] ** 0.5
    table = QuantileTable(((1 / deviation, 0.0), (0.0, 1 / deviation)), (law, law), LEVEL)
    every, angles = table.quantiles(), angle_grid()
    for first, last in ((0, 256), (3, 3), (32, 32), (10, 77), (250, 256)):
        got = table.largest(angles[[first]], angles[[last]])
        assert (
            every[first : last + 1].max() <= got[0] <= every[max(0, first - 1) : last + 2].max()
        )
    assert table.largest(np.empty(0), np.empty(0)).size == 0
    assert table.bound() >= every.max() - 0.05


def test_a_denominator_that_may_be_zero_leaves_nothing_known():
    law = Laplace(epsilon=1).noise()
    got = {"a": np.array([5.0, 5.0]), "b": np.array([2.0, 400.0])}
    low, high = interval(
        RatioForm(linear(a=1), linear(b=1)), dict.fromkeys("ab", law), got, LEVEL
    )
    assert np.isinf([low[0], high[0]]).all()
    assert np.isfinite([low[1], high[1]]).all()


def test_one_over_a_count_maps_the_ends_of_the_count():
    law = Laplace(epsilon=1).noise()  # 3 at 95 %
    got = {"n": np.array([10.0, -10.0])}
    low, high = interval(RatioForm(linear(one=1), linear(n=1)), {"n": law}, got, LEVEL)
    assert low.tolist() == [1 / 13, -1 / 7]
    assert high.tolist() == [1 / 7, -1 / 13]


def test_probabilities_up_to_a_number():
    for mechanism in (Laplace(epsilon=0.7), Gaussian(mu=1)):
        law = mechanism.noise()
        exact = sum(law.pmf(z, 64)[0] / 2**64 for z in range(-60, 3))
        assert float(cumulative(law, np.array([2.0]))[0]) == pytest.approx(exact)
