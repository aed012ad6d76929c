"""Majority: private and best possible, by proof over all small votes."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binomtest

from deniable.errors import InvalidData, InvalidParameter, MissingRelation
from deniable.mechanisms import Exponential, Majority
from deniable.privacy import PureLoss
from tests.mechanisms.enumeration import check
from tests.mechanisms.tables import OnTables, neighbors

RELATIONS = ["add-remove", "replace"]


def votes(table):
    return [table.count(0), table.count(1)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, 3])
def test_all_small_votes_keep_the_loss(relation, epsilon):
    mechanism = Majority(epsilon=epsilon, neighbors=relation)
    verdict = check(OnTables(mechanism, votes), neighbors(relation, 9, 2), [0, 1])
    assert verdict.private, verdict.event


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_larger_epsilon_is_caught(relation):
    strong = Majority(epsilon=1.01, neighbors=relation)
    broken = OnTables(strong, votes, Majority(epsilon=1))
    assert check(broken, neighbors(relation, 9, 2), [0, 1]).violated


def test_the_add_remove_rule_is_caught_under_replace():
    broken = OnTables(Majority(epsilon=1, neighbors="add-remove"), votes)
    assert check(broken, neighbors("replace", 4, 2), [0, 1]).violated


@pytest.mark.parametrize("k", [100, 1000])
def test_known_error(k):
    mechanism = Majority(epsilon=0.1, neighbors="replace")
    law = mechanism.pmf([k + 20, k + 1 - 20])
    assert law[1] == pytest.approx(0.071048, abs=5e-7)
    a = math.exp(-0.1)
    assert law[1] == pytest.approx(a**20 / (1 + a), rel=1e-12)


@pytest.mark.parametrize("n", [7, 8])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_no_even_handed_rule_is_better_at_any_lead(n, epsilon):
    """The least error at each vote, over all private rules, by linear programming."""
    odds = math.exp(epsilon)
    rows = []
    for s in range(n):  # p(s) is the chance to name the first side, which has s votes
        for first, second in ((s, s + 1), (s + 1, s)):
            for sign in (1, -1):  # p(one) <= odds p(two), and the same for 1 - p
                row = np.zeros(n + 1)
                row[first], row[second] = sign, -sign * odds
                rows.append((row, 0.0 if sign == 1 else odds - 1))
    mechanism = Majority(epsilon=Fraction(str(epsilon)), neighbors="replace")
    for s in range(n // 2 + 1, n + 1):
        aim = np.zeros(n + 1)
        aim[s] = -1
        symmetric = [np.eye(n + 1)[i] + np.eye(n + 1)[n - i] for i in range(n + 1)]
        best = linprog(
            aim,
            A_ub=[row for row, _ in rows],
            b_ub=[limit for _, limit in rows],
            A_eq=symmetric,
            b_eq=np.ones(n + 1),
            bounds=(0, 1),
        )
        assert mechanism.pmf([s, n - s])[0] == pytest.approx(-best.fun, abs=1e-8)


@pytest.mark.parametrize("relation", RELATIONS)
def test_it_beats_the_exponential_mechanism(relation):
    majority = Majority(epsilon=1, neighbors=relation)
    other = Exponential(epsilon=1, monotone=relation == "add-remove")
    for lead in range(1, 8):
        assert majority.pmf([10 + lead, 10])[1] < other.pmf([10 + lead, 10])[1]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("counts", [[7, 5], [6, 5], [5, 5], [3, 6]], ids=str)
def test_the_sampler_follows_the_law(relation, counts):
    mechanism = Majority(odds=2, neighbors=relation)
    first = sum(mechanism.release(counts) == 0 for _ in range(5_000))
    chance = mechanism.pmf(counts)[0]
    assert binomtest(first, 5_000, chance).pvalue > 1e-9
    assert binomtest(first, 5_000, chance + 0.06 if chance < 0.9 else 0.84).pvalue < 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("confidence", [0.4, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("epsilon", [0.05, 1, 4])
def test_margin_is_honest_and_least(relation, confidence, epsilon):
    mechanism = Majority(epsilon=epsilon, neighbors=relation)
    margin = mechanism.margin(confidence)
    for lead in range(margin + 1, margin + 6):
        assert mechanism.pmf([100 + lead, 100])[1] <= 1 - confidence + 1e-12
    if margin:
        assert mechanism.pmf([100 + margin, 100])[1] > 1 - confidence


def test_keys_come_back():
    mechanism = Majority(epsilon=1)
    assert mechanism.release({"yes": 0, "no": 9000}) == "no"
    assert mechanism.pmf_bounds("perhaps", {"yes": 1, "no": 2}) == (0, 0)
    assert mechanism.loss == PureLoss(1)
    assert replace(mechanism) == mechanism


@pytest.mark.parametrize("bad", [[1], [1, 2, 3], [1.0, 2.0], [-1, 2], [True, False], "ab", []])
def test_bad_votes_are_refused(bad):
    with pytest.raises(InvalidData):
        Majority(epsilon=1).release(bad)


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidParameter, match="neighbors"):
        Majority(epsilon=1, neighbors="swap")
    with pytest.raises(MissingRelation):
        Majority(epsilon=1, neighbors=None)
    with pytest.raises(InvalidParameter, match="confidence"):
        Majority(epsilon=1).margin(1)
