"""Coins with exact chances: every coin string brackets them, mutants do not."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from deniable.errors import InvalidParameter
from deniable.exact import exponential_coins as module
from deniable.exact.enclosures import exp_neg
from deniable.exact.exponential_coins import flip_coins
from tests.exact.enumeration import enumerate_coins

F = Fraction


def chance(distance, unit):
    lo, hi = exp_neg(unit * distance, 200)
    return F(lo, 2**200), F(hi, 2**200)


def is_bracketed(distances, unit, depth, word_bits=2):
    coins = enumerate_coins(
        lambda source: tuple(
            flip_coins(np.array(distances), unit, source=source, word_bits=word_bits).tolist()
        ),
        depth,
    )
    for i, distance in enumerate(distances):
        heads = sum(p for outcome, p in coins.mass.items() if outcome[i])
        low, high = chance(distance, unit)
        if not (heads <= high and low <= heads + coins.open):
            return False
    return True


@pytest.mark.parametrize("distances", [[1], [0, 3], [2, 5], [1, 1, 9]], ids=str)
def test_all_coin_strings_bracket_the_chances(distances, size):
    depth = size(small=12, full=19, what="coins deep, all strings of unequal coins")
    assert is_bracketed(distances, F(1, 3), depth)


@pytest.mark.parametrize("verdict", [True, False])
def test_a_mutant_that_does_not_settle_is_caught(verdict, monkeypatch):
    monkeypatch.setattr(module, "_settle", lambda *known: verdict)
    assert not is_bracketed([1, 2], F(1, 3), 14)


def test_at_full_width_chances_hold_and_near_ones_do_not(size):
    n = size(small=200_000, full=20_000_000, what="coins of unequal chance")
    for distance in (1, 4):
        heads = int(flip_coins(np.full(n, distance), F(1, 3)).sum())
        p = float(np.exp(-distance / 3))
        assert binomtest(heads, n, p).pvalue > 1e-9
        assert binomtest(heads, n, p * 0.97).pvalue < 1e-9


def test_far_and_huge_distances():
    far = np.array([0, 2**70, 0, 10**30], dtype=object)
    assert flip_coins(far, F(1)).tolist() == [True, False, True, False]
    assert flip_coins(np.array([0, 1]), F(10**400)).tolist() == [True, False]
    assert flip_coins(np.array([], dtype=np.int64), F(1)).shape == (0,)


def test_bad_distances_are_refused():
    with pytest.raises(InvalidParameter):
        flip_coins(np.array([-1]), F(1))
    with pytest.raises(InvalidParameter):
        flip_coins(np.array([1]), F(0))
