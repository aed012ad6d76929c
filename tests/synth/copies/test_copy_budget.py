"""The fractions of a copy's budget add up to at most 1, for every option, as rationals."""

from fractions import Fraction
from itertools import product

import pytest

from deniable.mechanisms import Exponential, Gaussian
from deniable.privacy import PureLoss
from deniable.synth.copies.copy_budget import CopyBudget, root_down

RHO = Fraction(15, 1000)


@pytest.mark.parametrize(
    ("columns", "cut", "scored"), list(product([1, 2, 15, 60], [0, 1, 7], [False, True]))
)
def test_what_is_spent_adds_up_to_at_most_the_whole(columns, cut, scored):
    budget = CopyBudget.split(columns=columns, cut=cut, scored=scored)
    assert budget.whole == 1
    spent = columns * Gaussian(rho=budget.one_way_mu_squared(RHO) / 2).rho
    if cut:
        spent += cut * PureLoss(budget.cut_epsilon(RHO)).rho
    if columns > 1:
        choice = Exponential(epsilon=budget.choice_epsilon(RHO))
        spent += (columns - 1) * choice.loss.rho
        spent += (columns - 1) * budget.pair_mu_squared(RHO) / 2
    if scored:
        spent += budget.scorecard_mu_squared(RHO) / 2
    assert spent <= RHO
    assert spent > RHO * Fraction(94, 100)


def test_what_is_not_needed_goes_to_the_method():
    assert CopyBudget.split(columns=3, cut=0, scored=True).one_ways == Fraction(98, 300)
    assert CopyBudget.split(columns=3, cut=2, scored=True).one_ways == Fraction(93, 300)
    assert CopyBudget.split(columns=1, cut=0, scored=True).one_ways == Fraction(98, 100)


@pytest.mark.parametrize("square", [Fraction(2), Fraction(1, 3), Fraction(10**9), Fraction(0)])
def test_roots_are_rounded_down(square):
    root = root_down(square)
    assert root**2 <= square <= (root + Fraction(1, 2**60)) ** 2
