"""Many clients and several workers over one ledger: never more than there is room for."""

import os
import random
import secrets
import signal
import threading
from collections import Counter
from contextlib import ExitStack, suppress
from fractions import Fraction

import psycopg
import pytest

import deniable as dp
from tests.app.server.questions.asking import COUNT, write_hospital
from tests.app.server.questions.commands import caller, children_of, serve
from tools.postgresql import address, empty_place, mortal

PIECE = 25  # kills, after which what was found so far is checked, and printed


@pytest.fixture
def ledger_place(server_postgresql):
    """A schema of a database of its own: surveys refuse the database of a ledger."""
    name = f"ledger_{secrets.token_hex(8)}"
    with psycopg.connect(address(server_postgresql), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    there = address(server_postgresql).replace("/postgres?", f"/{name}?")
    with psycopg.connect(there, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA ledger")
    return f"{there}#ledger"


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]
)
def ledger(request):
    """Lines of a policy that name its ledger."""
    if request.param == "sqlite":
        return ""
    return f'[ledger]\nstore = "{request.getfixturevalue("ledger_place")}"'


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
    outcomes, waiting = Counter(), iter(range(requests))
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
                    outcomes[outcome] += 1

        threads = [threading.Thread(target=work) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left = Fraction(calls.get("budget")["epsilon"])
    assert outcomes == {"answered": room, "BudgetExhausted": requests - room}
    assert left == 0


class Kills:
    """Ends a worker, a worker's child or the ledger's server, at a moment and by a choice that
    are hard to foresee."""

    def __init__(self, process, store):
        self.process, self.store, self.chance = process, store, random.Random()
        self.counts = Counter()

    def end_one(self):
        for _ in range(self.chance.randrange(4)):  # a moment later, or at once
            children_of(self.process.pid)
        if self.store is not None and self.chance.random() < 0.2:
            self.store.kill()
            self.store.start()
            self.counts["store"] += 1
            return
        workers = children_of(self.process.pid)
        children = [child for worker in workers for child in children_of(worker)]
        kind, victims = self.chance.choice([("worker", workers), ("child", children)])
        with suppress(ProcessLookupError, IndexError):
            os.kill(self.chance.choice(victims), signal.SIGKILL)
            self.counts[kind] += 1


@pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]
)
def test_kills_cost_no_second_charge_and_give_no_second_outcome(tmp_path, size, kind):
    """Each question is asked again until it has an outcome, whatever is killed meanwhile. After
    each piece of the kills, and at the end, each has that outcome still, and one charge."""
    kills = size(small=4, full=1000, what="kills of workers, children and store")
    with ExitStack() as opened:
        store = opened.enter_context(mortal(fsync="off")) if kind == "postgresql" else None
        lines = f'[ledger]\nstore = "{empty_place(store.folder)}"' if store else ""
        file = write_hospital(tmp_path, epsilon=10**6, ledger=lines)
        options = ["--workers", "2", "--padding", "off", "--places", "1"]
        url, process = opened.enter_context(serve(file, *options))
        calls, kill = caller(url, file), Kills(process, store)
        outcomes = {}

        def ask(number):
            told = COUNT | {"epsilon": number + 1, "question_id": f"q{number}"}
            return ask_through_kills(calls, told, process)

        def note(number):
            outcomes[number] = ask(number)

        def check(numbers):
            assert {number: ask(number) for number in numbers} == {
                number: outcomes[number] for number in numbers
            }
            check_charges(ask_through_kills(calls, None, process), outcomes)
            counts = Counter(outcome for outcome, _ in outcomes.values())
            print(f"killed: {dict(kill.counts)}; outcomes: {dict(counts)}", flush=True)

        checked = 0
        while kill.counts.total() < kills:
            goal = min(kills, kill.counts.total() + PIECE)
            while kill.counts.total() < goal:
                asker = threading.Thread(target=note, args=(len(outcomes),))
                asker.start()
                kill.end_one()
                asker.join()
            check(range(checked, len(outcomes)))
            checked = len(outcomes)
        check(range(checked))


def check_charges(entries, outcomes):
    """Each question has one charge at most: settled if it was answered, failed if not."""
    charges = {}
    for entry in entries:
        charges.setdefault(int(entry["epsilon"]) - 1, []).append(entry["state"])
    assert charges.keys() <= outcomes.keys()
    for number, (outcome, _) in outcomes.items():
        charged = charges.get(number, [])
        assert charged == ["settled"] if outcome == "answered" else charged in (["failed"], [])


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
