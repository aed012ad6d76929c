"""The engine's text is written once, before the charge, and exactly that text runs."""

import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.ledger import MemoryLedger
from deniable.policy import Policy, Table
from deniable.privacy import PureLoss
from deniable.release.public_session import Session

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
        def ask(self, *arguments, **options):
            happened.append(("charged", None))
            return super().ask(*arguments, **options)

        def reserve_all(self, *arguments, **options):
            happened.append(("charged", None))
            return super().reserve_all(*arguments, **options)

        def reserve_run(self, *arguments, **options):
            happened.append(("charged", None))
            return super().reserve_run(*arguments, **options)

    rows = {"data": pa.table({"x": [1.0, 2.0]})}
    policy = Policy([Table.declare("data", bounds={"x": (0, 3)})], epsilon=9)
    with Session(policy, Watched.open(rows), Charging(epsilon=9)) as opened:
        yield opened, happened


def check(happened, *kinds):
    """What happened, in this order; each statement is run as it was written."""
    assert [kind for kind, _ in happened] == list(kinds)
    written = [id(one) for kind, one in happened if kind == "written"]
    assert sorted(written) == sorted(id(one) for kind, one in happened if kind == "run")


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
