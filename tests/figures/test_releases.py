"""The bars of an answer are its numbers, and the whiskers its intervals."""

from datetime import date

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
def test_bars_and_whiskers_are_values_and_intervals(answer, column):
    (axes,) = releases.bars(answer, column).axes
    table = answer.to_arrow()
    drawn = [bar.get_width() for bar in axes.patches]
    assert drawn == pytest.approx(table[column].to_pylist())
    (whiskers,) = axes.collections
    for side, name in enumerate([f"{column}_low", f"{column}_high"]):
        drawn = [segment[side][0] for segment in whiskers.get_segments()]
        assert drawn == pytest.approx(table[name].to_pylist())
    assert [label.get_text() for label in axes.get_yticklabels()] == WARDS


def test_the_first_number_is_drawn_unless_one_is_named(answer):
    (axes,) = answer.plot().axes
    assert axes.get_xlabel() == "n (with 95 % intervals; epsilon 1)"
    assert axes.get_title(loc="left") == "Number of rows in data by ward"


@pytest.mark.parametrize("function", ["MIN", "MAX"])
def test_the_whisker_of_an_extreme_reaches_to_its_bound(function):
    table = pa.table({"age": [20 + i % 50 for i in range(500)]})
    data = dp.protect(table, bounds={"age": (0, 100)}, epsilon=9)
    answer = data.sql(f"SELECT {function}(age) AS age FROM data", epsilon=2)
    (axes,) = answer.plot().axes
    ((start, end),) = axes.collections[0].get_segments()
    assert (start[0], end[0]) == pytest.approx((answer.low, answer.high))
    assert {"MIN": answer.low, "MAX": answer.high}[function] in (0, 100)


def test_the_most_frequent_number_has_no_whisker():
    data = dp.protect(pa.table({"a": [3] * 500}), keys={"a": [1, 2, 3]}, epsilon=1)
    (axes,) = data.sql("SELECT MODE(a) AS a FROM data", epsilon=1).plot().axes
    assert [bar.get_width() for bar in axes.patches] == [3]
    ((start, end),) = axes.collections[0].get_segments()
    assert start[0] == end[0] == 3


def test_a_single_number_can_be_drawn():
    data = dp.protect(pa.table({"a": [1] * 50}), epsilon=1)
    (axes,) = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=1).plot().axes
    assert len(axes.patches) == 1


def test_of_many_groups_thirty_are_drawn_and_the_others_counted():
    keys = list(range(100))
    data = dp.protect(pa.table({"a": [1] * 50}), keys={"a": keys}, epsilon=1)
    (axes,) = data.sql("SELECT a, COUNT(*) AS n FROM data GROUP BY a", epsilon=1).plot().axes
    assert len(axes.patches) == 30
    assert [note.get_text() for note in axes.texts] == ["70 more"]


def test_dates_are_a_line_two_keys_a_matrix_and_bins_bars():
    days = [date(2026, 1, 1 + i % 5) for i in range(500)]
    table = pa.table(
        {"day": days, "ward": ["A", "B"] * 250, "age": [i % 90 for i in range(500)]}
    )
    declared = [day.isoformat() for day in sorted(set(days))]
    keys, bounds = {"day": declared, "ward": ["A", "B"]}, {"age": (0, 90)}
    with dp.protect(table, keys=keys, bounds=bounds, epsilon=900) as data:
        ask = "SELECT {0}, COUNT(*) AS n FROM data GROUP BY {0}"
        (axes,) = data.sql(ask.format("day"), epsilon=90).plot().axes
        assert axes.lines[0].get_ydata().tolist() == pytest.approx([100] * 5, abs=2)
        axes, _ = data.sql(ask.format("ward, day"), epsilon=90).plot().axes
        assert axes.images[0].get_array().shape == (2, 5)
        bins = data.sql("SELECT HISTOGRAM(age, 3) AS h FROM data", epsilon=90)
        (axes,) = bins.plot().axes
        assert axes.get_title(loc="left") == "Histogram of age in data"
        assert [bar.get_x() for bar in axes.patches] == [0, 30, 60]
        assert [bar.get_width() for bar in axes.patches] == [30, 30, 30]
        assert [bar.get_height() for bar in axes.patches] == [
            bins[name][0] for name in bins.columns
        ]


def test_a_matrix_has_the_margin_of_each_number():
    letters = [chr(ord("a") + i) for i in range(26)]
    keys = {"ward": ["A", "B"], "few": [1, 2], "many": letters, "more": list(range(40))}
    table = pa.table({"ward": ["A"], "few": [1], "many": ["a"], "more": [0]})
    with dp.protect(table, keys=keys, epsilon=9) as data:
        ask = "SELECT {0}, COUNT(*) AS n FROM data GROUP BY {0}"
        few = data.sql(ask.format("ward, few"), epsilon=1)
        axes, scale = few.plot().axes
        told = [text.get_text() for text in axes.texts]
        assert told == [
            f"{n:,}\n± {m:,}" for n, m in zip(few["n"], few["n_margin"], strict=True)
        ]
        assert scale.get_ylabel() == "n (with 95 % intervals; epsilon 1)"
        many = data.sql(ask.format("many, more"), epsilon=1)
        axes, scale = many.plot().axes
        assert [text.get_text() for text in axes.texts] == ["10 more across"]
        told = f"n ± at most {max(many['n_margin'])}\n(95 % intervals; epsilon 1)"
        assert scale.get_ylabel() == told


def test_a_notebook_shows_the_picture(answer):
    assert answer.plot()._repr_png_().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_refused(answer):
    with pytest.raises(dp.InvalidParameter, match="of the answer: n, cost"):
        answer.plot("ward")
    data = dp.protect(pa.table({"a": [1] * 50}), keys={"a": [1]}, epsilon=1)
    empty = data.sql("SELECT a, COUNT(*) AS n FROM data GROUP BY a LIMIT 0", epsilon=1)
    with pytest.raises(dp.InvalidParameter, match="nothing to draw"):
        empty.plot()
    words = dp.protect(pa.table({"a": ["x"] * 50}), keys={"a": ["x", "y"]}, epsilon=1)
    with pytest.raises(dp.InvalidParameter, match="nothing to draw"):
        words.sql("SELECT MODE(a) AS a FROM data", epsilon=1).plot()


def test_quantiles_are_a_ladder():
    table = pa.table({"cost": [float(i % 1000) for i in range(5000)]})
    data = dp.protect(table, bounds={"cost": (0, 2000)}, epsilon=9)
    parts = "MEDIAN(cost) AS mid, QUANTILE(cost, 0.9) AS high, QUANTILE(cost, 0.1) AS low"
    answer = data.sql(f"SELECT {parts} FROM data", epsilon=3)
    (axes,) = answer.plot().axes
    assert axes.get_title(loc="left") == "Quantiles of cost in data"
    shown = [answer[name][0] for name in ("low", "mid", "high")]
    line, marks = axes.lines
    assert line.get_xdata().tolist() == marks.get_xdata().tolist() == pytest.approx(shown)
    assert marks.get_ydata().tolist() == [0.1, 0.5, 0.9]
    rungs = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    ends = [
        [answer[f"{name}_{end}"][0] for end in ("low", "high")]
        for name in ("low", "mid", "high")
    ]
    assert rungs == ends
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0.1", "0.5", "0.9"]
    (axes,) = answer.plot("high").axes  # one of them by itself is a bar
    assert len(axes.patches) == 1


def test_quantiles_of_two_columns_or_of_groups_are_bars():
    table = pa.table({"a": [1.0, 2.0] * 500, "b": [5.0, 9.0] * 500, "k": ["x", "y"] * 500})
    data = dp.protect(
        table, bounds={"a": (0, 9), "b": (0, 9)}, keys={"k": ["x", "y"]}, epsilon=9
    )
    for text in (
        "SELECT MEDIAN(a) AS a, MEDIAN(b) AS b FROM data",
        "SELECT k, MEDIAN(a) AS a, QUANTILE(a, 0.9) AS b FROM data GROUP BY k",
    ):
        (axes,) = data.sql(text, epsilon=2).plot().axes
        assert axes.patches
