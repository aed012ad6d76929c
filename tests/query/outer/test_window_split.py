"""Window functions of aggregates: the groups below, and the rest above."""

import pytest
import sqlglot

from deniable.query.outer.window_split import split_windows

SPLITS = [
    (
        "SELECT w, SUM(COUNT(*)) OVER () AS s FROM t GROUP BY w",
        'SELECT w AS w, COUNT(*) AS "COUNT(*)" FROM t GROUP BY w',
        'SELECT w, SUM("COUNT(*)") OVER () AS s',
    ),
    (
        "SELECT w AS v, COUNT(*) AS n, RANK() OVER (PARTITION BY w ORDER BY COUNT(*)) AS r "
        "FROM t GROUP BY 1 ORDER BY n LIMIT 2 OFFSET 1",
        "SELECT w AS v, COUNT(*) AS n FROM t GROUP BY w",
        "SELECT v, n, RANK() OVER (PARTITION BY v ORDER BY n) AS r ORDER BY n LIMIT 2 OFFSET 1",
    ),
    (
        "SELECT SUM(x) AS s FROM t GROUP BY w QUALIFY ROW_NUMBER() OVER (ORDER BY s) = 1",
        "SELECT SUM(x) AS s, w AS w FROM t GROUP BY w",
        "SELECT s QUALIFY ROW_NUMBER() OVER (ORDER BY s) = 1",
    ),
    (
        "SELECT FLOOR(x / 10) AS b, AVG(y) - LAG(AVG(y)) OVER (ORDER BY b) AS d FROM t "
        "GROUP BY b",
        'SELECT FLOOR(x / 10) AS b, AVG(y) AS "AVG(y)" FROM t GROUP BY b',
        'SELECT b, "AVG(y)" - LAG("AVG(y)") OVER (ORDER BY b) AS d',
    ),
    (
        "SELECT w, COUNT(*) FILTER (WHERE x > 1) AS n FROM t GROUP BY ALL HAVING COUNT(*) > 2 "
        "OFFSET 1",
        'SELECT w AS w, COUNT(*) FILTER(WHERE x > 1) AS n, COUNT(*) AS "COUNT(*)" FROM t '
        "GROUP BY w",
        'SELECT w, n WHERE "COUNT(*)" > 2 OFFSET 1',
    ),
    (
        "SELECT COUNT(*) AS n, (SELECT COUNT(*) FROM u) AS m FROM t",
        "SELECT COUNT(*) AS n FROM t",
        "SELECT n, (SELECT COUNT(*) FROM u) AS m",
    ),
    (  # a column beats an alias of the same name, except in ORDER BY
        "SELECT 4 - y AS y, SUM(COUNT(*)) OVER (ORDER BY y) AS s FROM t GROUP BY y "
        "HAVING y > 1 ORDER BY y",
        'SELECT y AS y, COUNT(*) AS "COUNT(*)" FROM t GROUP BY y',
        'SELECT 4 - y AS y, SUM("COUNT(*)") OVER (ORDER BY y) AS s WHERE y > 1 ORDER BY y',
    ),
    (
        "SELECT w AS y, y AS w, RANK() OVER (ORDER BY y) AS r FROM t GROUP BY w, y ORDER BY y",
        "SELECT w AS y, y AS w FROM t GROUP BY w, y",
        "SELECT y, w, RANK() OVER (ORDER BY w) AS r ORDER BY y",
    ),
    (
        "SELECT COUNT(*) AS w, SUM(COUNT(*)) OVER (PARTITION BY w) AS s FROM t GROUP BY w",
        "SELECT COUNT(*) AS w, w AS w_ FROM t GROUP BY w",
        "SELECT w, SUM(w) OVER (PARTITION BY w_) AS s",
    ),
    (
        "SELECT COUNT(*) AS w, w AS k, RANK() OVER () AS r FROM t GROUP BY t.w",
        "SELECT COUNT(*) AS w, t.w AS w_ FROM t GROUP BY t.w",
        "SELECT w, w_ AS k, RANK() OVER () AS r",
    ),
]


@pytest.mark.parametrize(("text", "inner", "outer"), SPLITS)
def test_the_parts(text, inner, outer):
    parts = split_windows(sqlglot.parse_one(text, dialect="duckdb"))
    assert [part.sql(dialect="duckdb") for part in parts] == [inner, outer]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT x FROM t",
        "SELECT * FROM t GROUP BY x",
        "SELECT COUNT(*) FROM t",
        "SELECT COUNT(*), RANK() OVER () FROM t USING SAMPLE 10%",
        "SELECT COUNT(*), RANK() OVER w FROM t WINDOW w AS ()",
        "SELECT COUNT(*), RANK() OVER () INTO u FROM t",
    ],
)
def test_others_are_not_split(text):
    assert split_windows(sqlglot.parse_one(text, dialect="duckdb")) is None
