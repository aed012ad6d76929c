"""Groups by a date that is written as text are groups by the date."""

import pytest
import sqlglot

from deniable.query.outer.format_split import split_formats

SAME = [
    ("STRFTIME(d, '%Y-%m')", "MONTH", "%Y-%m"),
    ("TO_CHAR(d, 'YYYY-MM-DD')", "DAY", "%Y-%m-%d"),
    ("DATE_FORMAT(d, '%Y')", "YEAR", "%Y"),
    ("TO_CHAR(d, 'YYYY-MM-DD HH24:MI')", "MINUTE", "%Y-%m-%d %H:%M"),
]


@pytest.mark.parametrize(("call", "unit", "text"), SAME)
def test_the_text_is_made_of_the_released_date(call, unit, text):
    statement = f"SELECT {call} AS m, COUNT(*) AS n FROM t GROUP BY {call} ORDER BY m"
    inner, outer = split_formats(sqlglot.parse_one(statement, dialect="duckdb"))
    date = f"DATE_TRUNC('{unit}', d)"
    assert inner.sql("duckdb") == (
        f"SELECT {date} AS m, COUNT(*) AS n FROM t GROUP BY {date} ORDER BY m"
    )
    assert outer.sql("duckdb") == f"SELECT STRFTIME(m, '{text}') AS m, n"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT STRFTIME(d, '%H') AS h, COUNT(*) FROM t GROUP BY h",  # of several days
        "SELECT STRFTIME(d, k) AS h, COUNT(*) FROM t GROUP BY h",
        "SELECT STRFTIME(k, d) AS h, COUNT(*) FROM t GROUP BY h",
        "SELECT UPPER(k) AS h, COUNT(*) FROM t GROUP BY h",
        "SELECT DATE_FORMAT(d) AS h, COUNT(*) FROM t GROUP BY h",
    ],
)
def test_other_texts_are_left_alone(text):
    assert split_formats(sqlglot.parse_one(text, dialect="duckdb")) is None


def test_conditions_are_left_alone():
    text = "SELECT STRFTIME(d, '%Y') AS y FROM t WHERE STRFTIME(d, '%Y') = '2026' GROUP BY y"
    inner, _ = split_formats(sqlglot.parse_one(text, dialect="duckdb"))
    assert "WHERE STRFTIME(d, '%Y') = '2026'" in inner.sql("duckdb")
