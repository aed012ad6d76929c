"""Roots of increasing functions."""

from decimal import Decimal

import pytest

from deniable.privacy.arithmetic.intervals import precision
from deniable.privacy.arithmetic.roots import find_root

P = precision(60)


@pytest.mark.parametrize("power", [1, 2, 3, 9])
def test_powers(power):
    def curve(x):
        return x**power - 2, power * x ** (power - 1)

    root = find_root(curve, Decimal(0), Decimal(100), P)
    assert abs(P.near.power(root, power) - 2) < Decimal("1e-25")


def test_a_flat_start_is_bisected():
    root = find_root(
        lambda x: (x - 3 if x < 4 else Decimal(1), Decimal(x < 4)), Decimal(0), Decimal(9), P
    )
    assert abs(root - 3) < Decimal("1e-25")
