import re

import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.web.console.answer_charts import draw_answer, draw_answers
from deniable.app.web.console.console_templates import environment

DAYS = [f"2026-01-{day:02d}" for day in range(1, 29)]
ROWS = 1_400


@pytest.fixture(scope="module")
def data():
    table = pa.table(
        {
            "ward": ["A", "B"] * (ROWS // 2),
            "sex": ["f", "m", "f", "f", "m", "m", "f"] * (ROWS // 7),
            "day": pa.array([DAYS[i % 28] for i in range(ROWS)]).cast(pa.date32()),
            "cost": [i % 100 for i in range(ROWS)],
        }
    )
    keys = {"ward": ["A", "B"], "sex": ["f", "m"], "day": DAYS}
    return dp.protect(
        table, keys=keys, bounds={"cost": (0, 100)}, step={"cost": 1}, epsilon=100
    )


QUESTIONS = {
    "bars": "SELECT ward, COUNT(*) AS n FROM data GROUP BY ward",
    "line": "SELECT day, COUNT(*) AS n FROM data GROUP BY day",
    "matrix": "SELECT ward, sex, COUNT(*) AS n FROM data GROUP BY ward, sex",
    "bins": "SELECT HISTOGRAM(cost, 4) AS costs FROM data",
    "one": "SELECT AVG(cost) AS cost FROM data",
}


def kind_of(figure):
    """The kind of a picture that `Release.plot()` has drawn."""
    axes = figure.axes[0]
    if axes.images:
        return "matrix"
    return "bars" if axes.patches else "line"


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_kind_is_that_of_plot(data, name):
    release = data.sql(QUESTIONS[name], epsilon=1)
    chart = draw_answer(release.plan, release.answer)
    figure = release.plot()
    assert chart.kind == kind_of(figure)
    if chart.kind == "bars" and name != "bins":  # bins have a scale there, and names here
        drawn = [label.get_text() for label in figure.axes[0].get_yticklabels()]
        assert [mark.label for mark in chart.marks] == drawn
    if chart.kind == "line":
        assert len(chart.marks) == 28
    if chart.kind == "matrix":
        assert [cell.text for cell in chart.cells] == [f"{n:,}" for n in release["n"]]


def test_whiskers_reach_from_low_to_high_and_bars_from_zero(data):
    release = data.sql(QUESTIONS["bars"], epsilon=1)
    chart = draw_answer(release.plan, release.answer)
    first, last = chart.ticks[0], chart.ticks[-1]
    span = (last.place - first.place) / (
        float(last.label.replace(",", "")) - float(first.label.replace(",", ""))
    )
    for mark, n, low, high in zip(
        chart.marks, release["n"], release["n_low"], release["n_high"], strict=True
    ):
        assert mark.value - mark.zero == pytest.approx(n * span, abs=0.1)
        assert mark.low - mark.zero == pytest.approx(low * span, abs=0.1)
        assert mark.high - mark.zero == pytest.approx(high * span, abs=0.1)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_picture_has_a_title_and_no_style(data, name):
    release = data.sql(QUESTIONS[name], epsilon=1)
    draw = environment().get_template("chart.html").module.draw
    drawn = str(draw(draw_answer(release.plan, release.answer), "c", "ward <A>"))
    assert drawn.count("<title") == drawn.count("<desc") == 1
    assert "ward &lt;A&gt;" in drawn
    assert not re.search(r"\sstyle=|<style|<script", drawn)


def test_what_has_no_numbers_has_no_picture(data):
    release = data.sql("SELECT MODE(ward) AS w FROM data", epsilon=1)
    assert draw_answers(release.plan, release.answer) == []


def test_every_number_has_its_picture_up_to_three(data):
    release = data.sql(
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS a, SUM(cost) AS s, STDDEV(cost) AS d"
        " FROM data GROUP BY ward",
        epsilon=1,
    )
    titles = [chart.title for chart in draw_answers(release.plan, release.answer)]
    assert titles == [f"{name} in data by ward" for name in "nas"]


def test_a_line_of_one_day_and_bars_of_zeros_are_drawn():
    table = pa.table({"day": pa.array(["2026-01-01"] * 9).cast(pa.date32())})
    data = dp.protect(table, keys={"day": ["2026-01-01"]}, epsilon=9)
    release = data.sql("SELECT day, COUNT(*) AS n FROM data GROUP BY day", epsilon=1)
    assert draw_answer(release.plan, release.answer).points
