import math

import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.web.console.answer_tables import MOST_ROWS, round_to, show_answer


@pytest.mark.parametrize("value", [0, 7, -350, 12_345, 99_999, 0.123456, 1234.5678, -0.5])
@pytest.mark.parametrize("margin", [1, 5, 12, 99, 100, 1234, 50_000, 0.03, 0.9, 4.2])
def test_what_is_shown_is_near_and_ends_are_rounded_away(value, margin):
    def read(text):
        return float(text.replace(",", ""))

    assert abs(read(round_to(value, margin)) - value) <= margin / 10
    assert read(round_to(value, margin, math.floor)) <= value + 1e-9
    assert read(round_to(value, margin, math.ceil)) >= value - 1e-9


def test_keys_come_first_and_every_number_has_low_and_high():
    table = pa.table({"ward": ["A", "B"] * 500, "cost": [3, 4] * 500})
    data = dp.protect(
        table,
        keys={"ward": ["A", "B"]},
        bounds={"cost": (0, 9)},
        step={"cost": 1},
        epsilon=9,
    )
    text = "SELECT ward, COUNT(*) AS n, MEDIAN(cost) AS m FROM data GROUP BY ward"
    release = data.sql(text, epsilon=1)
    shown = show_answer(release.plan, release.answer)
    names = [name for name, _ in shown.headings]
    assert names == ["ward", "n", "low", "high", "m", "low", "high"]
    assert [cell.column for cell in shown.rows[0]] == [
        *("ward", "n", "n_low", "n_high", "m", "m_low", "m_high")
    ]
    assert shown.rows[0][0].head
    assert not shown.negative


def test_long_answers_are_cut_and_counted():
    keys = [f"k{i}" for i in range(MOST_ROWS + 7)]
    data = dp.protect(pa.table({"k": keys}), keys={"k": keys}, epsilon=9)
    release = data.sql("SELECT k, COUNT(*) AS n FROM data GROUP BY k", epsilon=0.01)
    shown = show_answer(release.plan, release.answer)
    assert (len(shown.rows), shown.more) == (MOST_ROWS, 7)
    assert shown.negative == any(n < 0 for n in release["n"][:MOST_ROWS])
    assert shown.negative  # a hundred counts near zero, with much noise
