"""What is late for its slot is a failure like any other, and few of them are told."""

import threading
import time

import pytest

import deniable as dp
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.children.pooled_engine import PooledEngine, TimedEngine
from deniable.app.server.questions.question_queue import MOST_OVERRUNS, QuestionQueue
from deniable.app.server.questions.slots import Timetable
from deniable.errors import ServerUnavailable
from deniable.release.session.release_records import ReleaseRecords
from tests.app.server.questions.asking import COUNT, HOUR

SEVERAL = {"questions": [COUNT, COUNT]}


@pytest.fixture
def overruns(place):
    """How often questions of Ann were late."""
    queue = QuestionQueue(ServerDatabase(place.parent.parent / "server.sqlite"))

    def count():
        with queue.database.reading() as connection:
            row = connection.execute("SELECT times FROM overruns").fetchone()
        return 0 if row is None else row[0]

    yield count
    queue.database.close()


@pytest.mark.parametrize("told", [COUNT, SEVERAL], ids=["one", "several"])
def test_an_answer_that_is_signed_after_its_slot_is_a_failure(
    open_server, hours, overruns, monkeypatch, told
):
    """It came in time for the slot, and its signature did not: when it is there would tell how
    long the engine has worked."""
    signed, certify = threading.Event(), ReleaseRecords.certify

    def certify_late(*given):
        hours.move(HOUR + 1)
        signed.set()
        return certify(*given)

    monkeypatch.setattr(ReleaseRecords, "certify", certify_late)
    people = open_server()
    taken = people["ann"].ask(told).json()
    assert signed.wait(600)
    hours.move(HOUR)  # a list is ready at the end of its last slot
    failed = people["ann"].wait(taken["id"])
    assert (failed.status_code, failed.json()["type"]) == (502, "/problems/engine-failed")
    states = {entry["state"] for entry in people["eve"].get("ledger/entries").json()}
    assert states == {"failed"}
    assert overruns() == 1


def test_who_was_late_too_often_learns_nothing_from_questions_that_wait(
    open_server, hours, overruns, monkeypatch
):
    """They were taken and charged before. Whether they are late would be one more bit each."""
    runs, ran, run = [], threading.Semaphore(0), TimedEngine.run

    def run_late(self, written):
        runs.append(1)
        try:
            if len(runs) <= MOST_OVERRUNS:
                self.overran = True
                raise dp.EngineFailed("00000000")
            return run(self, written)
        finally:
            ran.release()

    monkeypatch.setattr(TimedEngine, "run", run_late)
    people = open_server()
    names = [people["ann"].ask(epsilon=i + 1).json()["id"] for i in range(MOST_OVERRUNS + 2)]
    for number, name in enumerate(names):
        assert ran.acquire(timeout=600)
        hours.move(HOUR)
        assert people["ann"].wait(name).status_code == 502
        assert overruns() == min(number + 1, MOST_OVERRUNS)
    assert people["ann"].ask(epsilon=9).status_code == 403
    taken = people["bob"].ask(epsilon=10).json()
    assert ran.acquire(timeout=600)
    hours.move(HOUR)
    assert people["bob"].wait(taken["id"]).status_code == 200


@pytest.mark.parametrize("broken", ["is_locked", "count_once"])
def test_what_the_server_s_database_cannot_say_is_a_failure_that_is_charged(
    open_server, hours, monkeypatch, broken
):
    """Its error would say that nothing was spent, and would end as no outcome of the ledger."""
    begun, run = threading.Event(), TimedEngine.run

    def fail(*given):
        raise ServerUnavailable("The server's own database cannot be used now.")

    def run_and_break(*given):
        monkeypatch.setattr(Timetable, broken, fail)
        begun.set()
        return run(*given)

    monkeypatch.setattr(TimedEngine, "run", run_and_break)
    people = open_server()
    taken = people["ann"].ask(COUNT).json()
    assert begun.wait(600)
    hours.move(HOUR)
    failed = people["ann"].wait(taken["id"])
    assert (failed.status_code, failed.json()["type"]) == (502, "/problems/engine-failed")
    states = {entry["state"] for entry in people["eve"].get("ledger/entries").json()}
    assert states == {"failed"}


def test_an_engine_is_killed_so_early_that_its_failure_is_in_time(open_server, monkeypatch):
    left, until = [], PooledEngine.until

    def note(self, deadline):
        left.append(deadline - time.monotonic())
        return until(self, deadline)

    monkeypatch.setattr(PooledEngine, "until", note)
    begun = threading.Event()
    run = TimedEngine.run
    monkeypatch.setattr(TimedEngine, "run", lambda *given: begun.set() or run(*given))
    people = open_server()
    people["ann"].ask()
    assert begun.wait(600)
    assert HOUR * 0.9 < left[0] <= HOUR * 0.95
