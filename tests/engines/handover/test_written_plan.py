"""The engine's text is written once, before the charge, and exactly that text runs."""

import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.written_plan import WrittenStatement
from deniable.errors import EngineFailed, Unsupported
from deniable.ledger import MemoryLedger
from deniable.policy import Policy, Table
from deniable.privacy import PureLoss
from deniable.release.public_session import Session

COUNT = "SELECT COUNT(*) AS n FROM data"
ASKED = "SELECT COUNT(*) AS n, MEDIAN(x) AS m FROM data"


@pytest.fixture
def session():
    """A session, and what happened in it: statements written and run, and charges."""
    happened = []

    class Watched(DuckDB):
        def _write_statement(self, plan, statement):
            written = super()._write_statement(plan, statement)
            happened.append(("written", written))
            return written

        def _run_statement(self, statement):
            happened.append(("run", statement))
            yield from super()._run_statement(statement)

    class Charging(MemoryLedger):
        def _charge(self, *arguments):
            happened.append(("charged", None))
            return super()._charge(*arguments)

    rows = {"data": pa.table({"x": [1.0, 2.0]})}
    policy = Policy([Table.declare("data", bounds={"x": (0, 3)})], epsilon=9)
    with Session(policy, Watched.open(rows), Charging(epsilon=9)) as opened:
        yield opened, happened


def check(happened, *kinds):
    """What happened, in this order; each statement is run as it was written."""
    assert [kind for kind, _ in happened] == list(kinds)
    written = [id(statement) for kind, statement in happened if kind == "written"]
    assert sorted(written) == sorted(
        id(statement) for kind, statement in happened if kind == "run"
    )


def test_one_question(session):
    opened, happened = session
    opened.sql(ASKED, epsilon=1)
    check(happened, "written", "written", "charged", "run", "run")


def test_several_at_once(session):
    opened, happened = session
    opened.release_all([opened.plan(ASKED, epsilon=epsilon) for epsilon in (1, 2)])
    check(happened, *["written"] * 4, "charged", *["run"] * 4)


def test_a_step_of_a_run_that_was_paid_for(session):
    opened, happened = session
    with opened.reserve_run(PureLoss(2)) as run:
        run.sql(ASKED, epsilon=1)
    check(happened, "charged", "written", "written", "run", "run")


def test_a_run_for_a_question_of_several_steps(session):
    """The plans that it is charged by can be written; a step is written when it comes."""
    opened, happened = session
    stands, step = (opened.plan(text, epsilon=1) for text in (ASKED, COUNT))
    with opened.run_like([stands]) as run:
        run.release(step)
    kinds = [kind for kind, _ in happened]
    assert kinds == ["written", "written", "charged", "written", "run"]
    assert happened[-1][1] is happened[-2][1]


def test_a_free_answer_is_not_written_again(session):
    opened, happened = session
    plan = opened.plan(ASKED, epsilon=1)
    assert opened.recall(plan) is None
    assert happened == []
    first = opened.release(plan, question_id="one")
    again = [opened.release(plan), opened.recall(plan)]
    again.append(opened.release(plan, fresh=True, question_id="one"))
    assert [release.certificate for release in again] == [first.certificate] * 3
    check(happened, "written", "written", "charged", "run", "run")


def test_a_free_run_is_not_written_again(session):
    opened, happened = session
    plan = opened.plan(ASKED, epsilon=1)
    with opened.run_like([plan]) as run:
        first = run.release(plan)
    happened.clear()
    with opened.run_like([plan]) as run:
        assert run.release(plan).certificate == first.certificate
    assert happened == []


def test_what_cannot_be_written_is_refused_before_the_charge(session, monkeypatch):
    opened, happened = session
    plan = opened.plan(ASKED, epsilon=1)

    def refuse(*_):
        raise Unsupported("No.")

    monkeypatch.setattr(opened._engine, "_write_statement", refuse)
    for ask in (opened.release, lambda plan: opened.release_all([plan]), opened._engine.run):
        with pytest.raises(Unsupported):
            ask(plan)
    with pytest.raises(Unsupported), opened.run_like([plan]):
        pass
    assert happened == []


def test_the_owners_log_has_the_text_that_ran_without_the_salt(session, caplog):
    opened, _ = session
    engine = opened._engine
    salt = str(engine._salt)

    def write(plan, statement):
        return WrittenStatement(
            "groups", "", f"SELECT {salt} FROM gone", {"salt": engine._salt}
        )

    engine._write_statement = write
    engine.runs_plan_text = False  # otherwise another text than the plan's is refused
    assert salt not in repr(engine.prepare(opened.plan(COUNT, epsilon=1)))
    with pytest.raises(EngineFailed) as failure:
        opened.sql(COUNT, epsilon=1)
    assert f"{failure.value.reference}: CatalogException while running" in caplog.text
    assert "running SELECT $salt FROM gone" in caplog.text
    assert salt not in caplog.text
