from fractions import Fraction as F

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms.quantiles import Quantiles

MANY = [F(k, 20) for k in range(1, 20)]


def mechanism(neighbors, **options):
    return Quantiles(MANY, epsilon=1, bounds=(0, 10_000), neighbors=neighbors, **options)


def test_values_by_quantile():
    released = mechanism("replace").release(np.arange(10_000))
    assert released[0.5] == released.values[9]
    assert list(released) == list(released.values)
    assert len(released) == 19
    assert str(released).startswith("0.05: ")
    assert released.rows == 10_000
    with pytest.raises(InvalidParameter, match=r"0\.51"):
        released[0.51]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_intervals_cover_the_true_quantile(neighbors, size):
    trials = size(small=20, full=500, what="intervals from neighbouring quantiles")
    column = np.arange(1_000_000) % 10_000
    for _ in range(trials):
        released = mechanism(neighbors).release(column)
        for q in (0.25, 0.5, 0.75):
            low, high = released.interval(q, 0.9)
            assert low <= q * 10_000 <= high
            assert high - low < 2_000


def test_ends_of_the_column_take_over():
    released = mechanism("replace").release(np.arange(1000) * 10)
    assert released.interval(0.05, 0.999)[0] == 0
    assert released.interval(0.95, 0.999)[1] == 10_000


def test_the_number_of_rows_is_asked_for_where_it_is_private():
    released = mechanism("add-remove", method="recursive").release(np.arange(10_000))
    assert released.rows is None
    with pytest.raises(InvalidParameter, match="rows"):
        released.interval(0.5)
    low, high = released.interval(0.5, rows=10_000)
    assert low < 5_000 < high
    counted = mechanism("add-remove", method="fixed-target").release(np.arange(10_000))
    assert abs(counted.rows - 10_000) < 500
