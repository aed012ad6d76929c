"""Cells of days: intervals inside a declared range; days are drawn within them."""

from datetime import date, timedelta

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.policy import Column
from deniable.synth.domain.date_cells import (
    cells_between,
    date_cells,
    day_of,
    draw_days,
    read_edges,
    read_range,
)

DAY = Column("day", kind="date")
FIRST, LAST = date(2020, 1, 1), date(2020, 12, 31)


def number(day):
    return day.year * 366 + day.timetuple().tm_yday


def test_numbers_are_days():
    for offset in range(0, 1500, 7):
        day = date(2019, 1, 1) + timedelta(offset)
        assert abs(day_of(number(day)) - day) <= timedelta(1)
    assert day_of(1) == date.min
    assert day_of(10**7) < date.max


def test_equal_quantiles_are_a_day_of_their_own():
    often = number(date(2020, 3, 1))
    cells = date_cells(DAY, FIRST, LAST, [often, often, often + 40], missing=False)
    assert "2020-03-01 to 2020-03-02" in cells.labels
    assert cells.cuts[0] == "2020-01-01"
    assert cells.cuts[-1] == "2021-01-01"


def test_quantiles_outside_are_cut_to_the_range():
    cells = date_cells(DAY, FIRST, LAST, [1.0, 10**9], missing=True)
    assert cells.labels == ("2020-01-01 to 2020-12-31", "2020-12-31 to 2021-01-01", None)


def test_days_are_drawn_inside_their_cell():
    edges = [date(2020, 1, 1), date(2020, 1, 2), date(2020, 2, 1)]
    cells = cells_between(DAY, edges, missing=True)
    days = draw_days(cells, np.array([0, 1, 2] * 200), np.random.default_rng(1))
    assert set(days[0::3]) == {"2020-01-01"}
    assert min(days[1::3]) >= "2020-01-02"
    assert max(days[1::3]) <= "2020-01-31"
    assert set(days[2::3]) == {None}


@pytest.mark.parametrize(
    "given", ["2020", ("2020-01-01",), ("2020-02-01", "2020-01-01"), (1, 2), None]
)
def test_bad_ranges(given):
    with pytest.raises(InvalidParameter):
        read_range(DAY, given)
    with pytest.raises(InvalidParameter, match="not a column of dates"):
        read_range(Column("n", bounds=(0, 1)), ("2020-01-01", "2020-02-01"))


@pytest.mark.parametrize("cuts", [["2020-01-01"], ["2020-02-01", "2020-01-01"], [1, 2], [None]])
def test_bad_cuts(cuts):
    with pytest.raises(InvalidParameter, match="increasing days"):
        read_edges(DAY, cuts)
