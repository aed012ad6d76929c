"""Every operation on intervals encloses the true number."""

import operator
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.privacy.arithmetic.intervals import (
    Interval,
    certify,
    precision,
    root_two_pi,
)
from tests.privacy.contract import mp, read

P = precision(12)
fractions = st.fractions(-1000, 1000)
positives = st.fractions(Fraction(1, 10**6), 1000)


def encloses(interval, truth):
    slop = abs(truth) * mp.mpf(10) ** -70
    return read(interval.lo) - slop <= truth <= read(interval.hi) + slop


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul])
@given(x=fractions, y=fractions)
def test_arithmetic(op, x, y):
    for result in (op(P(x), P(y)), op(P(x), y), op(x, P(y))):
        assert Fraction(result.lo) <= op(x, y) <= Fraction(result.hi)
        assert result.hi - result.lo <= Decimal("1e-4")


@given(fractions, positives)
def test_division(x, y):
    for result in (P(x) / P(y), P(x) / y, x / P(y)):
        assert Fraction(result.lo) <= x / y <= Fraction(result.hi)


@given(positives)
def test_functions(x):
    assert encloses(P(x).exp(), mp.exp(read(x)))
    assert encloses((-P(x)).exp(), mp.exp(-read(x)))
    assert encloses(P(x).log(), mp.log(read(x)))
    assert encloses(P(x).sqrt(), mp.sqrt(read(x)))


def test_exact_points_stay_exact():
    assert (P(0).exp().lo, P(0).exp().hi) == (1, 1)
    assert (P(1).log().lo, P(1).log().hi) == (0, 0)


def test_wide_intervals_keep_their_corners():
    wide = Interval(Decimal(-2), Decimal(3), P)
    assert ((wide * wide).lo, (wide * wide).hi) == (-6, 9)
    assert (wide.positive_part().lo, wide.positive_part().hi) == (0, 3)
    assert ((wide / P(2)).lo, (wide / P(2)).hi) == (Decimal("-1"), Decimal("1.5"))


def test_certified_asks_for_the_digits_it_needs():
    tiny = Fraction(1, 10**60)
    interval = certify(lambda p: p(tiny).exp() - 1)
    assert interval.precision.digits > 40
    assert encloses(interval, mp.expm1(read(tiny)))
    assert interval.hi - interval.lo < Decimal("1e-80")


def test_root_two_pi():
    assert encloses(root_two_pi(30), mp.sqrt(2 * mp.pi))


def test_dividing_by_what_may_be_zero_says_nothing():
    result = P(1) / Interval(Decimal(0), Decimal(1), P)
    assert (result.lo, result.hi) == (Decimal("-Infinity"), Decimal("Infinity"))
    result = P(-1) / Interval(Decimal(-1), Decimal(1), P)
    assert (result.lo, result.hi) == (Decimal("-Infinity"), Decimal("Infinity"))


def test_certified_goes_on_while_nothing_is_known():
    tiny = Fraction(1, 10**60)
    interval = certify(lambda p: 1 / (1 - (-p(tiny)).exp()))
    assert Decimal("0.999e60") < interval.lo <= interval.hi < Decimal("1.001e60")
