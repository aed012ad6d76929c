"""Steps of learning: lookups in constant lists, rows spread over places, vectors of rows."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from deniable.errors import PlanRefused
from deniable.kernel.polynomials import RowSum, products
from deniable.kernel.verdict import check_plan
from deniable.query.planner.step_plans import StepPlanner
from deniable.query.statements.row_integers import Plus, Ref, Times, Whole
from deniable.query.statements.step_statement import StepProgram
from deniable.synth.domain.column_cells import cells_of
from tests.engines.steps import programs
from tests.kernel.declared import facts_of
from tests.query.hospital import policy


def planned(name, *, neighbors="add-remove", rows=3, program=None):
    known = policy(neighbors=neighbors, max_rows_per_unit_per_group=rows)
    table = known.tables["visits"]
    columns = [cells_of(table, label).counted for label in ("ward", "age")]
    sizes = tuple(len(column.key.values) for column in columns)
    planner = StepPlanner(known, table, columns)
    step = program or programs(sizes)[name]
    plan = planner.plan_step(step, name, mu_squared=Fraction(1, 10), delta=Fraction(1, 10**6))
    return plan, facts_of(known), planner.sensitivities(step)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("name", ["residuals", "nearest", "products"])
def test_the_kernel_derives_what_the_planner_declares(name, neighbors, rows):
    plan, facts, (_, square) = planned(name, neighbors=neighbors, rows=rows)
    (moved,) = check_plan(plan, facts).parts
    assert moved.l2_squared == square


@pytest.mark.parametrize("name", ["residuals", "nearest", "products"])
def test_a_plan_that_declares_less_is_refused(name):
    plan, facts, _ = planned(name)
    block = plan.blocks[0]
    less = replace(block.mechanism, sensitivity=block.mechanism.sensitivity * Fraction(99, 100))
    with pytest.raises(PlanRefused, match="declares"):
        check_plan(replace(plan, blocks=(replace(block, mechanism=less),)), facts)


HOSTILE = {
    "an entry is too large": ("[0, 1, 2, 3, 4, 5, 6, 7, 8]", "[0, 1, 2, 3, 4, 5, 6, 7, 99]"),
    "an entry is not a number": (
        "[0, 1, 2, 3, 4, 5, 6, 7, 8]",
        "[0, 1, 2, 3, 4, 5, 6, 7, 'a']",
    ),
    "an entry depends on the row": (
        "[0, 1, 2, 3, 4, 5, 6, 7, 8]",
        "[0, 1, 2, 3, 4, 5, 6, 7, c1]",
    ),
    "a sum of two lookups": ("THEN CAST(8 AS INT)", "THEN CAST(8 AS INT) + s0 + s0 + s0"),
    "another function": ("LIST_EXTRACT([0, 1, 2, 3, 4, 5, 6, 7, 8]", "LIST_SLICE([0, 1, 2, 3]"),
    "a place below the list": ("5, 6, 7, 8], ", "5, 6, 7, 8], -500 + "),
    "a place above the list": ("5, 6, 7, 8], ", "5, 6, 7, 8], 1 + "),
    "a place in a list is NULL": ("5, 6, 7, 8], ", "5, 6, 7, 8], NULL + "),
    "two places may meet": ("c1 + 4 AS", "c1 + 3 AS"),
    "a place may be NULL": ("SELECT c0 AS p0", "SELECT NULLIF(c0, 1) AS p0"),
    "a place without a range": ("SELECT c0 AS p0", "SELECT c0 * z0 * z0 AS p0"),
}


@pytest.mark.parametrize("change", HOSTILE)
def test_hostile_changes_are_refused(change):
    plan, facts, _ = planned("residuals", rows=1)
    before, after = HOSTILE[change]
    assert before in plan.engine_sql
    changed = plan.engine_sql.replace(before, after)
    with pytest.raises(PlanRefused):
        check_plan(replace(plan, engine_sql=changed), facts)


def test_products_that_are_not_all_pairs_may_point_against_each_other():
    pairs = [Times(Ref(a), Ref(b)) for a, b in product(("z0", "z1"), repeat=2)]
    centred = {"z0": Plus((Ref("c0"), Whole(-1))), "z1": Plus((Ref("c1"), Whole(-5)))}
    for values in (pairs[:3], [*pairs, Times(Whole(2), pairs[1])]):
        program = StepProgram((4, 13), (centred,), (), tuple(values))
        moved = []
        for neighbors in ("add-remove", "replace"):
            plan, facts, _ = planned("pairs", neighbors=neighbors, program=program)
            moved.append(check_plan(plan, facts).parts[0].l2_squared)
        assert moved[1] > 2 * moved[0]


def test_the_vectors_of_rows():
    x, y = RowSum.variable("x", -2, 3), RowSum.variable("y", 1, 2)
    assert products([x, y]) == (13, 5)  # -6 from x, 1 from y
    assert products([x * x, x * y, y * x, y * y])[1] == 0
    assert products([x * x, x * y, y * y])[1] > 0
    assert products([x * x, x * y, x * y, y * y, x * y + x * y])[1] > 0
    assert products([x.present(["x"])]) is None  # it may be NULL
    assert products([RowSum({}, test=("x", 0, 4))]) is None
