"""Coins with any probability: all strings of short words bracket it."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.exact import uniform_comparison
from deniable.exact.enclosures import exp_neg
from deniable.exact.uniform_comparison import uniform_is_below
from tests.exact.enumeration import enumerate_coins

F = Fraction


def third(bits):
    return (1 << bits) // 3, (1 << bits) // 3 + 1


def quarter(bits):
    return 1 << bits - 2, 1 << bits - 2


def exp_of(x):
    return lambda bits: exp_neg(x, bits)


NUMBERS = [third, quarter, exp_of(F(1, 7)), exp_of(F(3)), exp_of(F(1, 1000))]


def coins(enclose, depth=14):
    return enumerate_coins(
        lambda source: bool(uniform_is_below(enclose, 1, source, word_bits=2)[0]), depth
    )


@pytest.mark.parametrize("enclose", NUMBERS)
def test_all_coin_strings_bracket_the_probability(enclose):
    enumerated = coins(enclose)
    lo, hi = (F(end, 1 << 80) for end in enclose(80))
    assert enumerated.brackets(True, lo, hi)
    assert enumerated.brackets(False, 1 - hi, 1 - lo)
    assert enumerated.open <= F(1, 1 << 13)


def test_a_mutant_that_decides_too_early_is_caught(monkeypatch):
    monkeypatch.setattr(uniform_comparison, "_settle", lambda *args: True)
    lo, hi = (F(end, 1 << 80) for end in third(80))
    assert not coins(third).brackets(True, lo, hi)


def test_dyadic_numbers_need_one_word():
    assert coins(quarter, depth=2).open == 0


def test_the_extremes_of_a_word_do_not_overflow():
    from deniable.exact.bits import ScriptedBits

    nearly_one = exp_of(F(1, 2**80))
    top = (1 << 64) - 1
    assert uniform_is_below(nearly_one, 1, ScriptedBits([top, 0])).tolist() == [True]
    assert uniform_is_below(nearly_one, 1, ScriptedBits([top, top, top])).dtype == np.bool_
