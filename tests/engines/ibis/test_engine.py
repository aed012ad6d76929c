"""Ibis over DuckDB and over Polars: the contract, with rows that stay where they are.

Both answer every golden query; what they refused would be named here, as `refused`.
"""

import contextlib
import datetime
import threading

import duckdb
import ibis
import polars as pl
import pyarrow as pa
import pytest

from deniable.engines.ibis.engine import Ibis
from deniable.errors import EngineFailed, InvalidPolicy, Unsupported
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.engines import ibises
from tests.engines.contract import EngineContract, Sampled, exact
from tests.engines.plans import plan as by_hand
from tests.engines.uses import UsesContract
from tests.query.hospital import policy, visits

# Ibis 12 still calls DuckDB by names that DuckDB 2 would rather not hear.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


class TestDuckDBThroughIbis(Sampled, UsesContract, EngineContract):
    """Some plans: Ibis takes long to compile for DuckDB. The class below runs them all."""

    def opened(self, tables):
        return ibises.over_duckdb(tables)

    def collated(self):
        connection = ibis.duckdb.connect()
        connection.con.execute("CREATE TABLE people (name VARCHAR COLLATE NOCASE)")
        connection.con.execute("INSERT INTO people VALUES ('Bob'), ('bob')")
        return Ibis, connection.table("people")


class TestPolarsThroughIbis(UsesContract, EngineContract):
    def opened(self, tables):
        return ibises.over_polars(tables)

    def collated(self):
        return None


BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def by_ward():
    return plan(parse(BY_WARD), policy(person=False), epsilon=1)


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_what_a_backend_cannot_compile_is_refused_before_the_charge(backend, monkeypatch):
    with ibises.OPENED[backend]({"visits": visits(4)}) as engine:

        def compile_(*_, **__):
            raise NotImplementedError("secret")

        monkeypatch.setattr(engine._backend, "compile", compile_)
        with pytest.raises(
            Unsupported, match=r"NotImplementedError.*Nothing was spent"
        ) as told:
            engine.check(by_ward())
        assert "secret" not in str(told.value)
        assert ibis.options.sql.fuse_selects


def test_a_statement_is_compiled_once_and_the_last_ones_are_kept(monkeypatch):
    with ibises.over_duckdb({"visits": visits(4)}) as engine:
        engine.check(by_ward())
        monkeypatch.setattr(engine._backend, "compile", None)
        assert exact(engine.run(by_ward()))[0]
        monkeypatch.undo()
        for number in range(70):
            engine._translate(f'SELECT COUNT(*) AS n FROM "visits" WHERE "age" > {number}')
        assert len(engine._cache) == 64


@pytest.mark.parametrize("backend", ibises.OPENED)
def test_groups_come_in_batches(backend, monkeypatch):
    rows = 1000
    table = pa.table({"key": [f"{one:04}" for one in range(rows)], "x": [2**40] * rows})
    declared = Table.declare("many", bounds={"x": (0, 2**40)}, keys={"key": "private"})
    known = declared.with_schema({"key": "VARCHAR", "x": "BIGINT"})
    sql = "SELECT key, COUNT(*) AS n, SUM(x) AS s FROM many GROUP BY key"
    asked = plan(parse(sql), Policy([known], epsilon=9, delta=1e-3), epsilon=1)
    monkeypatch.setattr("deniable.engines.ibis.engine._BATCH", 100)
    with ibises.OPENED[backend]({"many": table}) as engine:
        parts = engine.stream(asked).reveal_to(list)
        assert max(one.groups for one in parts) <= 100
        assert sum(one.groups for one in parts) == rows
        found = exact(engine.run(asked))[0]
        assert found == [(f"{one:04}", 1, 2**40) for one in range(rows)]


FAR = [-(2**31), 2**31 - 1, 0, None, -719_163, -719_162, 2_932_896, 2_932_897, 106_751_992]


@pytest.mark.parametrize("backend", ibises.OPENED)
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_no_day_is_too_far(backend, unit):
    days = pa.array(FAR * 4, pa.int32()).cast(pa.date32())
    ends = [-(2**63) + 1, 2**63 - 1, 0, None, 1]
    moments = pa.array((ends * 8)[: len(days)], pa.int64()).cast(pa.timestamp(unit))
    table = pa.table({"day": days, "moment": moments})
    declared = Table.declare("far", keys={"day": "private", "moment": "private"})
    known = declared.with_schema({"day": "DATE", "moment": "TIMESTAMP"})
    policy_ = Policy([known], epsilon=99, delta=1e-3)
    questions = [
        "SELECT day, COUNT(*) FROM far GROUP BY day",
        "SELECT COUNT(DISTINCT moment) AS m, COUNT_IF(day < moment) AS n, "
        "SUM(EXTRACT(year FROM day)) AS y, SUM(EXTRACT(week FROM moment)) AS w, "
        "SUM(DATE_DIFF('day', day, moment)) AS d FROM far",
    ]
    with ibises.OPENED[backend]({"far": table}) as engine:
        first, second = (
            exact(engine.run(plan(parse(sql), policy_, epsilon=9))) for sql in questions
        )
    kept = sorted(str(key) for key, *_ in first[0])
    assert kept == ["0001-01-01", "1970-01-01", "9999-12-31", "None"]
    assert second[0][0][0] > 0


class _Panic(BaseException):
    """As Polars has them, beside all exceptions."""


_Panic.__name__ = "PanicException"


def test_a_panic_is_the_one_error(monkeypatch):
    with ibises.over_polars({"visits": visits(4)}) as engine:
        engine.check(by_ward())

        def panic(*_, **__):
            raise _Panic("row 3 holds 41")

        monkeypatch.setattr(engine._backend, "to_pyarrow_batches", panic)
        with pytest.raises(EngineFailed) as failed:
            engine.run(by_ward())
        assert "41" not in str(failed.value)
        monkeypatch.undo()
        assert exact(engine.run(by_ward()))[0]


COUNTED = by_hand("SELECT COUNT(*) AS n FROM t WHERE x <> 3")


def test_duckdb_is_interrupted_when_the_time_is_up():
    connection = ibis.duckdb.connect()
    endless = "SELECT a.range % 7 AS x FROM range(1000000000) AS a, range(1000000000) AS b"
    connection.con.execute(f"CREATE VIEW t AS {endless}")
    with Ibis.open({"t": connection.table("t")}) as engine:
        engine._seconds = 0.2
        with pytest.raises(EngineFailed):
            engine.run(COUNTED)
        connection.con.execute("CREATE OR REPLACE VIEW t AS SELECT 1::BIGINT AS x")
        engine._seconds = 600
        assert exact(engine.run(COUNTED))[0] == [(1,)]


def test_polars_is_left_alone_when_the_time_is_up():
    connection, ended = ibis.polars.connect(), threading.Event()

    def wait(rows):
        ended.wait()
        return rows

    connection.create_table("t", pl.LazyFrame({"x": [1, 2]}).map_batches(wait))
    with Ibis.open({"t": connection.table("t")}) as engine:
        engine._seconds = 0.2
        with pytest.raises(EngineFailed):
            engine.run(COUNTED)
        ended.set()
        engine._seconds = 600
        assert exact(engine.run(COUNTED))[0] == [(2,)]


def test_the_time_limit_is_part_of_the_address(tmp_path):
    with duckdb.connect(str(tmp_path / "it.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS x")
    source = f"ibis://duckdb/{tmp_path}/it.duckdb?timeout={{}}#t"
    with Ibis.open({"t": source.format(7)}) as engine:
        assert engine._seconds == 7
        assert exact(engine.run(COUNTED))[0] == [(1,)]
    with pytest.raises(InvalidPolicy, match="timeout"):
        Ibis.open({"t": source.format("never")})


def test_a_table_in_memory_is_asked_where_it_is():
    table = ibis.memtable(pa.table({"ward": ["A", "B", "A"], "day": [datetime.date.min] * 3}))
    declared = Table.declare("visits", keys={"ward": ["A", "B"]})
    with contextlib.closing(Ibis.open({"visits": table})) as engine:
        known = Policy([declared.with_schema(engine.schema("visits"))], epsilon=9)
        found = engine.run(plan(parse(BY_WARD), known, epsilon=1))
        assert exact(found)[0] == [("A", 2), ("B", 1)]


def test_a_table_that_draws_its_rows_anew_is_refused_where_rows_are_units():
    table = ibis.memtable(pa.table({"x": range(9)}))
    drawn = table.mutate(x=(ibis.random() * 9).floor().cast("int64"))
    declared = Table.declare("odd", bounds={"x": (0, 9)})
    twice = "SELECT SUM(x) FROM (SELECT x FROM odd UNION ALL SELECT x FROM odd)"
    for one in (drawn, table.limit(3)):
        with contextlib.closing(Ibis.open({"odd": one})) as engine:
            known = Policy([declared.with_schema(engine.schema("odd"))], epsilon=9)
            engine.check(plan(parse("SELECT SUM(x) FROM odd"), known, epsilon=1))
            with pytest.raises(Unsupported, match="new rows each time"):
                engine.check(plan(parse(twice), known, epsilon=1))
