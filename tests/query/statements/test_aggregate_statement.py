"""The engine's SQL on the rows and questions that could make it fail, or count too much."""

import re
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from sqlglot import exp

import deniable as dp
from deniable.engines.dialect.constants import constant_of
from deniable.query.language.parse import parse
from deniable.query.plan.statement_text import tree_of
from deniable.query.planner.planner import plan
from deniable.query.relations.scope import FUNCTIONS
from deniable.query.relations.value_ranges import ValueRange
from tests.engines.contract import CASES, POLICIES


def exact(session, plan):
    """The engine's groups: {keys: features}, before any noise."""

    def read(integers):
        keys = zip(*(column.to_pylist() for column in integers.keys), strict=True)
        features = zip(*(column.tolist() for column in integers.features.values()), strict=True)
        return dict(zip(keys, features, strict=True)) if integers.keys else list(features)

    return session._engine.run(plan).reveal_to(read)


@pytest.mark.parametrize("far", ["1e18", "1e20", "1e30", "-1e30"])
@pytest.mark.parametrize("aggregate", ["HISTOGRAM", "SUM", "AVG", "VARIANCE"])
@pytest.mark.parametrize("epsilon", [1, 10**9])
def test_no_offset_makes_the_engine_fail_on_the_first_row_there_is(far, aggregate, epsilon):
    rows = pa.table({"x": pa.array([5, 100, None], pa.int64())})
    session = dp.protect(rows, bounds={"x": (0, 100)}, epsilon=epsilon)
    plan = session.plan(f"SELECT {aggregate}(x + {far}) AS h FROM data", epsilon=epsilon)
    (features,) = exact(session, plan)
    for block in plan.blocks:
        within = block.mechanism.sensitivity
        moved = dict(zip(plan.features, features, strict=True))
        assert sum(abs(moved[name]) for name in block.features) <= 2 * within


@pytest.mark.parametrize("high", [2**60 + 255, 2**53 + 1, 10**18 + 1])
def test_bounds_that_no_double_holds_are_not_exceeded(high):
    rows = pa.table({"x": pa.array([2**62], pa.int64())})
    bounds = {"x": (high - 200, high)}
    session = dp.protect(rows, bounds=bounds, step={"x": 1}, epsilon=10**9)
    plan = session.plan("SELECT SUM(x) AS s FROM data", epsilon=10**9)
    ((total,),) = exact(session, plan)
    assert total <= plan.blocks[0].mechanism.sensitivity


@pytest.mark.parametrize("declared", [[True], [False]])
@pytest.mark.parametrize("max_groups_per_unit", [1, 2, 3])
def test_one_declared_truth_and_the_rest_are_two_groups(declared, max_groups_per_unit):
    rows = pa.table({"p": [1, 1, 1], "f": [True, False, None]})
    session = dp.protect(
        rows, unit="p", max_groups_per_unit=max_groups_per_unit, keys={"f": declared}, epsilon=1
    )
    plan = session.plan("SELECT f, COUNT(*) AS n FROM data GROUP BY f", epsilon=1, other=True)
    groups = exact(session, plan)
    assert set(groups) <= {(declared[0],), (None,)}
    assert sum(n for (n,) in groups.values()) <= plan.blocks[0].mechanism.sensitivity


def test_a_sum_of_nothing_is_answered():
    session = dp.protect(pa.table({"x": [1, 2]}), epsilon=1, neighbors="replace")
    plan = session.plan("SELECT SUM(0) AS s FROM data", epsilon=1)
    assert exact(session, plan) == [(0,)]


def test_a_wrong_derivation_costs_accuracy_and_never_privacy(monkeypatch):
    """Were the limits of a function derived wrongly, what is added up would still keep them."""
    lie = ValueRange("number", Fraction(0), Fraction(1), Fraction(1))
    monkeypatch.setitem(FUNCTIONS, "abs", replace(FUNCTIONS["abs"], value_range=lambda _: lie))
    far = 10**12  # no 32-bit integer holds it, and the cast to one must not fail
    rows = pa.table({"p": [1, 1, 2], "x": [-far, far, 0]})
    declared = {"bounds": {"x": (-far, far)}, "epsilon": 1}
    session = dp.protect(rows, **declared)
    plan = session.plan("SELECT SUM(ABS(x)) AS s FROM data", epsilon=1)
    assert exact(session, plan) == [(2,)]
    session = dp.protect(
        rows, unit="p", max_rows_per_unit_per_group=4, max_groups_per_unit=1, **declared
    )
    inner = "SELECT p, SUM(ABS(x)) AS s FROM data GROUP BY p"
    plan = session.plan(f"SELECT SUM(s) AS s FROM ({inner}) AS own", epsilon=1)
    assert exact(session, plan) == [(2,)]


def test_keys_are_clipped_as_values_are():
    rows = pa.table({"room": [1, 2, 10**6, -(10**6)]})
    session = dp.protect(rows, bounds={"room": (0, 3)}, epsilon=1, delta=1e-3)
    plan = session.plan("SELECT room, SUM(room) AS s FROM data GROUP BY room", epsilon=1)
    groups = exact(session, plan)
    assert {key: values[-1] for (key,), values in groups.items()} == {0: 0, 1: 1, 2: 2, 3: 3}


# Blocks that count: each row adds one. All others add up numbers.
COUNTED = re.compile(r"rows|(rows; )?rows with \w+|units|(histogram|distinct values) of .+")


def clipped(value):
    """The integers of CASE WHEN v > high THEN high WHEN v < low THEN low ELSE v END."""
    assert isinstance(value, exp.Case), value
    above, below = value.args["ifs"]
    (low, high) = (constant_of(node.args["true"]) for node in (below, above))
    kept = value.args["default"]
    assert isinstance(kept, exp.Column)
    assert above.this == exp.GT(this=kept, expression=above.args["true"])
    assert below.this == exp.LT(this=kept, expression=below.args["true"])
    assert low.denominator == high.denominator == 1
    return int(low), int(high)


def summed(tree):
    """The columns x0, x0b, ... that a statement adds up, and the clips that end them."""
    used = {
        node.name for total in tree.find_all(exp.Sum) for node in total.find_all(exp.Column)
    }
    queries = tree.find_all(exp.Subquery)  # the outermost come first
    rows = next(node.this for node in queries if node.alias == "rows")
    return {
        node.alias: clipped(node.unalias())
        for node in rows.expressions
        if re.fullmatch(r"x\d+b?", node.alias_or_name) and node.alias_or_name in used
    }


def added_once(tree):
    """The clip of the values of SUM(DISTINCT v)."""
    assert [str(total.this) for total in tree.find_all(exp.Sum)] == [
        "DISTINCT CAST(v AS INT128)"
    ]
    values = [alias.this for alias in tree.find_all(exp.Alias) if alias.alias == "v"]
    sums = [alias.this for alias in tree.find_all(exp.Alias) if alias.alias == "x0"]
    assert [alias.name for alias in values] == ["x0"]
    return clipped(sums[0])  # the outermost comes first


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_summed_integer_ends_in_an_integer_clip(path):
    """So the text alone says how far one row moves a sum: what the plan states of it."""
    first, _, *sql = path.read_text().splitlines()
    query_plan = plan(
        parse("\n".join(sql)), POLICIES[first.removeprefix("-- policy: ")], epsilon=0.5
    )
    clips = summed(tree_of(query_plan.engine_sql)) if query_plan.engine_sql else {}
    for place, block in enumerate(query_plan.blocks):
        if COUNTED.fullmatch(block.about):
            assert f"x{place}" not in clips
            assert (block.reach.low, block.reach.high, block.reach.total) == (0, 1, 1)
            continue
        low, high = added_once(tree_of(block.sql)) if block.sql else clips[f"x{place}"]
        width, other = max(1, high - low), clips.get(f"x{place}b")
        totals = {width, width**2}  # of a mean's two features, and a variance's three
        if other is not None:
            across = max(1, other[1] - other[0])
            totals = {width**a * across**b for a in (1, 2) for b in (1, 2)}
        if len(block.features) == 1:
            assert (block.reach.low, block.reach.high) == (low, high)
            totals = {max(1, abs(low), abs(high))}
        assert block.reach.total in totals
