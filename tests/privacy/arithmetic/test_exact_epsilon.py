"""Exact sums of rationals and logarithms."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import precision
from tests.privacy.contract import mp, read

odds = st.fractions(1, 50, max_denominator=20)
terms = st.lists(st.tuples(odds, st.integers(-30, 30)), max_size=4)


def number(rational, logs):
    total = ExactEpsilon(rational)
    for value, count in logs:
        total = total + ExactEpsilon.from_odds(value) * count
    return total


@given(st.fractions(-20, 20, max_denominator=100), terms)
def test_sign_and_enclosure(rational, logs):
    exact = number(rational, logs)
    truth = read(rational) + sum(count * mp.log(read(value)) for value, count in logs)
    if abs(truth) > 1e-60:
        assert exact.sign() == mp.sign(truth)
    inside = exact.interval(precision(40))
    assert read(inside.lo) - mp.mpf(10) ** -75 <= truth <= read(inside.hi) + mp.mpf(10) ** -75
    assert inside.hi - inside.lo < 1e-30


@given(st.fractions(0, 9), terms)
def test_a_difference_of_equals_is_zero(rational, logs):
    first, other = number(rational, logs), number(rational, list(reversed(logs)))
    assert (first - other).sign() == 0
    assert first <= other
    assert not first < other


def test_ties_between_different_odds_are_seen():
    two, three, six = (ExactEpsilon.from_odds(Fraction(n)) for n in (2, 3, 6))
    assert (two + three - six).sign() == 0
    assert (two * 10**6 + three * 10**6 - six * 10**6).sign() == 0
    assert (two * 3 - three * 2).sign() == -1
    assert (two + three - six + ExactEpsilon(Fraction(1, 10**60))).sign() == 1


@given(st.integers(1, 40))
def test_powers_of_rational_odds_are_exact(k):
    power = (ExactEpsilon.from_odds(Fraction(3, 2)) * k).odds(precision(40))
    assert Fraction(power.lo) <= Fraction(3, 2) ** k <= Fraction(power.hi)
