"""What is measured for cross-tables, and what it costs, before anything is run."""

from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.synth.crosstabs.crosstab_plans import plan_crosstabs

COLUMNS = ("ward", "old", "age", "code")
FRAME = pa.table(
    {"ward": ["A", "B"], "old": [True, False], "age": [30, 60], "code": [1, 2], "p": [1, 2]}
)
PAIRS = [list(pair) for pair in combinations(COLUMNS, 2)]
OPTIONS = {
    "table": None,
    "epsilon": 1,
    "delta": None,
    "cuts": None,
    "weights": None,
    "missing": True,
    "confidence": 0.95,
}


def session(**more):
    declared = {"keys": {"ward": ["A", "B"], "code": [1, 2, 3]}, "bounds": {"age": (0, 100)}}
    budget = {"epsilon": 2, "delta": 1e-5}
    return dp.protect(FRAME, name="t", **{**declared, **budget, **more})


@pytest.fixture
def opened():
    with session() as current:
        yield current


def plan(current, tables, **more):
    return plan_crosstabs(current, tables, **{**OPTIONS, **more})


@pytest.mark.parametrize("tables", [[["ward"]], [["ward", "old"]], PAIRS, [list(COLUMNS)]])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weights", [None, {("ward", "old"): 7}])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_shares_add_up_to_at_most_the_whole_and_the_whole_to_the_price(
    tables, missing, weights, neighbors
):
    if weights and ["ward", "old"] not in tables:
        weights = None
    limits = {"unit": "p", "max_rows_per_unit_per_group": 3, "neighbors": neighbors}
    with session(**limits) as current:
        plans = plan(current, tables, missing=missing, weights=weights)
        whole = dp.GaussianLoss.calibrated(epsilon=1, delta=plans.delta).mu_squared
        assert sum(plans.shares.values()) <= 1
        spent = sum(own.loss.mu_squared for own in plans.plans.values())
        assert spent == whole * sum(plans.shares.values())
        assert spent > whole * Fraction(999, 1000)
        current.release_all(list(plans.plans.values()), delta=plans.delta)
        assert current.remaining.epsilon >= 1


def test_delta_is_a_hundredth_of_the_budgets(opened):
    assert plan(opened, PAIRS).delta == Fraction(1, 10**7)
    assert plan(opened, PAIRS, delta=1e-6).delta == Fraction(1, 10**6)


def test_a_weight_makes_a_table_more_accurate(opened):
    same = plan(opened, PAIRS).predict_margins()
    more = plan(opened, PAIRS, weights={("old", "ward"): 3}).predict_margins()
    first, *others = same
    assert more[first] < same[first] * 0.75
    assert all(more[other] >= same[other] for other in others)


def test_explain_says_what_is_measured(opened):
    text = str(opened.crosstabs([["ward", "old"], ["age"]], epsilon=1, explain=True))
    assert "2 cross-tables of t at epsilon 1, delta 1e-07, in one charge" in text
    assert "ward, old: 9 cells, ± " in text
    assert "times the least that any Gaussian noise allows" in text
    assert "one unit is one row of t (add-remove)" in text
    assert "checked: one row moves these numbers" in text
    assert opened.remaining.epsilon == 2


@pytest.mark.parametrize(
    ("tables", "more", "message"),
    [
        ([], {}, "list of lists"),
        ("ward", {}, "list of lists"),
        (["ward"], {}, "list of columns"),
        ([["ward", "ward"]], {}, "different columns"),
        ([[]], {}, "1 to 6"),
        ([["ward", "old"], ["old", "ward"]], {}, "asked twice"),
        ([["wards"]], {}, "Did you mean"),
        ([["ward"]], {"cuts": {"age": [1]}}, "in no cross-table"),
        ([["age"]], {"cuts": [1]}, "`cuts` maps columns"),
        ([["ward"]], {"weights": {("age",): 2}}, "not asked for"),
        ([["ward"]], {"weights": 2}, "matter more"),
        ([["ward"]], {"table": "u"}, "no private table"),
        ([["ward"]], {"delta": 0}, "needs a delta"),
    ],
)
def test_faults_are_found_before_the_charge(opened, tables, more, message):
    with pytest.raises(InvalidParameter, match=message):
        plan(opened, tables, **more)
    assert opened.remaining.epsilon == 2


def test_too_many_cells_are_refused():
    columns = {f"c{i}": [0] for i in range(6)}
    keys = {name: list(range(100)) for name in columns}
    with dp.protect(pa.table(columns), keys=keys, epsilon=1, delta=1e-6) as current:
        with pytest.raises(InvalidParameter, match=r"cells\. At most 10,000,000"):
            plan(current, [list(columns)])
        with pytest.raises(InvalidParameter, match="needs a delta"):
            plan(current, [["c0"]], delta=1)
