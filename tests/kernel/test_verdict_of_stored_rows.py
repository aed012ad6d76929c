"""Rows that are stored once for several steps: derived from their own statement."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import PlanRefused
from deniable.kernel.facts import Facts
from deniable.kernel.verdict import check_plan
from deniable.query.planner.step_plans import StepPlanner
from deniable.synth.domain.column_cells import cells_of
from tests.engines.neighbors import SALT, excess, told
from tests.engines.steps import inlined, programs, steps
from tests.kernel.declared import facts_of
from tests.kernel.test_verdict_of_steps import planned
from tests.query.hospital import policy

STEPS = ["residuals", "nearest", "products"]


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("name", STEPS)
def test_they_count_as_if_they_stood_where_they_are_read(name, neighbors):
    plan, facts, _ = planned(name, neighbors=neighbors)
    apart = replace(plan, engine_sql=inlined(plan), stored="")
    assert check_plan(plan, facts) == check_plan(apart, facts)


def plan_residuals(known):
    table = known.tables["visits"]
    columns = [cells_of(table, name).counted for name in ("ward", "age")]
    step = programs(tuple(len(column.key.values) for column in columns))["residuals"]
    spent = {"mu_squared": Fraction(1, 10), "delta": Fraction(1, 10**6)}
    return StepPlanner(known, table, columns).plan_step(step, "residuals", **spent)


HOSTILE = {
    "rows are not limited": ("place <= 3", "place <= 3000"),
    "a number is wider than it was": ("THEN 9 ELSE 10 END", "THEN 9 ELSE 100 END"),
    "a number has no range": ("ELSE 3 END", "ELSE CAST(c3 AS INT) END"),
    "a number does not fit its type": ("ELSE 3 END", "ELSE 127 END"),
    "a number may be missing": ("ELSE 3 END", "END"),
    "rows of units are mixed": ("FROM (SELECT * FROM", "FROM (SELECT DISTINCT k0, k1 FROM"),
    "rows of a unit may be none": ('WHERE NOT "patient" IS NULL', "WHERE TRUE"),
    "the first rows": (" AS kept", " AS kept LIMIT 5"),
    "its own name": ('FROM "visits"', 'FROM "(stored rows)"'),
    "another table": ('FROM "visits"', 'FROM "unknown"'),
}


@pytest.mark.parametrize("change", HOSTILE)
def test_hostile_definitions_are_refused(change):
    plan, facts, _ = planned("residuals")
    before, after = HOSTILE[change]
    assert before in plan.stored
    with pytest.raises(PlanRefused):
        check_plan(replace(plan, stored=plan.stored.replace(before, after, 1)), facts)


def test_they_have_no_row_numbers_which_an_engine_could_make_at_each_place():
    known = policy(person=False)
    plan, facts = plan_residuals(known), facts_of(known)
    assert check_plan(plan, facts).parts
    numbered = (
        'FROM (WITH v AS MATERIALIZED (SELECT ROW_NUMBER() OVER () AS "n", * FROM "visits") '
        "SELECT * FROM v)"
    )
    with pytest.raises(PlanRefused, match="made twice"):
        check_plan(replace(plan, stored=plan.stored.replace('FROM "visits"', numbered)), facts)


def test_the_tables_that_they_come_from_are_charged():
    plan, facts, _ = planned("residuals")
    other = replace(facts.tables[0], name="other")
    beside = Facts((*facts.tables, other))
    read = replace(plan, stored=plan.stored.replace('"visits"', '"other"'))
    with pytest.raises(PlanRefused, match="not charged"):
        check_plan(read, beside)
    assert check_plan(replace(read, table="other"), beside).parts


def test_they_need_a_name_of_their_own_and_a_definition():
    plan, facts, _ = planned("residuals")
    with pytest.raises(PlanRefused, match="unknown table"):
        check_plan(replace(plan, stored=""), facts)
    named = replace(facts.tables[0], name="(stored rows)")
    with pytest.raises(PlanRefused, match="name of the stored rows"):
        check_plan(plan, Facts((*facts.tables, named)))


def test_they_do_not_depend_on_keys_that_are_not_in_their_text():
    """Another plan with the same definition could have other keys."""
    plan, facts, _ = planned("residuals")
    assert len(plan.keys) == 1
    listed = " AND ".join(["WHERE place <= 3", 'k0 IN (SELECT key FROM "(keys 0)")'])
    read = plan.stored.replace("WHERE place <= 3", listed)
    wide = replace(plan.keys[0], kind="text", values=("A", "B"))
    with pytest.raises(PlanRefused, match="unknown table"):
        check_plan(replace(plan, stored=read, keys=(wide,)), facts)


def test_of_a_part_they_hold_only_the_part():
    whole = steps()["residuals, True"]
    part, facts = steps()["part"], facts_of(policy(person=True))
    assert check_plan(part, facts).parts
    with pytest.raises(PlanRefused, match="outside of its part"):
        check_plan(replace(part, stored=whole.stored), facts)


def table(rows):
    """Visits of a few people, and then these."""
    crowd = [(unit, "ABCD"[unit % 4], 7.0 * unit) for unit in range(12)]
    who, wards, ages = zip(*crowd, *rows, strict=True)
    columns = {"patient": who, "ward": wards, "age": ages}
    return pa.table({name: pa.array(values) for name, values in columns.items()})


WORST = [
    [],
    [(99, "A", 500.0)] * 9,
    [(99, "B", -5.0)] * 4,
    [(99, ward, 11.0 * i) for i, ward in enumerate("ABCDABCD")],
    [(99, None, None), (99, "B", float("nan")), (99, "B", 120.0), (99, "A", float("inf"))],
    [(99, "B", 47.0)],
]


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("name", STEPS)
def test_one_unit_moves_steps_over_stored_rows_by_no_more(name, neighbors):
    plan, _, _ = planned(name, neighbors=neighbors)
    answers = []
    for rows in WORST:
        with DuckDB.open({"visits": table(rows)}) as engine:
            engine._salt = SALT
            answers.append(engine.run(plan).reveal_to(told))
    pairs = [(left, right) for left in answers for right in answers if left is not right]
    pairs = pairs if neighbors == "replace" else [(left, answers[0]) for left in answers[1:]]
    assert any(left != right for left, right in pairs)
    for left, right in pairs:
        assert not excess(plan, left, right)
