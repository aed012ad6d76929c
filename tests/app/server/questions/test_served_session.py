"""What one request makes once: its plans, and the kernel's opinion of them."""

import pytest

from deniable.app.server.children.pooled_engine import TimedEngine
from deniable.app.server.questions.opened_server import open_server
from deniable.app.server.questions.question_queue import QueueLimits
from deniable.app.server.questions.server_settings import ServerSettings
from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.query.planner import planner
from deniable.release.certificate import kernel_check
from tests.app.server.questions.asking import COUNT, Asker, people_of, serving, write_hospital


@pytest.fixture
def counted(monkeypatch):
    """How often plans were made, and checked by the kernel."""
    counts = {"planned": 0, "checked": 0}

    def count(module, name, what):
        act = getattr(module, name)

        def note(*given, **how):
            counts[what] += 1
            return act(*given, **how)

        monkeypatch.setattr(module, name, note)

    count(planner, "_run_steps", "planned")
    count(kernel_check, "check_plan", "checked")
    return counts


@pytest.mark.parametrize("act", ["explain", "releases"])
def test_a_request_is_planned_and_checked_once(tmp_path, counted, act):
    with serving(write_hospital(tmp_path)) as client:
        ann = Asker(client, people_of(tmp_path).new_token("ann"))
        before = dict(counted)
        taken = ann.post(act, COUNT)
        if act == "releases":
            taken = ann.wait(taken.json()["id"])
    assert taken.status_code == 200
    assert {what: counted[what] - before[what] for what in counted} == {
        "planned": 1,
        "checked": 1,
    }


def test_a_part_of_a_table_has_plans_of_its_own(tmp_path):
    """A session about a part takes over what the session about the whole has."""
    file = write_hospital(tmp_path)
    settings = ServerSettings((file,), tmp_path / "server.sqlite", limits=QueueLimits(places=1))
    server, opened = open_server(settings)
    with opened:
        whole = server.policies["hospital"].session_for("ann")
        sessions = [whole, *whole.partition("ward", ["A", "B"], table="visits").values()]
        plans = [session.plan(COUNT["sql"], epsilon=1) for session in sessions]
        assert whole.plan(COUNT["sql"], epsilon=1) is plans[0]
        assert whole.plan(COUNT["sql"], epsilon=2) is not plans[0]
        assert [len(plan.part) for plan in plans] == [0, 1, 1]
        assert plans[1] != plans[2]


def test_people_share_no_plans(tmp_path):
    file = write_hospital(tmp_path)
    settings = ServerSettings((file,), tmp_path / "server.sqlite", limits=QueueLimits(places=1))
    server, opened = open_server(settings)
    with opened:
        policy = server.policies["hospital"]
        ann, again, bob = (policy.session_for(name) for name in ("ann", "ann", "bob"))
        plans = [person.plan(COUNT["sql"], epsilon=1) for person in (ann, again, bob)]
        assert len({id(plan) for plan in plans}) == 3
        assert (ann.analyst, bob.analyst) == ("ann", "bob")


def test_noise_whose_length_is_public_is_drawn_before_the_engine_starts(tmp_path, monkeypatch):
    seen, run, draw = [], TimedEngine.run, LaplaceNoise.draw

    def note_run(self, written):
        seen.append("engine")
        return run(self, written)

    def note_draw(self, size):
        if size:  # the ledger tries whether a law can be drawn from
            seen.append(f"{size} draws")
        return draw(self, size)

    with serving(write_hospital(tmp_path)) as client:
        ann = Asker(client, people_of(tmp_path).new_token("ann"))
        monkeypatch.setattr(TimedEngine, "run", note_run)
        monkeypatch.setattr(LaplaceNoise, "draw", note_draw)
        told = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": 1}
        assert ann.answer(told).status_code == 200
    assert seen == ["2 draws", "engine"]
