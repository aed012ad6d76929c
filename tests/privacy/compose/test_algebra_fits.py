"""Budgets are compared exactly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import Unsupported
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    PureLoss,
    parallel,
)


def test_ten_tenths_fit_one_and_eleven_do_not():
    assert (PureLoss(0.1) * 10).fits(PureLoss(1))
    assert not (PureLoss(0.1) * 11).fits(PureLoss(1))
    assert not (PureLoss(0.1) * 10 + PureLoss(Fraction(1, 10**50))).fits(PureLoss(1))


@given(st.integers(1, 400), st.integers(1, 400))
def test_floats_never_decide_rational_sums(n, k):
    assert (PureLoss(Fraction(1, n)) * k).fits(PureLoss(1)) == (k <= n)


def test_odds_against_decimals():
    three = PureLoss(odds=3) * 3  # 3.29583686600432907418...
    assert not three.fits(PureLoss(3.2958))
    assert three.fits(PureLoss(3.2959))
    assert three.fits(PureLoss(Fraction("3.29583686600432907419")))
    assert not three.fits(PureLoss(Fraction("3.29583686600432907418")))


def test_odds_against_odds_tie_exactly():
    assert (PureLoss(odds=3) * 2).fits(PureLoss(odds=9))
    assert PureLoss(odds=9).fits(PureLoss(odds=3).group(2))
    assert (PureLoss(odds=2) + PureLoss(odds=3)).fits(PureLoss(odds=6))
    assert not PureLoss(odds=Fraction(10**40 + 1, 10**40)).fits(PureLoss(0))


def test_approximate_budgets():
    third = Fraction(1, 3)
    assert ApproximateLoss(1, third).fits(ApproximateLoss(1, third))
    assert not ApproximateLoss(1, 1e-6).fits(PureLoss(1))
    assert not GaussianLoss(1).fits(PureLoss(100))
    assert GaussianLoss(1).fits(ApproximateLoss(4.8866, 1e-6))
    assert not GaussianLoss(1).fits(ApproximateLoss(4.8865, 1e-6))
    assert PureLoss(1.0000001).fits(ApproximateLoss(1, 1e-6))


def test_budgets_in_other_units():
    assert (GaussianLoss(1) * 4).fits(GaussianLoss(2))
    assert not (GaussianLoss(1) * 5).fits(GaussianLoss(2))
    assert (GaussianLoss(1) * 4).fits(ConcentratedLoss(2))
    assert not PureLoss(1).fits(ConcentratedLoss(0.4621))
    assert not ConcentratedLoss(0.1).fits(GaussianLoss(10))


def test_parallel_budgets():
    cells = parallel(PureLoss(0.3), PureLoss(0.7), neighbors="replace")
    assert cells.fits(PureLoss(1))
    assert not cells.fits(PureLoss(0.999999))


def test_a_composition_is_no_budget():
    with pytest.raises(Unsupported, match="budget"):
        PureLoss(1).fits(PureLoss(1) * 2)
