import math
from fractions import Fraction as F

import numpy as np
import pytest
import scipy.stats

from deniable.mechanisms.quantiles.joint import JointQuantiles
from deniable.mechanisms.quantiles.quantile_method import largest_distance


def test_shares_are_what_lies_between():
    method = JointQuantiles((F(1, 4), F(1, 2)), F(1), "replace", 10)
    assert method.shares == [F(1, 4), F(1, 4), F(1, 2)]


def test_choices_stray_less_with_more_weight():
    far = [largest_distance(1000, 5000, unit, 0.05) for unit in (0.1, 1, 10)]
    assert far == sorted(far, reverse=True)
    assert largest_distance(1000, 5000, 1, 0.05) > math.log(
        1000 / 0.05
    )  # what a cell for a record pays
    assert largest_distance(1000, 5000, 1, 0.05, 3) > largest_distance(1000, 5000, 1, 0.05)


def test_targets_that_lie_apart_stray_less():
    """In order, tuples near their targets are m! times as many of all as without order."""
    near, far = (
        largest_distance(20_000, 10**6, 0.25, 0.05, 29, apart) for apart in (0.0, 10**4)
    )
    assert near - far == pytest.approx(math.lgamma(30) / 0.25, rel=0.02)
    assert largest_distance(20_000, 10**6, 0.25, 0.05, 1, 10**4) == largest_distance(
        20_000, 10**6, 0.25, 0.05
    )


def test_targets_with_room_on_both_sides_stray_less():
    known = (20_000, 1000, 0.25, 0.05, 9)
    assert largest_distance(*known, 100.0, 100.0) < 0.85 * largest_distance(*known, 100.0)
    assert largest_distance(*known, 100.0, 1.0) == largest_distance(
        *known, 100.0
    )  # no room for k ranks
    assert largest_distance(*known, 2.0, 100.0) == largest_distance(*known, 2.0)
    tails = [
        largest_distance(20_000, 1000, 0.25, 0.05, 9, 100.0, room)
        for room in (2.0, 3.0, 5.0, 9.0)
    ]
    assert tails == sorted(tails, reverse=True)


@pytest.mark.parametrize("spacings", [2, 4, 10])
@pytest.mark.parametrize("rows", [10, 100, 100_000])
def test_spacings_in_a_row_are_as_long_as_claimed(rows, spacings):
    """In one cell their sum has a beta law. In two cells there is one more, in two parts."""
    x = np.exp(np.linspace(math.log(1e-3 / rows), math.log(min(1.0, spacings / rows)), 50))
    most = spacings * np.log(rows * x) - math.lgamma(spacings + 1)
    chances = scipy.stats.beta.logcdf(x, spacings, rows + 1 - spacings)
    assert (chances <= most + 1e-9).all()
    for part in range(1, spacings + 1):
        if max(part, spacings + 1 - part) > rows // 2:
            continue
        ends = [(part, rows // 2), (spacings + 1 - part, rows - rows // 2)]
        first, second = (scipy.stats.beta(a, c + 1 - a) for a, c in ends)
        for far in x[::7]:
            grid = np.linspace(0, far, 2001)
            chance = float(np.trapezoid(first.pdf(grid) * second.cdf(far - grid), grid))
            bound = spacings * math.log(rows * far) - math.lgamma(spacings + 1)
            assert chance <= math.exp(bound) * (1 + 1e-3)
