"""Rows that the steps of a training share: stored once, and dropped at the end."""

from dataclasses import replace

import pyarrow as pa
import pytest

import deniable as dp
from deniable import learn
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.duckdb.stored_rows import StoredRows
from deniable.errors import EngineFailed
from deniable.query.plan.plan import STORED
from tests.engines.contract import within_limits
from tests.engines.neighbors import told
from tests.engines.steps import inlined, steps
from tests.learn.toy import DECLARED, frame, target

NAMES = ["residuals, True", "nearest, False", "products, True", "part"]


def tables_of(engine):
    connection = engine._connect()
    return [
        name
        for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_integers_are_those_of_rows_that_are_not_stored(name):
    plan = steps()[name]
    apart = replace(plan, engine_sql=inlined(plan), stored="")
    with DuckDB.open({"visits": within_limits()}) as engine:
        integers = engine.run(plan).reveal_to(told)
        assert tables_of(engine) == [STORED]
        engine.forget_stored()
        assert tables_of(engine) == []
        assert engine.run(apart).reveal_to(told) == integers
        assert integers[0]


def test_rows_of_one_text_are_stored_once_and_those_of_another_take_their_place():
    plans = steps()
    with DuckDB.open({"visits": within_limits()}) as engine:
        first = engine.run(plans["residuals, True"]).reveal_to(told)
        engine._connect().execute(f'DELETE FROM "{STORED}"')
        assert engine.run(plans["residuals, True"]).reveal_to(told) != first
        part = engine.run(plans["part"]).reveal_to(told)
        assert part != first
        assert engine.run(plans["residuals, True"]).reveal_to(told) == first
        assert tables_of(engine) == [STORED]


def test_a_failure_leaves_nothing_stored():
    plan = steps()["residuals, True"]
    with DuckDB.open({"visits": within_limits()}) as engine:
        whole = engine.run(plan).reveal_to(told)
        with pytest.raises(EngineFailed):
            engine.run(replace(plan, engine_sql="SELECT no FROM it")).reveal_to(list)
        assert tables_of(engine) == []
        assert engine.run(plan).reveal_to(told) == whole


def test_what_an_interrupted_change_has_left_is_dropped():
    def interrupt(*_):
        raise KeyboardInterrupt

    plans = steps()
    with DuckDB.open({"visits": within_limits()}) as engine:
        engine.run(plans["residuals, True"]).reveal_to(told)
        other = engine.prepare(plans["part"]).stored
        with pytest.raises(KeyboardInterrupt):
            engine._stored.keep(engine._connect(), other, interrupt)
        assert tables_of(engine) == [STORED]
        engine.forget_stored()
        assert tables_of(engine) == []


@pytest.fixture
def session():
    rows = frame().append_column("target", [target()])
    keys = {**DECLARED["keys"], "target": ["no", "yes"]}
    declared = {**DECLARED, "keys": keys}
    declared.pop("cuts")
    with dp.protect(rows, name="data", epsilon=9, delta=1e-3, **declared) as opened:
        yield opened


def model():
    return learn.LogisticRegression(epsilon=1, delta=1e-6)


def test_a_training_stores_its_rows_once_and_drops_them(session, monkeypatch):
    stored, dropped = [], []
    keep, drop = StoredRows.keep, StoredRows.drop
    monkeypatch.setattr(
        StoredRows,
        "keep",
        lambda own, *given: stored.append((own.definition, keep(own, *given))),
    )
    monkeypatch.setattr(
        StoredRows,
        "drop",
        lambda own, given: dropped.append((own.definition, drop(own, given))),
    )
    model().fit(session.table("data"), target="target")
    assert len(stored) > 3
    assert [before for before, _ in stored].count(None) == 1
    assert [before is not None for before, _ in dropped] == [True]
    assert tables_of(session._engine) == []


def test_a_training_that_fails_drops_them_too(session, monkeypatch):
    from deniable.learn.measure.training import TrainingRun

    step, seen = TrainingRun.step, []

    def failing(self, *given, **price):
        if len(seen) == 2:
            raise ValueError("enough")
        answer = step(self, *given, **price)
        seen.append(tables_of(session._engine))
        return answer

    monkeypatch.setattr(TrainingRun, "step", failing)
    with pytest.raises(ValueError, match="enough"):
        model().fit(session.table("data"), target="target")
    assert seen == [[STORED], [STORED]]
    assert tables_of(session._engine) == []


ODD = {
    "colour": ["red", "blue", None, "green", "Red", "", "(other)", "red"],
    "age": [-1e300, 0.0, None, 2.99, 3.0, 6.0, 9.0, float("inf")],
    "count": [-(2**62), 0, None, 1, 2, 3, 4, 2**62],
    "level": [1.5, 2.0, None, 4.0, 1e9, 0.5, -0.0, 2.5],
    "flag": [True, False, None, True, False, None, True, False],
    "target": ["no", "yes", "no", "yes", "no", "yes", None, "maybe"],
}


def test_every_row_has_a_cell_in_each_feature_and_is_left_out_without_a_class():
    """No statement looks them up, so each expression itself has a cell for all values."""
    keys = {"colour": ["red", "blue"], "level": [1.5, 2.0, 4.0], "target": ["no", "yes"]}
    bounds = {"age": (0, 9), "count": (0, 3)}
    with dp.protect(pa.table(ODD), name="data", epsilon=9, keys=keys, bounds=bounds) as opened:
        model = learn.NaiveBayes(epsilon=1, cuts={"age": [3, 6]})
        data = model.open(opened.table("data"), None, "target")
        training = model.prepare(data)
        assert "WHERE k5 BETWEEN 0 AND 1)" in training.planner._stored
        assert " IN ('red', 'blue', '(other)')" not in training.planner._stored
        rows = opened._engine._connect().execute(str(training.planner._stored)).fetchall()
    kept = [i for i, label in enumerate(ODD["target"]) if label in keys["target"]]
    codes = [role.cells.codes([ODD[role.name][i] for i in kept]) for role in training.roles]
    assert sorted(rows) == sorted(zip(*[own.tolist() for own in codes], strict=True))
