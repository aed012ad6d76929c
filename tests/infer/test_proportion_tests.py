from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import brentq, linprog
from scipy.stats import binom

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.proportion_tests import binomial_p, released_rows_p, two_shares_p
from deniable.mechanisms import Laplace
from tests.infer import naive
from tests.infer.simulated import few_errors, laplace, released_shares


def most_powerful(rows, null, other, epsilon, level):
    """The power of the best private test, by linear programming over all tests."""
    x = np.arange(rows + 1)
    odds = np.exp(epsilon)
    rules, limits = [binom.pmf(x, rows, null)], [level]
    for a, b in [(i, i + 1) for i in range(rows)] + [(i + 1, i) for i in range(rows)]:
        rule = np.zeros(rows + 1)
        rule[a], rule[b] = 1, -odds  # f(a) <= odds * f(b)
        rules.append(rule)
        limits.append(0)
        rule = np.zeros(rows + 1)
        rule[a], rule[b] = odds, -1  # 1 - f(b) <= odds * (1 - f(a))
        rules.append(rule)
        limits.append(odds - 1)
    gain = binom.pmf(x, rows, other)
    return -linprog(-gain, A_ub=np.array(rules), b_ub=limits, bounds=(0, 1)).fun


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize(("rows", "null", "other"), [(12, 0.5, 0.8), (30, 0.1, 0.3)])
def test_no_private_test_of_one_share_is_more_powerful(epsilon, rows, null, other):
    """Awan and Slavkovic's test reaches the bound; so must this one."""
    noises = [Laplace(epsilon=epsilon).noise()]

    def level_at(count):
        return binomial_p(count, rows, null, noises, "greater", spread=True)

    edge = brentq(lambda count: level_at(count) - 0.05, -400, rows + 400, xtol=1e-10)
    power = binomial_p(edge, rows, other, noises, "greater", spread=True)
    assert power == pytest.approx(
        most_powerful(rows, null, other, float(epsilon), 0.05), abs=1e-6
    )


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(3)])
def test_the_error_of_the_first_kind_of_one_share_by_enumeration(alternative, epsilon):
    rows, share, noise = 40, 0.15, Laplace(epsilon=epsilon).noise()
    outcomes = np.arange(-150, 191)
    mass = np.array([noise.pmf(int(z), 60)[0] / 2**60 for z in range(-200, 201)])
    law = np.convolve(binom.pmf(np.arange(rows + 1), rows, share), mass)
    chance = law[outcomes + 200]
    p = np.array([binomial_p(y, rows, share, [noise], alternative) for y in outcomes])
    for level in (0.01, 0.05, 0.2):
        wrong = chance[p <= level].sum()
        assert wrong <= level + 1e-9
        assert wrong > level / 8


def test_several_noises_are_added_up():
    first, second = Laplace(epsilon=1).noise(), Laplace(epsilon=2).noise()
    rng = np.random.default_rng(2)
    draws = rng.binomial(50, 0.4, 200_000)
    for rate in (1, 2):
        chance = -np.expm1(-rate)
        draws = draws + rng.geometric(chance, draws.size) - rng.geometric(chance, draws.size)
    p_value = binomial_p(27, 50, 0.4, [first, second], "greater")
    assert p_value == pytest.approx((draws >= 27).mean(), abs=0.002)


DESIGNS = [  # the second group has that part of the first one's units
    (50, 0.1, 0.05, 2),
    (50, 5, 0.3, 2),
    (600, 0.1, 0.4, 1),
    (600, 0.5, 0.02, 10),
    (600, 5, 0.02, 10),
    (5000, 1, 0.3, 2),
    (50_000, 0.1, 0.002, 10),
    (50_000, 5, 0.3, 1),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("units", "epsilon", "share", "part"), DESIGNS)
def test_equal_shares_are_seldom_told_apart(units, epsilon, share, part, size, figure):
    releases = size(small=50, full=10_000, what="simulated pairs of shares")
    rng = np.random.default_rng(units)
    groups = [
        released_shares(rng, units=many, share=share, epsilon=epsilon, releases=releases)
        for many in (units, units // part)
    ]
    wrong = [
        two_shares_p(groups[0].at(i), groups[1].at(i), level=0.05)[1] <= 0.05
        for i in range(releases)
    ]
    assert few_errors(figure, wrong, naive.shares_differ(groups))


ONE_SHARE = [
    (50, 0.1, 0.3),
    (5000, 1, 0.01),
    (50, 5, 0.02),
    (600, 5, 0.4),
    (50_000, 0.1, 0.002),
    (50_000, 5, 0.3),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("units", "epsilon", "share"), ONE_SHARE)
def test_a_right_share_of_known_rows_is_seldom_rejected(
    units, epsilon, share, alternative, size, figure
):
    releases = size(small=300, full=10_000, what="simulated shares of known rows")
    rng = np.random.default_rng(units)
    noise = Laplace(epsilon=Fraction(str(epsilon))).noise()
    noisy = rng.binomial(units, share, releases) + laplace(rng, epsilon, releases)
    seen, places = np.unique(noisy, return_inverse=True)
    p = np.array([binomial_p(count, units, share, [noise], alternative) for count in seen])
    plain = exact_p(np.clip(seen, 0, units), units, share, alternative)
    assert few_errors(figure, p[places] <= 0.05, plain[places] <= 0.05)


def exact_p(count, rows, share, alternative):
    """The binomial test of counts without noise."""
    less, greater = binom.cdf(count, rows, share), binom.sf(count - 1, rows, share)
    both = 2 * np.minimum(less, greater)
    return {"less": less, "greater": greater, "two-sided": both}[alternative]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize(("units", "epsilon", "share"), ONE_SHARE)
def test_a_right_share_is_seldom_rejected(units, epsilon, share, alternative, size, figure):
    """With a released number of rows."""
    releases = size(small=40, full=10_000, what="simulated shares")
    rng = np.random.default_rng(units)
    shares = released_shares(rng, units=units, share=share, epsilon=epsilon, releases=releases)
    wrong = [
        released_rows_p(shares.at(i), Fraction(str(share)), alternative, level=0.05)[1] <= 0.05
        for i in range(releases)
    ]
    rows = np.maximum(np.rint(shares.below), 1)
    plain = exact_p(np.clip(shares.above, 0, rows), rows, share, alternative) <= 0.05
    assert few_errors(figure, wrong, plain)


def test_a_noisy_count_tested_as_if_exact_is_wrong_too_often():
    rng = np.random.default_rng(3)
    noisy = np.clip(rng.binomial(200, 0.3, 4_000) + laplace(rng, 0.1, 4_000), 0, 200)
    assert (exact_p(noisy, 200, 0.3, "two-sided") <= 0.05).mean() > 0.3


def test_different_shares_are_told_apart():
    rng = np.random.default_rng(4)
    low, high = (
        released_shares(rng, units=500, share=share, epsilon=0.5, releases=20)
        for share in (0.3, 0.45)
    )
    rejected = [two_shares_p(low.at(i), high.at(i))[1] <= 0.05 for i in range(20)]
    assert np.mean(rejected) > 0.8


@pytest.fixture(scope="module")
def visits():
    rows = {"ward": ["A", "B"] * 300, "sick": [1, 0, 1, 1, 0, 0] * 100}
    return dp.protect(
        pa.table(rows),
        name="visits",
        bounds={"sick": (0, 1)},
        keys={"ward": ["A", "B"]},
        epsilon=1000,
    )


def test_one_share_from_a_release(visits):
    count = visits.sql("SELECT COUNT(*) AS k FROM visits WHERE sick = 1", epsilon=5)
    assert infer.proportion_test(count, 0.5, rows=600).p_value > 0.3
    assert infer.proportion_test(count, 0.4, rows=600, alternative="greater").p_value < 1e-4
    assert infer.proportion_test(count, 0.4, rows=600, alternative="less").p_value > 0.99
    drawn = {
        infer.proportion_test(count, 0.5, rows=600, randomized=True).p_value for _ in "abc"
    }
    assert len(drawn) == 3


def test_one_share_with_released_rows(visits):
    text = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS s FROM visits GROUP BY ward"
    release = visits.sql(text, epsilon=5)
    assert infer.proportion_test(release, 0.5, rows="n", group="A").rejects()
    assert not infer.proportion_test(release, 0.65, rows="n", group="A").rejects()
    one_sided = infer.proportion_test(release, 0.5, rows="n", group="A", alternative="less")
    assert one_sided.p_value > 0.9


def test_two_shares_from_a_release(visits):
    text = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS s FROM visits GROUP BY ward"
    tested = infer.proportions_test(visits.sql(text, epsilon=5), "A", "B")
    assert tested.rejects()
    assert tested.hypothesis == "AVG(sick) is the same in A and B"


def test_what_cannot_be_tested_is_said(visits):
    both = visits.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1)
    with pytest.raises(InvalidParameter, match="Name one of the 2 groups"):
        infer.proportion_test(both, 0.5, rows=600)
    with pytest.raises(InvalidParameter, match="above 0 and below 1"):
        infer.proportion_test(both, 1, rows=600)
    for rows in (0, -5, 600.5, True):
        with pytest.raises(InvalidParameter, match="`rows` must be a whole number, 1 or more"):
            infer.proportion_test(both, 0.5, rows=rows)
    with pytest.raises(InvalidParameter, match="'more'"):
        infer.proportion_test(both, 0.5, rows=600, alternative="more")
    with pytest.raises(InvalidParameter, match="needs shares between 0 and 1"):
        infer.proportions_test(both, "A", "B")
    mean = visits.sql("SELECT COUNT(sick) AS n, AVG(sick) AS s FROM visits", epsilon=1)
    with pytest.raises(InvalidParameter, match="must be a count"):
        infer.proportion_test(mean, 0.5, rows=600, value="s")
