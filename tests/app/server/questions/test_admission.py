"""What others can see while a question is being answered, and what happens when it is late."""

import asyncio
import os
import signal
import threading
from types import SimpleNamespace

import pytest
from sqlalchemy.exc import PendingRollbackError

import deniable as dp
from deniable.app.server.children.child_process import ChildProcess
from deniable.app.server.children.pooled_engine import TimedEngine
from deniable.app.server.children.turns import Turns
from deniable.app.server.questions import admission, slots
from deniable.ledger.chained_ledger import ChainedLedger
from deniable.ledger.questions import QuestionDesk
from tests.app.server.questions.asking import COUNT, HOUR, Asker, people_of, serving


def views(people):
    """All that anybody can see of the ledger."""
    return [
        people["eve"].get("ledger/head").json(),
        people["eve"].get("ledger/entries").json(),
        people["ann"].get("budget").json(),
        people["bob"].get("budget").json(),
    ]


def test_before_the_slot_only_the_reservation_is_seen(open_server, hours, finished):
    people = open_server()
    taken = people["ann"].ask()
    assert taken.json()["wait"] == HOUR
    before = views(people)
    assert [entry["state"] for entry in before[1]] == ["reserved"]
    assert finished.wait(600)
    hours.move(HOUR - 1)
    hours.rest_until(taken.json()["ready"])
    name = taken.json()["id"]
    waiting = people["ann"].get(f"releases/{name}")
    assert waiting.status_code == 202
    assert waiting.json()["wait"] == 1
    assert views(people) == before
    hours.move(1)
    assert people["ann"].wait(name).status_code == 200
    assert [entry["state"] for entry in views(people)[1]] == ["settled"]


def test_an_error_is_seen_as_late_as_an_answer(open_server, hours, monkeypatch):
    event = threading.Event()

    def fail(self, written):
        event.set()
        raise ZeroDivisionError("41 patients")

    monkeypatch.setattr(TimedEngine, "run", fail)
    people = open_server()
    taken = people["ann"].ask()
    before = views(people)
    assert [entry["state"] for entry in before[1]] == ["reserved"]
    assert event.wait(600)
    hours.move(HOUR - 1)
    hours.rest_until(taken.json()["ready"])
    assert people["ann"].get(f"releases/{taken.json()['id']}").status_code == 202
    assert views(people) == before
    hours.move(1)
    failed = people["ann"].wait(taken.json()["id"])
    assert (failed.status_code, failed.json()["type"]) == (502, "/problems/engine-failed")
    assert "41 patients" not in failed.text  # a reference may hold any digits
    assert [entry["state"] for entry in views(people)[1]] == ["failed"]
    assert people["ann"].get("budget").json()["epsilon"] == "199/2"  # charged all the same


def test_a_repeat_waits_for_the_same_slot(open_server, hours, finished):
    people = open_server()
    first = people["ann"].ask()
    assert finished.wait(600)
    hours.move(600)
    again, other = people["ann"].ask(), people["bob"].ask()
    assert again.json()["ready"] == other.json()["ready"] == first.json()["ready"]
    assert people["bob"].get(f"releases/{other.json()['id']}").status_code == 202
    hours.move(HOUR)
    answers = [
        people[who].wait(taken.json()["id"]).json()["rows"]
        for who, taken in (("ann", first), ("ann", again), ("bob", other))
    ]
    assert answers[0] == answers[1] == answers[2]
    assert people["ann"].get("budget").json()["epsilon"] == "199/2"


def test_who_waits_for_the_same_slot_asks_the_ledger_at_its_end(
    open_server, hours, finished, monkeypatch
):
    moments, ask = [], QuestionDesk.ask

    def note_and_ask(self, *given):
        moments.append(hours.now())
        return ask(self, *given)

    monkeypatch.setattr(QuestionDesk, "ask", note_and_ask)
    people = open_server()
    first, other = people["ann"].ask(), people["bob"].ask()
    assert finished.wait(600)
    hours.move(HOUR)
    assert people["bob"].wait(other.json()["id"]).status_code == 200
    assert moments[1:] == [first.json()["ready"]]


def test_a_place_is_held_until_the_slot_ends(open_server, hours, finished):
    people = open_server(places=1)
    first = people["ann"].ask(epsilon=1)
    assert finished.wait(600)
    second = people["bob"].ask(epsilon=2)
    assert second.json()["ready"] == first.json()["ready"] + HOUR
    assert len(people["eve"].get("ledger/entries").json()) == 2  # both are charged now
    hours.move(HOUR)
    assert people["ann"].wait(first.json()["id"]).status_code == 200
    assert people["bob"].get(f"releases/{second.json()['id']}").status_code == 202
    hours.move(HOUR)
    assert people["bob"].wait(second.json()["id"]).status_code == 200


def test_the_queue_is_bounded_for_each_and_for_all(open_server, hours, finished):
    people = open_server(places=1, of_one=2, in_all=3)
    taken = [people["ann"].ask(epsilon=i + 1) for i in range(3)]
    assert [answer.status_code for answer in taken] == [202, 202, 429]
    assert taken[2].json()["type"] == "/problems/too-many-questions"
    assert people["bob"].ask(epsilon=4).status_code == 202
    left = people["bob"].get("budget").json()
    assert people["bob"].ask(epsilon=5).status_code == 429
    assert people["bob"].get("budget").json() == left
    assert finished.wait(600)
    hours.move(HOUR)
    assert people["ann"].wait(taken[0].json()["id"]).status_code == 200
    assert people["bob"].ask(epsilon=5).status_code == 202


def test_a_refusal_takes_no_place(open_server, hours):
    people = open_server(places=1, of_one=1)
    for _ in range(3):
        assert people["ann"].ask(epsilon=1000).json()["type"] == "/problems/budget-exhausted"
    assert people["ann"].ask().json()["wait"] == HOUR


def test_a_kept_answer_takes_no_place(open_server, hours, finished):
    people = open_server(places=1, of_one=1)
    first = people["ann"].ask()
    assert finished.wait(600)
    hours.move(HOUR)
    people["ann"].wait(first.json()["id"])
    again = people["ann"].ask()
    assert again.json()["wait"] == 0
    assert people["ann"].wait(again.json()["id"]).status_code == 200
    assert people["ann"].ask(epsilon=1).status_code == 202


@pytest.fixture
def late(monkeypatch):
    """Engines that stand still: their processes are stopped before they are asked."""
    ask = ChildProcess.ask

    def stop_and_ask(self, told, deadline):
        if told.get("act") == "run":
            os.kill(self.id, signal.SIGSTOP)
        return ask(self, told, deadline)

    monkeypatch.setattr(ChildProcess, "ask", stop_and_ask)


def test_past_its_slot_an_engine_is_killed_and_charged(place, late):
    with serving(place, padded=True, slot=0.2) as client:
        people = people_of(place.parent.parent)
        ann = Asker(client, people.new_token("ann"))
        failures = [ann.answer(epsilon=i + 1) for i in range(3)]
        assert {answer.status_code for answer in failures} == {502}
        assert ann.get("budget").json()["epsilon"] == "94"
        locked = ann.ask(epsilon=1)
        assert locked.status_code == 403
        assert locked.json()["type"] == "/problems/access-denied"
        assert "owner has to look" in locked.json()["detail"]
        bob = Asker(client, people.new_token("bob"))
        assert bob.ask(epsilon=7).status_code == 202


def test_a_lost_job_is_found_again_by_its_id(place, hours, monkeypatch):
    """Its worker died after the charge: the id gets the one outcome, and nothing runs again."""
    monkeypatch.setattr(slots, "wait_until", lambda moment: None)
    ran = []
    run = TimedEngine.run
    monkeypatch.setattr(TimedEngine, "run", lambda *given: ran.append(1) or run(*given))
    with serving(place, padded=True, slot=HOUR) as client:
        ann = Asker(client, people_of(place.parent.parent).new_token("ann"))
        finish = admission.QuestionQueue.finish
        lost = threading.Event()
        monkeypatch.setattr(admission.QuestionQueue, "finish", lambda *given, **how: lost.set())
        taken = ann.ask(question_id="mine")
        assert lost.wait(600)
        monkeypatch.setattr(admission.QuestionQueue, "finish", finish)
        hours.move(HOUR + 60)
        response = ann.wait(taken.json()["id"])
        assert response.status_code == 200
        assert ann.ask(question_id="mine").json()["id"] == taken.json()["id"]
        assert ann.get("budget").json()["epsilon"] == "199/2"
        assert len(ran) == 1


def test_a_list_whose_charge_is_unsure_is_not_charged_again(place, monkeypatch):
    """The ledger went away after it had written the charge: the id gets no second one."""
    reserve = ChainedLedger.reserve_all

    def reserve_and_go(*given, **how):
        reserve(*given, **how)
        raise dp.LedgerUnavailable("The ledger went away.")

    question = {"questions": [COUNT], "question_id": "mine"}
    with serving(place) as client:
        ann = Asker(client, people_of(place.parent.parent).new_token("ann"))
        monkeypatch.setattr(ChainedLedger, "reserve_all", reserve_and_go)
        assert ann.answer(question).status_code == 503
        monkeypatch.setattr(ChainedLedger, "reserve_all", reserve)
        assert ann.answer(question).status_code == 503
        assert len(ann.get("ledger/entries").json()) == 1


def test_explaining_tells_nothing_of_the_queue(open_server, hours):
    people = open_server(places=1, of_one=1)
    before = people["bob"].post("explain", COUNT | {"epsilon": 1}).json()
    people["ann"].ask(epsilon=2)
    after = people["bob"].post("explain", COUNT | {"epsilon": 1}).json()
    assert before.pop("how_many") == 100
    assert after.pop("how_many") == 98
    assert before == after


@pytest.mark.parametrize(
    "problem", [dp.LedgerUnavailable("It went away."), PendingRollbackError("SELECT 1")]
)
def test_an_outcome_that_the_ledger_did_not_take_is_found_there_later(
    place, monkeypatch, problem
):
    """The ledger goes away when an answer is settled: nothing is handed over that it did not
    keep, and the id gets the one outcome that the ledger gives when it is back."""
    settle = ChainedLedger.settle
    gone = []

    def settle_later(*given, **how):
        if not gone:
            gone.append(1)
            raise problem
        return settle(*given, **how)

    monkeypatch.setattr(ChainedLedger, "settle", settle_later)
    with serving(place) as client:
        ann = Asker(client, people_of(place.parent.parent).new_token("ann"))
        first = ann.answer(question_id="mine")
        again = ann.answer(question_id="mine")
        assert gone
        assert (first.status_code, again.status_code) == (502, 502)
        assert first.json() == again.json()
        states = [entry["state"] for entry in ann.get("ledger/entries").json()]
        assert states == ["failed"]
        assert ann.get("budget").json()["epsilon"] == "199/2"


@pytest.mark.parametrize(
    "problem", [dp.LedgerUnavailable, dp.ServerUnavailable, dp.QuestionPending]
)
def test_a_lost_job_is_still_there_when_the_ledger_is_away(place, monkeypatch, problem):
    """Its worker died, and then its ledger or its engine went away, or it waits for an equal
    question: who was told the id finds it later. A refusal that passes is no outcome, or the
    id would keep it."""
    lost, ask = threading.Event(), QuestionDesk.ask
    finish, away = admission.QuestionQueue.finish, []

    def go_away(*given, **how):
        if len(away) < 3:
            away.append(1)
            raise problem("It went away.")
        return ask(*given, **how)

    with serving(place) as client:
        ann = Asker(client, people_of(place.parent.parent).new_token("ann"))
        monkeypatch.setattr(admission.QuestionQueue, "finish", lambda *given, **how: lost.set())
        taken = ann.ask(question_id="mine").json()
        assert lost.wait(600)
        monkeypatch.setattr(admission.QuestionQueue, "finish", finish)
        monkeypatch.setattr(QuestionDesk, "ask", go_away)
        assert ann.wait(taken["id"]).status_code == 200
        assert len(away) == 3
        assert ann.get("budget").json()["epsilon"] == "199/2"


def test_a_ledger_that_is_away_is_no_failure_of_the_server(place, monkeypatch):
    with serving(place) as client:
        ann = Asker(client, people_of(place.parent.parent).new_token("ann"))

        def go_away(*given, **how):
            raise PendingRollbackError("SELECT secret")

        monkeypatch.setattr(ChainedLedger, "head", property(go_away))
        answer = ann.get("ledger/head")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "secret" not in answer.text


def test_a_long_request_waits_for_the_turn_of_long_ones():
    taken, ann = admission.Admission(queue=None), SimpleNamespace(name="ann")
    is_long = taken.turns._long.locked
    assert not asyncio.run(taken.plan(ann, b"x" * 100, is_long))
    assert asyncio.run(taken.plan(ann, b"x" * 5000, is_long))


def test_a_question_with_a_known_slot_waits_for_no_rehearsal(open_server, monkeypatch):
    """Its asker may have another question rehearsed, which takes long."""
    ann, seen, of = open_server(places=2)["ann"], set(), Turns.of
    assert ann.ask().status_code == 202
    note = lambda self, *given, **how: seen.add(self) or of(self, *given, **how)  # noqa: E731
    monkeypatch.setattr(Turns, "of", note)
    assert ann.ask(fresh=True).status_code == 202
    known = len(seen)  # turns that it took
    assert ann.ask(epsilon="1/3").status_code == 202
    assert len(seen) == known + 1
