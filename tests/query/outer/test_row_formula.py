"""Formulas give what the SQL gives, for every draw; other expressions are left to SQL."""

import duckdb
import numpy as np
import pytest
import sqlglot

from deniable.query.outer.noise_dependence import Kind, NoiseDependence
from deniable.query.outer.repeated_sql import repeat_sql
from deniable.query.outer.row_formula import PUBLIC
from deniable.release.asking.released_part import to_floats
from tests.query.outer.test_repeated_sql import DRAW, DRAWS, GROUPS, ROW, make_rows

N = NoiseDependence(Kind.AFFINE, frozenset({("g", "n")}))
TABLES = {"g": {"k": NoiseDependence(), "j": NoiseDependence(), "n": N}}


def repeat(text):
    return repeat_sql(sqlglot.parse_one(text, dialect="duckdb"), TABLES)


@pytest.mark.parametrize(
    "value",
    [
        "n / SUM(n) OVER ()",
        "100.0 * n / SUM(n) OVER (PARTITION BY j)",
        "n - AVG(n) OVER (PARTITION BY j, k % 3)",
        "SUM(n * k) OVER () - 2 * n",
        "-n + CAST(SUM(n) OVER () AS DOUBLE) / 4",
        "n / NULLIF(SUM(n) OVER (PARTITION BY k > 3), 0) - 1",
        "n * SUM(n) OVER ()",
        "n - LAG(n) OVER (ORDER BY k)",
        "LEAD(n, 2) OVER (PARTITION BY j ORDER BY k DESC)",
        "100 * n / FIRST_VALUE(n) OVER (PARTITION BY j ORDER BY k)",
    ],
)
@pytest.mark.parametrize(
    "source", ["g", "(SELECT k AS k, j, n FROM g)", "(SELECT * FROM g WHERE k < 5)"]
)
def test_formulas_give_what_sql_gives(value, source):
    repeated = repeat(f"SELECT k, {value} AS v FROM {source} AS t")
    assert not repeated.needs_draws
    assert repeated.source == "g"
    with duckdb.connect() as database:
        database.register("g__drawn", make_rows())
        whole = database.sql(f"FROM ({repeated.sql}) ORDER BY {DRAW}, k").to_arrow_table()
    count = len(whole) // DRAWS
    first = whole.slice(0, count)
    noisy = {"n": np.asarray(make_rows()["n"]).reshape(DRAWS, GROUPS)}
    names = [name for name in whole.column_names if name == ROW or PUBLIC in name]
    public = {name: to_floats(first[name]) for name in names}
    column = repeated.columns[1]
    values = [formula.evaluate(noisy, public) for formula in column.formulas]
    assert len(values) == len(column.values)
    sql = to_floats(whole["v"]).reshape(DRAWS, count)
    np.testing.assert_allclose(
        (values[0] if len(values) == 1 else values[0] / values[1]) + 0 * sql, sql
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT n - LAG(n, 1, 0) OVER (ORDER BY k) AS v FROM g",
        "SELECT n - LAG(n + k) OVER (ORDER BY k) AS v FROM g",
        "SELECT SUM(n) OVER (ORDER BY k) AS v FROM g",
        "SELECT a.n - b.n AS v FROM g AS a JOIN g AS b ON a.k = b.k + 1",
        "SELECT SUM(n) AS v FROM g",
        "SELECT LN(n) AS v FROM g",
        "SELECT n / SUM(n) OVER () AS v FROM g QUALIFY ROW_NUMBER() OVER (ORDER BY k) < 3",
        "SELECT n / SUM(n) OVER () AS v FROM (SELECT k, n + 1 AS n FROM g)",
        "SELECT n / SUM(n) OVER () AS v FROM (SELECT * FROM g UNION ALL SELECT * FROM g)",
    ],
)
def test_other_sql_runs_on_every_draw(text):
    assert repeat(text).needs_draws
