from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.groups import mean_intervals
from deniable.infer.groups.local_shares import read_local
from tests.infer.simulated import at_most

COINS = dp.RandomizedResponse(odds=3)


def test_surveys_share_the_words_of_tables():
    asked = {"A": (COINS, (600, 400)), "B": (COINS, (700, 300))}
    found = infer.difference(asked, "A", "B")
    assert found.value == pytest.approx(0.2)
    assert found.low < 0.2 < found.high
    assert found.p_value <= 0.005
    assert found.what == "share of A less that of B"
    assert infer.ratio(asked, "A", "B").low > 1
    assert infer.odds_ratio(asked, "A", "B").low > 1
    assert len(infer.all_pairs(asked)) == 1
    assert infer.t_test(asked, "A", "B").rejects()
    assert not infer.equivalence_test(asked, "A", "B", within=0.1).rejects()
    assert infer.trend(asked, scores=[0, 1]).high < 0


def test_local_noise_is_stated_apart():
    asked = read_local({"A": (COINS, (6000, 4000))})
    level = Fraction(19, 20)
    whole, noise, sampling = (
        float(high[0] - low[0])
        for low, high in (
            asked.population_ends(level),
            asked.noise_ends(level),
            asked.sampling_ends(level),
        )
    )
    assert np.hypot(noise, sampling) == pytest.approx(whole, rel=0.02)
    assert noise > 1.5 * sampling


def test_differences_of_surveys_are_covered(size):
    releases = size(small=200, full=10_000, what="simulated surveys")
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(releases):
        groups = {}
        for key, share, people in (("A", 0.3, 400), ("B", 0.1, 900)):
            yes = int(rng.binomial(people, float(COINS.q + (COINS.p - COINS.q) * share)))
            groups[key] = COINS, (people - yes, yes)
        parts = read_local(groups)
        low, high = mean_intervals.contrast_ends(
            [parts.at(0), parts.at(1)],
            [1, -1],
            mean_intervals.population_ends,
            Fraction(19, 20),
        )
        missed += not low <= 0.2 <= high
    assert at_most(missed / releases, releases)


def test_what_is_no_group_of_a_survey_is_refused():
    with pytest.raises(InvalidParameter, match="Found 'A' with another value"):
        infer.difference({"A": (COINS, (1, 2, 3)), "B": (COINS, (1, 2))}, "A", "B")
    with pytest.raises(InvalidParameter, match="no group to compare"):
        infer.difference({}, "A", "B")
    with pytest.raises(InvalidParameter, match=r"use difference\(\)"):
        infer.proportions_test({"A": (COINS, (1, 2)), "B": (COINS, (1, 2))}, "A", "B")
