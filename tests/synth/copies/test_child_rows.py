"""Children get parents with the same cells, and as many as each parent's number says."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.policy import Column
from deniable.synth.copies.child_rows import ChildRows, _coarsen, draw_children
from deniable.synth.copies.copy_requests import plan_copy
from deniable.synth.domain.column_cells import ColumnCells

CHANCE = np.random.default_rng(5)


def test_every_parent_gets_as_many_children_as_its_number():
    parents, children = [(0,), (1,), (0,)], [(0,), (0,), (1,)]
    drawn, owners = draw_children(parents, [2, 3, None], children, CHANCE)
    assert np.bincount(owners, minlength=3).tolist() == [2, 3, 0]
    assert all(
        children[child] == parents[owner] for child, owner in zip(drawn, owners, strict=True)
    )


@pytest.mark.parametrize(
    ("children", "from_which"),
    [([(0, 1), (1, 0)], {0}), ([(1, 0), (1, 1)], {0, 1}), ([], set())],
)
def test_without_a_child_of_the_same_cells_the_last_columns_are_left_out(children, from_which):
    drawn, _ = draw_children([(0, 0)], [200], children, CHANCE)
    assert set(drawn.tolist()) == from_which


def test_parents_are_alike_within_tenths_of_a_number():
    cuts = list(range(1, 41))
    age = ColumnCells.of_cuts(Column("age", bounds=(0, 100), step=1), cuts, missing=True)
    coarse = _coarsen(age)
    assert len(set(coarse.tolist())) == 11
    assert np.count_nonzero(coarse == coarse[-1]) == 1, "missing is a part of its own"
    assert (np.diff(coarse) >= 0).all()


PARENTS = pa.table({"id": [7, 8], "sex": ["m", "f"], "number": [3, 2]})


def deliver(sampled):
    people = pa.table({"sex": ["f", "m"] * 50, "ward": ["A", "B"] * 50})
    keys = {"sex": ["f", "m"], "ward": ["A", "B"]}
    with dp.protect(people, keys=keys, epsilon=1, delta=1e-6) as session:
        plan = plan_copy(session, None, epsilon=1, delta=1e-6)
    cells = [own for own in plan.cells if own]
    return ChildRows(PARENTS, "id", "number")(plan, cells, np.array(sampled), CHANCE)


def test_children_carry_their_parents_own_values():
    codes, rows = deliver([[0, 0], [1, 1]])
    assert rows.to_pydict() == {
        "id": [7, 7, 7, 8, 8],
        "sex": [*"mmmff"],
        "ward": [*"BBBAA"],
    }
    assert codes.tolist() == [[1, 1]] * 3 + [[0, 0]] * 2


def test_what_is_scored_is_the_parent_that_a_child_got():
    """Only men have sampled children, so the woman gets children of men."""
    codes, rows = deliver([[1, 1]])
    assert rows["sex"].to_pylist() == [*"mmmff"]
    assert codes.tolist() == [[1, 1]] * 3 + [[0, 1]] * 2
