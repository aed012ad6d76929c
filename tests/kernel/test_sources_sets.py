"""Grouping sets of places: a row counts once in each set, and nothing else passes.

`test_verdict_of_stored_rows` runs them on neighbouring tables.
"""

from dataclasses import replace

import pytest

from deniable.errors import PlanRefused
from deniable.kernel.verdict import check_plan
from tests.kernel.test_verdict_of_steps import planned

SETS = "GROUPING SETS ((p0), (p1), (p2))"
PLACE = "COALESCE(p0, p1, p2) AS k0"
SPREAD = "SELECT UNNEST([c0, c1 + 4, CAST(15 AS INT)]) AS b, r0 AS v0"


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_they_count_as_rows_that_stand_once_at_each_place(neighbors, rows):
    plan, facts, _ = planned("residuals", neighbors=neighbors, rows=rows)
    sql = plan.engine_sql.replace(f"SELECT {PLACE}", "SELECT b AS k0").replace(SETS, "b")
    spread = sql.replace(
        "SELECT c0 AS p0, c1 + 4 AS p1, CAST(15 AS INT) AS p2, r0 AS v0", SPREAD
    )
    assert "UNNEST" in spread
    assert check_plan(plan, facts) == check_plan(replace(plan, engine_sql=spread), facts)


HOSTILE = {
    "two places may meet": ("c1 + 4 AS p1", "c1 + 3 AS p1", "may be the same"),
    "a place may be NULL": ("SELECT c0 AS p0", "SELECT NULLIF(c0, 1) AS p0", "not an integer"),
    "one set twice": (SETS, "GROUPING SETS ((p0), (p1), (p2), (p2))", "are the same"),
    "a set of two columns": (
        SETS,
        "GROUPING SETS ((p0, p1), (p2))",
        "No rule|has no rule|cannot be checked",
    ),
    "a set of no column": (
        SETS,
        "GROUPING SETS ((p0), (p1), (p2), ())",
        "No rule|has no rule|cannot be checked",
    ),
    "a set of a sum": (SETS, "GROUPING SETS ((p0 + 1), (p1), (p2))", "No rule"),
    "a column before the sets": (SETS, f"p0, {SETS}", "No rule"),
    "a column after the sets": (SETS, f"{SETS}, p0", "not alone"),
    "groups are left out": (SETS, f"{SETS} HAVING COUNT(*) > 1", "not alone"),
    "all combinations": (SETS, "ROLLUP (p0, p1, p2)", "has no rule|No rule"),
    "a place is not told": (PLACE, "COALESCE(p0, p1) AS k0", "Unknown column"),
    "places are told in another order": (PLACE, "COALESCE(p1, p0, p2) AS k0", "Unknown column"),
    "one place alone": (PLACE, "p0 AS k0", "Unknown column"),
    "a place is added up": ("SUM(v0)", "SUM(p1)", "Unknown column"),
}


@pytest.mark.parametrize("change", HOSTILE)
def test_hostile_changes_are_refused(change):
    plan, facts, _ = planned("residuals", rows=1)
    assert check_plan(plan, facts).parts
    before, after, why = HOSTILE[change]
    assert before in plan.engine_sql
    hostile = replace(plan, engine_sql=plan.engine_sql.replace(before, after))
    with pytest.raises(PlanRefused, match=why):
        check_plan(hostile, facts)


def test_one_more_set_is_one_more_place():
    plan, facts, _ = planned("residuals", rows=1)
    sql = plan.engine_sql.replace("AS p2, ", "AS p2, c1 + 500 AS p3, ").replace(
        "p2)", "p2, p3)"
    )
    more = sql.replace("(p2, p3))", "(p2), (p3))")
    assert "COALESCE(p0, p1, p2, p3)" in more
    assert "(p2), (p3))" in more
    with pytest.raises(PlanRefused, match="declares"):
        check_plan(replace(plan, engine_sql=more), facts)
