"""The checker passes what is private and fails what is not, by a hair in both cases."""

from dataclasses import dataclass
from fractions import Fraction

import pytest

from deniable import ApproximateLoss, GaussianLoss, Laplace, PureLoss, RandomizedResponse
from deniable.audit import check
from deniable.errors import InvalidParameter, Unsupported


@dataclass
class Chooser:
    """Picks an index with given weights of each score."""

    weights: dict
    loss = PureLoss(odds=2)

    def pmf(self, scores):
        raw = [self.weights[score] for score in scores]
        return [one / sum(raw) for one in raw]


def test_a_choice_by_scores_is_checked_whole():
    exact = Chooser({0: Fraction(1), 1: Fraction(2)})
    assert check(exact, [([0, 1], [1, 0])]).private  # 2/3 against 1/3
    assert check(exact, [([0, 1], [1, 0])], claim=PureLoss(odds=Fraction(199, 100))).violated
    steeper = Chooser({0: Fraction(1), 1: Fraction(3)})
    assert check(steeper, [([0, 1, 0], [0, 0, 0])]).private  # 3/5 against 1/3
    assert (
        str(check(steeper, [([0, 1], [1, 0])]))
        == "violated: output 1, inputs [0, 1] and [1, 0]"
    )


def test_floats_are_believed_to_a_part_in_a_thousand_million():
    floats = Chooser({0: 1.0, 1: 2.0})
    assert check(floats, [([0, 1, 0], [0, 0, 0])]).private
    assert check(floats, [([0, 1], [1, 0])], claim=PureLoss(odds=1.999)).violated
    assert check(floats, [([0, 1], [1, 0])], claim=PureLoss(odds=2)).private


@pytest.mark.parametrize(
    ("mechanism", "excess"),
    [(Laplace(epsilon=1), "1e-12"), (RandomizedResponse(odds=3), "1e-12")],
)
def test_the_least_excess_is_seen(mechanism, excess):
    epsilon = Fraction(mechanism.loss.epsilon())
    assert check(mechanism, [(0, 1)]).private
    assert check(mechanism, [(0, 1)], claim=PureLoss(epsilon + Fraction(excess))).private
    assert check(mechanism, [(0, 1)], claim=PureLoss(epsilon - Fraction(excess))).violated


def test_a_claim_with_delta_is_held_to_its_curve():
    assert check(Laplace(epsilon=1), [(0, 1)], claim=ApproximateLoss(1, 1e-6)).private
    assert check(Laplace(epsilon=1), [(0, 1)], claim=ApproximateLoss(0.5, 1e-3)).violated
    assert check(Laplace(epsilon=1), [(0, 1)], claim=GaussianLoss(0.5)).violated


def test_a_grid_is_walked_in_its_own_steps():
    finding = check(Laplace(epsilon=1, step=0.25), [(0.0, 1.0, 0.75)])
    assert finding.private
    assert finding.missing < 1e-30


def test_outputs_that_cannot_be_listed_are_asked_for():
    with pytest.raises(InvalidParameter, match="outputs"):
        check(Laplace(epsilon=1), [([0, 0], [0, 1])])
    with pytest.raises(Unsupported, match=r"audit\.test"):
        check(object(), [(0, 1)], claim=PureLoss(1))


@pytest.mark.parametrize("neighbors", [[], [(0,)], [(0, 1), (2,)], [0, 1]])
def test_nothing_to_compare_is_refused(neighbors):
    with pytest.raises(InvalidParameter, match="must hold pairs of inputs"):
        check(Laplace(epsilon=1), neighbors)
