"""The fractions of a copy's budget add up to at most 1, for every option, as rationals."""

from fractions import Fraction
from itertools import product

import pytest

from deniable.mechanisms import Exponential, Gaussian
from deniable.privacy import PureLoss
from deniable.synth.copies.copy_budget import AIM_CHOICE, CopyBudget, RoundBudget, root_down

RHO = Fraction(15, 1000)


@pytest.mark.parametrize(
    ("columns", "cut", "scored", "method"),
    list(product([1, 2, 3, 15, 60], [0, 1, 7], [False, True], ["mst", "aim"])),
)
def test_what_is_spent_adds_up_to_at_most_the_whole(columns, cut, scored, method):
    budget = CopyBudget.split(columns=columns, cut=cut, scored=scored, method=method)
    assert budget.whole == 1
    spent = columns * Gaussian(rho=budget.one_way_mu_squared(RHO) / 2).rho
    if cut:
        spent += cut * PureLoss(budget.cut_epsilon(RHO)).rho
    if columns > 2 and method == "aim":
        spent += sum(spend_rounds(budget))
    elif columns > 1:
        spent += (columns - 1) * budget.pair_mu_squared(RHO) / 2
        if columns > 2:
            choice = Exponential(epsilon=budget.choice_epsilon(RHO))
            spent += (columns - 1) * choice.loss.rho
    if scored:
        spent += budget.scorecard_mu_squared(RHO) / 2
    assert spent <= RHO
    assert spent > RHO * Fraction(94, 100)


def spend_rounds(budget, dearer=lambda number: number % 3 == 0):
    """What all rounds cost, as they are measured: the choice and the table."""
    rounds, number = RoundBudget.of(budget, RHO), 0
    while rounds.left > 0:
        price, number = rounds.take(), number + 1
        assert number <= budget.rounds
        yield Exponential(epsilon=root_down(8 * price * AIM_CHOICE)).loss.rho
        yield Gaussian(rho=price * (1 - AIM_CHOICE)).rho
        if dearer(number):
            rounds.make_dearer()


@pytest.mark.parametrize("dearer", [lambda _: True, lambda _: False])
def test_rounds_spend_all_that_they_have_and_no_more(dearer):
    budget = CopyBudget.split(columns=15, cut=0, scored=True, method="aim")
    whole = RHO * (budget.choice + budget.pairs)
    spent = sum(spend_rounds(budget, dearer))
    assert whole * Fraction(999, 1000) < spent <= whole


def test_two_columns_spend_nothing_on_a_choice():
    budget = CopyBudget.split(columns=2, cut=0, scored=True)
    assert budget.choice == 0
    assert budget.pairs == budget.one_ways == Fraction(49, 100)


def test_what_is_not_needed_goes_to_the_method():
    assert CopyBudget.split(columns=3, cut=0, scored=True).one_ways == Fraction(98, 300)
    assert CopyBudget.split(columns=3, cut=2, scored=True).one_ways == Fraction(93, 300)
    assert CopyBudget.split(columns=1, cut=0, scored=True).one_ways == Fraction(98, 100)


@pytest.mark.parametrize("square", [Fraction(2), Fraction(1, 3), Fraction(10**9), Fraction(0)])
def test_roots_are_rounded_down(square):
    root = root_down(square)
    assert root**2 <= square <= (root + Fraction(1, 2**60)) ** 2
