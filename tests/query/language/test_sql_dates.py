"""Intervals: constants are moved before anything is planned, dates of rows by the engine."""

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
        ("DATE '9999-12-31' + INTERVAL 1 DAY > d", "outside the years"),
        ("d + INTERVAL 1 CENTURY > e", "not a unit of time"),
        ("d + INTERVAL 1.5 DAY > e", "Write a whole number and a unit"),
        ("DATEADD(day, 1.5, d) > e", "1.5 is not a whole number of days"),
        ("INTERVAL 1 DAY - d > e", "Write a date first"),
        ("INTERVAL 1 DAY + INTERVAL 1 DAY > e", "Write a date first"),
        ("INTERVAL 1 DAY > e", "Add it to a date"),
    ],
)
def test_what_moves_no_date_is_refused(text, because):
    with pytest.raises(InvalidQuery, match=because):
        parse_expression(text)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("d + INTERVAL n DAY", "d + INTERVAL (n) DAY"),
        ("d + INTERVAL (n + 1) MONTHS", "d + INTERVAL ((n + 1)) MONTH"),
        ("d - INTERVAL (n) HOUR", "d + INTERVAL (-n) HOUR"),
        ("d - INTERVAL '3 months'", "d - INTERVAL 3 MONTH"),
        ("INTERVAL 3 MONTH + d", "d + INTERVAL 3 MONTH"),
        ("d + n * INTERVAL '1 day'", "d + INTERVAL (n) DAY"),
        ("d + INTERVAL '1 day' * 3", "d + INTERVAL 3 DAY"),
        ("d + n * INTERVAL '2 days'", "d + INTERVAL ((n * 2)) DAY"),
        (
            "DATE '2026-01-31' + INTERVAL (n) YEAR",
            "CAST('2026-01-31' AS TIMESTAMP) + INTERVAL (n) YEAR",
        ),
        ("DATEADD(month, -n, d)", "d + INTERVAL (-n) MONTH"),
        ("TIMESTAMPADD(QUARTER, 2, d)", "d + INTERVAL 2 QUARTER"),
        ("DATE_ADD(d, INTERVAL n WEEK)", "d + INTERVAL (n) WEEK"),
        ("DATE_ADD(d, 30)", "d + INTERVAL 30 DAY"),
        ("DATE_ADD('day', 30, d)", "d + INTERVAL 30 DAY"),
        ("DATE_SUB(d, INTERVAL 2 MONTH)", "d - INTERVAL 2 MONTH"),
        ("DATE_SUB(d, n)", "d + INTERVAL (-n) DAY"),
        ("ADD_MONTHS(d, n)", "d + INTERVAL (n) MONTH"),
        ("LAST_DAY(d)", "DATE_TRUNC('month', d) + INTERVAL 1 MONTH - INTERVAL 1 DAY"),
        ("d - TO_DAYS(n)", "d + INTERVAL (-n) DAY"),
        ("d + TO_MONTHS(2)", "d + INTERVAL 2 MONTH"),
        ("DATEDIFF(d, e)", "DATE_DIFF('day', e, d)"),
    ],
)
def test_rows_are_moved_in_every_spelling(text, moved):
    assert str(parse_expression(text)) == moved
    assert parse_expression(moved) == parse_expression(text)  # so messages can be pasted


@pytest.mark.parametrize(
    "condition",
    [
        "d + INTERVAL 30 DAY > DATE '2024-06-01'",
        "DATE '2024-06-01' - INTERVAL 2 MONTH <= d",
        "d - DATE '2024-03-01' > 14",
        "DATE '2024-12-24' - d < 50",
        "d < '2024-06-01' AND '12' <= n",
        "d + INTERVAL 3 MONTH > DATE '2024-09-01'",
        "d + INTERVAL (n) MONTH BETWEEN DATE '2024-06-30' AND DATE '2025-02-28'",
        "d - INTERVAL (n) WEEK < '2024-03-01'",
        "DATE '2024-05-31' - INTERVAL (n) MONTH < d - INTERVAL 1 YEAR",
        "EXTRACT(month FROM d + INTERVAL 1 MONTH) = 2",
        "d + n * INTERVAL '1 day' >= DATE '2024-06-01'",
        "LAST_DAY(d) = d",
        "DATE_DIFF('day', '2024-03-01', d) > 30",
        "d + n::INTEGER > DATE '2024-06-01'",
    ],
)
def test_the_rows_are_duckdbs(condition):
    rows = pa.table({"d": pa.array(DAYS), "n": [i % 20 for i in range(400)]})
    session = dp.protect(rows, bounds={"n": (0, 20)}, epsilon=10**6)
    database = duckdb.connect()
    database.register("data", rows)
    sql = f"SELECT COUNT(*) AS n FROM data WHERE {condition}"
    expected = database.execute(sql).fetchone()[0]
    assert 0 < expected < 400
    assert session.sql(sql, epsilon=1000).value == expected


def test_moments_are_not_subtracted():
    rows = pa.table({"a": pa.array(DAYS).cast(pa.timestamp("us")), "b": pa.array(DAYS)})
    session = dp.protect(rows, epsilon=1)
    with pytest.raises(InvalidQuery, match=r"Write DATE_DIFF.'hour', b, a."):
        session.plan("SELECT SUM(a - b) FROM data", epsilon=1)
    with pytest.raises(InvalidQuery, match=r"Write a \+ INTERVAL .2. DAY"):
        session.plan("SELECT COUNT(*) FROM data WHERE a + 2 > b", epsilon=1)


def test_beyond_the_calendar_is_null():
    ends = [datetime.date(1, 1, 2), datetime.date(9999, 12, 30), datetime.date(2000, 2, 29)]
    rows = pa.table({"d": ends * 50, "n": [-1, 1, 10**15] * 50})
    session = dp.protect(rows, bounds={"n": (-(10**16), 10**16)}, epsilon=10**6)
    beyond = "SELECT COUNT(*) AS n FROM data WHERE d + INTERVAL {} IS NULL"
    for unit in ("DAY", "WEEK", "MONTH", "YEAR"):
        assert session.sql(beyond.format(f"(n) {unit}"), epsilon=1000).value == 150
    assert session.sql(beyond.format("3000 YEAR"), epsilon=1000).value == 50
