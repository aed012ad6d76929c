import math
from fractions import Fraction as F

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
