"""A view of a DuckDB database is read before it is accepted: no row of it can fail."""

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from deniable.engines.dialect.duckdb_views import check_definition
from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidPolicy
from tests.engines.plans import plan, shown

TABLES = """
CREATE TABLE t (patient VARCHAR, cost INTEGER, price DECIMAL(9, 2), ratio DOUBLE, day DATE,
                well BOOLEAN, born TIMESTAMP, parts INTEGER[]);
INSERT INTO t (patient, cost, price, ratio, day, well) VALUES
('a', 1, 1.5, 0.5, '2024-01-01', true), ('b', 2, 2, 1, '2025-01-01', NULL);
CREATE TABLE u AS SELECT * FROM t;
CREATE SCHEMA other;
CREATE VIEW other.inner_view AS SELECT patient, cost FROM main.t WHERE cost > 0;
CREATE VIEW risky AS SELECT error(patient) AS patient FROM t;
"""
HARMLESS = {
    "all columns": "SELECT * FROM t",
    "all columns but one": "SELECT * EXCLUDE (day) FROM t WHERE cost > 0",
    "other names": "SELECT patient AS p, x.cost FROM main.t AS x WHERE x.cost BETWEEN 0 AND 9",
    "constants": "SELECT patient, 5 AS five FROM t WHERE patient LIKE '%' AND cost IN (1, 2)",
    "a choice": "SELECT CASE WHEN cost > 1 AND well THEN 'x' ELSE patient END AS p FROM t",
    "a choice by value": "SELECT CASE patient WHEN 'a' THEN 1 WHEN 'b' THEN -2 END AS n FROM t",
    "a default": "SELECT COALESCE(patient, '') AS p FROM t WHERE NOT price >= 0.25",
    "days": "SELECT cost::TEXT AS c FROM t WHERE day > '2020-01-01' AND day < DATE '2030-1-1'",
    "texts of simple types": "SELECT day::TEXT AS a, ratio::TEXT AS b, well::TEXT AS c FROM t",
    "ratios": "SELECT * FROM t WHERE ratio > 0.125",
    "a view": "SELECT * FROM other.inner_view ORDER BY cost",
}
RISKY = {
    "error()": "SELECT CASE WHEN cost > 1 THEN error('x') ELSE patient END AS p FROM t",
    "another file": "SELECT * FROM read_csv('{folder}/other.csv')",
    "another file by its name": "SELECT * FROM '{folder}/other.csv'",
    "a cast": "SELECT patient::INTEGER AS n FROM t",
    "a cast of a constant": "SELECT * FROM t WHERE cost > 5 AND day > CAST('soon' AS DATE)",
    "a moment as text": "SELECT born::VARCHAR AS n FROM t",
    "a list as text": "SELECT CASE WHEN well THEN (parts)::VARCHAR END AS n FROM t",
    "a division": "SELECT cost // (cost - 1) AS n FROM t",
    "a sum": "SELECT cost + 2147483646 AS n FROM t",
    "a function": "SELECT chr(cost) AS n FROM t",
    "text as a number": "SELECT * FROM t WHERE patient = 5",
    "text among numbers": "SELECT * FROM t WHERE patient IN (1, 2)",
    "text as a condition": "SELECT * FROM t WHERE patient",
    "text in a condition": "SELECT * FROM t WHERE patient OR cost > 1",
    "text that is not": "SELECT NOT patient AS n FROM t",
    "text that is a day": "SELECT * FROM t WHERE cost > 5 AND day > 'soon'",
    "text or a number": "SELECT CASE WHEN cost = 1 THEN 'abc' ELSE cost END AS n FROM t",
    "text or another number": "SELECT CASE WHEN cost = 1 THEN 'abc' ELSE 5 END AS n FROM t",
    "more decimals than the column": "SELECT * FROM t WHERE price > 0.0000000000000000000001",
    "other people's rows": "SELECT patient, (SELECT COUNT(*) FROM t) AS n FROM t",
    "a window": "SELECT patient, COUNT(*) OVER () AS n FROM t",
    "an aggregate": "SELECT MAX(patient) AS p FROM t",
    "groups": "SELECT patient FROM t GROUP BY patient",
    "distinct rows": "SELECT DISTINCT cost FROM t",
    "a limit": "SELECT * FROM t LIMIT 1",
    "a sample": "SELECT * FROM t USING SAMPLE 50%",
    "a join": "SELECT t.* FROM t JOIN u USING (patient)",
    "a product": "SELECT t.* FROM t, u",
    "itself twice": "SELECT * FROM t UNION ALL SELECT * FROM t",
    "two types": "SELECT patient FROM t UNION ALL SELECT cost FROM u",
    "a risky view": "SELECT * FROM risky",
    "elements": "SELECT * FROM t WHERE cost = ANY([1, 2])",
    "chance": "SELECT random() AS n FROM t",
}


@pytest.fixture(scope="module")
def attached(tmp_path_factory):
    """A connection to a database with a view for each case."""
    folder = tmp_path_factory.mktemp("views")
    (folder / "other.csv").write_text("a,b\n1,2\n")
    with duckdb.connect(str(folder / "hospital.duckdb")) as database:
        database.execute(TABLES)
        for name, view in {**HARMLESS, **RISKY}.items():
            database.execute(f'CREATE VIEW "{name}" AS {view.format(folder=folder)}')
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{folder}/hospital.duckdb' AS it (READ_ONLY)")
        yield connection


@pytest.mark.parametrize("case", HARMLESS)
def test_a_harmless_view_is_accepted(attached, case):
    check_definition(attached, "it", case)


@pytest.mark.parametrize("case", RISKY)
def test_what_could_fail_or_see_other_rows_is_refused(attached, case):
    with pytest.raises(InvalidPolicy, match=r"is a view with .*CREATE TABLE"):
        check_definition(attached, "it", case)


@pytest.fixture
def opened(tmp_path):
    """Opens a view through the engine."""

    def open_(view, before="", after=""):
        path = tmp_path / "hospital.duckdb"
        path.unlink(missing_ok=True)
        with duckdb.connect(str(path)) as database:
            database.execute(TABLES + before)
            database.execute(f"CREATE VIEW visits AS {view};{after}")
        return DuckDB.open({"visits": str(path)})

    return open_


def test_a_view_answers_questions_or_is_not_opened(opened):
    with opened("SELECT patient AS p FROM t WHERE cost > 1") as engine:
        assert shown(engine.run(plan("SELECT COUNT(*) AS n FROM visits"))) == [(1,)]
    with pytest.raises(InvalidPolicy, match="is a view with") as refused:
        opened(RISKY["error()"])
    assert refused.value.where == ("tables", "visits", "source")


def test_a_view_of_a_table_that_is_gone_is_refused(opened):
    with pytest.raises(InvalidPolicy, match="outside of its database"):
        opened("SELECT * FROM gone", "CREATE TABLE gone (a INTEGER);", "DROP TABLE gone")
    changed = "CREATE TABLE less (a INTEGER, b INTEGER);", "ALTER TABLE less DROP b"
    with pytest.raises(InvalidPolicy, match="cannot be read"):
        opened("SELECT b FROM less WHERE b > 1", *changed)


@pytest.mark.parametrize("macro", ["upper(x)", '"~~"(x, y)'])
def test_a_view_beside_macros_is_refused(opened, macro):
    """A macro can take the place of a function, and even of an operator such as LIKE."""
    with pytest.raises(InvalidPolicy, match="macros beside it"):
        opened("SELECT * FROM t WHERE patient LIKE 'a%'", f"CREATE MACRO {macro} AS error(x);")


@pytest.mark.parametrize("source", ["odd", "visits"])
def test_a_generated_column_is_refused(tmp_path, source):
    path = tmp_path / "hospital.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE odd (a INTEGER, b INTEGER AS (a * 2))")
        database.execute("CREATE VIEW visits AS SELECT * FROM odd")
    with pytest.raises(InvalidPolicy, match="generated column"):
        DuckDB.open({"data": f"{path}#{source}"})


def test_a_moment_that_duckdb_cannot_write_is_stored(tmp_path):
    """The reason for which moments are not cast to text in a view."""
    far = pa.array([2 - 2**63], pa.int64()).view(pa.timestamp("us"))
    pyarrow.parquet.write_table(pa.table({"born": far}), tmp_path / "far.parquet")
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t AS SELECT * FROM '{tmp_path}/far.parquet'")
        with pytest.raises(duckdb.Error):
            database.execute("SELECT born::VARCHAR FROM t").fetchall()
