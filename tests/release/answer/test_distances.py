"""Distances from a model: whole numbers that one row moves by no more than the scale."""

import random

import numpy as np
import pytest

from deniable.engines.handover.exact_groups import JointCells
from deniable.mechanisms import Exponential
from deniable.query.plan.plan import Distances, TableDistance
from deniable.release.answer.distances import choose_tree, measure_distance

SCALE = 1024


def cells(counts):
    """The joint cells of one column with these counts."""
    filled = np.flatnonzero(counts)
    return JointCells(
        filled[:, None].astype(np.int32), np.asarray(counts)[filled], (len(counts),)
    )


def measured(table, joint, sizes):
    mechanism = Exponential(epsilon=1)
    return measure_distance(
        table, Distances((), "", (table,), SCALE, mechanism, "", sizes), joint
    )


def test_a_distance_is_exact():
    table = TableDistance("a", (0,), (1000, 0, 3 * SCALE), (0, 1))
    assert measured(table, cells([2, 0, 1]), (3,)) == 1048 + 2 * SCALE
    heavy = TableDistance("a", (0,), table.model, weight=3, bias=48)
    assert measured(heavy, cells([2, 0, 1]), (3,)) == 3 * (1048 + 2 * SCALE) - 48


def test_tables_are_added_up_from_joint_cells():
    joint = JointCells(
        np.array([[0, 1, 1], [1, 0, 2], [1, 1, 1]], np.int32), np.array([5, 7, 2]), (2, 2, 3)
    )
    sizes = joint.sizes
    wanted = {
        (0,): [5, 9],
        (1, 0): [0, 7, 5, 2],
        (0, 2): [0, 5, 0, 0, 2, 7],
    }
    for columns, counts in wanted.items():
        model = tuple(SCALE * count for count in counts)
        assert measured(TableDistance("", columns, model), joint, sizes) == 0
    merged = TableDistance("", (0, 2), (5 * SCALE, 9 * SCALE), places=(0, 0, 0, 1, 1, 1))
    assert measured(merged, joint, sizes) == 0


@pytest.mark.parametrize(("rows", "times"), [(1, 1), (4, 1), (4, 2)])
def test_a_unit_moves_a_distance_by_its_rows(size, rows, times):
    """Add-remove takes some rows away (times 1); replace moves them to other cells (2)."""
    tries = size(small=300, full=10_000, what="pairs of tables of counts")
    dice, farthest = random.Random(f"{rows} {times}"), 0
    for _ in range(tries):
        count = dice.randint(1, 9)
        model = tuple(dice.randint(0, 4 * SCALE) for _ in range(count))
        left = [dice.randint(0, 5) for _ in range(count)]
        right = list(left)
        for _ in range(rows):
            right[dice.randrange(count)] += 1
            if times == 2:
                left[dice.randrange(count)] += 1
        weight = dice.choice([1, 3])
        table = TableDistance("a", (0,), model, (0, 1), weight=weight, bias=dice.randint(0, 99))
        both = [measured(table, cells(own), (count,)) for own in (left, right)]
        apart = abs(both[0] - both[1])
        assert apart <= times * rows * SCALE * weight
        farthest = max(farthest, apart / weight)
    assert farthest > 0.6 * times * rows * SCALE


def test_huge_counts_are_cut_and_nothing_fails():
    table = TableDistance("a", (0,), (0, 0))
    assert measured(table, cells([2**53, 0]), (2,)) == SCALE * 2**40


def test_counts_of_other_lengths_are_cut_or_filled():
    """A count is never spread over several cells of a model: a row would move all of them."""
    wide = TableDistance("a", (0,), (0,) * 1000)
    assert measured(wide, cells([7]), (1000,)) == 7 * SCALE
    assert measured(TableDistance("a", (0,), (0,)), cells([7, 5]), (1,)) == 7 * SCALE
    placed = TableDistance("a", (0,), (0,), places=(0, 0))
    assert measured(placed, cells([7, 5, 3]), (2,)) == 12 * SCALE


def test_a_chosen_tree_connects_all_columns():
    ends = [(a, b) for a in range(6) for b in range(a + 1, 6)]
    for _ in range(50):
        chosen = choose_tree(Exponential(epsilon=0.1), [0] * len(ends), ends)
        assert len(chosen) == 5
        joined = {0}
        for _ in range(5):
            for place in chosen:
                if joined & set(ends[place]):
                    joined |= set(ends[place])
        assert joined == set(range(6))


def test_far_tables_are_chosen():
    ends = [(0, 1), (0, 2), (1, 2)]
    mechanism = Exponential(epsilon=1, sensitivity=SCALE)
    first = [choose_tree(mechanism, [0, 9 * SCALE, 0], ends)[0] for _ in range(200)]
    assert first.count(1) > 150  # e**4.5 against 1 and 1
