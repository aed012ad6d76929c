"""Bets against ratios of means: rarely won against the truth, often against other ratios."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.exact import bernoulli
from deniable.exact.rationals import rational
from deniable.mechanisms import Hybrid, RandomizedResponse
from deniable.surveys.estimate.betting_sequence import (
    Outcomes,
    count_outcomes,
    extremes,
    fieller_interval,
    ratio_sequence,
    stake_scale,
)
from deniable.surveys.estimate.confidence_sequence import sequence_of_rates
from deniable.surveys.estimate.unbiased_readings import reader_for

COINS = RandomizedResponse(odds=3)
POSSIBLE = (-0.75, 2.25, -0.5, 1.5)
LEVEL = Fraction(19, 20)
LOOKS = (100, 200, 400, 700, 1000, 1500, 2000)


def paired(people, group, inside, outside):
    """Products and memberships, as two coins each report them."""
    member = bernoulli(rational(group), people).astype(int)
    has = np.where(
        member == 1, *(bernoulli(rational(x), people).astype(int) for x in (inside, outside))
    )
    u = reader_for(COINS)(COINS.randomize(member))[:, 1]
    v = reader_for(COINS)(COINS.randomize(has))[:, 1]
    return u * v, u


def seen(tops, bottoms, possible=POSSIBLE, spread=1.0):
    return count_outcomes(tops, bottoms, possible=possible, spread=spread)


def test_no_look_misses_a_ratio_more_often_than_stated(size):
    runs = size(small=60, full=2000, what="surveys of 2,000 with a private group, 7 looks")
    missed, fixed = 0, 0
    for _ in range(runs):
        tops, bottoms = paired(2000, 0.3, 0.25, 0.05)
        looks = [seen(tops[:n], bottoms[:n]) for n in LOOKS]
        sequence = [ratio_sequence(look, planned=2000) for look in looks]
        missed += any(not low <= 0.25 <= high for low, high in sequence)
        fixed += any(not low <= 0.25 <= high for low, high in map(fieller_interval, looks))
    assert missed <= runs * 0.05 + 4 * math.sqrt(runs * 0.05 * 0.95)
    assert fixed > missed + runs * 0.05  # power: Fieller's interval holds at one look only


@pytest.mark.parametrize(
    ("people", "group", "inside"), [(300, 0.3, 0.1), (1000, 0.2, 0.5), (2000, 0.1, 0.3)]
)
def test_fieller_covers_also_small_groups(people, group, inside, size):
    runs = size(small=300, full=4000, what="surveys with a share within a private group")
    covered, by_less = 0, 0
    for _ in range(runs):
        tops, bottoms = paired(people, group, inside, 0.1)
        low, high = fieller_interval(seen(tops, bottoms))
        covered += low <= inside <= high
        low, high = fieller_interval(seen(tops, bottoms), confidence=0.8)
        by_less += low <= inside <= high
    spread = math.sqrt(0.05 * 0.95 / runs)
    assert covered / runs > 0.95 - 4 * spread
    assert covered / runs < 0.98 + 4 * spread  # and not far wider than it must be
    assert by_less / runs < 0.95 - 4 * spread  # power


def test_a_mean_is_about_as_narrow_as_the_exact_sequence():
    """For yes and no both exist; a bet on means must not lose much."""
    yes, n = 600, 2000
    tops = [1.5] * yes + [-0.5] * (n - yes)
    look = seen(tops, [1.0] * n, possible=(-0.5, 1.5, 1, 1))
    low, high = ratio_sequence(look, planned=2000)
    exact = [(float(end) - 0.25) / 0.5 for end in sequence_of_rates(yes, n, planned=2000)]
    assert high - max(low, 0) < 1.05 * (exact[1] - max(exact[0], 0))
    assert low <= look.ratio <= high


def test_bets_adapt_to_small_variances():
    """Means of a number: most readings are near, so the interval is, too."""
    design = Hybrid(odds=50, low=0, high=100)
    answers = np.full(3000, 40)
    reader = reader_for(design)
    readings = reader(design.randomize(answers))[:, 1]
    reach = tuple(float(end[1]) for end in reader.reach)
    look = seen(readings, np.ones(3000), (*reach, 1, 1), float(reader.spread[1]))
    low, high = ratio_sequence(look, planned=3000)
    assert low < 0.4 < high
    normal = 2 * 1.96 * readings.std() / math.sqrt(3000)
    assert high - low < 2 * normal


@pytest.mark.parametrize("yes", [110, 200, 290])
def test_the_ends_are_where_bets_have_won(yes):
    """By the bets themselves: they begin with 1, and no ratio inside has lost 20 to them."""
    look = seen([1.5] * yes + [-0.5] * (400 - yes), [1.0] * 400, (-0.5, 1.5, 1, 1))
    scale, farthest = stake_scale(look, LEVEL, 400)
    one_side = [(i + 0.5) / 48 * farthest for i in range(48)]
    weights = [math.exp(-((stake / scale) ** 2) / 2) for stake in one_side]

    def capital(ratio):
        return sum(
            weight
            / (2 * sum(weights))
            * (1 + sign * stake * (1.5 - ratio)) ** yes
            * (1 + sign * stake * (-0.5 - ratio)) ** (400 - yes)
            for stake, weight in zip(one_side, weights, strict=True)
            for sign in (-1, 1)
        )

    low, high = ratio_sequence(look, planned=400)
    for end, inward in ((low, 1), (high, -1)):
        assert end in (0, 1) or capital(end) >= 20
        assert capital(end + inward * 1e-3) < 20


def test_the_capital_is_a_martingale():
    """The mean factor of a bet on the truth is 1, whatever the stake, by enumeration."""
    tops, bottoms, chances = [], [], []
    for member, has, share in ((1, 1, 0.06), (1, 0, 0.14), (0, 1, 0.1), (0, 0, 0.7)):
        for y in (0, 1):
            for z in (0, 1):
                u, v = (reader_for(COINS)([report])[0, 1] for report in (y, z))
                tops.append(u * v)
                bottoms.append(u)
                chances.append(share * float(COINS.pmf(y, member) * COINS.pmf(z, has)))
    rest = np.array(tops) - 0.3 * np.array(bottoms)
    for stake in (-0.3, 0.1, 0.35):
        assert np.array(chances) @ (1 + stake * rest) == pytest.approx(1)


def test_empty_and_unbounded_answers():
    far = Outcomes(np.array([-0.5]), np.array([1.0]), np.array([500]), (-0.5, 1.5, 1, 1), 1.0)
    assert all(math.isnan(end) for end in ratio_sequence(far, planned=500))
    assert all(math.isnan(end) for end in fieller_interval(far))
    nobody = seen([0.25, -0.25] * 50, [0.5, -0.5] * 50)
    assert math.isnan(nobody.ratio)
    assert fieller_interval(nobody) == (0, 1)
    assert ratio_sequence(nobody) == (0, 1)
    assert extremes([-1, 2], [3], [-1, 1]) == (-6, 6)
