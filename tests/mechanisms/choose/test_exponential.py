"""The exponential mechanism: its contract, the class-rank example, its range."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms import Exponential
from deniable.privacy import PureLoss, RangeLoss
from tests.mechanisms.choice import ChoiceContract
from tests.mechanisms.tables import counts, neighbors


class TestExponential(ChoiceContract):
    mechanism = Exponential(epsilon=1)


class TestWeakExponential(ChoiceContract):
    mechanism = Exponential(epsilon=Fraction(1, 2))


def test_class_rank():
    law = Exponential(odds=2).pmf({"Fr": 0, "So": 4, "Ju": 6, "Se": 6})
    for name, wanted in {"Fr": 1, "So": 4, "Ju": 8, "Se": 8}.items():
        assert law[name] == pytest.approx(wanted / 21, abs=1e-12)


def test_known_error_probabilities():
    assert Exponential(epsilon=1).pmf([1, 0])[1] == pytest.approx(0.37754067, abs=5e-9)
    assert Exponential(epsilon=1).pmf([4, 0])[1] == pytest.approx(0.1192029, abs=5e-8)
    crowd = Exponential(epsilon=1).pmf([10] + [0] * 99)
    assert 1 - crowd[0] == pytest.approx(0.40014, abs=5e-6)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_range_of_log_odds_is_within_epsilon(relation):
    """What the charge of epsilon**2 / 8 rests on, over all small tables."""
    epsilon = 1
    mechanism = Exponential(epsilon=epsilon, monotone=relation == "add-remove")
    for first, second in neighbors(relation, 4, 4):
        p, q = (mechanism.pmf(counts(table)) for table in (first, second))
        losses = np.log(p / q)
        assert losses.max() - losses.min() <= epsilon + 1e-12


def test_its_loss_is_cheaper_to_compose_than_a_pure_one():
    many = Exponential(epsilon=0.1).loss * 1000
    assert many.epsilon(1e-6) < 0.55 * (PureLoss(0.1) * 1000).epsilon(1e-6)
    assert Exponential(odds=3).loss == RangeLoss(odds=3)


def test_exact_fractions_are_not_rounded():
    law = Exponential(epsilon=2).pmf([Fraction(1, 3), Fraction(1, 7)])
    assert math.log(law[0] / law[1]) == pytest.approx(1 / 3 - 1 / 7, rel=1e-14)


def test_scores_far_apart_need_no_large_numbers():
    for scores in itertools.permutations([0, 10**6, -(10**12)]):
        law = Exponential(epsilon=1).pmf(list(scores))
        assert law.max() == 1
        assert law.sum() == 1


def test_a_million_candidates_at_once():
    scores = np.arange(1_000_000)
    assert Exponential(epsilon=1).release(scores) > 999_000
    assert Exponential(epsilon=1).release(scores / 7) > 999_000
