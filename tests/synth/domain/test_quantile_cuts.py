"""Cuts at quantiles, atoms, and values inside of cells."""

import numpy as np
import pytest

from deniable.policy import Column
from deniable.synth.domain.quantile_cuts import cells_at, cuts_at, draw_values, grid_step

RNG = np.random.default_rng(6)
GAIN = Column("gain", bounds=(0, 1000), kind="integer")


@pytest.mark.parametrize(
    ("quantiles", "cuts"),
    [
        ([10.0, 20.0], [10, 20]),
        ([0.0, 0.0, 7.2], [1, 7]),  # 0 is the lowest value: only its end is a cut
        ([5.0, 5.0, 9.0], [5, 6, 9]),
        ([1000.0, 1000.0], [1000]),
        ([0.0], [1000]),
    ],
)
def test_equal_quantiles_are_a_cell_of_their_own(quantiles, cuts):
    assert [int(cut) for cut in cuts_at(GAIN, quantiles)] == cuts


def test_values_are_drawn_on_the_grid_of_their_cell():
    cells = cells_at(GAIN, [0.0, 0.0, 500.0], missing=True)
    assert cells.labels == ("0 to 1", "1 to 500", "500 to 1000", None)
    codes = np.repeat(np.arange(4), 300)
    values = draw_values(cells, GAIN, codes, RNG)
    assert set(values[:300]) == {0}
    assert all(1 <= value < 500 for value in values[300:600])
    assert all(500 <= value <= 1000 for value in values[600:900])
    assert set(values[900:]) == {None}
    assert all(isinstance(value, int) for value in values[:900])


def test_a_number_without_a_grid_has_one():
    cost = Column("cost", bounds=(0, 10), kind="number")
    assert grid_step(cost) * 1024 == 10
    values = draw_values(cells_at(cost, [2.5], missing=False), cost, np.array([0, 1]), RNG)
    assert 0 <= values[0] < 2.5 <= values[1] <= 10


def test_listed_values_are_their_labels():
    from deniable.synth.domain.column_cells import ColumnCells

    ward = Column("ward", keys=["A", "B"])
    cells = ColumnCells.of_values(ward, ("A", "B"), missing=True)
    assert draw_values(cells, ward, np.array([1, 2, 0]), RNG) == ["B", None, "A"]
