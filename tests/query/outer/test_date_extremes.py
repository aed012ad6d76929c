import datetime

import pyarrow as pa
import pytest
import sqlglot

import deniable as dp
from deniable.query.outer.date_extremes import split_date_extremes

FIRST = datetime.date(2026, 1, 1)
DAYS = pa.array([FIRST + datetime.timedelta(days=i % 100) for i in range(5000)])


@pytest.fixture(scope="module")
def session():
    moments = DAYS.cast(pa.timestamp("us"))
    rows = pa.table({"day": DAYS, "ts": moments, "ward": ["A", "B"] * 2500})
    with dp.protect(rows, keys={"ward": ["A", "B"]}, epsilon=1000) as opened:
        yield opened


def test_the_ends_are_dates_near_the_ends(session):
    (row,) = session.sql("SELECT MIN(day) AS a, MAX(day) AS b FROM data", epsilon=20)
    assert FIRST <= row["a"] <= FIRST + datetime.timedelta(days=3)
    assert row["b"] >= FIRST + datetime.timedelta(days=96)


def test_groups_and_numbers_stay_beside_them(session):
    rows = list(
        session.sql(
            "SELECT ward, MAX(day) AS b, COUNT(*) AS n FROM data GROUP BY 1", epsilon=20
        )
    )
    assert [row["ward"] for row in rows] == ["A", "B"]
    assert all(row["b"].year == 2026 and abs(row["n"] - 2500) < 50 for row in rows)


def test_moments_are_refused_and_their_days_are_not(session):
    with pytest.raises(dp.InvalidQuery, match=r"MAX\(DATE\(ts\)\)"):
        session.sql("SELECT MAX(ts) FROM data", epsilon=1)
    (row,) = session.sql("SELECT MAX(DATE(ts)) AS b FROM data", epsilon=20)
    assert isinstance(row["b"], datetime.date)


@pytest.mark.parametrize("text", ["SELECT COUNT(*) FROM t", "SELECT MAX(d + 1) FROM t"])
def test_other_questions_are_left_alone(text):
    assert split_date_extremes(sqlglot.parse_one(text, dialect="duckdb")) is None
