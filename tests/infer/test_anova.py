from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import f_oneway

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.anova import anova_p
from deniable.infer.groups.group_means import GroupMeans, NoisePart, Variances
from deniable.mechanisms import Laplace
from tests.infer import naive
from tests.infer.simulated import (
    at_most,
    few_errors,
    laplace,
    released_shares,
    released_values,
    together,
)

SIZES = {"even": (1, 1, 1), "uneven": (8, 1, 1)}
VALUES = np.linspace(0, 1, 6)
LAWS = {"hill": [0.1, 0.2, 0.3, 0.2, 0.15, 0.05], "steep": [0.6, 0.2, 0.1, 0.05, 0.03, 0.02]}


def released_means(rng, *, sizes, means, spread, epsilon):
    """Means of normal values, cut to 0 to 1, with sums, counts and deviations released."""
    noise = Laplace(epsilon=Fraction(str(epsilon)), sensitivity=1).noise()
    x = [np.clip(rng.normal(m, spread, n), 0, 1) for m, n in zip(means, sizes, strict=True)]
    above = np.array([part.sum() for part in x]) + laplace(rng, epsilon, len(x))
    others = np.array([(1 - part).sum() for part in x]) + laplace(rng, epsilon, len(x))
    below = np.maximum(above + others, 1.0)
    margin = Laplace(epsilon=Fraction(str(epsilon))).margin() / below
    variance = (
        np.array([part.var(ddof=1) for part in x]) + laplace(rng, epsilon, len(x)) / below
    )
    parts = (
        NoisePart(noise, Fraction(1), Fraction(1)),
        NoisePart(noise, Fraction(0), Fraction(1)),
    )
    known = Variances(np.maximum(variance, 0.0), margin, Fraction(19, 20))
    groups = GroupMeans(tuple("ABC"), above, above + others, parts, "m", variance=known)
    return groups, f_oneway(*x).pvalue


def sizes_of(units, balance):
    return [max(units * part // sum(SIZES[balance]), 1) for part in SIZES[balance]]


def rejected(groups):
    """For each release of simulated groups, whether all means are said not to be the same."""
    releases = range(groups[0].above.size)
    return [anova_p(together(groups, i), level=0.05)[1] <= 0.05 for i in releases]


DESIGNS = [
    (50, 1, "even", 0.3),
    (500, 0.1, "even", 0.3),
    (500, 1, "uneven", 0.02),
    (500, 5, "uneven", 0.3),
    (50_000, 0.1, "uneven", 0.002),
    (50_000, 5, "even", 0.3),
    (50, 0.1, "uneven", 0.1),
    (50, 5, "uneven", 0.1),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("units", "epsilon", "balance", "share"), DESIGNS)
def test_equal_shares_seldom_seem_to_differ(units, epsilon, balance, share, size, figure):
    releases = size(small=40, full=10_000, what="simulated shares of three groups")
    rng = np.random.default_rng(units)
    groups = [
        released_shares(rng, units=many, share=share, epsilon=epsilon, releases=releases)
        for many in sizes_of(units, balance)
    ]
    assert few_errors(figure, rejected(groups), naive.shares_differ(groups))


def test_with_much_noise_equal_shares_seldom_seem_to_differ():
    rng = np.random.default_rng(5)
    groups = [
        released_shares(rng, units=100, share=0.3, epsilon=0.05, releases=60) for _ in "ABC"
    ]
    assert at_most(np.mean(rejected(groups)), 60)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("units", "epsilon", "balance"), [(60, 1, "even"), (600, 0.1, "even"), (600, 5, "uneven")]
)
def test_equal_means_seldom_seem_to_differ(units, epsilon, balance, size, figure):
    releases = size(small=40, full=10_000, what="simulated means of three groups")
    rng = np.random.default_rng(units)
    wrong = 0
    for _ in range(releases):
        means, _ = released_means(
            rng,
            sizes=sizes_of(units, balance),
            means=(0.5,) * 3,
            spread=0.15,
            epsilon=epsilon,
        )
        wrong += anova_p(means, level=0.05)[1] <= 0.05
    figure(f"wrong in {wrong / releases:.4f} of {releases:,}")
    assert at_most(wrong / releases, releases)


MEAN_DESIGNS = [
    (50, 5, "even", "hill"),
    (60, 0.1, "uneven", "steep"),
    (600, 1, "uneven", "steep"),
    (50_000, 0.1, "uneven", "hill"),
    (50_000, 5, "even", "steep"),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("units", "epsilon", "balance", "law"), MEAN_DESIGNS)
def test_equal_means_of_steps_seldom_seem_to_differ(units, epsilon, balance, law, size, figure):
    releases = size(small=40, full=10_000, what="simulated means of three groups")
    rng = np.random.default_rng(units)
    groups = [
        released_values(
            rng,
            units=many,
            values=VALUES,
            chances=LAWS[law],
            epsilon=epsilon,
            releases=releases,
        )
        for many in sizes_of(units, balance)
    ]
    assert few_errors(figure, rejected(groups), naive.means_differ(groups))


@pytest.mark.parametrize("epsilon", [0.2, 5])
def test_groups_may_vary_differently(epsilon, size, figure):
    """The F test takes one variance for all, and is wrong where small groups vary more."""
    releases = size(small=150, full=10_000, what="simulated means of unlike groups")
    rng = np.random.default_rng(12)
    laws = [0, 0, 0.5, 0.5, 0, 0], [0.5, 0, 0, 0, 0, 0.5], [0.5, 0, 0, 0, 0, 0.5]
    groups = [
        released_values(
            rng, units=many, values=VALUES, chances=law, epsilon=epsilon, releases=releases
        )
        for many, law in zip((1200, 150, 150), laws, strict=True)
    ]
    plain = naive.means_differ(groups)
    assert plain.mean() > 0.15
    assert few_errors(figure, rejected(groups), plain)


def test_the_naive_test_of_noisy_shares_is_wrong_too_often():
    rng = np.random.default_rng(1)
    groups = [
        released_shares(rng, units=100, share=0.3, epsilon=0.1, releases=1_000) for _ in "ABC"
    ]
    assert naive.shares_differ(groups).mean() > 0.3


def test_with_little_noise_it_is_the_f_test():
    rng = np.random.default_rng(7)
    means, plain = released_means(
        rng, sizes=(100, 100, 100), means=(0.45, 0.5, 0.52), spread=0.15, epsilon=500
    )
    assert anova_p(means)[1] == pytest.approx(plain, abs=0.03)


def test_anova_of_a_release():
    rows = {
        "ward": ["A", "B", "C"] * 500,
        "cost": [10.0, 20.0, 30.0, 20.0, 30.0, 10.0] * 250,
        "pain": [1.0, 2.0, 3.0] * 500,
    }
    visits = dp.protect(
        pa.table(rows),
        name="v",
        bounds={"cost": (0, 50), "pain": (0, 10)},
        keys={"ward": ["A", "B", "C"]},
        epsilon=100,
    )
    text = "SELECT ward, COUNT({0}) AS n, AVG({0}) AS m, STDDEV({0}) AS d FROM v GROUP BY ward"
    differ = infer.anova_test(visits.sql(text.format("pain"), epsilon=5))
    assert differ.rejects()
    assert differ.hypothesis == "AVG(pain) is the same in all 3 groups"
    with pytest.raises(InvalidParameter, match="two or more groups"):
        infer.anova_test(visits.sql("SELECT COUNT(*) AS n FROM v", epsilon=1))
    weighted = "SELECT ward, SUM(pain * cost) / SUM(pain) AS m FROM v GROUP BY ward"
    with pytest.raises(InvalidParameter, match="here rows have weights"):
        infer.anova_test(visits.sql(f"{weighted} FOR POPULATION", epsilon=5))
