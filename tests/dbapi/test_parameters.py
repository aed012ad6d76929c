import datetime
from decimal import Decimal

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dp
from deniable.dbapi.parameters import fill_placeholders, literal

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**15), 10**15),
    st.floats(-1e15, 1e15),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.dates(datetime.date(1, 1, 1)),
    st.datetimes(datetime.datetime(1, 1, 1)),
)


@given(VALUES)
def test_a_literal_is_its_value(value):
    actual = duckdb.sql(f"SELECT {literal(value)} AS v").fetchall()[0][0]
    assert actual == value or float(actual) == pytest.approx(float(value), rel=1e-15)


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_texts_stay_texts_whatever_they_hold(values):
    marks = ", ".join(["?"] * len(values))
    filled = fill_placeholders(f"SELECT '?', {marks or 1} -- ?", values)
    row = duckdb.sql(filled).fetchall()[0]
    assert list(row) == ["?", *(values or [1])]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SELECT 1 -? + 40", -3),
        ("SELECT 1 -?\n+ 40", -3),
        ("SELECT CASE WHEN 1<?THEN 44 END", 5),
        ("SELECT 50 -?-9", -3),
    ],
)
def test_a_value_stays_apart_from_what_stands_beside_it(text, value):
    """Two minus signs would begin a comment, and the rest of the line would not be asked."""
    assert duckdb.sql(fill_placeholders(text, [value])).fetchall() == [(44,)]


def test_a_letter_before_a_text_does_not_change_its_kind():
    """E'...' is a text in which \\' does not end it."""
    filled = fill_placeholders("SELECT E?", ["\\' OR 1 = 1 --"])
    assert filled == "SELECT E '\\'' OR 1 = 1 --'"


def test_numbers_of_values_and_types_are_checked():
    for values in ([1], [1, 2, 3]):
        with pytest.raises(dp.InvalidQuery, match="2 question marks"):
            fill_placeholders("SELECT ?, ?", values)
    with pytest.raises(dp.InvalidQuery, match="type bytes"):
        fill_placeholders("SELECT ?", [b"x"])
    assert literal(Decimal("0.10")) == "0.10"
