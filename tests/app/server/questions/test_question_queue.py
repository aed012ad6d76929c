"""Places, slots and outcomes, as the queue keeps them."""

import pytest

import deniable as dp
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.questions import slots
from deniable.app.server.questions.question_queue import AskedJob, QuestionQueue, QueueLimits

NOW = 1e9


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A queue with one place, in which no time passes."""
    monkeypatch.setattr(slots, "now", lambda: NOW)
    database = ServerDatabase(tmp_path / "server.sqlite")
    yield QuestionQueue(database, QueueLimits(places=1))
    database.close()


def ask(queue, person="ann", name="1", plan="a", joins=True, told=None):
    job = AskedJob("p", person, name, told or {}, plan, [10.0], padded=True, joins=joins)
    return queue.take(job)[0]


def test_a_job_has_one_outcome(queue):
    """One thought that its worker had died, and the worker was only slow."""
    job = ask(queue)
    queue.finish(job, {"kind": "failed"}, engine_ran=True)
    queue.finish(job, {"kind": "answer"}, engine_ran=True)
    assert queue.find("p", job.id, "ann").outcome == {"kind": "failed"}
    assert ask(queue).outcome == {"kind": "failed"}


def test_an_equal_question_waits_for_the_slot_of_the_first(queue):
    first, again, other = ask(queue), ask(queue, name="2"), ask(queue, person="bob")
    assert first.ready == again.ready == other.ready == NOW + 10
    assert (first.joined, again.joined, other.joined) == (False, True, True)
    fresh = ask(queue, name="3", joins=False)
    assert (fresh.joined, fresh.ready) == (False, NOW + 20)


def test_a_place_is_held_until_its_slot_ends(queue):
    """It is even if the outcome is there, and is not if no engine was started."""
    first = ask(queue)
    queue.finish(first, {"kind": "answer"}, engine_ran=True)
    second = ask(queue, name="2", plan="b")
    assert (second.start, second.ready) == (NOW + 10, NOW + 20)
    queue.finish(second, {"kind": "answer"}, engine_ran=False)
    assert ask(queue, name="3", plan="c").start == NOW + 10


@pytest.mark.parametrize("change", [{"plan": "b"}, {"told": {"sql": "another"}}], ids=str)
def test_a_question_id_belongs_to_one_question(queue, change):
    ask(queue)
    with pytest.raises(dp.InvalidParameter, match="was used for another question"):
        ask(queue, **change)
