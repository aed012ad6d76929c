from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from tests.infer import naive
from tests.infer.simulated import (
    difference_ends,
    few_errors,
    released_values,
    wrong_differences,
)

VALUES = np.linspace(0, 1, 6)
LAWS = {"hill": [0.1, 0.2, 0.3, 0.2, 0.15, 0.05], "steep": [0.6, 0.2, 0.1, 0.05, 0.03, 0.02]}
DESIGNS = [
    ((50, 50), 5, "hill"),
    ((50, 500), 1, "hill"),
    ((500, 500), 0.1, "steep"),
    ((500, 5_000), 5, "steep"),
    ((50_000, 5_000), 0.1, "hill"),
    ((50_000, 50_000), 5, "steep"),
]
LEVEL = Fraction(19, 20)

MEANS = (
    "SELECT ward, COUNT(cost) AS n, AVG(cost) AS m, STDDEV(cost) AS d FROM visits GROUP BY ward"
)


@pytest.fixture(scope="module")
def release():
    """The means of A and B are 30 and 32, of C 45; the deviations about 15."""
    cost = {"A": [15.0, 45.0], "B": [17.0, 47.0], "C": [30.0, 60.0]}
    ward = [name for name in cost for _ in range(1000)]
    rows = pa.table({"ward": ward, "cost": [x for name in cost for x in cost[name] * 500]})
    visits = dp.protect(
        rows, name="visits", bounds={"cost": (0, 100)}, keys={"ward": list(cost)}, epsilon=20
    )
    return visits.sql(MEANS, epsilon=20)


def test_means_that_differ_are_told_apart(release):
    assert infer.t_test(release, "A", "C", value="m").p_value < 0.001
    assert infer.t_test(release, "A", "B", value="m").p_value < 0.05
    tested = infer.t_test(release, "B", "A", value="m")
    assert tested.statistic == pytest.approx(2, abs=0.3)
    assert tested.hypothesis == "AVG(cost) is the same in B and A"


def test_equivalence_needs_an_interval_within_the_limits(release):
    assert infer.equivalence_test(release, "A", "B", within=6, value="m").p_value < 0.01
    assert not infer.equivalence_test(release, "A", "B", within=2.5, value="m").rejects()
    assert infer.equivalence_test(release, "A", "C", within=6, value="m").p_value == 1
    with pytest.raises(InvalidParameter, match="must be positive"):
        infer.equivalence_test(release, "A", "B", within=0, value="m")


def test_counts_are_no_means(release):
    with pytest.raises(InvalidParameter, match="needs means or shares"):
        infer.t_test(release, "A", "B", value="n")


def released_pair(rng, *, units, law, epsilon, releases):
    return [
        released_values(
            rng,
            units=many,
            values=VALUES,
            chances=LAWS[law],
            epsilon=epsilon,
            releases=releases,
        )
        for many in units
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("units", "epsilon", "law"), DESIGNS)
def test_equal_means_seldom_seem_to_differ(units, epsilon, law, size, figure):
    """A t test rejects at 5 % if the interval at 95 % excludes no difference."""
    releases = size(small=400, full=10_000, what="simulated pairs of means")
    rng = np.random.default_rng(units[1])
    pair = released_pair(rng, units=units, law=law, epsilon=epsilon, releases=releases)
    assert few_errors(figure, wrong_differences(*pair, LEVEL), naive.means_differ(pair))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("units", "epsilon", "law"), DESIGNS)
def test_means_at_the_limit_seldom_seem_equivalent(units, epsilon, law, size, figure):
    """Both groups differ by exactly the limit, so equivalence is false."""
    releases = size(small=400, full=10_000, what="simulated pairs of means")
    rng = np.random.default_rng(units[0])
    first, second = released_pair(rng, units=units, law=law, epsilon=epsilon, releases=releases)
    limit = 0.2
    second.above[:] += limit * second.below  # all its values are higher
    second = replace(second, high=1 + limit)
    low, high = difference_ends(first, second, 1 - 2 * (1 - LEVEL))
    rows = [np.maximum(group.below, 2.0) for group in (first, second)]
    spread = [np.maximum(group.variance.values, 1e-6) for group in (first, second)]
    error = 1.645 * np.sqrt(spread[0] / rows[0] + spread[1] / rows[1])
    plain = np.abs(second.above / rows[1] - first.above / rows[0]) + error < limit
    assert few_errors(figure, (low > -limit) & (high < limit), plain)


def test_noisy_means_tested_as_if_exact_are_wrong_too_often():
    rng = np.random.default_rng(6)
    pair = released_pair(rng, units=(300, 300), law="hill", epsilon=0.1, releases=4_000)
    assert naive.means_differ(pair).mean() > 0.2
