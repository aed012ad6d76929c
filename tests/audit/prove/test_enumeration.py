"""The checker passes what is private and fails what is not, by a hair in both cases."""

from dataclasses import dataclass
from fractions import Fraction

import pytest

from deniable import (
    ApproximateLoss,
    ConcentratedLoss,
    Gaussian,
    GaussianLoss,
    Laplace,
    LossDistribution,
    PureLoss,
    RandomizedResponse,
    RangeLoss,
    RenyiLoss,
    poisson,
    shuffled,
)
from deniable.audit import check
from deniable.errors import InvalidParameter, Unsupported


@dataclass
class Chooser:
    """Picks an index with given weights of each score."""

    weights: dict
    loss = PureLoss(odds=2)

    def pmf(self, scores):
        raw = [self.weights[score] for score in scores]
        return [weight / sum(raw) for weight in raw]


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


def two_events(p, q):
    """One event of probability p under one input and q under the other."""
    weights = {0: [1 - Fraction(p), Fraction(p)], 1: [1 - Fraction(q), Fraction(q)]}
    return Table(weights)


@dataclass
class Table:
    """Whatever probabilities are given."""

    weights: dict

    def pmf(self, scores):
        return self.weights[scores]


RARE = two_events("0.006", Fraction("0.006") / 37)  # most odds at epsilon 3.6
UNEVEN = two_events("0.1", "0.01")  # a divergence of 0.598 at order 2, and a harmless curve
SHUFFLED = shuffled(RandomizedResponse(odds=3), reports=100)
FALSE = [
    (Gaussian(sigma=0.3), ApproximateLoss(5, 1e-9)),
    (Gaussian(sigma=0.3), ApproximateLoss(3, 1e-3)),
    (Laplace(epsilon=1), ApproximateLoss(0.99, 1e-3)),
    (RandomizedResponse(odds=8), ApproximateLoss(odds=7, delta=0.1)),
    (RARE, GaussianLoss(1)),
    (RARE, GaussianLoss(mu_squared=Fraction(1, 2)) * 2),
    (RARE, LossDistribution.of(GaussianLoss(1))),
    (Laplace(epsilon=1), PureLoss(0.1) * 10),
    (Laplace(epsilon=1), PureLoss(0.5) + PureLoss(0.5)),
    (Laplace(epsilon=1), RangeLoss(1)),
    (Laplace(epsilon=1), RangeLoss(0.5) * 2),
    (RandomizedResponse(odds=3), SHUFFLED),
    (UNEVEN, RenyiLoss({2: Fraction("0.59")})),
    (UNEVEN, ConcentratedLoss(Fraction("0.28"))),
    (UNEVEN, ConcentratedLoss(Fraction("0.14")) * 2),
    (Gaussian(sigma=1), ApproximateLoss(1, 1e-6) * 3),
    (Gaussian(sigma=1), poisson(GaussianLoss(1), rate=0.5, neighbors="add-remove")),
]


@pytest.mark.parametrize(("mechanism", "claim"), FALSE, ids=str)
def test_a_false_claim_of_any_kind_is_refused(mechanism, claim):
    """All of them held at epsilon 0, 1/4, 1/2, 1, 2 and 4, or at delta 0."""
    verdict = check(mechanism, [(0, 1)], claim=claim)
    assert verdict.violated, verdict


TRUE = [
    (Gaussian(sigma=0.3), ApproximateLoss(5, 0.05), "at epsilon 5"),
    (RARE, GaussianLoss(2), "at any epsilon"),
    (Laplace(epsilon=1), PureLoss(1) * 3, "at any epsilon"),
    (Laplace(epsilon=1), RangeLoss(2), "no output"),
    (Laplace(epsilon=1), LossDistribution.of(Laplace(epsilon=1)), "nor elsewhere by more than"),
    (UNEVEN, RenyiLoss({2: Fraction("0.6")}), "at 1 orders"),
    (Gaussian(sigma=1), GaussianLoss(1), "nor elsewhere by more than"),
    (Gaussian(sigma=1), ConcentratedLoss(0.5), "at 15 orders"),
    (Gaussian(sigma=2), GaussianLoss(1), "at any epsilon"),
    (Laplace(epsilon=Fraction(1, 2)), PureLoss(0.5) + GaussianLoss(1), "at any epsilon"),
]


@pytest.mark.parametrize(("mechanism", "claim", "words"), TRUE, ids=str)
def test_a_true_claim_of_any_kind_passes_and_says_what_was_checked(mechanism, claim, words):
    verdict = check(mechanism, [(0, 1)], claim=claim)
    assert verdict.private, verdict
    assert words in str(verdict)


def test_outputs_that_were_left_out_are_mentioned():
    verdict = check(Laplace(epsilon=1), [(0, 1)], range(-3, 5))
    assert verdict.private
    assert "of probability was not checked" in str(verdict)
    assert "not checked" not in str(check(Laplace(epsilon=1), [(0, 1)]))


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
