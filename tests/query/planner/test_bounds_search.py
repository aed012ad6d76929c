"""Bounds that nobody declared: one row is in one bin, and full bins stand out."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner import bounds_search
from deniable.query.planner.bounds_search import prepare_search, with_bounds
from deniable.query.planner.planner import plan

SCHEMA = {"cost": "DOUBLE", "age": "INTEGER", "ward": "VARCHAR"}
ASK = parse("SELECT AVG(cost) AS c, SUM(age) AS a, COUNT(*) AS n FROM visits WHERE age > 3")


def hospital(**declared):
    table = Table.declare("visits", **declared).with_schema(SCHEMA)
    return Policy([table], epsilon=3)


def test_columns_without_bounds_are_searched():
    step = prepare_search(ASK, hospital(), "find")
    assert list(step.ends) == ["cost", "age"]
    assert step.question.where == ASK.where
    assert list(prepare_search(ASK, hospital(bounds={"age": (0, 9)}), "find").ends) == ["cost"]


def test_named_columns_are_searched_inside_their_range():
    declared = hospital(bounds={"cost": (-3, 1000)})
    ends = prepare_search(ASK, declared, ["COST"]).ends["cost"]
    assert (ends[0], ends[-1]) == (-3, 1000)
    assert Fraction(512) in ends
    assert Fraction(-2) in ends
    assert Fraction(1024) not in ends
    assert prepare_search(ASK, declared, {"cost": "find"}) == prepare_search(
        ASK, declared, ["cost"]
    )


def test_a_declared_range_and_number_of_rows_are_searched_by_quantiles():
    declared = hospital(bounds={"cost": (0, 10**6)}, expected_rows=10_000)
    step = prepare_search(ASK, declared, ["cost"], beyond=25)
    assert dict(step.levels) == {"cost": Fraction(399, 400)}
    search_plan = plan(step.question, declared, epsilon=1)
    assert [output.name for output in search_plan.outputs] == ["cost[0.0025]", "cost[0.9975]"]
    (bounds,) = step.read(search_plan, [3.5, 900.25])
    assert (bounds.low, bounds.high) == (Fraction("3.5"), Fraction("900.25"))
    assert "the quantiles 0.0025 and 0.9975, ± " in bounds.description
    (alone,) = step.read(search_plan, [5.0, 5.0])
    assert (alone.low, alone.high) == (4, 6)
    assert step.widest[0].high == 10**6


def test_bins_and_quantiles_in_one_search():
    declared = hospital(bounds={"cost": (0, 10**6)}, expected_rows=10_000)
    step = prepare_search(ASK, declared, ["age", "cost"], beyond=25)
    search_plan = plan(step.question, declared, epsilon=1)
    bins = len(step.ends["age"]) - 1
    noisy = [0.0] * bins + [3.5, 900.25]
    noisy[step.ends["age"].index(Fraction(32))] = 10**6
    age, cost = step.read(search_plan, noisy)
    assert (age.low, age.high, cost.high) == (32, 64, Fraction("900.25"))
    assert ["powers of two" in line for line in step.describe(search_plan)] == [True, False]


def test_whole_numbers_need_no_bins_below_one():
    ends = prepare_search(ASK, hospital(), ["age"]).ends["age"]
    assert [end for end in ends if abs(end) < 2] == [-1, 0, 1]


@pytest.mark.parametrize("wanted", ["look", {"cost": (0, 1)}, ["ward"], ["nothing"]])
def test_what_cannot_be_searched_is_refused(wanted):
    with pytest.raises(InvalidParameter, match="`bounds"):
        prepare_search(ASK, hospital(), wanted)


def test_nothing_to_search_is_refused():
    with pytest.raises(InvalidParameter, match="every number of this question has"):
        prepare_search(parse("SELECT COUNT(cost) FROM visits"), hospital(), "find")


def test_an_unknown_table_is_refused():
    with pytest.raises(InvalidQuery, match="one table"):
        prepare_search(parse("SELECT SUM(x) FROM elsewhere"), hospital(), "find")


def test_one_row_is_in_one_bin():
    """All bins together are one payment: the block's sensitivity is that of a count."""
    search_plan = plan(prepare_search(ASK, hospital(), "find").question, hospital(), epsilon=1)
    assert [block.mechanism.sensitivity for block in search_plan.blocks] == [1, 1]


ODD = [0.0, -0.0, 0.75, 1.0, 1.5, -1.0, -1.5, 2.0**49, 2.0**50, -(2.0**50), -1e300, 1e-9]
ODD += [float("inf"), float("-inf"), float("nan"), None, -1e-9]


def test_each_value_is_counted_in_its_own_bin():
    policy = hospital()
    step = prepare_search(parse("SELECT AVG(cost) FROM visits"), policy, "find")
    search_plan = plan(step.question, policy, epsilon=1)
    ends = [float(end) for end in step.ends["cost"]]
    counted = [0] * len(search_plan.features)
    for value in ODD:
        if value is not None and value < ends[-1]:
            counted[max(0, int(np.searchsorted(ends, value, side="right")) - 1)] += 1
    rows = {
        "cost": pa.array(ODD, pa.float64()),
        "age": [1] * len(ODD),
        "ward": ["A"] * len(ODD),
    }
    with DuckDB.open({"visits": pa.table(rows)}) as engine:
        exact = engine.run(search_plan).reveal_to(lambda integers: integers)
    assert [int(exact.features[name][0]) for name in search_plan.features] == counted
    assert sum(counted) == len(ODD) - 4  # 2**50, infinity, NaN and NULL are in no bin


def counts_of(step, column, full):
    ends = step.ends[column]
    return [full.get(end, 0) for end in ends[:-1]]


def test_full_bins_stand_out_and_the_rest_is_counted():
    policy = hospital()
    step = prepare_search(parse("SELECT AVG(cost) FROM visits"), policy, "find")
    search_plan = plan(step.question, policy, epsilon=Fraction(1, 5))
    counts = counts_of(step, "cost", {Fraction(2): 500, Fraction(16): 140, Fraction(512): 7})
    (bounds,) = step.read(search_plan, counts)
    assert (bounds.low, bounds.high, bounds.beyond, bounds.clear) == (2, 32, 7, True)
    assert "2 to 32; at most " in bounds.description
    assert "no margin covers" in bounds.description


def test_too_few_rows_make_a_guess_that_says_so():
    policy = hospital()
    step = prepare_search(parse("SELECT AVG(cost) FROM visits"), policy, "find")
    search_plan = plan(step.question, policy, epsilon=Fraction(1, 5))
    (bounds,) = step.read(search_plan, counts_of(step, "cost", {Fraction(4): 3}))
    assert (bounds.low, bounds.high, bounds.clear) == (4, 8, False)
    assert "guess" in bounds.description


def test_empty_bins_stand_out_as_rarely_as_said(size, monkeypatch):
    """Once in a million cannot be counted, so it is counted for once in twenty."""
    monkeypatch.setattr(bounds_search, "_RARELY", 1 / 20)
    policy = hospital()
    step = prepare_search(parse("SELECT AVG(cost) FROM visits"), policy, "find")
    search_plan = plan(step.question, policy, epsilon=Fraction(1, 5))
    runs = size(small=400, full=20_000, what="searches of an empty table")
    noise = search_plan.blocks[0].mechanism
    wrong = 0
    for _ in range(runs):
        counts = noise.release(np.zeros(len(search_plan.features), dtype=np.int64)).tolist()
        wrong += step.read(search_plan, counts)[0].clear
    # Rarer than said: several bins at once count once, and noise comes in whole steps.
    spread = 6 * (0.05 * 0.95 * runs) ** 0.5
    assert 0.03 * runs - spread < wrong < 0.05 * runs + spread


def test_the_bounds_are_put_into_the_policy():
    policy = hospital(expected_rows=5, row_ceiling=100)
    step = prepare_search(ASK, policy, "find")
    after = with_bounds(policy, "VISITS", step.widest).tables["visits"]
    assert after.columns["age"].bounds == (-(2**50), 2**50)
    assert after.columns["age"].integer
    assert after.columns["ward"].bounds is None
    assert (after.expected_rows, after.row_ceiling) == (5, 100)
