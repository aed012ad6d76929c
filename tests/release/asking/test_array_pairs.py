import numpy as np
import pytest

import deniable as dp

ROWS = 2000
X = np.linspace(0, 10, ROWS)


def test_names_make_an_aggregate_and_arrays_a_release():
    assert str(dp.corr("cost", "age")) == "CORR(cost, age)"
    answer = dp.corr(X, 100 - 10 * X, bounds=((0, 10), (0, 100)), epsilon=5)
    assert answer.columns == ("corr",)
    assert answer.value == pytest.approx(-1, abs=0.1)
    assert answer.loss.epsilon() == 5


def test_one_pair_of_bounds_serves_both():
    answer = dp.corr(X, X, bounds=(0, 10), epsilon=5, confidence=0.99, neighbors="replace")
    assert answer.value == pytest.approx(1, abs=0.1)
    assert answer.plan.neighbors == "replace"


def test_missing_and_unreadable_values_do_not_count():
    x = [1.0, None, "x", 3.0] * 500
    answer = dp.corr(x, x, bounds=(0, 5), epsilon=50)
    assert answer.value == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("bounds", [None, 3, (0,), ((0, 1), 2), "find"])
def test_bad_bounds_are_refused(bounds):
    with pytest.raises(dp.InvalidParameter, match=r"one pair for each"):
        dp.corr([1], [2], bounds=bounds, epsilon=1)
