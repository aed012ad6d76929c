"""A server whose clock a test moves, so that slots of an hour end when it says so."""

import threading

import pytest

from deniable.app.server.children.pooled_engine import TimedEngine
from deniable.app.server.questions import slots
from deniable.app.server.questions.question_queue import QuestionQueue
from tests.app.server.questions.asking import (
    HOUR,
    Asker,
    people_of,
    serving,
    write_hospital,
)


class Hours:
    """A clock that moves only when a test moves it; who waits for a moment waits for that."""

    def __init__(self):
        self.moment, self._moved = 1e9, threading.Condition()
        self._awaited, self._outcomes = set(), 0

    def now(self):
        return self.moment

    def wait_until(self, moment):
        with self._moved:
            self._awaited.add(moment)
            self._moved.notify_all()
            self._moved.wait_for(lambda: self.moment >= moment)

    def note_outcome(self):
        with self._moved:
            self._outcomes += 1
            self._moved.notify_all()

    def rest_until(self, moment):
        """Returns when somebody waits for a moment, or did not wait and has an outcome."""
        with self._moved:
            assert self._moved.wait_for(
                lambda: moment in self._awaited or self._outcomes, timeout=600
            )

    def move(self, seconds):
        with self._moved:
            self.moment += seconds
            self._moved.notify_all()


@pytest.fixture
def hours(monkeypatch):
    clock = Hours()
    monkeypatch.setattr(slots, "now", clock.now)
    monkeypatch.setattr(slots, "wait_until", clock.wait_until)
    finish = QuestionQueue.finish

    def finish_and_tell(self, *given, **how):
        finish(self, *given, **how)
        clock.note_outcome()

    monkeypatch.setattr(QuestionQueue, "finish", finish_and_tell)
    yield clock
    clock.move(10**6)  # all who still wait may end


@pytest.fixture
def place(tmp_path):
    return write_hospital(tmp_path, epsilon=100)


@pytest.fixture
def open_server(place, hours):
    """`open_server(places=1)`: a server with slots of an hour, and who asks it."""
    opened = []

    def start(slot=HOUR, **limits):
        context = serving(place, padded=True, slot=slot, limits={"places": 1, **limits})
        client = context.__enter__()
        opened.append(context)
        people = people_of(place.parent.parent)
        return {
            name: Asker(client, people.new_token(name, role=role))
            for name, role in (("ann", "analyst"), ("bob", "analyst"), ("eve", "auditor"))
        }

    yield start
    hours.move(10**6)
    for context in opened:
        context.__exit__(None, None, None)


@pytest.fixture
def finished(monkeypatch):
    """An event that is set when an engine has returned or failed, long before its slot ends."""
    event, run = threading.Event(), TimedEngine.run

    def run_and_tell(self, written):
        try:
            return run(self, written)
        finally:
            event.set()

    monkeypatch.setattr(TimedEngine, "run", run_and_tell)
    return event
