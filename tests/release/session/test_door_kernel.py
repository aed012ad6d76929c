"""Every plan is checked by the kernel before it is charged, also one that was made by hand."""

import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import ibis
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.plan_runner import PlanRunner
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.engines.ibis.duckdb_connection import DuckDBThroughIbis
from deniable.mechanisms import Laplace
from deniable.query.plan.plan import Block, Feature, Output, Plan
from tests.engines.ibises import store

ROWS = pa.table(
    {
        "patient": [i % 40 for i in range(400)],
        "ward": ["AB"[i % 2] for i in range(400)],
        "cost": [float(i % 90) for i in range(400)],
    }
)
SUM = "SELECT SUM(cost) AS total FROM visits"


@pytest.fixture
def visits():
    with dp.protect(
        ROWS,
        name="visits",
        unit="patient",
        max_rows_per_unit_per_group=2,
        bounds={"cost": (0, 100)},
        step={"cost": 1},
        keys={"ward": ["A", "B"]},
        epsilon=100,
    ) as session:
        yield session


def by_hand(sql, sensitivity=1):
    """A plan that no planner made: it states no contribution, and its text is anyone's."""
    noise = Laplace(epsilon=1, sensitivity=sensitivity)
    output = Output("n", "n", Feature("f0_0", 0), None, None, True, None, False)
    return Plan(
        *("visits", "patient", "add-remove", 1, 1, (), (Block(("f0_0",), "rows", noise),)),
        *(None, (output,), None, (), None, False, False, Fraction(19, 20), Fraction(1)),
        *(Fraction(0), sql, ()),
    )


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT COUNT(*) AS f0_0 FROM "visits"',
        'SELECT COUNT(*) AS f0_0 FROM (SELECT "patient" AS u FROM "visits") AS r',
        'SELECT CAST(MAX("cost") AS INT) AS f0_0 FROM "visits"',
        "SELECT 7 AS f0_0",
    ],
)
def test_a_plan_made_by_hand_is_refused_before_the_charge(visits, sql):
    before = visits.remaining
    for ask in (
        visits.release,
        visits.recall,
        lambda plan: visits.release_all([plan]),
        lambda plan: visits.run_like([plan]).__enter__(),
    ):
        with pytest.raises(dp.PlanRefused):
            ask(by_hand(sql))
    assert visits.remaining == before
    assert visits.ledger.entries == ()


def test_a_plan_made_by_hand_is_released_if_the_kernel_can_prove_it(visits):
    sql = (
        'SELECT COUNT(*) AS f0_0 FROM (SELECT u FROM (SELECT "patient" AS u FROM "visits") AS '
        "a WHERE NOT u IS NULL GROUP BY u) AS b"
    )
    answer = visits.release(by_hand(sql))
    assert abs(answer.value - 40) < 40
    with pytest.raises(dp.PlanRefused, match="by 1"):
        visits.release(by_hand(sql, sensitivity=Fraction(1, 2)))


def test_steps_of_a_run_are_checked_too(visits):
    with visits.reserve_run(dp.PureLoss(3)) as run:
        assert run.release(visits.plan(SUM, epsilon=1)).value > 0
        with pytest.raises(dp.PlanRefused):
            run.release(by_hand('SELECT COUNT(*) AS f0_0 FROM "visits"'))


def test_a_plan_with_less_noise_than_its_statement_needs_is_refused(visits):
    plan = visits.plan(SUM, epsilon=1)
    wider = plan.engine_sql.replace("THEN 100 WHEN x0", "THEN 900 WHEN x0")
    assert wider != plan.engine_sql
    with pytest.raises(dp.PlanRefused, match="declares 200"):
        visits.release(replace(plan, engine_sql=wider))
    assert visits.ledger.entries == ()
    assert visits.release(plan).value > 0


def test_a_part_is_divided_as_the_name_of_its_partition_says(visits):
    """Another reading of the column could put one patient into two parts."""
    part = visits.partition("ward", ["A", "B"])["A"]
    plan = part.plan(SUM, epsilon=1)
    read = 'TRY_CAST("ward" AS TEXT)'
    assert read in plan.engine_sql
    other = replace(plan, engine_sql=plan.engine_sql.replace(read, f"LOWER({read})"))
    with pytest.raises(dp.DeniableError):
        part.release(other)
    assert part.release(plan).value > 0


def test_another_text_than_the_checked_one_does_not_run(visits, monkeypatch):
    prepare = DuckDB.prepare

    def swapped(engine, plan):
        ready = prepare(engine, plan)
        other = replace(ready.statements[0], sql='SELECT 1 AS f0_0 FROM "visits"')
        return WrittenPlan(ready.plan, (other,))

    monkeypatch.setattr(DuckDB, "prepare", swapped)
    with pytest.raises(dp.PlanRefused, match="another text"):
        visits.sql(SUM, epsilon=1)
    assert visits.ledger.entries == ()


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_duckdb_through_ibis_runs_the_checked_text_after_its_tables(monkeypatch):
    """SQLite runs a text of its own, and `explain` says so."""
    count = "SELECT COUNT(*) AS n FROM visits"
    declared = {"name": "visits", "unit": "patient", "max_rows_per_unit_per_group": 9}
    database = ibis.duckdb.connect()
    database.con.register("rows", ROWS)
    database.con.execute("CREATE TABLE visits AS FROM rows")
    with dp.protect(database.table("visits"), epsilon=100, **declared) as visits:
        assert "own text" not in str(visits.explain(count, epsilon=1))
        assert visits.sql(count, epsilon=50).value > 0
        write = DuckDBThroughIbis.write

        def swapped(connection, plan, statement, salt):
            written = write(connection, plan, statement, salt)
            return replace(written, sql=written.sql.replace("COUNT(*)", "COUNT(*) * 9"))

        monkeypatch.setattr(DuckDBThroughIbis, "write", swapped)
        with pytest.raises(dp.PlanRefused, match="another text"):
            visits.sql(count, epsilon=1)
    other = sqlite3.connect(":memory:", check_same_thread=False)
    store(other, "visits", ROWS)
    table = ibis.sqlite.from_connection(other).table("visits")
    with dp.protect(table, epsilon=100, **declared) as visits:
        says_that_another_text_was_read(visits, count, "Ibis")


def says_that_another_text_was_read(session, question, engine):
    """`explain`, the signed certificate and `verify` all say so."""
    other = f"(read in DuckDB's SQL; {engine} runs its own text of the same plan)"
    assert other in str(session.explain(question, epsilon=1))
    release = session.sql(question, epsilon=1).to_dict()
    statement = release["certificate"]["statement"]
    assert statement["engine"] == engine
    assert statement["kernel"]["text"] == "DuckDB's text of the same plan"
    told = dp.verify(release, key=session.ledger.public_key).checks
    assert any(other in line for line in told)


@pytest.mark.parametrize("engine", ["Spark", "PostgreSQL"])
def test_an_engine_with_a_text_of_its_own_is_named_wherever_the_kernel_speaks(
    monkeypatch, engine
):
    """Spark and PostgreSQL are not started here: DuckDB stands in for them."""
    monkeypatch.setattr(DuckDB, "name", engine)
    monkeypatch.setattr(DuckDB, "runs_plan_text", False)
    with dp.protect(ROWS, name="visits", bounds={"cost": (0, 100)}, epsilon=9) as session:
        says_that_another_text_was_read(session, SUM, engine)


def test_only_duckdb_runs_the_text_that_the_kernel_reads():
    """All other engines say so themselves; the page has a line for each of them."""
    engines = Path(dp.__file__).parent / "engines"
    own = {
        file.relative_to(engines).as_posix()
        for file in engines.rglob("*.py")
        if "runs_plan_text = True" in file.read_text(encoding="utf-8")
    }
    assert own == {"duckdb/engine.py", "ibis/duckdb_connection.py"}
    assert not PlanRunner.runs_plan_text
    (page,) = (Path(__file__).parents[3] / "docs").rglob("kernel.md")
    line = "| Spark, PostgreSQL, Ibis with SQLite | DuckDB's text of the same tree |"
    assert line in page.read_text(encoding="utf-8")


def test_a_certificate_says_nothing_of_another_text_where_the_checked_one_runs(visits):
    assert (
        "text" not in visits.sql(SUM, epsilon=1).to_dict()["certificate"]["statement"]["kernel"]
    )


def test_rows_that_are_counted_here_run_the_same_text_without_its_count():
    fine = pa.table({"x": [float(i) for i in range(1000)]})
    with dp.protect(fine, bounds={"x": (0, 1000)}, step={"x": 0.01}, epsilon=10) as data:
        assert 0 <= data.sql("SELECT MEDIAN(x) AS m FROM data", epsilon=1).value <= 1000


def test_explain_says_what_the_kernel_derives(visits):
    assert "checked: one patient moves these numbers by at most 200 grid steps" in str(
        visits.explain(SUM, epsilon=1)
    )
    chosen = str(visits.explain("SELECT MEDIAN(cost) AS m FROM visits", epsilon=1))
    assert "checked: one patient is at most 2 steps of a choice" in chosen
