"""DuckDB through Ibis: our own statement, on a connection that is not ours alone."""

import contextlib

import ibis
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.ibis.duckdb_connection import _SETTINGS
from deniable.engines.ibis.engine import Ibis
from deniable.errors import EngineFailed, InvalidPolicy
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.engines import ibises
from tests.engines.contract import exact
from tests.engines.plans import plan as by_hand
from tests.query import town

# Ibis 12 still calls DuckDB by names that DuckDB 2 would rather not hear.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

SUMMED = by_hand("SELECT SUM(x) AS n FROM t")


def test_duckdb_gets_our_own_statement_after_its_sources():
    """Ibis would write a correlation over a join as 49 nested queries, which DuckDB cannot
    plan in minutes."""
    sql = "SELECT CORR(a.cost, b.cost) FROM visits AS a JOIN visits AS b USING (patient)"
    query_plan = plan(parse(sql), town.policy(), epsilon=1)
    with ibises.over_duckdb(town.SOURCES) as engine, DuckDB.open(town.SOURCES) as reference:
        written = engine.prepare(query_plan).statements[0].sql
        assert written.endswith(query_plan.engine_sql.removeprefix("WITH "))
        assert exact(engine.run(query_plan)) == exact(reference.run(query_plan))


def test_settings_of_the_connection_change_no_answer_and_are_set_back():
    table = pa.table({"word": ["a", "A"], "x": [7.0, 0.0], "y": [2, 3]})
    connection = ibis.duckdb.connect()
    connection.con.register("given", table)
    connection.con.execute("CREATE TABLE t AS SELECT * FROM given")
    own = {
        "error_on_division_by_zero": "true",
        "integer_division": "true",
        "default_collation": "NOCASE",
        "TimeZone": "Asia/Tokyo",
    }
    for name, value in own.items():
        connection.con.execute(f"SET {name} = '{value}'")
    names = ", ".join(f"current_setting('{name}')" for name in _SETTINGS)
    before = connection.con.execute(f"SELECT {names}").fetchall()
    plans = [
        by_hand(f"SELECT COUNT(*) AS n FROM t WHERE {condition}")
        for condition in (
            "(y // (y - 2)) IS NULL",
            "7 / y > 3",
            "lower(word) = concat('A', '')",
            "CAST(TIMESTAMPTZ '2024-01-01 20:00:00+00' AS DATE) = DATE '2024-01-01'",
        )
    ]
    with Ibis.open({"t": connection.table("t")}) as engine, DuckDB.open({"t": table}) as known:
        for query_plan in plans:
            assert exact(engine.run(query_plan)) == exact(known.run(query_plan))
        with pytest.raises(EngineFailed):
            engine.run(by_hand("SELECT SUM(none) AS n FROM t"))
    assert connection.con.execute(f"SELECT {names}").fetchall() == before


def test_a_source_may_read_a_table_with_another_sources_name():
    connection = ibis.duckdb.connect()
    connection.con.execute("CREATE TABLE t AS SELECT 1::BIGINT AS x")
    connection.con.execute("CREATE TABLE s AS SELECT 20::BIGINT AS x")
    sources = {"t": connection.table("s"), "s": connection.table("t").mutate(x=ibis._.x + 1)}
    query_plan = by_hand("SELECT SUM(t.x * 100 + s.x) AS n FROM t CROSS JOIN s")
    with Ibis.open(sources) as engine:
        assert exact(engine.run(query_plan))[0] == [(2002,)]


def test_what_exists_only_in_the_connection_is_asked_there(tmp_path):
    (tmp_path / "visits.csv").write_text("x\n3\n4\n")
    connection = ibis.duckdb.connect()
    in_memory = ibis.memtable(pa.table({"x": [3, 4]}))
    for table in (connection.read_csv(tmp_path / "visits.csv"), in_memory):
        with contextlib.closing(Ibis.open({"t": table})) as engine:
            assert exact(engine.run(SUMMED))[0] == [(7,)]


def test_a_macro_with_the_name_of_a_function_is_refused():
    connection = ibis.duckdb.connect()
    connection.con.execute("CREATE TABLE t AS SELECT 1 AS x")
    connection.con.execute("CREATE MACRO mine(a) AS a + 1")
    Ibis.open({"t": connection.table("t")}).close()
    connection.con.execute("CREATE MACRO coalesce_(a) AS a")
    connection.con.execute("CREATE MACRO sqrt(a) AS a")
    with pytest.raises(InvalidPolicy, match="function sqrt, which DuckDB has too"):
        Ibis.open({"t": connection.table("t")})


def test_rows_that_are_drawn_anew_are_drawn_once_where_rows_are_units():
    table = ibis.memtable(pa.table({"x": range(9)}))
    drawn = table.mutate(x=(ibis.random() * 9).floor().cast("int64"))
    declared = Table.declare("odd", bounds={"x": (0, 9)})
    twice = "SELECT SUM(x) AS s FROM (SELECT x FROM odd UNION ALL SELECT 9 - x FROM odd)"
    answers = []
    for source in (table, drawn, drawn):
        with contextlib.closing(Ibis.open({"odd": source})) as engine:
            known = Policy([declared.with_schema(engine.schema("odd"))], epsilon=9)
            answers.append(exact(engine.run(plan(parse(twice), known, epsilon=1))))
    assert answers[0] == answers[1] == answers[2]


VIEWS = {
    "of other people's rows": "SELECT u, (SELECT SUM(x) FROM stored) AS x FROM stored",
    "of a window": "SELECT u, SUM(x) OVER () AS x FROM stored",
    "of groups": "SELECT MIN(u) AS u, x FROM stored GROUP BY x",
    "that can fail": "SELECT u, CAST(word AS DOUBLE) AS x FROM stored",
}


@pytest.fixture
def stored(tmp_path):
    """A database with a table and one view, and the ways to name the view."""

    def make(view):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.duckdb"
        connection = ibis.duckdb.connect(str(path))
        connection.con.execute(
            "CREATE TABLE stored AS SELECT i AS u, i * 1.0 AS x, 'a' AS word FROM range(9) r(i)"
        )
        connection.con.execute(f"CREATE VIEW t AS {view}")
        connection.con.execute("CREATE VIEW above AS SELECT * FROM t")
        table = connection.table("t")
        text = connection.sql("SELECT u FROM (SELECT * FROM t)", schema={"u": "int64"})
        above = connection.table("above")
        return [table, table.filter(table.x > 1), above, table.union(table), text]

    return make


@pytest.mark.parametrize("case", VIEWS)
def test_a_stored_view_that_could_mix_units_or_fail_is_refused(stored, case):
    """Whatever an expression does, or its SQL, the views that it reads are checked."""
    for source in stored(VIEWS[case]):
        with pytest.raises(InvalidPolicy, match=r"is a view with .*CREATE TABLE"):
            Ibis.open({"t": source})


def test_a_view_of_an_address_is_checked_too(tmp_path):
    path = tmp_path / "hospital.duckdb"
    with ibis.duckdb.connect(str(path)).con as database:
        database.execute("CREATE TABLE stored AS SELECT 1 AS u, 2.0 AS x")
        database.execute(f"CREATE VIEW t AS {VIEWS['of a window']}")
        database.execute("CREATE VIEW fine AS SELECT u, x FROM stored WHERE x > 1")
    with pytest.raises(InvalidPolicy, match="is a view with"):
        Ibis.open({"t": f"ibis://duckdb/{path}#t"})
    Ibis.open({"t": f"ibis://duckdb/{path}#fine"}).close()


def test_a_stored_view_that_keeps_units_apart_is_read(stored):
    rows = pa.table({"u": [4, 5, 6], "x": [4.0, 5.0, 6.0]})
    for source in stored("SELECT u, x FROM stored WHERE x BETWEEN 4 AND 6")[:3]:
        with Ibis.open({"t": source}) as engine, DuckDB.open({"t": rows}) as reference:
            assert exact(engine.run(SUMMED)) == exact(reference.run(SUMMED))
