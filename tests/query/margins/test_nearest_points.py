from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms import Laplace
from deniable.query.margins.linear_forms import form
from deniable.query.margins.nearest_points import interval
from deniable.query.margins.ratios import interval as ratio_interval
from deniable.query.plan.plan import Feature, Operation

LEVEL = Fraction(19, 20)
A, B = Feature("a", 0), Feature("b", 0)
NOISES = dict.fromkeys("ab", Laplace(epsilon=Fraction(1, 10)).noise())


def test_for_a_ratio_it_is_fiellers_set():
    ratio, got = Operation("/", (A, B)), {"a": np.array([90.0]), "b": np.array([200.0])}
    near, exact = (
        interval(ratio, NOISES, got, LEVEL, ()),
        ratio_interval(form(ratio), NOISES, got, LEVEL),
    )
    for near_point, other in zip(near, exact, strict=True):
        assert near_point == pytest.approx(other, rel=0.03)


def test_ends_of_a_product_are_those_of_the_nearest_points():
    """At each end, the way from the noisy numbers to the nearest point follows the slopes."""
    got = {"a": np.array([80.0]), "b": np.array([100.0])}
    low, high = interval(Operation("*", (A, B)), NOISES, got, LEVEL, ())
    for end in (low, high):
        # The nearest point (x, y) with x y = end: its slopes are (y, x).
        x = np.linspace(1, 300, 400_000)
        y = end / x
        place = np.argmin((x - 80) ** 2 + (y - 100) ** 2)
        off = abs(y[place] * (80 - x[place]) + x[place] * (100 - y[place]))
        usual = 10 * 2**0.5 * np.hypot(x[place], y[place])  # a standard deviation
        assert 2.0 < off / usual < 2.2


def test_where_slopes_vanish_nothing_is_claimed():
    got = {"a": np.array([0.0]), "b": np.array([0.0])}
    low, high = interval(Operation("*", (A, B)), NOISES, got, LEVEL, ())
    assert np.isnan([*low, *high]).all()
