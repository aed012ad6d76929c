"""SQLite through Ibis: what a row may hold, and which tables are refused."""

import contextlib
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ibis
import pytest

from deniable.engines.ibis.engine import Ibis
from deniable.errors import InvalidPolicy, Unsupported
from tests.engines.contract import exact
from tests.engines.plans import plan as by_hand

COUNTED = by_hand("SELECT COUNT(*) AS n FROM t")


@contextlib.contextmanager
def opened(*statements):
    """The engine over a table `t` of a database that these statements make."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "it.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as database:
            for sql in statements:
                database.execute(sql)
            database.commit()
        with Ibis.open({"t": f"ibis://sqlite/{path}"}) as engine:
            yield engine


def test_a_value_of_another_type_is_missing_and_nothing_fails():
    values = ["7", "7.5", "'seven'", "x'FF'", "CAST(x'FF61' AS TEXT)", "NULL", "9e999", "'NaN'"]
    types = {"i": "BIGINT", "x": "DOUBLE", "s": "TEXT", "b": "BOOLEAN", "d": "DATE"}
    types["m"] = "TIMESTAMP"
    rows = ", ".join(f"({', '.join([value] * len(types))})" for value in values)
    columns = ", ".join(f"{name} {type_}" for name, type_ in types.items())
    counted = ", ".join(f"COUNT({name}) AS {name}" for name in types)
    plan = by_hand(f"SELECT {counted} FROM t", features=types)
    with opened(f"CREATE TABLE t ({columns})", f"INSERT INTO t VALUES {rows}") as engine:
        # SQLite stores 7 and 7.5 as text in a column of text.
        assert exact(engine.run(plan))[0] == [(1, 4, 5, 1, 0, 0)]
        kept = by_hand("SELECT s AS k0, COUNT(*) AS n FROM t GROUP BY s", keys="k")
        texts = {key for key, _ in exact(engine.run(kept))[0]}
        assert texts == {"7", "7.5", "seven", "Inf", "NaN", None}


def test_no_day_is_too_far():
    days = ["0001-01-01", "9999-12-31", "10000-01-01", "0000-01-01", "-001-01-01", "2024-02-30"]
    days += ["2024-02-29", "2024-02-29 23:59:59.999999", "now", "2460000.5", ""]
    rows = ", ".join(f"('{day}', '{day}')" for day in days)
    create = "CREATE TABLE t (d DATE, m DATETIME)"
    with opened(create, f"INSERT INTO t VALUES {rows}") as engine:
        kept = by_hand("SELECT d AS k0, COUNT(m) AS n FROM t GROUP BY d", keys="k")
        counts = {str(day): count for day, count in exact(engine.run(kept))[0]}
    assert counts == {"0001-01-01": 1, "2024-02-29": 2, "9999-12-31": 1, "None": 0}


def test_the_columns_depend_on_no_row():
    create = (
        "CREATE TABLE t (a, b BLOB, c VARCHAR(9), d TINYINT, e TIMESTAMPTZ, f DECIMAL(9,2))"
    )
    known = {"c": "VARCHAR", "d": "BIGINT", "f": "DOUBLE"}
    for rows in ((), ("INSERT INTO t (a, d) VALUES ('x', 300)",)):
        with opened(create, *rows) as engine:
            assert engine.schema("t") == known


@pytest.mark.parametrize(
    "create",
    [
        "CREATE VIEW t AS SELECT abs(x) AS x FROM s",
        "CREATE VIRTUAL TABLE t USING fts5(x)",
        "CREATE TABLE t (x INT PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE t (x INT, y INT AS (abs(x)))",
        "CREATE TABLE t (x INT, y INT AS (abs(x)) STORED)",
    ],
)
def test_what_computes_values_when_a_row_is_read_is_refused(create):
    refused = pytest.raises(InvalidPolicy, match="Store it in a table")
    with refused as told, opened("CREATE TABLE s (x INT)", create):
        pass
    assert told.value.where == ("tables", "t", "source")


def test_other_tables_are_refused():
    for create, why in (
        ("CREATE TABLE t (rowid INT, _rowid_ INT, oid INT)", "called rowid"),
        ("CREATE TABLE t (x BLOB)", "no column whose type"),
    ):
        with pytest.raises(InvalidPolicy, match=why), opened(create):
            pass
    utf16 = pytest.raises(InvalidPolicy, match="UTF-16")
    with utf16, opened("PRAGMA encoding = 'UTF-16'", "CREATE TABLE t (x INT)"):
        pass
    connection = ibis.sqlite.connect()
    connection.con.execute("CREATE TABLE t (x INT)")
    with pytest.raises(InvalidPolicy, match="not an expression"):
        Ibis.open({"t": connection.table("t").mutate(y=ibis._.x + 1)})


def test_a_connection_with_rows_or_text_in_another_form_is_refused():
    for name, factory in (("row_factory", sqlite3.Row), ("text_factory", bytes)):
        connection = ibis.sqlite.connect()
        connection.con.execute("CREATE TABLE t (x INT)")
        table = connection.table("t")
        setattr(connection.con, name, factory)
        with pytest.raises(InvalidPolicy, match=name):
            Ibis.open({"t": table})


@pytest.mark.parametrize("index", ["", "PRIMARY KEY", "UNIQUE"])
def test_a_collation_is_seen_behind_an_index(index):
    columns = f"a TEXT COLLATE NOCASE {index}, b TEXT, c TEXT COLLATE RTRIM, d INT, e DOUBLE"
    more = "CREATE INDEX several ON t (c, b, d COLLATE NOCASE, a)"
    with opened(f"CREATE TABLE t ({columns})", more) as engine:
        assert engine._connection.collated["t"] == {"a", "c"}


def test_rows_are_units_by_their_own_number():
    """Whichever name of the number the columns leave free."""
    create = "CREATE TABLE t (rowid INT, oid TEXT)"
    numbered = by_hand(
        'WITH "r" AS MATERIALIZED (SELECT ROW_NUMBER() OVER () * 3 + 1 AS u, * FROM "t") '
        'SELECT COUNT(DISTINCT u) AS n FROM (SELECT u FROM "r" UNION ALL SELECT u FROM "r")'
    )
    with opened(create, "INSERT INTO t VALUES (1, 'a'), (1, 'a'), (1, 'a')") as engine:
        assert exact(engine.run(numbered))[0] == [(3,)]


def test_a_function_that_the_connection_replaces_is_refused_before_the_charge():
    with opened("CREATE TABLE t (x INT)") as engine:
        engine.prepare(COUNTED)
        engine._connection.backend.con.create_function("MAX", 1, lambda value: value)
        with pytest.raises(Unsupported, match=r"function max.*Nothing was spent"):
            engine.prepare(COUNTED)


def test_what_sqlite_cannot_compile_is_refused_before_the_charge():
    many = ", ".join(["x"] * 200)  # more arguments than SQLite allows
    with opened("CREATE TABLE t (x INT)") as engine:
        with pytest.raises(Unsupported, match="too long"):
            engine.prepare(by_hand(f"SELECT SUM(LEAST({many})) AS n FROM t"))
        engine.prepare(COUNTED)


def test_a_connection_of_another_thread_is_refused_before_the_charge():
    connection = ibis.sqlite.connect()
    connection.con.execute("CREATE TABLE t (x INT)")
    with Ibis.open({"t": connection.table("t")}) as engine, ThreadPoolExecutor() as threads:
        with pytest.raises(Unsupported, match="thread"):
            threads.submit(engine.prepare, COUNTED).result()
        assert exact(engine.run(COUNTED))[0] == [(0,)]


def test_all_statements_of_a_plan_see_the_same_rows():
    cells = ["SELECT 0 AS cell, COUNT(*) AS n FROM t"]
    plan = by_hand("SELECT COUNT(*) AS n FROM t", cells=cells)
    with opened("PRAGMA journal_mode = WAL", "CREATE TABLE t (x INT)") as engine:
        path = engine._connection.backend.con.execute("PRAGMA database_list").fetchone()[2]
        run, counts = engine._run_statement, []

        def run_and_write(statement):
            for batch in run(statement):
                counts.append(batch["n"].to_pylist())
                yield batch
            with contextlib.closing(sqlite3.connect(path)) as writer:
                writer.execute("INSERT INTO t VALUES (1)")
                writer.commit()

        engine._run_statement = run_and_write
        engine.run(plan)
        engine.run(plan)
        assert counts == [[0], [0], [2], [2]]


def test_units_that_are_integers_are_looked_up():
    """A join compares units as text, which SQLite would do for every pair of rows."""
    joined = (
        'SELECT COUNT(*) AS n FROM (SELECT "x" AS u FROM "t") AS a JOIN (SELECT "x" AS u, '
        'COUNT(*) AS c FROM "t" GROUP BY "x") AS b '
        "ON TRY_CAST(a.u AS TEXT) = TRY_CAST(b.u AS TEXT)"
    )
    rows = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 20000) "
    with opened("CREATE TABLE t (x INT)", f"INSERT INTO t {rows} SELECT i FROM r") as engine:
        assert exact(engine.run(by_hand(joined)))[0] == [(20_000,)]
        steps = []
        engine._connection.backend.con.set_progress_handler(lambda: steps.append(1), 10_000)
        engine.run(by_hand(joined))
        assert len(steps) < 1_000  # 20,000 * 20,000 pairs would take 40,000 or more
