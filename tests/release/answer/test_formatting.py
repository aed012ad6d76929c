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


@pytest.mark.parametrize(
    ("value", "margin", "ends", "text"),
    [
        (1234567, 4001, (1234560, 1238568), "1,234,567 (1,234,560 to 1,238,568)"),
        (0.51237, 0.0312, (0.51, 0.54357), "0.512 (0.510 to 0.544)"),
        (0.5, 0.1, (0.409, 0.6), "0.50 ± 0.10"),
        (7, 0, (7, 7), "7 ± 0"),
        (7, None, (None, 9), "7 ± ?"),
        (41, 12, (40, 60), "41 (40 to 60)"),
    ],
)
def test_an_interval_that_is_not_symmetric_is_shown_by_its_ends(value, margin, ends, text):
    assert formatting.format_with_margin(value, margin, ends=ends) == text


@pytest.mark.parametrize(
    ("value", "ends", "text"),
    [
        (0, (0, 0), "0 (0 to 0)"),
        (0.3383, (0.0, 0.3383), "0.34 (0.00 to 0.34)"),
        (50, (40, 60), "50 (40 to 60)"),
        (50, (None, None), "50 ± 142 ranks"),
    ],
)
def test_an_interval_is_shown_instead_of_a_margin_in_ranks(value, ends, text):
    assert formatting.format_with_margin(value, 142, "ranks", ends) == text


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


def test_an_empty_answer():
    headings, rows, numeric = formatting.format_cells(TABLE.slice(0, 0), {"n": "n_margin"})
    assert rows == []
    assert formatting.text_table(headings, rows, numeric, 0).startswith("ward  n")
