"""SQL for many draws at once: each draw gives what the SQL gives on that draw alone."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot

from deniable.query.outer.noise_dependence import Kind, NoiseDependence
from deniable.query.outer.repeated_sql import DRAW, ROW, NotRepeatable, repeat_sql

N = NoiseDependence(Kind.AFFINE, frozenset({("g", "n")}), "n__margin")
TABLES = {"g": {"k": NoiseDependence(), "j": NoiseDependence(), "n": N}}
DRAWS, GROUPS = 5, 8
TEXTS = [
    "SELECT k, j, n FROM g",
    "SELECT * FROM g",
    "SELECT k, j, n / SUM(n) OVER () AS s FROM g",
    "SELECT k, j, SUM(n) OVER (PARTITION BY j ORDER BY k) AS s FROM g",
    "SELECT j, SUM(n) AS s, COUNT(*) AS c FROM g GROUP BY j",
    "SELECT j, AVG(n) AS s FROM g GROUP BY ALL",
    "SELECT SUM(n) AS s FROM g",
    "SELECT a.k, a.n - b.n AS d FROM g AS a JOIN g AS b ON a.k = b.k + 1",
    "SELECT a.k, b.n FROM g AS a LEFT JOIN g AS b ON a.k = b.k + 1",
    "SELECT a.k, b.k AS l, a.n + b.n AS d FROM g AS a, g AS b WHERE a.k < b.k",
    "WITH h AS (SELECT j, SUM(n) AS s FROM g GROUP BY j) SELECT g.k, n / s AS q "
    "FROM g JOIN h USING (j)",
    "SELECT k, n / (SELECT SUM(n) FROM g) AS q FROM g",
    "SELECT k, n - (SELECT AVG(n) FROM g AS i WHERE i.j = g.j) AS q FROM g",
    "SELECT k, n FROM g WHERE k IN (SELECT MAX(k) FROM g)",
    "SELECT k, n FROM g WHERE j = 1 UNION ALL SELECT k, -n FROM g WHERE j = 0",
    "SELECT s * 2 AS t FROM (SELECT SUM(n) AS s FROM (SELECT n FROM g WHERE k > 2))",
]


def make_rows():
    draw = np.random.default_rng(4)
    place = np.tile(np.arange(GROUPS), DRAWS)
    number = np.repeat(np.arange(DRAWS), GROUPS)
    n = draw.normal(50, 9, DRAWS * GROUPS)
    columns = {"k": place, "j": place % 2, "n": n, "n__margin": n * 0 + 7}
    return pa.table({**columns, DRAW: number, ROW: place})


@pytest.mark.parametrize("text", TEXTS)
def test_every_draw_is_answered_by_itself(text):
    rows = make_rows()
    repeated = repeat_sql(sqlglot.parse_one(text, dialect="duckdb"), TABLES)
    with duckdb.connect() as database:
        database.register("g__drawn", rows)
        whole = database.sql(repeated.sql).to_arrow_table().to_pylist()
    for draw in range(DRAWS):
        alone = rows.filter(pa.array(np.asarray(rows[DRAW]) == draw)).select(["k", "j", "n"])
        with duckdb.connect() as database:
            database.register("g", alone)
            expected = database.sql(text).fetchall()
        count = len(expected[0])
        drawn = [tuple(row.values())[:count] for row in whole if row[DRAW] == draw]
        assert len({row[ROW] for row in whole if row[DRAW] == draw}) == len(expected)
        np.testing.assert_allclose(
            sorted([[float(v or 0) for v in row] for row in drawn]),
            sorted([[float(v or 0) for v in row] for row in expected]),
        )


def repeat(text):
    return repeat_sql(sqlglot.parse_one(text, dialect="duckdb"), TABLES)


def test_unchanged_numbers_keep_their_margin():
    text = "WITH h AS (SELECT n AS m, k FROM g WHERE k > 1) SELECT k, m AS o FROM h"
    column = repeat(text).columns[1]
    assert column.own_margin == "_margin_1"
    with duckdb.connect() as database:
        database.register("g__drawn", make_rows())
        table = database.sql(repeat(text).sql).to_arrow_table()
    assert set(table["_margin_1"].to_pylist()) == {7}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT k, n FROM g ORDER BY n DESC LIMIT 3",
        "SELECT k, n FROM g WHERE n > 5",
        "SELECT j, SUM(n) FROM g GROUP BY j HAVING SUM(n) > 5",
        "SELECT k, n FROM g QUALIFY RANK() OVER (ORDER BY n) < 3",
    ],
)
def test_rows_chosen_at_the_end_are_not_left_out(text):
    repeated = repeat(text)
    assert repeated.chosen
    assert repeated.columns[1].dependence.kind == Kind.AFFINE


@pytest.mark.parametrize(
    "text", ["SELECT k, n FROM g ORDER BY k LIMIT 3", "SELECT k, n FROM g"]
)
def test_public_choices_are_no_choices(text):
    assert not repeat(text).chosen


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(n) AS s FROM (SELECT n FROM g WHERE n > 5)",
        "SELECT COUNT(*) AS s FROM (SELECT n FROM g WHERE n > 5)",
        "SELECT SUM(n) AS s FROM g WHERE n > 5",
        "SELECT SUM(n) OVER () AS s FROM g WHERE n > 5",
        "SELECT a.n AS s FROM g AS a JOIN g AS b ON a.n < b.n",
        "SELECT SUM(m) AS s FROM (SELECT ROUND(n) AS r, SUM(n) AS m FROM g GROUP BY 1)",
    ],
)
def test_rows_chosen_below_jump(text):
    assert repeat(text).columns[0].dependence.kind == Kind.JUMPS


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT n FROM g",
        "SELECT SUM(n) FROM (SELECT n FROM g ORDER BY k LIMIT 3)",
        "SELECT * FROM g PIVOT (SUM(n) FOR k IN (1, 2))",
        "SELECT a.n FROM g AS a FULL JOIN g AS b ON a.k = b.k + 1",
        "SELECT n FROM g UNION SELECT n FROM g",
    ],
)
def test_what_cannot_be_repeated_is_said(text):
    with pytest.raises(NotRepeatable):
        repeat(text)


def test_ratios_and_rounding_are_seen():
    columns = repeat(
        "SELECT ROUND(100 * n / SUM(n) OVER () - 1, 1) AS p, n * n AS q FROM g"
    ).columns
    assert (len(columns[0].values), columns[0].rounding) == (2, 0.1)
    assert len(columns[1].values) == 1


CHOSEN = [
    "SELECT k, n FROM g ORDER BY k LIMIT (SELECT COUNT(*) FROM g WHERE n > 50)",
    "SELECT k, n FROM g ORDER BY k OFFSET (SELECT CAST(MAX(n) AS INT) % 3 FROM g)",
    "SELECT n, k FROM g ORDER BY ALL LIMIT 2",
    "SELECT k, n FROM g WHERE k IN (SELECT k FROM g WHERE n > 50)",
    "SELECT k, n FROM g WHERE EXISTS (SELECT 1 FROM g AS h WHERE h.n > 50 AND h.k = g.k)",
    "SELECT k, n FROM g WHERE k = (SELECT MAX(k) FROM g WHERE n > 50)",
    "SELECT k, n FROM g ORDER BY 2 LIMIT 2",
]


@pytest.mark.parametrize("text", CHOSEN)
def test_rows_that_noise_chose_are_known_as_such(text):
    assert repeat_sql(sqlglot.parse_one(text, dialect="duckdb"), TABLES).chosen


def test_what_rows_of_noise_decide_jumps():
    text = (
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM g WHERE n > 50) THEN n ELSE j END AS v FROM g"
    )
    (column,) = repeat_sql(sqlglot.parse_one(text, dialect="duckdb"), TABLES).columns
    assert column.dependence.kind == Kind.JUMPS


@pytest.mark.parametrize("name", ["_row", "_DRAW", "n__margin", "v__size"])
def test_names_that_are_added_are_not_taken_from_the_statement(name):
    text = f'SELECT v - 1 AS w FROM (SELECT n + 1 AS v, k AS "{name}" FROM g)'
    with pytest.raises(NotRepeatable):
        repeat_sql(sqlglot.parse_one(text, dialect="duckdb"), TABLES)
    taken = {"g": {**TABLES["g"], name: NoiseDependence()}}
    with pytest.raises(NotRepeatable):
        repeat_sql(sqlglot.parse_one("SELECT k, n FROM g", dialect="duckdb"), taken)
