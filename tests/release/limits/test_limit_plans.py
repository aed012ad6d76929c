"""How far one unit moves the histograms of limits: every small unit, both relations."""

from collections import Counter
from dataclasses import replace
from datetime import date
from itertools import combinations_with_replacement

import pyarrow as pa
import pytest
from sqlglot import exp

import deniable as dp
from deniable.query.plan.statement_text import StatementText, tree_of
from deniable.release.limits.limit_plans import plan_limits
from tests.release.limits.worlds import KEYS, histogram, session

VALUES = (*KEYS, "elsewhere", None)
FEW = [(1, "A"), (2, "B")]


def plans(neighbors="add-remove", **options):
    with session(FEW, neighbors=neighbors) as data:
        limit_plans = plan_limits(data, "visits", by="diagnosis", epsilon=1, **options)
        for plan in limit_plans.plans:
            data.check(plan)  # the kernel agrees
        return limit_plans


def units(most):
    for size in range(most + 1):
        for values in combinations_with_replacement(VALUES, size):
            yield [(7, value) for value in values]


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_no_unit_moves_a_histogram_by_more_than_is_declared(neighbors, size):
    limit_plans = plans(neighbors, max_groups=2, max_rows=2)
    most = size(small=4, full=6, what="rows of a unit, all of them tried")
    for plan, least in ((limit_plans.groups, 1), (limit_plans.rows, 2)):
        vectors = {tuple(histogram(plan, unit)) for unit in units(most)}
        alone = max(map(sum, vectors))
        replaced = max(
            sum(abs(x - y) for x, y in zip(vector, other, strict=True))
            for vector in vectors
            for other in vectors
        )
        moved = replaced if neighbors == "replace" else alone
        declared = plan.blocks[0].mechanism.sensitivity
        print(f"{plan.keys[0].name}, {neighbors}: moved {moved}, declared {declared}")
        assert moved == declared == least * (2 if neighbors == "replace" else 1)


def test_the_histograms_count_groups_and_rows_up_to_the_caps():
    limit_plans = plans(max_groups=2, max_rows=3)
    unit = [(1, "A")] * 5 + [(1, "B")] * 2 + [(1, "elsewhere")] * 9 + [(1, None)]
    other = [(2, key) for key in KEYS] + [(3, "C")]
    assert histogram(limit_plans.groups, unit + other) == [1, 2]
    assert histogram(limit_plans.groups, [(1, "A"), (1, "elsewhere"), (1, None)]) == [1, 0]
    assert histogram(limit_plans.rows, unit) == [0, 1, 1]
    assert histogram(limit_plans.rows, other) == [3, 0, 0]  # of the second, two of three groups


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_a_unit_with_half_of_all_rows_moves_no_more_than_any_other(neighbors):
    limit_plans = plans(neighbors, max_groups=2, max_rows=5)
    crowd = [(who, KEYS[(who * i) % 3]) for who in range(40) for i in range(who % 6 + 1)]
    giant = [(99, KEYS[i % 3]) for i in range(len(crowd))]
    small = [(99, "A")]
    for plan in limit_plans.plans:
        for salt in (1, 12345):
            before = histogram(plan, crowd + small, salt)
            after = histogram(plan, crowd + giant, salt)
            without = histogram(plan, crowd, salt)
            declared = plan.blocks[0].mechanism.sensitivity
            moved = sum(abs(x - y) for x, y in zip(after, without, strict=True))
            swapped = sum(abs(x - y) for x, y in zip(after, before, strict=True))
            assert moved <= declared
            assert swapped <= (declared if neighbors == "replace" else 2 * declared)


def test_a_statement_without_the_caps_is_refused_by_the_kernel():
    with session(FEW) as data:
        limit_plans = plan_limits(data, "visits", by="diagnosis", epsilon=1, max_groups=2)
        tree = tree_of(limit_plans.rows.engine_sql).copy()
        (limit,) = (node for node in tree.find_all(exp.LTE) if node.this.name == "place")
        assert limit.expression.name == "2"
        limit.expression.replace(exp.Literal.number(3))
        wider = replace(limit_plans.rows, engine_sql=StatementText(tree))
        with pytest.raises(dp.PlanRefused, match="declares"):
            data.check(wider)


def test_dates_numbers_and_truth_values_are_keys_too():
    table = pa.table({"who": [1, 1, 2], "ok": [True, None, False], "n": [1, 2, 9]})
    limits = {"unit": "who", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 1}
    declared = {"keys": {"n": [1, 2]}, "epsilon": 500, **limits}
    with dp.protect(table, **declared) as data:
        counted = Counter()
        for by in ("ok", "n", ("ok", "n")):
            measured = data.limits(by=by, epsilon=100)
            counted[by] = measured.histograms.groups.total()
    assert counted == {"ok": 2, "n": 2, ("ok", "n"): 1}
    days = pa.table({"who": [1, 1], "day": [date(2026, 1, 1), date(2026, 1, 2)]})
    with dp.protect(days, keys={"day": ["2026-01-01"]}, epsilon=500, **limits) as data:
        assert data.limits(by="day", epsilon=100).histograms.groups.total() == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"table": "visit"}, "Did you mean `visits`"),
        ({"by": "diagnoses"}, "diagnosis"),
        ({"by": "patient"}, "privacy unit itself"),
        ({"max_groups": 1}, "2 to 200"),
        ({"max_rows": 1000}, "2 to 200"),
        ({"confidence": 1}, "between 0 and 1"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_bad_requests_say_what_to_write(options, words):
    with session(FEW) as data:
        with pytest.raises(dp.InvalidParameter, match=words):
            data.limits(**{"table": "visits", "by": "diagnosis", "epsilon": 1, **options})
        assert data.remaining.epsilon == 100


def test_rows_that_are_units_have_no_limits():
    data = dp.protect(pa.table({"x": [1]}), epsilon=1)
    with data, pytest.raises(dp.InvalidParameter, match="protected on its own"):
        data.limits(epsilon=1)
