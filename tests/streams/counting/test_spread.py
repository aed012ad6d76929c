"""Margins of errors."""

from fractions import Fraction

import pytest

from deniable.streams.counting.spread import Spread

LEVEL = Fraction(19, 20)


def test_normal_and_fixed_parts():
    assert Spread(4.0).margin(LEVEL) == pytest.approx(2 * 1.959964, rel=1e-6)
    assert Spread(4.0, fixed=0.5).margin(LEVEL) - Spread(4.0).margin(LEVEL) == 0.5
    assert Spread(0.0).margin(LEVEL) == 0.0


def test_a_laplace_noise_has_its_own_quantile():
    found = Spread(2.0 * 100**2, fourth=12.0 * 100**4).margin(LEVEL)
    assert 299.5 < found < 304  # 100 ln 20, and a little more


def test_independent_errors_add_up():
    both = Spread(1.0, 2.0, 3.0) + Spread(10.0, 20.0, 30.0)
    assert both == Spread(11.0, 22.0, 33.0)
    assert both.deviation == pytest.approx(11**0.5)
