"""Distances from a model: whole numbers that one row moves by no more than the scale."""

import random

import numpy as np
import pytest

from deniable.mechanisms import Exponential
from deniable.query.plan.plan import TableDistance
from deniable.release.answer.cell_places import PlacedCells
from deniable.release.answer.distances import MOST_ROWS, choose_tree, measure_distance

SCALE = 1024


def cells(counts):
    filled = np.flatnonzero(counts)
    zeros = np.zeros(filled.size, np.int64)
    return PlacedCells(zeros, filled, np.asarray(counts)[filled])


def test_a_distance_is_exact():
    table = TableDistance("a, b", "", (1000, 0, 3 * SCALE), (0, 1))
    assert measure_distance(table, SCALE, cells([2, 0, 1])) == 1048 + 2 * SCALE


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
        table = TableDistance("a, b", "", model, (0, 1))
        apart = abs(
            measure_distance(table, SCALE, cells(left))
            - measure_distance(table, SCALE, cells(right))
        )
        assert apart <= times * rows * SCALE
        farthest = max(farthest, apart)
    assert farthest > 0.6 * times * rows * SCALE


def test_huge_counts_are_cut_and_nothing_fails():
    table = TableDistance("a", "", (0, 0), (0, 0))
    assert measure_distance(table, SCALE, cells([2**53, 0])) == SCALE * MOST_ROWS


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
