"""The normal tail, near and far, and its inverse."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from deniable.privacy.arithmetic.intervals import precision
from deniable.privacy.arithmetic.normal import (
    density,
    mills_ratio,
    quantile_below,
    upper_tail,
)
from tests.privacy.contract import mp, read

P = precision(40)
points = st.fractions(-60, 60, max_denominator=10**6)


def encloses(interval, truth):
    slop = abs(truth) * mp.mpf(10) ** -60
    assert read(interval.lo) - slop <= truth <= read(interval.hi) + slop
    assert read(interval.hi) - read(interval.lo) <= abs(truth) * mp.mpf(10) ** -24


@given(points)
def test_upper_tail(x):
    encloses(upper_tail(P(x)), mp.erfc(read(x) / mp.sqrt(2)) / 2)


@given(st.fractions(2, 10**6))
def test_mills_ratio(x):
    with mp.workdps(80):
        z = read(min(x, Fraction(100)))
        truth = mp.sqrt(mp.pi / 2) * mp.exp(z * z / 2) * mp.erfc(z / mp.sqrt(2))
    encloses(mills_ratio(P(min(x, Fraction(100)))), truth)


@given(points)
def test_density(x):
    encloses(density(P(x)), mp.npdf(read(x)))


@given(st.floats(1e-300, 1, exclude_max=True))
def test_quantile_is_just_below(tail):
    z = quantile_below(Fraction(tail))
    truth = mp.mpf(Fraction(tail).numerator) / Fraction(tail).denominator
    above = read(z) + max(abs(read(z)), 1) * mp.mpf("1e-30")
    assert mp.erfc(read(z) / mp.sqrt(2)) / 2 >= truth * (1 - mp.mpf(10) ** -70)
    assert mp.erfc(above / mp.sqrt(2)) / 2 < truth
