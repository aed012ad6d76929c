"""SQL over released rows is made of listed parts only."""

import pytest
import sqlglot

from deniable.errors import InvalidQuery
from deniable.query.outer.outer_sql import check_outer, make_total, write_outer

FINE = [
    "SELECT k, n / SUM(n) OVER () FROM g",
    "SELECT * EXCLUDE (k) FROM g",
    "SELECT a.n - b.n FROM g AS a JOIN g AS b ON a.k = b.k + 1",
    "SELECT k, LAG(n, 1, 0) OVER (PARTITION BY j ORDER BY k) FROM g",
    "SELECT k FROM g QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 3",
    "SELECT * FROM g PIVOT (SUM(n) FOR k IN (1, 2))",
    "SELECT CASE WHEN n > 5 THEN 'many' ELSE 'few' END, COUNT(*) FROM g GROUP BY 1",
    "SELECT UPPER(k) || '-' || LEFT(k, 2) FROM g WHERE k LIKE 'a%' ORDER BY 1 LIMIT 3 OFFSET 1",
    "WITH h AS (SELECT k, SUM(n) AS s FROM g GROUP BY k) SELECT MAX(s) FROM h",
    "SELECT n FROM g UNION ALL SELECT -n FROM g",
    "SELECT DATE_TRUNC('month', k), STRFTIME(k, '%Y'), YEAR(k), k + INTERVAL 1 DAY FROM g",
    "SELECT STRING_AGG(k, ', '), MEDIAN(n), QUANTILE_CONT(n, 0.9), ARG_MAX(k, n) FROM g",
]


@pytest.mark.parametrize("text", FINE)
def test_what_analysts_write_is_listed(text):
    tree = sqlglot.parse_one(text, dialect="duckdb")
    check_outer(tree, {"g", "h"})
    check_outer(sqlglot.parse_one(write_outer(tree), dialect="duckdb"), {"g", "h"})


FUNCTIONS = [
    "repeat('x', 9)",
    "lpad('x', 9, 'y')",
    "rpad('x', 9, 'y')",
    "range(9)",
    "generate_series(9)",
    "sleep_ms(9)",
    "current_setting('threads')",
    "getenv('HOME')",
    "query('SELECT 1')",
    "random()",
    "uuid()",
    "now()",
    "current_date",
    "nextval('s')",
    "currval('s')",
    "pg_typeof(n)",
    "version()",
    "list(n)",
    "array_agg(n)",
    "struct_pack(a := n)",
    "map()",
    "regexp_replace(k, 'a', 'b')",
    "regexp_matches(k, 'a')",
    "printf('%d', n)",
    "format('{}', n)",
    "hex(k)",
    "unnest([1])",
    "list_transform([1], x -> x)",
    "read_text('f')",
    "current_user()",
    "current_schema()",
    "getvariable('x')",
    "hash(n)",
    "md5(k)",
    "sha256(k)",
    "bit_count(n)",
    "to_json(n)",
    "json_extract(k, '$')",
    "chr(9)",
    "ascii(k)",
    "translate(k, 'a', 'b')",
    "encode(k)",
    "from_base64(k)",
    "decode(k)",
    "string_split(k, 'a')",
    "array_slice([1], 1, 2)",
    "enum_range(k)",
    "txid_current()",
    "stats(n)",
    "error('x')",
    "write_log('x')",
    "in_search_path('a', 'b')",
    "pragma_version()",
    "duckdb_settings()",
    "histogram(n)",
    "COLUMNS('n')",
]
PLACES = [
    "SELECT {} FROM g",
    "SELECT k FROM g WHERE n > {}",
    "SELECT k FROM g ORDER BY {}",
    "SELECT k, SUM(n) FROM g GROUP BY k HAVING MAX({}) > 0",
    "SELECT CASE WHEN n > 0 THEN {} END FROM g",
]
SOURCES = [
    "read_csv('f')",
    "read_text('/etc/passwd')",
    "'/etc/passwd'",
    "range(1000000000)",
    "duckdb_settings()",
    "duckdb_secrets()",
    "pragma_database_list()",
    "information_schema.tables",
    "pg_catalog.pg_class",
    "sqlite_master",
    "query('SELECT 1')",
    "query_table('g')",
    "glob('*')",
    "main.g",
    "memory.main.g",
    "other",
    "unnest([1, 2])",
    "g TABLESAMPLE 1%",
    "repeat_row(1, num_rows := 100000)",
    "test_all_types()",
    "sniff_csv('f')",
    "parquet_scan('f')",
]
READINGS = [
    "SELECT * FROM {}",
    "SELECT * FROM g, {}",
    "SELECT * FROM g JOIN {} ON TRUE",
    "SELECT (SELECT MAX(n) FROM {}) FROM g",
    "WITH h AS (SELECT * FROM {}) SELECT * FROM h",
]
STATEMENTS = [
    "COPY g TO 'f'",
    "ATTACH 'f' AS a",
    "SET threads = 8",
    "PRAGMA threads = 8",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CREATE TABLE a AS FROM g",
    "DROP TABLE g",
    "INSERT INTO g VALUES (1)",
    "UPDATE g SET n = 1",
    "DELETE FROM g",
    "EXPORT DATABASE 'f'",
    "CALL pragma_version()",
    "DESCRIBE g",
    "SUMMARIZE g",
    "EXPLAIN SELECT * FROM g",
    "WITH RECURSIVE h AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM h) SELECT * FROM h",
    "SELECT CAST(k AS BLOB) FROM g",
    "SELECT CAST(k AS INTEGER[]) FROM g",
    "SELECT n[1] FROM g",
    "SELECT {'a': n} FROM g",
    "SELECT [n] FROM g",
    "SELECT $1 FROM g",
    "SELECT ? FROM g",
    "SELECT k COLLATE nocase FROM g",
    "SELECT k AT TIME ZONE 'UTC' FROM g",
]
HOSTILE = [
    *(place.replace("{}", call) for place in PLACES for call in FUNCTIONS),
    *(reading.format(source) for reading in READINGS for source in SOURCES),
    *STATEMENTS,
]


def test_there_are_three_hundred_of_them():
    assert len(set(HOSTILE)) >= 300


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_else_is(text):
    try:
        tree = sqlglot.parse_one(text.strip(), dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        return  # it is refused when it is read
    with pytest.raises(InvalidQuery):
        check_outer(tree, {"g", "h"})


def test_long_constants_and_trees_are_refused():
    with pytest.raises(InvalidQuery, match="10,000 characters"):
        check_outer(sqlglot.parse_one(f"SELECT '{'x' * 10_001}' FROM g"), {"g"})
    with pytest.raises(InvalidQuery, match="too long"):
        check_outer(sqlglot.parse_one("SELECT " + ", ".join(["1"] * 30_000) + " FROM g"), {"g"})


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("SELECT LN(n) FROM g", "SELECT CASE WHEN n > 0 THEN LN(n) END FROM g"),
        ("SELECT SQRT(n) FROM g", "SELECT CASE WHEN n >= 0 THEN SQRT(n) END FROM g"),
        ("SELECT CAST(k AS INT) FROM g", "SELECT TRY_CAST(k AS INT) FROM g"),
    ],
)
def test_functions_cannot_fail(text, total):
    assert write_outer(make_total(sqlglot.parse_one(text, dialect="duckdb"))) == total


@pytest.mark.parametrize(
    "function", ["LN({})", "SQRT({})", "LOG(2, {})", "SQRT((SELECT {} FROM g))"]
)
def test_what_is_written_twice_at_every_level_has_few_levels(function):
    text = "n"
    for _ in range(4):
        text = function.format(text)
    tree = sqlglot.parse_one(f"SELECT {text} FROM g", dialect="duckdb")
    check_outer(tree, {"g"})
    assert len(write_outer(make_total(tree))) < 30 * len(text)
    deep = sqlglot.parse_one(f"SELECT {function.format(text)} FROM g", dialect="duckdb")
    with pytest.raises(InvalidQuery, match="At most 4 levels of LN"):
        check_outer(deep, {"g"})
