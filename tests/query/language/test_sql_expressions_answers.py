"""Conditions keep the rows that DuckDB keeps for them, where no limit bites."""

import datetime

import duckdb
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

DAYS = ["2024-02-29 23:59", "2023-01-01 00:00", "2024-02-01 00:00", None, "2024-12-30 12:00"]
ROWS = pa.table(
    {
        "id": pa.array(range(20), pa.int64()),
        "x": pa.array([-2.5, -0.5, None, 0.5, 2.5, 7.0, 0.0, 1.5, 3.0, -7.0] * 2, pa.float64()),
        "n": pa.array([7, -7, None, 0, 1] * 4, pa.int64()),
        "t": ["abc", "a%c", None, "", "2024-02-29 01:00"] * 4,
        "b": pa.array([True, False, None, True] * 5, pa.bool_()),
        "d": pa.array(
            [written and datetime.datetime.fromisoformat(written) for written in DAYS] * 4,
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
    "t LIKE 'a!%c' ESCAPE '!'",
    "t NOT LIKE 'a!%c' ESCAPE '!'",
    "t ILIKE 'A!%_' ESCAPE '!'",
    "t LIKE 'a%' ESCAPE '!'",
    "n = ANY ([7, 1, NULL])",
    "n <> ALL ([7, 1])",
    "n = SOME ([0])",
    "(n, t) IN ((7, 'abc'), (1, 'x'))",
    "(n, t) NOT IN ((7, 'abc'), (0, ''))",
    "(n, t) IN ((NULL, NULL), (7, 'x'))",
    "(n, b) = (7, TRUE)",
    "(n, b) <> (7, TRUE)",
    "ROW(n, t) = ROW(0, '')",
    "n IS DISTINCT FROM 7",
    "n IS NOT DISTINCT FROM NULL",
    "NULLIF(n, 7) IS NULL",
    "GREATEST(n, 1) = LEAST(n, 7)",
    "CASE n WHEN 7 THEN 'a' WHEN 0 THEN 'b' END = 'a'",
    "SPLIT_PART(t, '-', 1) = '2024'",
    "SPLIT_PART(t, '-', 3) <> ''",
    "TRIM(BOTH 'a' FROM t) = 'bc'",
    "TRIM(TRAILING 'c' FROM t) = 'ab'",
    "LTRIM(t, 'a') = 'bc'",
    "SECOND(d) = 0 AND MINUTE(d) = 59",
    "EXTRACT(second FROM d) < 1",
    "EXTRACT(minute FROM d) > 0 OR HOUR(d) = 12",
]
# What may stand behind FROM; each is counted as DuckDB counts it.
SOURCES = [
    "(SELECT id, n FROM data) AS s(i, m) WHERE m > 0",
    "(SELECT id, n, x FROM data) AS s(i) WHERE n > 0 AND i > 3",
    "data NATURAL JOIN (SELECT id, x AS z FROM data WHERE n > 0) AS s",
    "data NATURAL LEFT JOIN (SELECT id, x AS z FROM data WHERE n > 0) AS s WHERE z IS NULL",
    "data SEMI JOIN (SELECT id FROM data WHERE n > 0) AS s ON s.id = data.id",
    "data SEMI JOIN (SELECT id AS i FROM data WHERE n > 0) AS s ON data.id = i WHERE x > 0",
    "data ANTI JOIN (SELECT id FROM data WHERE n > 0) AS s USING (id)",
    "data AS a ANTI JOIN data AS b ON a.id = b.id AND b.n > 0 WHERE a.x > 0",
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
    table = Table.declare(
        "data", unit="id", max_rows_per_unit_per_group=2, bounds=bounds, step={"x": 0.5}
    )
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
    query_plan = plan(parse(text), policy(), epsilon=1, delta=0)
    answer = engine.run(query_plan).reveal_to(lambda exact: exact)
    if answer.cells:
        (cells,) = answer.cells.values()
        return int(cells.count.sum())
    (integers,) = answer.features.values()
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


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_has_the_same_rows(engine, plain, source):
    text = f"SELECT COUNT(*) AS answer FROM {source}"
    (expected,) = plain.execute(text).fetchone()
    assert 0 < expected < 20
    assert counted(engine, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "WITH s(i, m) AS (SELECT id, n FROM data) SELECT COUNT(m) AS answer FROM s WHERE i > 3",
        "WITH s(i) AS (SELECT id, n FROM data) "
        "SELECT COUNT(n) AS answer FROM s AS q(j) WHERE j > 3",
    ],
)
def test_with_names_its_columns(engine, plain, text):
    (expected,) = plain.execute(text).fetchone()
    assert counted(engine, text) == expected


def test_group_by_all_groups_by_all_that_is_no_aggregate():
    sql = "SELECT b, n > 0 AS some, COUNT(*) AS c FROM data GROUP BY "
    whole = plan(parse(sql + "ALL"), policy(), epsilon=1, delta=0)
    assert whole == plan(parse(sql + "b, some"), policy(), epsilon=1, delta=0)
    each = "SELECT SUM(s) AS a FROM (SELECT id, SUM(n) AS s FROM data GROUP BY {})"
    inner = [
        plan(parse(each.format(wrong)), policy(), epsilon=1, delta=0) for wrong in ("ALL", "id")
    ]
    assert inner[0] == inner[1]


@pytest.mark.parametrize(
    ("source", "because"),
    [
        ("data AS a NATURAL JOIN (SELECT n FROM data) AS s", "both private"),
        ("data AS a NATURAL JOIN (SELECT id AS i FROM data) AS s", "no column name in common"),
        ("data AS a SEMI JOIN data AS b ON a.n = b.n", "other people's rows"),
        ("data AS a ANTI JOIN data AS b USING (n)", "other people's rows"),
        ("(SELECT id FROM data) AS s(i, j)", "has 2 names"),
        ("(SELECT id, n FROM data) AS s(n)", "Another column"),
        ("(SELECT id, n FROM data) AS s(i, i)", "each once"),
    ],
)
def test_sources_that_tie_people_together_are_refused(source, because):
    with pytest.raises(InvalidQuery, match=because):
        plan(parse(f"SELECT COUNT(*) AS n FROM {source}"), policy(), epsilon=1, delta=0)


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
