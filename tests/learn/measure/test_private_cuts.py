"""Private cuts: paid for, near the quantiles, and of use to a model."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import learn
from deniable.errors import BudgetExhausted, InvalidParameter

CHANCE = np.random.default_rng(5)
PAY = 2_000 + CHANCE.normal(0, 100, 4_000)  # within bounds that are far wider
FRAME = pa.table({"pay": PAY, "none": np.zeros(4_000), "text": ["a"] * 4_000, "y": PAY > 2_000})


def opened(epsilon=100):
    bounds = {"pay": (0, 1_000_000), "none": (0, 50)}
    return dp.protect(FRAME, bounds=bounds, keys={"text": ["a"]}, epsilon=epsilon)


def test_they_lie_where_the_rows_are_and_cost_their_price():
    data = opened()
    cuts = learn.private_cuts(data.table("data"), ["PAY", "none"], epsilon=40)
    assert data.remaining.epsilon == 60
    near = [float(cut) for cut in cuts["pay"]]
    assert near == sorted(set(near))
    assert sorted(near)[len(near) // 2] < 10_000  # the public default has cells of 41,667
    assert [0 < float(cut) <= 0.1 for cut in cuts["none"]] == [True]  # one value: its own cell
    assert all(0 < float(cut) <= 50 for cut in cuts["none"])


def test_a_model_with_them_tells_apart_what_public_cells_cannot():
    data = opened()
    table = data.table("data")
    cuts = learn.private_cuts(table, ["pay"], epsilon=40)
    options = {"epsilon": 1, "features": ["pay"]}
    fine = learn.NaiveBayes(cuts=cuts, **options).fit(table, target="y")
    coarse = learn.NaiveBayes(**options).fit(table, target="y")
    said = [(model.predict({"pay": PAY}) == (PAY > 2_000)).mean() for model in (fine, coarse)]
    assert data.remaining.epsilon == 58
    assert said[0] > said[1] + 0.1


@pytest.mark.parametrize("columns", ["pay", [], ["pay", "PAY"], ["text"], ["y"], ["x"]])
def test_other_columns_are_refused_before_the_charge(columns):
    data = opened()
    with pytest.raises(InvalidParameter):
        learn.private_cuts(data.table("data"), columns, epsilon=1)
    with pytest.raises(BudgetExhausted):
        learn.private_cuts(data.table("data"), ["pay", "none"], epsilon=101)
    assert data.remaining.epsilon == 100
