"""The bars of an answer are its numbers, and the whiskers its margins."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.figures import releases

WARDS = ["A", "B", "C"]


@pytest.fixture(scope="module")
def answer():
    table = pa.table({"ward": ["A"] * 500 + ["B"] * 300, "cost": [10.0] * 800})
    data = dp.protect(table, bounds={"cost": (0, 100)}, keys={"ward": WARDS}, epsilon=9)
    sql = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM data GROUP BY ward"
    return data.sql(sql, epsilon=1)


@pytest.mark.parametrize("column", ["n", "cost"])
def test_bars_and_whiskers_are_values_and_margins(answer, column):
    (axes,) = releases.bars(answer, column).axes
    found = answer.to_arrow()
    drawn = [bar.get_width() for bar in axes.patches]
    assert drawn == pytest.approx(found[column].to_pylist())
    (whiskers,) = axes.collections
    halves = [(end[0] - start[0]) / 2 for start, end in whiskers.get_segments()]
    assert halves == pytest.approx(found[f"{column}_margin"].to_pylist())
    assert [label.get_text() for label in axes.get_yticklabels()] == WARDS


def test_the_first_number_is_drawn_unless_one_is_named(answer):
    (axes,) = answer.plot().axes
    assert axes.get_xlabel() == "n"


def test_a_single_number_can_be_drawn():
    data = dp.protect(pa.table({"a": [1] * 50}), epsilon=1)
    (axes,) = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=1).plot().axes
    assert len(axes.patches) == 1


def test_many_groups_are_not_named():
    keys = list(range(100))
    data = dp.protect(pa.table({"a": [1] * 50}), keys={"a": keys}, epsilon=1)
    (axes,) = data.sql("SELECT a, COUNT(*) AS n FROM data GROUP BY a", epsilon=1).plot().axes
    assert len(axes.patches) == 100
    assert len(axes.get_yticklabels()) < 50


def test_what_cannot_be_drawn_is_refused(answer):
    with pytest.raises(dp.InvalidParameter, match="of the answer: n, cost"):
        answer.plot("ward")
    data = dp.protect(pa.table({"a": [1] * 50}), keys={"a": [1]}, epsilon=1)
    empty = data.sql("SELECT a, COUNT(*) AS n FROM data GROUP BY a LIMIT 0", epsilon=1)
    with pytest.raises(dp.InvalidParameter, match="nothing to draw"):
        empty.plot()
