import pyarrow as pa
import pytest

from deniable.release.answer import formatting


@pytest.mark.parametrize(
    ("value", "margin", "text"),
    [
        (1234567, 6, "1,234,567 ± 6"),
        (-3, 6, "-3 ± 6"),
        (12.3456, 0.00123, "12.3456 ± 0.0012"),
        (1234.5678, 310.0, "1,235 ± 310"),
        (1.0, 0.0, "1.00 ± 0.00"),
        (1.5, None, "1.5 ± ?"),
        (3, None, "3 ± ?"),
        (None, None, "NULL"),
        (None, 3, "NULL"),
    ],
)
def test_value_and_margin(value, margin, text):
    assert formatting.format_with_margin(value, margin) == text


TABLE = pa.table({"ward": ["A", None, "<b>"], "n": [1, 22, 333], "n_margin": [3, 3, 3]})


def test_columns_line_up_and_margins_join_their_numbers():
    headings, rows, numeric = formatting.format_cells(TABLE, {"n": "n_margin"})
    assert (headings, numeric) == (["ward", "n"], [False, True])
    assert formatting.text_table(headings, rows, numeric, 0).splitlines() == [
        "ward        n",
        "----  -------",
        "A       1 ± 3",
        "NULL   22 ± 3",
        "<b>   333 ± 3",
    ]


def test_long_answers_are_cut():
    headings, rows, numeric = formatting.format_cells(TABLE, {"n": "n_margin"}, most=1)
    assert len(rows) == 1
    assert formatting.text_table(headings, rows, numeric, 2).endswith("... 2 more rows")
    assert "2 more rows" in formatting.html_table(headings, rows, numeric, 2, "")


def test_an_empty_answer():
    headings, rows, numeric = formatting.format_cells(TABLE.slice(0, 0), {"n": "n_margin"})
    assert rows == []
    assert formatting.text_table(headings, rows, numeric, 0).startswith("ward  n")


def test_html_is_escaped():
    page = formatting.html_table(
        *formatting.format_cells(TABLE, {"n": "n_margin"}), 0, "a < b\nc"
    )
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "a &lt; b<br>c" in page
