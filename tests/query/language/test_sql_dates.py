"""Intervals: constants are moved, rows never are."""

import datetime

import duckdb
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery
from deniable.query.language.parse import parse_expression

DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(400)]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("DATE '2026-01-01' - INTERVAL 3 YEAR", "DATE '2023-01-01'"),
        ("DATE '2024-02-29' + INTERVAL 1 YEAR", "DATE '2025-02-28'"),
        ("DATE '2026-01-31' + INTERVAL '1' MONTH", "DATE '2026-02-28'"),
        ("DATE '2026-01-31' + INTERVAL '2 weeks'", "DATE '2026-02-14'"),
        (
            "TIMESTAMP '2026-01-01 00:30:00' - INTERVAL 1 HOUR",
            "TIMESTAMP '2025-12-31 23:30:00'",
        ),
        ("d + INTERVAL 2 DAY > DATE '2026-01-31'", "d > DATE '2026-01-29'"),
        ("DATE '2026-01-31' >= d - INTERVAL 2 DAY", "d <= DATE '2026-02-02'"),
        ("d + INTERVAL 1 DAY + INTERVAL 1 DAY = '2026-01-31'", "d = DATE '2026-01-29'"),
        ("DATEADD(day, -30, d) > '2026-01-31'", "d > DATE '2026-03-02'"),
        ("DATE_ADD(d, INTERVAL 1 DAY) > '2026-01-31'", "d > DATE '2026-01-30'"),
        ("DATE_SUB(d, INTERVAL 1 DAY) > '2026-01-31'", "d > DATE '2026-02-01'"),
    ],
)
def test_constants_are_moved(text, same):
    assert parse_expression(text) == parse_expression(same)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("d + INTERVAL 2 DAY > e", "(DATE_DIFF('second', d, e) < 172800)"),
        ("e <= d + INTERVAL 1 MINUTE", "(DATE_DIFF('second', d, e) <= 60)"),
        ("d - INTERVAL 1 HOUR = e", "(DATE_DIFF('second', d, e) = -3600)"),
        ("d + INTERVAL 2 HOUR < e + INTERVAL 3 HOUR", "(DATE_DIFF('second', d, e) > -3600)"),
    ],
)
def test_a_moved_date_is_compared_with_another_by_seconds(text, seconds):
    assert str(parse_expression(text)) == seconds


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("d + INTERVAL 1 MONTH > DATE '2026-01-31'", "months have different lengths"),
        ("DATE '9999-12-31' + INTERVAL 1 DAY > d", "outside the years"),
        ("d + INTERVAL 1 CENTURY > e", "not a unit of time"),
        ("DATEADD(day, x, d) > e", "whole number"),
    ],
)
def test_what_would_move_rows_is_refused(text, because):
    with pytest.raises(InvalidQuery, match=because):
        parse_expression(text)


@pytest.mark.parametrize(
    "condition",
    [
        "d + INTERVAL 30 DAY > DATE '2024-06-01'",
        "DATE '2024-06-01' - INTERVAL 2 MONTH <= d",
        "d - DATE '2024-03-01' > 14",
        "DATE '2024-12-24' - d < 50",
        "d < '2024-06-01' AND '12' <= n",
    ],
)
def test_the_rows_are_duckdbs(condition):
    rows = pa.table({"d": pa.array(DAYS), "n": [i % 20 for i in range(400)]})
    session = dp.protect(rows, bounds={"n": (0, 20)}, epsilon=10**6)
    database = duckdb.connect()
    database.register("data", rows)
    asked = f"SELECT COUNT(*) AS n FROM data WHERE {condition}"
    expected = database.execute(asked).fetchone()[0]
    assert 0 < expected < 400
    assert session.sql(asked, epsilon=1000).value == expected


def test_moments_are_not_subtracted():
    rows = pa.table({"a": pa.array(DAYS).cast(pa.timestamp("us")), "b": pa.array(DAYS)})
    session = dp.protect(rows, epsilon=1)
    with pytest.raises(InvalidQuery, match=r"Write DATE_DIFF.'hour', b, a."):
        session.plan("SELECT SUM(a - b) FROM data", epsilon=1)
    with pytest.raises(InvalidQuery, match="could leave the calendar"):
        session.plan("SELECT MAX(YEAR(a + INTERVAL 1 DAY)) FROM data", epsilon=1)
