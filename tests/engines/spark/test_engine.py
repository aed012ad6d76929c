"""Spark, in this process and through Spark Connect: the contract, with ANSI mode on and off."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pyarrow.parquet
import pytest

import deniable as dp
from deniable.app.cli.commands.init import write_draft
from deniable.engines.handover.written_plan import WrittenStatement
from deniable.engines.spark import writer
from deniable.engines.spark.engine import Spark
from deniable.errors import EngineFailed, InvalidPolicy, Unsupported
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.plan.plan import STORED
from deniable.query.planner.planner import plan as plan_of
from tests.engines.contract import EngineContract, Sampled, within_limits
from tests.engines.listed import ListsContract
from tests.engines.neighbors import Fuzz, NeighborContract
from tests.engines.plans import plan, shown
from tests.engines.sparks import connect_port, local, ran
from tests.engines.uses import UsesContract

pytestmark = [pytest.mark.needs("java"), pytest.mark.xdist_group("spark")]

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
BROADCAST = "spark.sql.autoBroadcastJoinThreshold"


@pytest.fixture(scope="module")
def session(pytestconfig):
    with local(long=pytestconfig.getoption("full")) as started:
        yield started


CONNECTED = """
import sys
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.spark.engine import Spark
from deniable.policy import Policy, Table
from tests.engines.contract import CASES, parse, plan, read, same, within_limits

chosen = {"average", "filters", "private_keys", "variance", "quantiles"}
plans = {p.stem: plan(parse(sql), its, epsilon=0.5) for p in CASES if p.stem in chosen
         for its, sql in [read(p)]}
source = f"spark://127.0.0.1:{sys.argv[2]}?parquet={sys.argv[1]}"
seen = []
known = DuckDB.open({"visits": within_limits()})
with Spark.open({"visits": source}) as engine:
    engine.progress = seen.append
    same(engine, known, plans)
    frame = engine._connect().read.parquet(sys.argv[1])
    assert seen and seen[-1] == 1.0 and all(0 <= one <= 1 for one in seen), seen
    with Spark.open({"visits": frame}) as again:
        same(again, known, {"average": plans["average"]})
    keys = ["A", "B", *map(str, range(200))]
    table = Table.declare("visits", keys={"ward": keys})
    table = table.with_schema(engine.schema("visits"))
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    same(engine, known, {"many": plan(parse(sql), Policy([table], epsilon=9), epsilon=1)})
    assert "connect" in type(engine._connect()).__module__
print("done")
"""


@pytest.fixture
def interpreted(session):
    """Without compiled code, as Spark runs what is too long to be compiled."""
    kept = {name: session.conf.get(name) for name in INTERPRETED}
    for name, value in INTERPRETED.items():
        session.conf.set(name, value)
    yield
    for name, value in kept.items():
        session.conf.set(name, value)


class Folders:
    """Tables as folders of Parquet, in the mode that Spark 4 starts in."""

    ansi = "true"
    partitions = 2  # of a shuffle; each takes a task, which costs more than its few rows

    @pytest.fixture(autouse=True)
    def _session(self, session, tmp_path, size):
        self.folder = tmp_path
        session.conf.set("spark.sql.ansi.enabled", self.ansi)
        number = size(small=self.partitions, full=2, what="partitions of Spark's shuffles")
        session.conf.set("spark.sql.shuffle.partitions", str(number))
        yield
        session.conf.set("spark.sql.shuffle.partitions", "2")

    @contextlib.contextmanager
    def opened(self, tables):
        sources = {}
        for name, table in tables.items():
            folder = self.folder / str(len(list(self.folder.iterdir())))
            folder.mkdir()
            half = len(table) // 2
            for part, rows in enumerate((table.slice(0, half), table.slice(half))):
                pyarrow.parquet.write_table(rows, folder / f"{part}.parquet")
            sources[name] = f"spark://local?parquet={folder}"
        with Spark.open(sources) as engine:
            yield engine


class Tables(Folders, EngineContract):
    """The contract, over folders of Parquet, and a collation in the session."""

    @pytest.fixture(autouse=True)
    def _collated(self, session):
        rows = session.createDataFrame([("Bob",), ("bob",)], "name string")
        self.people = rows.selectExpr("name COLLATE UTF8_LCASE AS name")

    def collated(self):
        return Spark, self.people


class TestSpark(Sampled, Tables):
    """Compiled: some plans, or all at full size. No golden case is refused.

    A plan that is asked for once costs Spark its planning and its compilation, hardly its
    rows; the class below runs five times as many.
    """

    few = 4


@pytest.mark.usefixtures("interpreted")
class TestSparkWithoutANSI(Sampled, Tables):
    """The older mode, where casts and sums wrap around, and without compiled code."""

    few = 20
    ansi = "false"
    partitions = 1


@pytest.mark.usefixtures("interpreted")
class TestSparkFunctions(Folders, UsesContract, ListsContract):
    """Functions row by row; their differences would be those of the mode."""

    partitions = 1


class TestSparkFunctionsWithoutANSI(TestSparkFunctions):
    ansi = "false"


@pytest.mark.usefixtures("interpreted")
class TestSparkOnNeighbors(Folders, NeighborContract):
    """The neighbour fuzzer; each of its plans is asked for twice, so compiling takes longer.

    Spark needs little time for the rows, and much for planning and for starting tasks. So most
    worlds are in one partition, which needs no shuffle and no broadcast, and most plans are
    interpreted. Every fifth world has two files a table; every tenth plan is compiled.
    """

    small = 2
    most_signs = 10  # Spark's optimizer takes minutes for a quantile of a sum of 130
    partitions = 1

    @pytest.fixture(autouse=True)
    def _sides(self, session):
        self.session, self.sides = session, 0
        yield
        session.conf.unset(BROADCAST)

    def _opened_in_turn(self, tables):
        world, self.sides = self.sides // 2, self.sides + 1
        if world % 5 == 4:
            self.session.conf.unset(BROADCAST)
            return self.opened(tables)
        self.session.conf.set(BROADCAST, "-1")
        return Spark.open({name: self._frame(table) for name, table in tables.items()})

    def _frame(self, table):
        """A table in one partition, which is read once."""
        file = str(self.folder / f"{len(list(self.folder.iterdir()))}.parquet")
        pyarrow.parquet.write_table(table, file)
        return self.session.read.parquet(file).coalesce(1).localCheckpoint()

    def fuzz(self):
        return Fuzz(
            self._opened_in_turn,
            seed=14,
            before_plan=self._compile_some,
            run_sides=ThreadPoolExecutor(2).map,
        )

    def _compile_some(self, number):
        for name, value in (COMPILED if number % 10 == 9 else INTERPRETED).items():
            self.session.conf.set(name, value)


def test_a_frame_of_spark_is_not_fetched(session):
    frame = session.createDataFrame([(1, "A"), (2, "B"), (3, "A")], "x int, ward string")
    opened = dp.protect(frame, keys={"ward": ["A", "B"]}, bounds={"x": (0, 9)}, epsilon=100)
    assert isinstance(opened._engine, Spark)
    answer = opened.sql("SELECT ward, COUNT(*) AS n FROM data GROUP BY ward", epsilon=90)
    assert answer.to_arrow()["n"].to_pylist() == [2, 1]
    opened.close()
    assert frame.count() == 3  # the session is its owner's and goes on


def test_a_table_of_the_catalog_by_name(session):
    session.createDataFrame([(1,), (None,)], "x int").createOrReplaceTempView("people")
    shares = []
    with Spark.open({"people": "spark://local"}) as engine:
        engine.progress = shares.append
        assert engine.schema("people") == {"x": "INTEGER"}
        assert shown(engine.run(plan("SELECT COUNT(x) AS n FROM people"))) == [(1,)]
    assert shares[-1] == 1.0


def test_a_view_of_the_catalog_is_refused(session):
    session.sql("CREATE OR REPLACE VIEW risky AS SELECT 1 / id AS x FROM range(3)")
    try:
        with pytest.raises(InvalidPolicy, match="risky is a view") as refused:
            Spark.open({"people": "spark://local#default.risky"})
        assert refused.value.where == ("tables", "people", "source")
    finally:
        session.sql("DROP VIEW risky")


def test_connect_gives_the_same_integers_and_tells_its_progress(session, tmp_path):
    pyarrow.parquet.write_table(within_limits(), tmp_path / "0.parquet")
    assert "done" in ran(CONNECTED, tmp_path, connect_port(session))


MANY = plan("SELECT a AS k0, COUNT(*) AS n FROM many GROUP BY a", keys=["a"])


def test_groups_come_in_batches_and_the_rest_need_not_be_wanted(session):
    frame = session.range(60_000).withColumnRenamed("id", "a")
    with Spark.open({"many": frame}) as engine:
        parts = engine.stream(MANY).reveal_to(
            lambda batches: [batch.groups for batch in batches]
        )
        assert sum(parts) == 60_000
        assert max(parts) <= 10_000  # as Spark's own setting says
        assert engine.stream(MANY).reveal_to(next).groups > 0
        assert shown(engine.run(plan("SELECT COUNT(*) AS n FROM many"))) == [(60_000,)]


def test_the_views_of_declared_keys_are_dropped_whatever_happens(session, monkeypatch):
    table = Table.declare("many", keys={"a": range(0, 400, 2)}).with_schema({"a": "BIGINT"})
    policy, sql = Policy([table], epsilon=9), "SELECT a, COUNT(*) AS n FROM many GROUP BY a"
    query_plan = plan_of(parse(sql), policy, epsilon=1)

    def views():
        return [view.name for view in session.catalog.listTables() if "_keys_" in view.name]

    def read_first(batches):
        return next(batches).groups, views()

    with Spark.open({"many": session.range(9).withColumnRenamed("id", "a")}) as engine:
        groups, seen = engine.stream(query_plan).reveal_to(read_first)
        assert groups > 0
        assert len(seen) == 1
        assert views() == []
        for raised, told in (
            (ValueError, EngineFailed),
            (KeyboardInterrupt, KeyboardInterrupt),
        ):
            failing = Mock(side_effect=raised)
            monkeypatch.setattr("deniable.engines.spark.engine.stream_batches", failing)
            with pytest.raises(told):
                engine.run(query_plan)
            assert failing.called
            assert views() == []


def test_a_row_that_fails_late_is_the_one_error(session, caplog):
    late = "CASE WHEN id < 59999 THEN id ELSE CAST(raise_error('a secret') AS BIGINT) END AS a"
    frame = session.range(60_000).selectExpr(late)
    with Spark.open({"many": frame}) as engine, pytest.raises(EngineFailed) as failed:
        engine.stream(MANY).reveal_to(list)
    assert str(failed.value) == str(EngineFailed(failed.value.reference))
    assert failed.value.__context__ is None
    assert "secret" not in caplog.text


def test_a_draft_holds_the_tables_of_the_catalog(session, tmp_path):
    session.createDataFrame([(4711, "CANARY")], "n int, s string").createOrReplaceTempView(
        "odd"
    )
    assert "odd" in Spark.list_tables("spark://local")
    text = write_draft(["spark://local"], tmp_path)
    assert "[tables.odd]" in text
    assert 'source = "spark://local#odd"' in text
    assert not any(word in text for word in ("4711", "CANARY"))
    pyarrow.parquet.write_table(within_limits(), tmp_path / "0.parquet")
    folder = f"spark://local?parquet={tmp_path}"
    assert f'source = "{folder}"' in write_draft([folder], tmp_path)


def test_a_source_that_is_not_there_is_said(session):
    with pytest.raises(InvalidPolicy, match="'visits'"):
        Spark.open({"visits": "spark://local#nothing.there"})


def test_rows_are_told_apart_also_where_very_many_are_the_same(session, monkeypatch):
    monkeypatch.setattr(writer, "_RUN_ROWS", 3)
    session.createDataFrame([(1,)] * 8 + [(None,)] * 3, "x int").createOrReplaceTempView("same")
    with Spark.open({"same": "spark://local"}) as engine:
        query_plan = plan(
            'WITH "n" AS MATERIALIZED (SELECT ROW_NUMBER() OVER () AS "u", * FROM "same") '
            'SELECT COUNT(*) AS n, COUNT(DISTINCT u) AS m, COUNT("x") AS x FROM '
            '(SELECT "x", "u" FROM "n" UNION ALL SELECT "x", "u" FROM "n") AS both',
            features=("n", "m", "x"),
        )
        assert shown(engine.run(query_plan)) == [(22, 11, 16)]


def test_a_frame_that_is_made_anew_each_time_has_no_rows_to_tell_apart(session):
    frame = session.range(3).selectExpr("RAND() AS x")
    with dp.protect(frame, bounds={"x": (0, 1)}, epsilon=9) as opened:
        opened.sql("SELECT COUNT(*) FROM data", epsilon=1)
        twice = "SELECT COUNT(*) FROM (SELECT x FROM data UNION ALL SELECT x FROM data)"
        with pytest.raises(Unsupported, match="new rows each time"):
            opened.sql(twice, epsilon=1)
        assert opened.remaining.epsilon == 8


SHADOWED = {"4.0": "rint", "an aggregate": "sum", "a keyword": "coalesce"}


@pytest.mark.parametrize("name", SHADOWED.values(), ids=SHADOWED)
def test_functions_with_the_names_of_sparks_own_are_refused(session, name):
    frame = session.createDataFrame([(0.5,), (7.5,)], "x double")
    with dp.protect(frame, bounds={"x": (0, 9)}, step={"x": 0.5}, epsilon=9) as opened:
        session.udf.register(name, lambda *_: 10**9, "bigint")
        session.udf.register("harmless", lambda *_: 1, "bigint")
        try:
            with pytest.raises(Unsupported, match=f"of its own .*: {name}\\."):
                opened.sql("SELECT SUM(x) FROM data", epsilon=1)
            assert opened.remaining.epsilon == 9
        finally:
            session.sql(f"DROP TEMPORARY FUNCTION {name}")
        opened.sql("SELECT SUM(x) FROM data", epsilon=1)
    session.sql("DROP TEMPORARY FUNCTION harmless")


def test_a_long_number_does_not_end_the_driver(session):
    texts = ["1_" * 30_000 + "1", "1_" * 900 + "1", "7", "x" * 60_000, " " * 60_000]
    frame = session.createDataFrame([(text,) for text in texts], "t string")
    with dp.protect(frame, kind={"t": "text"}, epsilon=200) as opened:
        counted = "SELECT COUNT(CAST(t AS DOUBLE)) AS n, COUNT(CAST(t AS DATE)) AS m FROM data"
        answer = opened.sql(counted, epsilon=190).to_arrow()
    assert answer["n"].to_pylist() == [2]
    assert answer["m"].to_pylist() == [0]


def test_stored_rows_are_kept_by_text_and_values_and_dropped(session):
    frame = session.createDataFrame([(1,)], "x int")
    with Spark.open({"data": frame}) as engine:

        def stored(value):
            text = "SELECT :t0 AS a"
            engine._store(session, WrittenStatement("stored", STORED, text, {"t0": value}))
            return session.table(engine._stored_view).collect()[0]["a"]

        assert [stored("A"), stored("A"), stored("B")] == ["A", "A", "B"]
        view = engine._stored_view
        engine.forget_stored()
        assert not session.catalog.tableExists(view)
        assert stored("A") == "A"
    assert not session.catalog.tableExists(view)
