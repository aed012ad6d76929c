"""Ibis over DuckDB and over SQLite: the contract, with rows that stay where they are.

DuckDB answers every golden query; what SQLite refuses is named here, as `refused`.
"""

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import duckdb
import ibis
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deniable.engines.ibis.engine import Ibis
from deniable.errors import EngineFailed, InvalidPolicy
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.engines import ibises
from tests.engines.contract import EngineContract, exact
from tests.engines.listed import ListsContract
from tests.engines.plans import plan as by_hand
from tests.engines.uses import UsesContract

# Ibis 12 still calls DuckDB by names that DuckDB 2 would rather not hear.
OTHERS = {
    "from_person_median",
    "windows_ends",
    "windows_lag",
    "windows_qualify",
    "windows_running",
}
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


class TestDuckDBThroughIbis(UsesContract, EngineContract, ListsContract):
    refused_uses: ClassVar[set[str]] = set()
    refused_cases: ClassVar[set[str]] = set()
    sorts_lists: ClassVar[bool] = True

    def opened(self, tables):
        return ibises.over_duckdb(tables)

    def collated(self):
        connection = ibis.duckdb.connect()
        connection.con.execute("CREATE TABLE people (name VARCHAR COLLATE NOCASE)")
        connection.con.execute("INSERT INTO people VALUES ('Bob'), ('bob')")
        return Ibis, connection.table("people")


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_keys_with_zero_bytes_are_those_of_the_rows(backend):
    words = ["a\0b", "a", "\0", "", "~0", "~", "~1", "a\0b", None]
    keys = ["a\0b", "\0", "~0", "~1", "b\0", *map(str, range(200))]
    table = Table.declare("t", keys={"w": keys}).with_schema({"w": "VARCHAR"})
    query_plan = plan(
        parse("SELECT w, COUNT(*) AS n FROM t GROUP BY w"),
        Policy([table], epsilon=9),
        epsilon=1,
    )
    with ibises.OPENED[backend]({"t": pa.table({"w": words})}) as engine:
        expected = [("\0", 1), ("a\0b", 2), ("~0", 1), ("~1", 1)]
        assert sorted(exact(engine.run(query_plan))[0]) == expected


class TestSQLiteThroughIbis(UsesContract, EngineContract):
    refused: ClassVar[set[str]] = {"ranked_first", "ranked_last_two", *OTHERS}
    has_lists = False

    def opened(self, tables):
        return ibises.over_sqlite(tables)

    def given(self):
        """SQLite stores -0.0 as 0.0."""
        rows = super().given()
        for place, name in enumerate(rows.column_names):
            if rows[name].type == pa.float64():
                rows = rows.set_column(place, name, pc.add(rows[name], 0.0))
        return rows

    def collated(self):
        connection = ibis.sqlite.connect()
        connection.con.execute("CREATE TABLE people (name TEXT COLLATE NOCASE)")
        connection.con.execute("INSERT INTO people VALUES ('Bob'), ('bob')")
        return Ibis, connection.table("people")


BACKENDS = pytest.mark.parametrize("backend", ibises.OPENED)
COUNTED = by_hand("SELECT COUNT(*) AS n FROM t WHERE x <> 3")


@BACKENDS
def test_groups_come_in_batches(backend, monkeypatch):
    rows = 1000
    table = pa.table({"key": [f"{each:04}" for each in range(rows)], "x": [2**40] * rows})
    declared = Table.declare("many", bounds={"x": (0, 2**40)}, keys={"key": "private"})
    known = declared.with_schema({"key": "VARCHAR", "x": "BIGINT"})
    sql = "SELECT key, COUNT(*) AS n, SUM(x) AS s FROM many GROUP BY key"
    query_plan = plan(parse(sql), Policy([known], epsilon=9, delta=1e-3), epsilon=1)
    monkeypatch.setattr("deniable.engines.ibis.connection.BATCH", 100)
    with ibises.OPENED[backend]({"many": table}) as engine:
        parts = engine.stream(query_plan).reveal_to(list)
        assert max(each.groups for each in parts) <= 100
        assert sum(each.groups for each in parts) == rows
        groups = exact(engine.run(query_plan))[0]
        assert groups == [(f"{each:04}", 1, 2**40) for each in range(rows)]


@BACKENDS
def test_a_statement_is_interrupted_when_the_time_is_up(backend):
    pairs = " CROSS JOIN ".join(f"t AS {name}" for name in "abcdef")
    endless = by_hand(f"SELECT COUNT(*) AS n FROM {pairs} WHERE a.x + f.x <> b.x * c.x")
    with ibises.OPENED[backend]({"t": pa.table({"x": range(500)})}) as engine:
        engine._seconds = 0.2
        with pytest.raises(EngineFailed):
            engine.run(endless)
        engine._seconds = 600
        assert exact(engine.run(COUNTED))[0] == [(499,)]


def stored(backend, folder):
    """The address of a database with a table `t` of one row."""
    path = folder / f"it.{backend}"
    open_ = {"duckdb": duckdb.connect, "sqlite": sqlite3.connect}[backend]
    with contextlib.closing(open_(str(path))) as database:
        database.execute("CREATE TABLE t (x BIGINT)")
        database.execute("INSERT INTO t VALUES (1)")
        database.commit()
    return f"ibis://{backend}/{path}"


@BACKENDS
def test_the_time_limit_is_part_of_the_address(backend, tmp_path):
    source = f"{stored(backend, tmp_path)}?timeout={{}}#t"
    with Ibis.open({"t": source.format(7)}) as engine:
        assert engine._seconds == 7
        assert exact(engine.run(COUNTED))[0] == [(1,)]
    with pytest.raises(InvalidPolicy, match="timeout"):
        Ibis.open({"t": source.format("never")})


@BACKENDS
def test_an_address_is_opened_for_reading_and_again_after_a_failure(backend, tmp_path):
    source = stored(backend, tmp_path)
    assert Ibis.list_tables(source) == ["t"]
    with Ibis.open({"t": f"{source}#t"}) as engine:
        with pytest.raises(Exception, match=r"(?i)read.?only"):
            engine._connection.backend.con.execute("INSERT INTO t VALUES (2)")
        written = engine.prepare(COUNTED)
        engine._connection.backend.con.close()
        with pytest.raises(EngineFailed):
            engine.run(written)
        with ThreadPoolExecutor() as threads:  # any thread may ask
            assert threads.submit(exact, engine.run(COUNTED)).result()[0] == [(1,)]
    with pytest.raises(InvalidPolicy, match=r"'none'|'t'") as refused:
        Ibis.open({"t": f"{source}#none"})
    assert refused.value.where == ("tables", "t", "source")
    with pytest.raises(InvalidPolicy, match="must exist"):
        Ibis.open({"t": f"{source}.nowhere#t"})
    assert [path.name for path in tmp_path.iterdir()] == [f"it.{backend}"]


@pytest.mark.parametrize(
    "source",
    ["ibis://bigquery/project/dataset#visits", "ibis://polars/visits#visits", "ibis://#visits"],
)
def test_a_back_end_that_was_not_compared_is_refused_at_opening(source):
    with pytest.raises(InvalidPolicy, match="you can use duckdb and sqlite"):
        Ibis.open({"visits": source})
    with pytest.raises(InvalidPolicy, match="you can use duckdb and sqlite"):
        Ibis.list_tables(source)


def test_a_table_of_such_a_back_end_is_refused_too():
    connection = ibis.polars.connect()
    connection.create_table("t", pa.table({"x": [1]}))
    with pytest.raises(InvalidPolicy, match=r"'polars'.*pass it as it is"):
        Ibis.open({"t": connection.table("t")})


def test_all_tables_are_in_one_connection():
    tables = []
    for _ in range(2):
        connection = ibis.sqlite.connect()
        connection.con.execute("CREATE TABLE t (x INT)")
        tables.append(connection.table("t"))
    with pytest.raises(InvalidPolicy, match="one Ibis connection"):
        Ibis.open(dict(zip("ab", tables, strict=True)))
