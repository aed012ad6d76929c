from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom

from deniable.infer.groups.group_means import GroupMeans, NoisePart, Variances
from deniable.infer.groups.mean_intervals import (
    combine_ends,
    noise_ends,
    population_ends,
    sampling_ends,
)
from deniable.mechanisms import Laplace
from tests.infer import naive
from tests.infer.simulated import (
    at_most,
    covers,
    few_errors,
    laplace,
    released_shares,
)

LEVEL = Fraction(19, 20)
DESIGNS = [
    (units, epsilon, share)
    for units in (50, 500, 50_000)
    for epsilon in (0.1, 1, 5)
    for share in (0.002, 0.3)
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("units", "epsilon", "share"), DESIGNS)
def test_shares_of_the_population_are_covered(units, epsilon, share, size, figure):
    releases = size(small=2_000, full=10_000, what="simulated shares")
    rng = np.random.default_rng(units)
    shares = released_shares(rng, units=units, share=share, epsilon=epsilon, releases=releases)
    missed = ~covers(shares, np.full(releases, share), LEVEL)
    assert few_errors(figure, missed, naive.shares_missed(shares, share))


# The size of the population, how many of it have the outcome, and how many were sampled.
SAMPLED = [
    (100, 1, 50),
    (1_000, 3, 500),
    (1_000, 997, 500),
    (1_000, 8, 980),
    (20_000, 5, 14_000),
    (1_000, 300, 400),
]


@pytest.mark.parametrize(("people", "having", "units"), SAMPLED)
def test_rare_outcomes_in_a_sample_of_a_known_part_are_covered(
    people, having, units, size, figure
):
    """Nearly without noise: the number of them in the sample is hypergeometric. Binomial
    quantiles times sqrt(1 - fraction) would miss in up to nearly all cases."""
    releases = size(small=1_000, full=10_000, what="simulated samples of a known part")
    rng = np.random.default_rng(people)
    shares = released_shares(rng, units=units, share=0.5, epsilon=6, releases=releases)
    drawn = rng.hypergeometric(having, people - having, units, releases)
    above = (drawn + laplace(rng, 6, releases)).astype(float)
    below = (units + laplace(rng, 6, releases)).astype(float)
    noise = Laplace(epsilon=6).noise()
    parts = (
        NoisePart(noise, Fraction(1), Fraction(0)),
        NoisePart(noise, Fraction(0), Fraction(1)),
    )
    shares = replace(shares, above=above, below=below, parts=parts, sampled=units / people)
    truth = having / people
    missed = ~covers(shares, np.full(releases, truth), LEVEL)
    low, high = population_ends(shares.at(0), LEVEL)
    assert low <= shares.values[0] <= high
    assert few_errors(figure, missed)


@pytest.mark.parametrize("typical", [12, 40])
def test_groups_that_a_threshold_shows_are_covered(typical, size, figure):
    """Only groups whose noisy number of persons is 15 or more are shown. The noise of their
    counts is another, so it says nothing about that."""
    releases = size(small=4_000, full=40_000, what="simulated groups")
    rng = np.random.default_rng(typical)
    people = rng.poisson(typical, releases)
    shown = people + laplace(rng, 1, releases) >= 15
    having = rng.binomial(people, 0.3)
    above = (having + laplace(rng, 1, releases)).astype(float)[shown]
    others = (people - having + laplace(rng, 1, releases)).astype(float)[shown]
    bare = released_shares(rng, units=1, share=0.3, epsilon=1, releases=above.size)
    shares = replace(bare, above=above, below=above + others)
    missed = ~covers(shares, np.full(above.size, 0.3), LEVEL)
    assert few_errors(figure, missed, naive.shares_missed(shares, 0.3))


def test_noise_alone_or_sampling_alone_cover_too_little(size):
    """The naive interval, as if a noisy count were exact, fails where this one holds."""
    releases = size(small=2_000, full=10_000, what="simulated shares")
    rng = np.random.default_rng(5)
    shares = released_shares(rng, units=300, share=0.3, epsilon=0.1, releases=releases)
    whole = covers(shares, np.full(releases, 0.3), LEVEL).mean()
    below = np.where(shares.below > 0, shares.below, np.nan)
    naive = np.abs(shares.above / below - 0.3) < 1.96 * np.sqrt(0.3 * 0.7 / 300)
    assert whole > 0.94
    assert naive.mean() < 0.85


def test_the_ends_are_where_covering_ends():
    shares = released_shares(
        np.random.default_rng(2), units=400, share=0.1, epsilon=1, releases=40
    )
    low, high = population_ends(shares, LEVEL)
    nudge = 1e-8
    assert covers(shares, low + nudge, LEVEL).all()
    assert covers(shares, high - nudge, LEVEL).all()
    assert not covers(shares, np.maximum(low - nudge, 0), LEVEL)[low > 1e-6].any()
    assert not covers(shares, high + nudge, LEVEL).any()


def test_without_noise_it_is_clopper_and_pearsons():
    tiny = Laplace(epsilon=100).noise()
    parts = (
        NoisePart(tiny, Fraction(1), Fraction(1)),
        NoisePart(tiny, Fraction(0), Fraction(1)),
    )
    means = GroupMeans(("A",), np.array([15.0]), np.array([50.0]), parts, "share")
    low, high = sampling_ends(means, LEVEL)
    assert binom.sf(14, 50, low[0]) == pytest.approx(0.025, abs=1e-6)
    assert binom.cdf(15, 50, high[0]) == pytest.approx(0.025, abs=1e-6)


def test_noise_and_sampling_are_within_the_whole():
    rng = np.random.default_rng(4)
    shares = released_shares(rng, units=800, share=0.2, epsilon=0.5, releases=60)
    low, high = population_ends(shares, LEVEL)
    for ends in (noise_ends, sampling_ends):
        least, most = ends(shares, LEVEL)
        assert (least >= low - 1e-9).all()
        assert (most <= high + 1e-9).all()


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 2])
def test_the_noise_interval_covers_the_share_of_these_rows(epsilon, size):
    releases = size(small=1_000, full=10_000, what="simulated noises")
    rng = np.random.default_rng(7)
    having, others = 60 + laplace(rng, epsilon, releases), 140 + laplace(rng, epsilon, releases)
    shares = released_shares(rng, units=200, share=0.3, epsilon=epsilon, releases=releases)
    shares = GroupMeans(
        shares.groups, having.astype(float), (having + others).astype(float), shares.parts, ""
    )
    low, high = noise_ends(shares, LEVEL)
    assert at_most(((low > 0.3) | (high < 0.3)).mean(), releases)


@pytest.mark.parametrize("tail", [0.0025, 0.025, 0.05])
def test_adding_squares_of_quantiles_is_safe_for_laplace_and_normal_parts(tail):
    """P(S + Z > hypot of both quantiles) for a normal S and a Laplace Z, by integration."""
    spread = np.geomspace(0.05, 20, 25)
    at = np.linspace(-12, 12, 20_001)
    density = np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi) * (at[1] - at[0])
    z = NormalDist().inv_cdf(1 - tail)
    for scale in spread:
        limit = np.hypot(z, scale * np.log(0.5 / tail))
        rest = limit - at
        above = np.where(
            rest > 0, np.exp(-np.abs(rest) / scale) / 2, 1 - np.exp(rest / scale) / 2
        )
        assert density @ above <= tail * 1.002


def test_a_variance_makes_the_interval_of_a_mean_shorter_and_it_holds(size, figure):
    releases = size(small=2_000, full=10_000, what="simulated means")
    rng = np.random.default_rng(9)
    units, epsilon, top = 400, 1, 100
    noise = Laplace(epsilon=epsilon, sensitivity=top).noise()
    parts = (
        NoisePart(noise, Fraction(1), Fraction(1, top)),
        NoisePart(noise, Fraction(0), Fraction(1, top)),
    )
    x = rng.triangular(0, 20, 60, (releases, units)).round()
    scaled = epsilon / top
    above = x.sum(1) + laplace(rng, scaled, releases)
    others = (top - x).sum(1) + laplace(rng, scaled, releases)
    below = (above + others) / top
    spread = Variances(x.var(1), np.full(releases, 5.0), LEVEL)
    bare = GroupMeans(tuple(range(releases)), above, below, parts, "mean", 0.0, float(top))
    known = GroupMeans(bare.groups, above, below, parts, "mean", 0.0, float(top), spread)
    truth = np.full(releases, 80 / 3)
    assert few_errors(figure, ~covers(known, truth, LEVEL))
    assert covers(bare, truth, LEVEL).mean() > 0.999
    few = [means.at(0) for means in (known, bare)]
    widths = [np.subtract(*population_ends(means, LEVEL)[::-1])[0] for means in few]
    assert widths[0] < widths[1] / 2


def test_a_whole_population_has_no_sampling_error():
    rng = np.random.default_rng(6)
    shares = released_shares(rng, units=900, share=0.4, epsilon=1, releases=1)
    census = GroupMeans(("A",), shares.above, shares.below, shares.parts, "", sampled=1.0)
    (low,), (high,) = population_ends(census, LEVEL)
    (least,), (most,) = population_ends(shares, LEVEL)
    assert high - low < (most - least) / 5


def test_weights_of_a_sum_may_have_either_sign():
    low, high = combine_ends([2, -1], np.array([1.0, 1.0]), np.zeros(2), np.full(2, 3.0))
    assert (low, high) == pytest.approx((1 - np.hypot(2, 2), 1 + np.hypot(4, 1)))
