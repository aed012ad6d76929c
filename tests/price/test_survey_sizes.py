"""Survey plans: published numbers, and plans that keep their word when simulated."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import RandomizedResponse
from deniable.price import survey_sizes

F = Fraction
COINS = RandomizedResponse(odds=3)
FORCED = RandomizedResponse.from_coins(truth=F(2, 3))


@pytest.mark.parametrize(
    ("mechanism", "people"),
    [
        (RandomizedResponse(epsilon=0.5), 17_789),
        (RandomizedResponse(epsilon=1), 4_997),
        (COINS, 4_269),
        (RandomizedResponse(epsilon=2), 1_840),
        (None, 1_068),
    ],
    ids=str,
)
def test_three_points_at_95_percent_in_the_worst_case(mechanism, people):
    assert survey_sizes.sample_size(mechanism, margin=0.03) == people
    assert survey_sizes.expected_margin(mechanism, n=people) <= 0.03
    assert survey_sizes.expected_margin(mechanism, n=people - 1) > 0.03


def test_a_known_prevalence_needs_fewer_and_an_unlucky_channel_has_its_own_worst_case():
    assert survey_sizes.sample_size(COINS, margin=0.03, prevalence=0.1) < 4_269
    assert survey_sizes.sample_size(COINS, margin=0.03, prevalence=0.5) == 4_269
    rare = RandomizedResponse.channel(F(3, 10), F(1, 10))  # reports stay below one half
    assert survey_sizes.sample_size(rare, margin=0.03) == survey_sizes.sample_size(
        rare, margin=0.03, prevalence=1
    )


def test_the_guarantee_is_hoeffdings():
    g = 0.25
    need = math.log(2 / 0.05) / (8 * g**2 * 0.03**2)
    assert survey_sizes.sample_size(COINS, margin=0.03, guaranteed=True) == math.ceil(need)
    assert need > 4_269


@pytest.mark.parametrize(
    ("mechanism", "null", "expected"),
    [
        (FORCED, 0, 0.9868872),
        (RandomizedResponse.from_coins(F(2, 3), F(1, 3)), 0, 0.9963891),
        (RandomizedResponse.warner(F(2, 3)), 0, 0.3767497),
        (FORCED, 0.1, 0.4642454),
    ],
    ids=str,
)
def test_published_power(mechanism, null, expected):
    power = survey_sizes.power(
        mechanism, n=200, prevalence=0.2, null=null, significance=0.01, two_sided=False
    )
    assert power == pytest.approx(expected, abs=5e-8)


@pytest.mark.parametrize(
    ("mechanism", "people"),
    [(None, 185), (COINS, 2_544), (RandomizedResponse(epsilon=1), 3_080)],
)
def test_people_for_power_and_no_fewer(mechanism, people):
    plan = {"prevalence": 0.1, "null": 0.05}
    assert survey_sizes.sample_size_for_power(mechanism, **plan) == people
    assert survey_sizes.power(mechanism, n=people, **plan) >= 0.8
    assert survey_sizes.power(mechanism, n=people - 1, **plan) < 0.8


def test_design_effects_of_two_coins():
    for share, factor in [(0.5, 4), (0.1, 9.33), (0.05, 16.8), (0.02, 39.3), (0.01, 76.8)]:
        assert survey_sizes.design_effect(COINS, share) == pytest.approx(factor, rel=2e-3)
    assert survey_sizes.design_effect(None, 0.3) == 1


def test_two_groups_cost_more_than_one():
    plan = {"prevalence": 0.3, "null": 0.2}
    single = survey_sizes.sample_size_for_power(COINS, **plan)
    double = survey_sizes.sample_size_for_power(COINS, groups=2, **plan)
    assert 1.9 * single < double < 2.3 * single
    assert survey_sizes.power(COINS, n=double, groups=2, **plan) >= 0.8
    assert survey_sizes.power(COINS, n=double - 1, groups=2, **plan) < 0.8


def test_those_who_do_not_answer_are_asked_too():
    assert survey_sizes.sample_size(None, margin=0.03, response_rate=0.5) == 2 * 1_068


def test_simulated_surveys_stay_within_the_planned_margin(size):
    trials = size(small=4_000, full=400_000, what="simulated surveys")
    generator = np.random.default_rng(7)  # a plan's promise, not a release
    n = survey_sizes.sample_size(COINS, margin=0.03)
    said = generator.binomial(n, 0.25 + 0.5 * 0.4, size=trials)
    within = np.mean(np.abs(2 * said / n - 0.5 - 0.4) <= 0.03)
    assert 0.945 - 3 / math.sqrt(trials) < within < 0.955 + 3 / math.sqrt(trials)


def test_simulated_tests_have_the_planned_power(size):
    trials = size(small=4_000, full=400_000, what="simulated tests of a prevalence")
    generator = np.random.default_rng(8)
    n = survey_sizes.sample_size_for_power(COINS, prevalence=0.1, null=0.05)
    estimates = 2 * generator.binomial(n, 0.25 + 0.05, size=trials) / n - 0.5
    rate = 0.25 + 0.025
    z = (estimates - 0.05) / (2 * math.sqrt(rate * (1 - rate) / n))
    assert np.mean(np.abs(z) > 1.959964) == pytest.approx(0.8, abs=0.01 + 2 / math.sqrt(trials))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("margin", lambda: survey_sizes.sample_size(COINS, margin=0)),
        ("margin", lambda: survey_sizes.sample_size(COINS, margin=1)),
        ("confidence", lambda: survey_sizes.sample_size(COINS, margin=0.1, confidence=1)),
        ("prevalence", lambda: survey_sizes.sample_size(COINS, margin=0.1, prevalence=1.1)),
        ("prevalence", lambda: survey_sizes.design_effect(COINS, 0)),
        ("response_rate", lambda: survey_sizes.sample_size(COINS, margin=0.1, response_rate=0)),
        ("differ", lambda: survey_sizes.power(COINS, n=9, prevalence=0.1, null=0.1)),
        ("groups", lambda: survey_sizes.power(COINS, n=9, prevalence=0.1, groups=3)),
        ("`n`", lambda: survey_sizes.power(COINS, n=0, prevalence=0.1)),
        ("power", lambda: survey_sizes.sample_size_for_power(COINS, prevalence=0.1, power=1)),
        ("all alike", lambda: survey_sizes.power(None, n=9, prevalence=1)),
    ],
)
def test_bad_plans_are_refused_by_name(name, call):
    with pytest.raises(InvalidParameter, match=name):
        call()


def test_a_channel_that_says_nothing_is_refused():
    class Deaf:
        p = q = F(1, 2)

    with pytest.raises(InvalidParameter, match="say nothing"):
        survey_sizes.sample_size(Deaf(), margin=0.1)
