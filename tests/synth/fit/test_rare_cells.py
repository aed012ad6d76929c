"""Rare cells are merged by noisy counts, and spread again."""

import numpy as np

from deniable.synth.fit.rare_cells import MergedCells

COUNTS = np.array([100.0, 4.0, 60.0, -7.0, 1.0])


def test_cells_below_two_deviations_are_one():
    merged = MergedCells.of_counts(COUNTS, 5.0)
    assert merged.place == (0, 2, 1, 2, 2)
    assert merged.add_up(COUNTS).tolist() == [100.0, 60.0, -2.0]
    assert [own.tolist() for own in merged.members] == [[0], [2], [1, 3, 4]]
    assert merged.spread(np.array([10.0, 20.0, 6.0])).tolist() == [10.0, 2.0, 20.0, 2.0, 2.0]


def test_a_single_rare_cell_and_only_rare_cells_stay():
    for counts in (np.array([50.0, 1.0]), np.array([1.0, 2.0, 3.0])):
        merged = MergedCells.of_counts(counts, 5.0)
        assert merged.place == tuple(range(counts.size))
        assert merged.spread(counts).tolist() == counts.tolist()
