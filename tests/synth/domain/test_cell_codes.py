"""Every drawn value is in the cell that it was drawn from."""

from datetime import date

import numpy as np
import pytest

from deniable.policy import Column
from deniable.synth.domain.cell_codes import code_values
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.domain.date_cells import cells_between
from deniable.synth.domain.quantile_cuts import cells_at, draw_values

NUMBER = Column("gain", bounds=(0, 1000), step=1)
FINE = Column("rate", bounds=(0, 1))
WARD = Column("ward", keys=["A", "B"])
DAY = Column("day", kind="date")
EDGES = [date(2020, 1, 1), date(2020, 1, 2), date(2020, 3, 1), date(2021, 1, 1)]


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        (cells_at(NUMBER, [0.0, 0.0, 120.0, 500.0, 1000.0], missing=True), NUMBER),
        (cells_at(FINE, [0.1, 0.25, 0.5], missing=True), FINE),
        (ColumnCells.of_values(WARD, ("A", "B"), missing=True), WARD),
        (cells_between(DAY, EDGES, missing=True), DAY),
    ],
    ids=["atoms", "fractions", "keys", "days"],
)
def test_drawn_values_go_back_into_their_cells(cells, column):
    codes = np.repeat(np.arange(cells.size), 50)
    values = draw_values(cells, column, codes, np.random.default_rng(1))
    if cells.kind == "date":
        values = [None if value is None else date.fromisoformat(value) for value in values]
    assert code_values(cells, values).tolist() == codes.tolist()


def test_a_value_in_no_cell_counts_as_missing():
    ward = ColumnCells.of_values(WARD, ("A", "B"), missing=True)
    assert code_values(ward, ["C", None]).tolist() == [2, 2]
    days = cells_between(DAY, EDGES, missing=True)
    assert code_values(days, [date(2019, 12, 31), date(2021, 1, 1)]).tolist() == [3, 3]
