import math
from fractions import Fraction as F

import pytest

from deniable.mechanisms.quantiles.joint import Joint
from deniable.mechanisms.quantiles.method import strayed


def test_shares_are_what_lies_between():
    method = Joint((F(1, 4), F(1, 2)), F(1), "replace", 10)
    assert method.shares == [F(1, 4), F(1, 4), F(1, 2)]


def test_choices_stray_less_with_more_weight():
    far = [strayed(1000, 5000, unit, 0.05) for unit in (0.1, 1, 10)]
    assert far == sorted(far, reverse=True)
    assert strayed(1000, 5000, 1, 0.05) > math.log(1000 / 0.05)  # what a cell for a record pays
    assert strayed(1000, 5000, 1, 0.05, 3) > strayed(1000, 5000, 1, 0.05)


def test_targets_that_lie_apart_stray_less():
    """In order, tuples near their targets are m! times as many of all as without order."""
    near, far = (strayed(20_000, 10**6, 0.25, 0.05, 29, apart) for apart in (0.0, 10**4))
    assert near - far == pytest.approx(math.lgamma(30) / 0.25, rel=0.02)
    assert strayed(20_000, 10**6, 0.25, 0.05, 1, 10**4) == strayed(20_000, 10**6, 0.25, 0.05)
