import ast
import inspect
import logging
import textwrap
from contextlib import contextmanager

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.handover.withheld import Withheld
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import (
    BudgetExhausted,
    EngineFailed,
    InvalidParameter,
    InvalidPolicy,
    InvalidQuery,
)
from deniable.ledger import Entry, MemoryLedger
from deniable.policy import Policy, Table
from deniable.release.public_session import Session
from tests.ledger.contract import plan

CANARY = 918273645
COUNT = "SELECT COUNT(*) AS n FROM data"


class FakeEngine:
    """Returns what it is told to, or fails so; notes what happened when."""

    name = "fake"

    def __init__(self, outcome, notes):
        self.outcome, self.notes = outcome, notes

    def schema(self, table):
        return {"x": "DOUBLE"}

    def prepare(self, plan):
        return WrittenPlan(plan, ())

    def run(self, written):
        self.notes.append("run")
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return Withheld(self.outcome)

    def close(self):
        self.notes.append("close")


class NotingLedger(MemoryLedger):
    def __init__(self, notes, epsilon=1):
        super().__init__(epsilon)
        self.notes = notes

    @contextmanager
    def ask(self, plan, **options):
        with super().ask(plan, **options) as outcome:
            self.notes.append("reserve" if isinstance(outcome, Entry) else "recall")
            yield outcome

    def settle(self, entry, record=None):
        super().settle(entry, record)
        self.notes.append("settle")

    def fail(self, entry, reference):
        super().fail(entry, reference)
        self.notes.append(f"failed {reference}")


def session(outcome, notes, epsilon=1):
    policy = Policy([Table("data")], epsilon=epsilon)
    return Session(policy, FakeEngine(outcome, notes), NotingLedger(notes, epsilon))


class Counted:
    """Stands for what an engine returns."""

    def __init__(self, n):
        self.keys, self.units, self.groups = (), None, 1
        self.features, self.cells = {"n": np.array([n])}, {}


def test_charged_before_the_engine_starts_and_settled_after():
    notes = []
    release = session(Counted(CANARY), notes).release(plan(0.5))
    assert notes == ["reserve", "run", "settle"]
    assert abs(release.value - CANARY) < 200


def test_the_door_is_about_six_lines():
    source = textwrap.dedent(inspect.getsource(Session.release))
    function = ast.parse(source).body[0]
    lines = {node.lineno for node in ast.walk(function) if isinstance(node, ast.stmt)}
    assert len(lines - {function.lineno}) - 1 <= 7  # without the signature and the docstring


@pytest.mark.parametrize(
    "outcome",
    [
        RuntimeError(f"Could not convert string '{CANARY}'"),
        EngineFailed("beef"),
        object(),
    ],
    ids=["engine raises", "engine failed", "no integers"],
)
def test_whatever_goes_wrong_has_one_message_and_the_charge_stands(outcome, caplog):
    notes = []
    opened = session(outcome, notes)
    with caplog.at_level(logging.DEBUG), pytest.raises(EngineFailed) as caught:
        opened.release(plan(0.5))
    assert notes == ["reserve", "run", f"failed {caught.value.reference}"]
    said = str(caught.value).replace(caught.value.reference, "...")
    assert said == str(EngineFailed("..."))
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert str(CANARY) not in caplog.text + said
    assert opened.remaining.epsilon == 0.5


def test_an_exhausted_budget_reads_nothing():
    notes = []
    with pytest.raises(BudgetExhausted):
        session(Counted(1), notes).release(plan(2))
    assert notes == []


def test_a_session_closes_its_engine():
    notes = []
    with session(Counted(1), notes):
        pass
    assert notes == ["close"]


COLUMNS = {"ward": ["A", "B"] * 500, "age": [30, 60] * 500, "patient": list(range(1000))}


@pytest.mark.parametrize(
    "frame", [pa.table, pd.DataFrame, pl.DataFrame], ids=["arrow", "pandas", "polars"]
)
def test_protect_takes_frames_of_every_kind(frame):
    kinds = {"ward": "text", "age": "integer", "patient": "integer"}
    with dp.protect(frame(COLUMNS), bounds={"age": (0, 99)}, kind=kinds, epsilon=10) as data:
        release = data.sql("SELECT COUNT(*) AS n, AVG(age) AS age FROM data", epsilon=5)
        row = release.to_arrow().to_pylist()[0]
        assert abs(row["n"] - 1000) < 60
        assert abs(row["age"] - 45) < 5
        assert str(data.remaining) == "epsilon 5, delta 0"


def test_open_reads_a_policy_and_its_sources(tmp_path):
    pd.DataFrame(COLUMNS).to_csv(tmp_path / "visits.csv", index=False)
    pd.DataFrame(COLUMNS).to_parquet(tmp_path / "stays.parquet", index=False)
    path = tmp_path / "deniable.toml"
    path.write_text(
        """
        [budget]
        epsilon = 3
        delta = 1e-6
        [tables.visits]
        source = "visits.csv"
        unit = "patient"
        [tables.visits.columns]
        age = { bounds = [0, 99] }
        [tables.stays]
        source = "stays.parquet"
        """
    )
    with dp.open(str(path)) as hospital:
        release = hospital.sql("SELECT AVG(age) AS age FROM visits", epsilon=1)
        two = hospital.sql("SELECT COUNT(*) AS n FROM stays", epsilon=1)
        assert abs(release.value - 45) < 15
        assert abs(two.value - 1000) < 60
        assert repr(hospital) == "<session about visits, stays: epsilon 1, delta 1e-06 left>"


def test_explaining_and_planning_cost_nothing():
    with dp.protect(pa.table(COLUMNS), epsilon=1) as data:
        tree = str(data.explain(COUNT, epsilon=0.5))
        assert "± 6 at 95%" in tree
        assert data.plan(COUNT, epsilon=0.5).epsilon == 0.5
        assert data.remaining.epsilon == 1


def test_refusals_of_questions_cost_nothing():
    with dp.protect(pa.table(COLUMNS), epsilon=1) as data:
        with pytest.raises(InvalidQuery):
            data.sql("SELECT * FROM data", epsilon=0.5)
        with pytest.raises(InvalidQuery):
            data.sql("SELECT SUM(age) FROM data", epsilon=0.5)
        assert data.remaining.epsilon == 1


def test_a_policy_is_checked_against_the_columns_there_are():
    with pytest.raises(InvalidPolicy, match="age"):
        dp.protect(pa.table(COLUMNS), bounds={"agee": (0, 99)}, epsilon=1)


def test_private_keys_and_the_rest():
    rows = {"code": ["x"] * 900 + ["rare", "rarer", "rarest"]}
    with dp.protect(pa.table(rows), keys={"code": "private"}, epsilon=10, delta=1e-3) as data:
        sql = "SELECT code, COUNT(*) AS n FROM data GROUP BY code"
        plain = data.sql(sql, epsilon=2, delta=1e-12).to_arrow()
        assert plain["code"].to_pylist() == ["x"]
        rest = data.sql(
            "SELECT code, AVG(1) AS one, COUNT(*) AS n FROM data GROUP BY code",
            epsilon=2,
            delta=1e-12,
            other=True,
        ).to_arrow()
        assert rest["code"].to_pylist() == ["x", None]


def test_a_plan_that_protects_somebody_else_is_refused_and_costs_nothing():
    rows = pa.table({"p": [1, 1, 2], "x": [1, 2, 3]})
    people = dp.protect(rows, unit="p", epsilon=1)
    for other in (
        dp.protect(rows, epsilon=1),
        dp.protect(rows, unit="x", epsilon=1),
        dp.protect(rows, unit="p", neighbors="replace", epsilon=1),
        dp.protect(rows, name="elsewhere", unit="p", epsilon=1),
    ):
        sql = "SELECT COUNT(*) AS n FROM elsewhere" if "elsewhere" in repr(other) else COUNT
        with pytest.raises(InvalidParameter, match="another policy"):
            people.release(other.plan(sql, epsilon=0.5))
    assert people.remaining.epsilon == 1
    alike = dp.protect(rows, unit="p", max_rows_per_unit_per_group=3, epsilon=1)
    assert people.release(alike.plan(COUNT, epsilon=0.5))


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda data: data.release(None), "takes a Plan; got NoneType"),
        (
            lambda data: data.release_all(None),
            "release_all\\(\\) takes a list of Plans; got NoneType",
        ),
        (lambda data: data.release_all([5]), "takes a Plan; got int"),
        (lambda data: data.partition(5, ["A"]), "`column` must be the name of a column"),
        (lambda data: data.partition("x", None), "`keys` must be a list"),
        (lambda data: data.sql(None, epsilon=1), "A question is SQL text"),
        (lambda data: data.table("data").agg(n=5), "`n` must be an aggregate"),
        (lambda data: dp.quantiles("x", None), "`levels` must be a list of numbers"),
        (
            lambda data: data.table("data").group_by("x").agg(x=dp.count()),
            "Two columns of the answer have the name x",
        ),
        (
            lambda data: data.table("data").agg(**{"\ud800": dp.count()}),
            "The name of a column of the answer has a lone surrogate",
        ),
        (
            lambda data: data.sql(f'{COUNT} WHERE x > 1 AND "\ud800" > 2', epsilon=1),
            "lone surrogate",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words_and_costs_nothing(ask, told):
    with dp.protect(pa.table({"x": [1, 2]}), keys={"x": [1, 2]}, epsilon=1) as data:
        with pytest.raises((InvalidParameter, InvalidQuery), match=told):
            ask(data)
        assert data.remaining.epsilon == 1


def test_an_analyst_is_a_name():
    with dp.protect(pa.table({"x": [1, 2]}), epsilon=1) as data:
        data.analyst = 5
        with pytest.raises(InvalidParameter, match=r"`analyst` must be a name.*got 5"):
            data.sql(COUNT, epsilon=1)
