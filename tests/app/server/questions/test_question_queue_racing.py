"""Many clients and several workers over one ledger: never more than there is room for."""

import os
import random
import signal
import threading
from collections import Counter
from contextlib import suppress
from fractions import Fraction

import pytest

import deniable as dp
from tests.app.server.questions.asking import COUNT, write_hospital
from tests.app.server.questions.commands import caller, children_of, serve
from tools.postgresql import empty_place


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]
)
def ledger(request):
    """Lines of a policy that name its ledger."""
    if request.param == "sqlite":
        return ""
    place = empty_place(request.getfixturevalue("server_postgresql"))
    return f'[ledger]\nstore = "{place}"'


def ask_until_taken(calls, told):
    """The outcome of a question: "answered", or the name of what refused it."""
    while True:
        try:
            taken = calls.post("releases", told)
            status = 202
            while status == 202:
                status, _ = calls.send("GET", f"releases/{taken['id']}/record")
            return "answered"
        except dp.TooManyQuestions:
            continue
        except dp.DeniableError as problem:
            return type(problem).__name__


def test_exactly_as_many_answers_as_there_is_room_for(tmp_path, ledger, size):
    room = size(small=8, full=100, what="answers that fit")
    clients = size(small=6, full=64, what="clients")
    requests = size(small=24, full=10_000, what="requests over HTTP")
    workers = size(small=2, full=4, what="workers")
    file = write_hospital(tmp_path, epsilon=room, ledger=ledger)
    options = ["--workers", str(workers), "--padding", "off", "--places", "1"]
    options += ["--queue", "64", "--queue-each", "64"]
    found, waiting = Counter(), iter(range(requests))
    lock = threading.Lock()
    with serve(file, *options) as (url, _):
        calls = caller(url, file)

        def work():
            while True:
                with lock:
                    if next(waiting, None) is None:
                        return
                outcome = ask_until_taken(calls, COUNT | {"epsilon": 1, "fresh": True})
                with lock:
                    found[outcome] += 1

        threads = [threading.Thread(target=work) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left = Fraction(calls.get("budget")["epsilon"])
    assert found == {"answered": room, "BudgetExhausted": requests - room}
    assert left == 0


def test_kills_cost_no_second_charge_and_give_no_second_outcome(tmp_path, size):
    kills = size(small=4, full=1000, what="kills of workers and children")
    file = write_hospital(tmp_path, epsilon=10**6)
    chance = random.Random(7)
    options = ["--workers", "2", "--padding", "off", "--places", "1"]
    with serve(file, *options) as (url, process):
        calls = caller(url, file)
        for number in range(kills):
            told = COUNT | {"epsilon": number + 1, "question_id": f"q{number}"}
            asker = threading.Thread(target=ask_through_kills, args=(calls, told, process))
            asker.start()
            for _ in range(chance.randrange(4)):  # a moment that is hard to foresee
                children_of(process.pid)
            kill_one(process, chance)
            asker.join()
            first, again = (ask_through_kills(calls, told, process) for _ in range(2))
            assert first == again
            charges = [
                entry
                for entry in ask_through_kills(calls, None, process)
                if Fraction(entry["epsilon"]) == number + 1
            ]
            assert len(charges) <= 1
            if first[0] == "answered":
                assert [entry["state"] for entry in charges] == ["settled"]
            else:
                assert [entry["state"] for entry in charges] in (["failed"], [])


def kill_one(process, chance):
    """Kills a worker, or one of a worker's children."""
    workers = children_of(process.pid)
    victims = workers + [child for worker in workers for child in children_of(worker)]
    with suppress(ProcessLookupError, IndexError):
        os.kill(chance.choice(victims), signal.SIGKILL)


def ask_through_kills(calls, told, process):
    """What a patient asker gets: asks again while the server is away."""
    while True:
        assert process.poll() is None, "the server has ended"
        try:
            if told is None:
                return calls.get("ledger/entries")
            taken = calls.post("releases", told)
            status, answer = 202, {}
            while status == 202:
                status, answer = calls.send("GET", f"releases/{taken['id']}/record")
            return "answered", answer["record"]
        except (dp.ServerUnavailable, dp.LedgerUnavailable):
            continue
        except dp.EngineFailed as failure:
            return "failed", failure.reference
