import itertools
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.comparisons import _combine_logarithms, _log_odds, _logarithm, contrast
from deniable.infer.groups.mean_intervals import (
    combine_ends,
    contrast_ends,
    population_ends,
)
from tests.infer import naive
from tests.infer.simulated import (
    excludes,
    few_errors,
    group_ends,
    laplace,
    released_shares,
    sum_ends,
)

LEVEL = Fraction(19, 20)
HALF = {"fraction": 0.5}
SHARES = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS s FROM visits GROUP BY ward"


def protect(ward, sick):
    return dp.protect(
        pa.table({"ward": ward, "sick": sick}),
        name="visits",
        bounds={"sick": (0, 1)},
        keys={"ward": sorted(set(ward))},
        epsilon=1000,
    )


@pytest.fixture(scope="module")
def shares():
    """A: 400 of 1000, B: 200 of 1000, C: 200 of 1000; hardly any noise."""
    ward = ["A"] * 1000 + ["B"] * 1000 + ["C"] * 1000
    sick = ([1] * 400 + [0] * 600) + ([1] * 200 + [0] * 800) * 2
    return protect(ward, sick).sql(SHARES, epsilon=50)


DESIGNS = [
    (units, epsilon, share)
    for units in ((50, 50), (50, 1000), (50_000, 5_000))
    for epsilon in (0.1, 1, 5)
    for share in (0.02, 0.4)
]


@cache
def equal_groups(units, epsilon, share, releases):
    """Simulated groups, and for each release their values and ends: the slow part."""
    rng = np.random.default_rng(units[1])
    groups = [
        released_shares(rng, units=many, share=share, epsilon=epsilon, releases=releases)
        for many in units
    ]
    return groups, list(zip(*group_ends(groups, LEVEL), strict=True))


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("units", "epsilon", "share"), DESIGNS)
def test_equal_groups_seldom_seem_to_differ(units, epsilon, share, size, figure):
    """The error of the first kind of the difference of shares."""
    releases = size(small=200, full=10_000, what="simulated pairs of groups")
    groups, rows = equal_groups(units, epsilon, share, releases)
    wrong = excludes(np.array([combine_ends([1, -1], *row) for row in rows]).T)
    assert few_errors(figure, wrong, naive.shares_differ(groups))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("scale", [_logarithm, _log_odds], ids=["ratio", "odds"])
@pytest.mark.parametrize(("units", "epsilon", "share"), DESIGNS)
def test_ratios_and_odds_of_equal_groups_are_seldom_not_1(
    units, epsilon, share, scale, size, figure
):
    releases = size(small=200, full=10_000, what="simulated pairs of groups")
    groups, rows = equal_groups(units, epsilon, share, releases)
    ends = [_combine_logarithms(*map(scale, row), shared=False) for row in rows]
    wrong = excludes(np.array(ends).T, 1.0)
    assert few_errors(figure, wrong, naive.shares_differ(groups))


MANY = [
    ((50,) * 5, 1, 0.3),
    ((50_000, 500, 500, 50, 50), 5, 0.02),
    ((600,) * 5, 0.1, 0.3),
    ((50_000,) * 5, 0.1, 0.002),
    ((50, 500, 5_000, 500, 50), 0.5, 0.1),
]


def released_groups(units, epsilon, share, releases):
    rng = np.random.default_rng(units[0])
    return [
        released_shares(rng, units=many, share=share, epsilon=epsilon, releases=releases)
        for many in units
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("units", "epsilon", "share"), MANY)
def test_groups_without_a_trend_seldom_seem_to_have_one(units, epsilon, share, size, figure):
    releases = size(small=200, full=10_000, what="simulated groups in order")
    groups = released_groups(units, epsilon, share, releases)
    slope = (np.arange(5) - 2) / 10
    wrong = excludes(sum_ends(groups, slope, LEVEL))
    assert few_errors(figure, wrong, naive.slopes(groups, slope))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("units", "epsilon", "share"), MANY)
def test_of_all_equal_pairs_seldom_one_seems_to_differ(units, epsilon, share, size, figure):
    releases = size(small=100, full=10_000, what="simulated groups in pairs")
    groups = released_groups(units, epsilon, share, releases)
    pairs = list(itertools.combinations(range(5), 2))
    each = 1 - (1 - LEVEL) / len(pairs)
    rows = [np.stack(row) for row in zip(*group_ends(groups, each), strict=True)]
    wrong = [
        any(excludes(combine_ends([1, -1], *row[:, pair])) for pair in map(list, pairs))
        for row in rows
    ]
    plain = [naive.shares_differ([groups[a], groups[b]]) for a, b in pairs]
    assert few_errors(figure, wrong, np.any(plain, axis=0))


def test_noisy_counts_tested_as_if_exact_are_wrong_too_often():
    """The classic mistake, beside which the error above is to be read."""
    rng = np.random.default_rng(3)
    pair = [
        released_shares(rng, units=300, share=0.4, epsilon=0.1, releases=4_000) for _ in "AB"
    ]
    assert naive.shares_differ(pair).mean() > 0.15


def test_a_difference_states_both_errors(shares):
    estimate = infer.difference(shares, "A", "B")
    assert estimate.value == pytest.approx(0.2, abs=0.002)
    assert estimate.low == pytest.approx(0.16, abs=0.004)
    assert estimate.high == pytest.approx(0.24, abs=0.004)
    assert estimate.noise[1] - estimate.noise[0] < 0.01
    assert estimate.p_value == pytest.approx(1e-4)
    assert "independent draws" in estimate.target
    same = infer.difference(shares, "B", "C")
    assert same.low < 0 < same.high
    assert same.p_value == 1


def test_ratios_and_odds(shares):
    ratio = infer.ratio(shares, "A", "B")
    assert ratio.value == pytest.approx(2, abs=0.02)
    assert ratio.low == pytest.approx(1.73, abs=0.06)
    assert ratio.high == pytest.approx(2.31, abs=0.08)
    odds = infer.odds_ratio(shares, "A", "B")
    assert odds.value == pytest.approx((4 / 6) / (2 / 8), rel=0.02)
    assert odds.low < 8 / 3 < odds.high
    assert odds.low == pytest.approx(2.17, abs=0.1)


def test_a_ratio_to_nothing_is_not_bounded():
    release = protect(["A", "B"] * 50, [1, 0] * 50).sql(SHARES, epsilon=50)
    estimate = infer.ratio(release, "A", "B")
    assert estimate.high == np.inf
    assert estimate.low > 5
    odds = infer.odds_ratio(release, "A", "B")
    assert odds.high == np.inf
    assert odds.low > 5


def test_all_pairs_hold_together(shares):
    pairs = infer.all_pairs(shares)
    assert [pair.what.removeprefix("AVG(sick) of ") for pair in pairs] == [
        "A less that of B",
        "A less that of C",
        "B less that of C",
    ]
    alone = infer.all_pairs(shares, correction="none")
    for corrected, single in zip(pairs, alone, strict=True):
        assert corrected.confidence == pytest.approx(1 - 0.05 / 3)
        assert corrected.high - corrected.low > 1.15 * (single.high - single.low)
    assert pairs[0].p_value == pytest.approx(3e-4)
    with pytest.raises(InvalidParameter, match="got 'holm'"):
        infer.all_pairs(shares, correction="holm")


def test_p_values_of_counts_are_corrected_for_pairs_too():
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    release = protect(["A"] * 340 + ["B"] * 300 + ["C"] * 60, [0] * 700).sql(text, epsilon=0.2)
    pairs = infer.all_pairs(release)
    for pair, key in zip(pairs, ("AB", "AC", "BC"), strict=True):
        alone = infer.difference(release, *key)
        assert pair.p_value == pytest.approx(min(1.0, 3 * alone.p_value))
    assert pairs[1].p_value == pytest.approx(3e-4)


def test_one_group_is_not_compared_with_itself(shares):
    for act in (infer.difference, infer.ratio, infer.odds_ratio):
        with pytest.raises(InvalidParameter, match="Two different groups are needed"):
            act(shares, "A", "A")


def test_the_target_is_named_and_the_declared_sample_counts():
    people = {"id": list(range(4000)), "ward": ["A", "B"] * 2000, "sick": [1, 0, 0, 0] * 1000}

    def ask(by="ward", **options):
        session = dp.protect(
            pa.table(people),
            name="visits",
            unit="id",
            bounds={"sick": (0, 1)},
            keys={"ward": ["A", "B"], "sick": [0, 1]},
            epsilon=100,
            **options,
        )
        return session.sql(SHARES.replace("ward", by), epsilon=20)

    free, half = (infer.difference(ask(**o), "A", "B") for o in ({}, {"sample": HALF}))
    assert "values are cut as declared, and one id counts with up to 1 row" in free.target
    assert "simple random sample" in half.target
    assert half.high - half.low < 0.8 * (free.high - free.low)
    strata = {"by": "ward", "fraction": {"A": 0.5, "B": 0.1}}
    assert "in strata of ward" in infer.ratio(ask(sample=strata), "A", "B").target
    mixed = ask("sick", sample=strata)
    for act in (infer.difference, infer.t_test, infer.proportions_test):
        with pytest.raises(InvalidParameter, match="drawn in strata of ward"):
            act(mixed, 0, 1)
    assert infer.difference(mixed, 0, 1, sampling=False).sampling is None


def test_a_trend_is_the_slope_over_the_scores(shares):
    estimate = infer.trend(shares)
    assert estimate.value == pytest.approx(-0.1, abs=0.002)
    assert estimate.high < 0
    assert infer.trend(shares, scores=[0, 10, 20]).value == pytest.approx(estimate.value / 10)
    with pytest.raises(InvalidParameter, match="one score for each of the 3 groups"):
        infer.trend(shares, scores=[1, 1, 1])
    with pytest.raises(InvalidParameter, match="`scores` must be finite"):
        infer.trend(shares, scores=[1, 2, float("nan")])


def test_amounts_have_the_error_of_their_noise_alone(size):
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    release = protect(["A"] * 300 + ["B"] * 100, [0] * 400).sql(text, epsilon=0.2)
    estimate = infer.difference(release, "A", "B")
    assert estimate.sampling is None
    assert "these rows" in estimate.target
    assert estimate.interval == estimate.noise
    rng = np.random.default_rng(1)
    off = np.abs(laplace(rng, 0.2, 100_000) - laplace(rng, 0.2, 100_000))
    half = estimate.high - estimate.value
    assert (off > half).mean() <= 0.053
    assert (off > half - 1).mean() > 0.047


def test_a_ratio_of_counts_is_fiellers():
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    release = protect(["A"] * 300 + ["B"] * 100, [0] * 400).sql(text, epsilon=20)
    estimate = infer.ratio(release, "A", "B")
    assert estimate.value == pytest.approx(3, abs=0.1)
    assert estimate.low <= 3 <= estimate.high
    assert estimate.high - estimate.low < 0.2


def test_what_the_public_range_costs_is_said():
    rows = pa.table({"ward": ["A", "B"] * 500, "cost": [10.0, 20.0] * 500})
    visits = dp.protect(
        rows, name="visits", bounds={"cost": (-5, 100)}, keys={"ward": ["A", "B"]}, epsilon=10
    )
    text = "SELECT ward, COUNT(cost) AS n, AVG(cost) AS m FROM visits GROUP BY ward"
    release = visits.sql(text, epsilon=5)
    assert "STDDEV(cost) beside AVG(cost)" in infer.difference(release, "A", "B").notes[0]
    with pytest.raises(InvalidParameter, match="may be as low as -5"):
        infer.ratio(release, "A", "B")
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        infer.odds_ratio(release, "A", "B")


def test_the_p_value_agrees_with_the_interval():
    rng = np.random.default_rng(8)
    released = released_shares(rng, units=300, share=0.3, epsilon=0.5, releases=30)
    for first in range(0, 30, 2):
        seen = contrast(released, {first: 1, first + 1: -1})
        assert (seen.p_value <= 0.05) == (seen.low > 0 or seen.high < 0)


def test_groups_that_share_people_are_not_independent(size, figure):
    """All persons are in both groups with opposite outcomes: errors add up, not in squares."""
    releases = size(small=200, full=10_000, what="simulated pairs with the same persons")
    rng = np.random.default_rng(11)
    bare = released_shares(rng, units=1, share=0.5, epsilon=2, releases=releases)
    having = rng.binomial(300, 0.5, releases)
    pair = []
    for own in (having, 300 - having):
        above = (own + laplace(rng, 2, releases)).astype(float)
        below = above + 300 - own + laplace(rng, 2, releases)
        pair.append(replace(bare, above=above, below=below, shared=True))
    missed = {}
    for shared in (True, False):
        groups = [replace(group, shared=shared) for group in pair]
        ends = [
            contrast_ends([group.at(i) for group in groups], [1, -1], population_ends, LEVEL)
            for i in range(releases)
        ]
        missed[shared] = excludes(np.array(ends).T)
    assert few_errors(figure, missed[True], missed[False])
    assert missed[False].mean() > 0.1


def test_the_order_of_noisy_numbers_is_no_order_of_groups():
    """Of ten equal groups, sorted by their shares, the trend would be clear in most cases."""
    keys = {"ward": list("ABCDEFGHIJ"), "floor": [1, 2]}
    rows = {
        "ward": list("ABCDEFGHIJ") * 500,
        "floor": [1, 2, 2, 1] * 1250,
        "sick": [1, 0, 0] * 1666 + [0, 0],
    }
    visits = dp.protect(
        pa.table(rows), name="v", bounds={"sick": (0, 1)}, keys=keys, epsilon=100
    )
    text = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS s FROM v GROUP BY ward"
    for scores in (None, range(10)):
        with pytest.raises(InvalidParameter, match="order of their noisy numbers"):
            infer.trend(visits.sql(f"{text} ORDER BY s", epsilon=1), value="s", scores=scores)
        by_key = visits.sql(f"{text} ORDER BY ward DESC", epsilon=1)
        assert abs(infer.trend(by_key, value="s", scores=scores).value) < 0.1
    floors = text.replace("ward", "floor")  # numbers, which say where each group lies
    assert infer.trend(visits.sql(f"{floors} ORDER BY s", epsilon=1), value="s").value < 0.1
    cells = "SELECT floor, ward, COUNT(*) AS n FROM v GROUP BY floor, ward ORDER BY n"
    with pytest.raises(InvalidParameter, match="order of their noisy numbers"):
        infer.rank_test(visits.sql(cells, epsilon=1))
    counts = "SELECT floor, COUNT(*) AS n FROM v GROUP BY floor ORDER BY n DESC"
    with pytest.raises(InvalidParameter, match="order of their noisy numbers"):
        infer.fit_test(visits.sql(counts, epsilon=1), [0.5, 0.5])
