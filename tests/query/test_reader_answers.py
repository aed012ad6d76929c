"""Conditions keep the rows that DuckDB keeps for them, where no limit bites."""

import datetime

import duckdb
import pyarrow as pa
import pytest

from deniable.engines.duckdb import DuckDB
from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.parse import parse
from deniable.query.planner import plan

DAYS = ["2024-02-29 23:59", "2023-01-01 00:00", "2024-02-01 00:00", None, "2024-12-30 12:00"]
ROWS = pa.table(
    {
        "id": pa.array(range(20), pa.int64()),
        "x": pa.array([-2.5, -0.5, None, 0.5, 2.5, 7.0, 0.0, 1.5, 3.0, -7.0] * 2, pa.float64()),
        "n": pa.array([7, -7, None, 0, 1] * 4, pa.int64()),
        "t": ["abc", "a%c", None, "", "2024-02-29 01:00"] * 4,
        "b": pa.array([True, False, None, True] * 5, pa.bool_()),
        "d": pa.array(
            [one and datetime.datetime.fromisoformat(one) for one in DAYS] * 4,
            pa.timestamp("us"),
        ),
    }
)
SCHEMA = {"id": "BIGINT", "x": "DOUBLE", "n": "BIGINT", "t": "VARCHAR", "b": "BOOLEAN"}
SCHEMA |= {"d": "TIMESTAMP"}
CONDITIONS = [
    "CAST(n AS TEXT) = '7'",
    "CAST(n AS TEXT) LIKE '%7'",
    "CAST(n + 1 AS TEXT) = '8'",
    "CAST(COALESCE(n, 5) * 2 AS VARCHAR) = '10'",
    "CAST(CAST(x AS INTEGER) AS TEXT) = '7'",
    "CAST(YEAR(d) AS TEXT) = '2024'",
    "CAST(CASE WHEN b THEN n ELSE 3 END AS TEXT) = '3'",
    "CAST(x AS TEXT) = '7.0'",
    "CAST(n / 2 AS TEXT) = '0.5'",
    "CAST(d AS DATE) = '2024-02-29'",
    "d::DATE = DATE '2024-02-29'",
    "d::DATE <= '2024-02-29'",
    "d::DATE IN ('2024-02-29', '2023-01-01')",
    "d::TIMESTAMP > '2024-02-29'",
    "DATE_TRUNC('month', d) = '2024-02-01'",
    "COALESCE(d, '2020-01-01') < '2021-01-01'",
    "NOT (b AND x > 0)",
    "n % 3 = -1",
    "n // 2 = -3",
    "ROUND(x) = -3",
    "t NOT LIKE 'a%'",
    "x NOT IN (0, 0.5)",
]
COUNTS = [
    "COUNT(*) FILTER (WHERE x > 0)",
    "COUNT(*) FILTER (WHERE NOT b)",
    "COUNT(n) FILTER (WHERE x > 0)",
    "COUNT(DISTINCT t) FILTER (WHERE b)",
    "COUNT(DISTINCT id) FILTER (WHERE b)",
    "SUM(n) FILTER (WHERE x > 0)",
    "COUNT_IF(x > 0)",
    "COUNT(NULL)",
]
# Tables behind commas, joined by WHERE on the unit; each is counted as it is with JOIN ... ON.
COMMAS = [
    "data AS a, data AS b WHERE a.id = b.id AND a.n > 0",
    "data AS a CROSS JOIN data AS b WHERE b.n > 0 AND b.ID = A.id",
    "data AS a, data AS b, (SELECT id AS i FROM data) AS c WHERE a.id = b.id AND c.i = b.id",
    "data AS a, data AS b LEFT JOIN data AS c ON c.id = b.id AND c.n > 0 WHERE a.id = b.id",
]


def policy():
    bounds = {"x": (-10, 10), "n": (-10, 10)}
    table = Table.declare("data", unit="id", max_rows=2, bounds=bounds, step={"x": 0.5})
    return Policy([table.with_schema(SCHEMA)], epsilon=9, delta=1e-3)


@pytest.fixture(scope="module")
def engine():
    with DuckDB.open({"data": ROWS}) as opened:
        yield opened


@pytest.fixture(scope="module")
def plain():
    with duckdb.connect() as connection:
        connection.register("data", ROWS)
        yield connection


def counted(engine, text):
    """The one integer that a question is answered from."""
    asked = plan(parse(text), policy(), epsilon=1, delta=0)
    found = engine.run(asked).reveal_to(lambda exact: exact)
    if found.cells:
        (cells,) = found.cells.values()
        return int(cells.count.sum())
    (integers,) = found.features.values()
    return int(integers[0])


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_keeps_the_same_rows(engine, plain, condition):
    text = f"SELECT COUNT(*) FROM data WHERE {condition}"
    (expected,) = plain.execute(text).fetchone()
    assert 0 < expected < 20
    assert counted(engine, text) == expected


@pytest.mark.parametrize("count", COUNTS)
def test_an_aggregate_counts_the_same(engine, plain, count):
    text = f"SELECT {count} AS answer FROM data"
    (expected,) = plain.execute(text).fetchone()
    assert counted(engine, text) == expected


@pytest.mark.parametrize("source", COMMAS)
def test_tables_behind_commas_are_joined_by_where(engine, plain, source):
    text = f"SELECT COUNT(*) AS answer FROM {source}"
    (expected,) = plain.execute(text).fetchone()
    assert counted(engine, text) == expected


@pytest.mark.parametrize(
    "where",
    ["a.id = b.n", "a.id <> b.id", "a.id = b.id OR a.n > 0", "a.id = a.id", "a.n = b.n"],
)
def test_tables_behind_commas_on_something_else_are_refused(where):
    text = f"SELECT COUNT(*) AS n FROM data AS a, data AS b WHERE {where}"
    with pytest.raises(InvalidQuery, match="both private"):
        plan(parse(text), policy(), epsilon=1, delta=0)
