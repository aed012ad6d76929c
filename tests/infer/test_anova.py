from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2, f_oneway

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.anova import anova_p
from deniable.infer.groups.group_means import GroupMeans, NoisePart, Variances
from deniable.mechanisms import Laplace
from tests.infer.simulated import at_most, laplace, share_parts

SIZES = {"even": (1, 1, 1), "uneven": (8, 1, 1)}


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
    found = GroupMeans(tuple("ABC"), above, above + others, parts, "m", variance=known)
    return found, f_oneway(*x).pvalue


def released_groups(rng, *, sizes, share, epsilon):
    having = rng.binomial(sizes, share)
    above = (having + laplace(rng, epsilon, len(sizes))).astype(float)
    others = np.array(sizes) - having + laplace(rng, epsilon, len(sizes))
    return GroupMeans(tuple("ABC"), above, above + others, share_parts(epsilon), "share")


DESIGNS = [
    (units, epsilon, balance, share)
    for units, epsilon, balance, share in (
        (50, 1, "even", 0.3),
        (500, 0.1, "even", 0.3),
        (500, 1, "uneven", 0.02),
        (500, 5, "uneven", 0.3),
        (50_000, 0.1, "uneven", 0.002),
        (50_000, 5, "even", 0.3),
    )
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("units", "epsilon", "balance", "share"), DESIGNS)
def test_equal_shares_seldom_seem_to_differ(units, epsilon, balance, share, size):
    releases = size(small=40, full=10_000, what="simulated shares of three groups")
    rng = np.random.default_rng(units)
    sizes = [max(units * part // sum(SIZES[balance]), 1) for part in SIZES[balance]]
    wrong = 0
    for _ in range(releases):
        found = released_groups(rng, sizes=sizes, share=share, epsilon=epsilon)
        wrong += anova_p(found, level=0.05)[1] <= 0.05
    assert at_most(wrong / releases, releases)


def test_with_much_noise_equal_shares_seldom_seem_to_differ():
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(60):
        found = released_groups(rng, sizes=[100] * 3, share=0.3, epsilon=0.05)
        wrong += anova_p(found, level=0.05)[1] <= 0.05
    assert at_most(wrong / 60, 60)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("units", "epsilon", "balance"), [(60, 1, "even"), (600, 0.1, "even"), (600, 5, "uneven")]
)
def test_equal_means_seldom_seem_to_differ(units, epsilon, balance, size):
    releases = size(small=40, full=10_000, what="simulated means of three groups")
    rng = np.random.default_rng(units)
    sizes = [units * part // sum(SIZES[balance]) for part in SIZES[balance]]
    wrong = 0
    for _ in range(releases):
        found, _ = released_means(
            rng, sizes=sizes, means=(0.5,) * 3, spread=0.15, epsilon=epsilon
        )
        wrong += anova_p(found, level=0.05)[1] <= 0.05
    assert at_most(wrong / releases, releases)


def test_the_naive_test_of_noisy_shares_is_wrong_too_often():
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(1_000):
        found = released_groups(rng, sizes=[100] * 3, share=0.3, epsilon=0.1)
        rows = np.maximum(found.below, 1.0)
        r = np.clip(found.above.sum() / rows.sum(), 0.01, 0.99)
        naive = ((found.above - r * rows) ** 2 / (rows * r * (1 - r))).sum()
        wrong += chi2.sf(naive, 2) <= 0.05
    assert wrong / 1_000 > 0.3


def test_with_little_noise_it_is_the_f_test():
    rng = np.random.default_rng(7)
    found, plain = released_means(
        rng, sizes=(100, 100, 100), means=(0.45, 0.5, 0.52), spread=0.15, epsilon=500
    )
    assert anova_p(found)[1] == pytest.approx(plain, abs=0.03)


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
