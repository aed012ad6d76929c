import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import deniable as dp
from deniable.app.server.children import pooled_engine
from deniable.app.server.children.pooled_engine import PooledEngine
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.engines.opening import open_engine
from deniable.policy import load
from tests.engines.neighbors import told
from tests.engines.steps import steps
from tests.query import hospital

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY ward",
    "SELECT MEDIAN(cost) AS m FROM visits",
    "SELECT code, COUNT(*) AS n FROM visits GROUP BY code",
    "SELECT ward, MODE(code2) AS most FROM visits GROUP BY ward",
]
POLICY = """
[budget]
epsilon = 1000
delta = 0.001
[tables.visits]
source = "visits.csv"
unit = "patient"
max_groups_per_unit = 2
max_rows_per_unit_per_group = 3
[tables.visits.columns]
cost = { bounds = [0, 1000000], step = 0.25 }
ward = { keys = ["A", "B"] }
code = { keys = "private" }
code2 = { keys = ["x", "y"] }
"""


def write_policy(folder: Path) -> Path:
    rows = "".join(
        f"{i},{'AB'[i % 2]},{i}.25,c{i % 3},{'xy'[i % 5 > 1]}\n" for i in range(2000)
    )
    (folder / "visits.csv").write_text("patient,ward,cost,code,code2\n" + rows)
    (folder / "deniable.toml").write_text(POLICY)
    return folder / "deniable.toml"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return write_policy(tmp_path_factory.mktemp("pooled"))


@pytest.fixture(scope="module")
def pool(place):
    engine = PooledEngine(load(str(place)), children=1)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def session(place):
    with dp.open(str(place)) as opened:
        yield opened


def as_plain(groups):
    """Exact integers in one order, as Python values."""
    columns = [key.to_pylist() for key in groups.keys]
    columns += [values.tolist() for values in groups.features.values()]
    columns += [] if groups.units is None else [groups.units.tolist()]
    cells = {
        name: sorted(
            zip(
                *(key.to_pylist() for key in cell.keys),
                cell.cell.tolist(),
                cell.count.tolist(),
                strict=True,
            )
        )
        for name, cell in groups.cells.items()
    }
    return sorted(zip(*columns, strict=True)) if columns else [], cells


@pytest.mark.parametrize("question", QUESTIONS)
def test_children_return_the_integers_of_the_engine_itself(pool, place, session, question):
    plan = session.plan(question, epsilon=1)
    with open_engine(load(str(place))) as engine:
        direct = engine.run(plan).reveal_to(as_plain)
    written = pool.prepare(plan)
    assert [statement.sql for statement in written.statements]
    assert pool.run(written).reveal_to(as_plain) == direct


def test_it_looks_like_the_engine(pool, place):
    with open_engine(load(str(place))) as engine:
        assert (pool.name, pool.runs_plan_text) == (engine.name, engine.runs_plan_text)
        assert pool.schema("visits") == engine.schema("visits")


def test_a_child_inherits_nothing(place, tmp_path, monkeypatch):
    monkeypatch.setenv("LEDGER", "postgresql://secret@ledger")
    monkeypatch.setenv("PGPASSWORD", "secret")
    with (tmp_path / "open.txt").open("w") as opened:
        os.set_inheritable(opened.fileno(), True)
        engine = PooledEngine(load(str(place)), children=0)
        try:
            (child,) = engine.process_ids
            told = Path(f"/proc/{child}/environ").read_bytes()
            links = [str(f.readlink()) for f in Path(f"/proc/{child}/fd").iterdir()]
        finally:
            engine.close()
    assert b"secret" not in told
    assert b"LEDGER" not in told
    assert str(tmp_path / "open.txt") not in links
    assert not [link for link in links if "ledger" in link or "server.sqlite" in link]


def test_a_child_that_dies_is_replaced(place, session):
    plan = session.plan(QUESTIONS[0], epsilon=1)
    engine = PooledEngine(load(str(place)), children=0)  # so that the one child is asked
    try:
        written = engine.prepare(plan)
        (child,) = engine.process_ids
        os.kill(child, signal.SIGKILL)
        with pytest.raises(dp.EngineFailed):
            engine.run(written)
        total = engine.run(written).reveal_to(
            lambda groups: int(groups.features[plan.features[0]][0])
        )
        assert total == 2000
        assert child not in engine.process_ids
    finally:
        engine.close()


def test_past_its_deadline_a_child_is_killed(pool, session):
    written = pool.prepare(session.plan(QUESTIONS[0], epsilon=1))
    late = pool.until(time.monotonic() - 1)
    with pytest.raises(dp.EngineFailed):
        late.run(written)
    assert late.overran
    timely = pool.until(time.monotonic() + 600)
    assert timely.run(written).reveal_to(lambda groups: groups.groups) == 1
    assert not timely.overran


def test_a_source_that_cannot_be_opened_is_said(tmp_path):
    file = write_policy(tmp_path)
    (tmp_path / "visits.csv").unlink()
    with pytest.raises(dp.InvalidPolicy, match=r"visits"):
        PooledEngine(load(str(file)), children=0)


def test_a_pool_that_closes_does_not_tell_of_children_that_did_not_start(
    place, monkeypatch, caplog
):
    pool = PooledEngine(load(str(place)), children=0)

    def fail(_):
        pool.close()
        raise OSError

    monkeypatch.setattr(pooled_engine, "ChildProcess", fail)
    pool._start()
    assert "did not start" not in caplog.text


def test_frames_are_refused():
    from deniable.policy import Policy, Table

    with pytest.raises(dp.InvalidPolicy, match="not a file or an address"):
        PooledEngine(Policy([Table("data", np.array([1]))], epsilon=1), children=0)


def test_a_child_keeps_no_rows_for_the_next_request():
    """Not even those that a training stores for its own steps: no route trains, and if one
    did, a person's plan could read what another one stored."""
    pool = PooledEngine(hospital.policy(), children=0, made_up=True)
    try:
        written = pool.prepare(steps()["residuals, True"])
        integers = pool.run(written).reveal_to(told)
        assert pool.run(written).reveal_to(told) == integers
        alone = tuple(
            statement for statement in written.statements if statement.kind != "stored"
        )
        assert len(alone) == len(written.statements) - 1
        with pytest.raises(dp.EngineFailed):
            pool.run(WrittenPlan(written.plan, alone))
    finally:
        pool.close()
