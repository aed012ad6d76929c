"""Many processes and one ledger, run apart from the tests: `python -m tests.ledger.racing`.

The first line of standard input is a job in JSON. Everything is imported once; the processes
that race, or are killed, are forks, and `run` ends them all should one hang.
"""

import contextlib
import fcntl
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, event

from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.handover.withheld import Withheld
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import BudgetExhausted, LedgerUnavailable
from deniable.ledger.database_journal import DatabaseJournal
from deniable.ledger.durable_ledger import DurableLedger
from deniable.ledger.memory_ledger import MemoryLedger
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.release.public_session import Session
from tests.ledger.contract import plan
from tests.ledger.faults import refuse

FORKED = get_context("fork")
ALL = 10**9


class Unlocked(DatabaseJournal):
    """The mutant: decides on what it read without the lock, and waits before it writes."""

    barrier = None

    def append(self, decide):
        with self.view() as view:
            stale = decide(view)
        with contextlib.suppress(threading.BrokenBarrierError):  # the others are done
            self.barrier.wait()
        return super().append(lambda _: stale)


def race(places, **how):
    """One race at each place, one after the other: imports are done once for all of them."""
    return [_race(*place, **how) for place in places]


def _race(where, key, *, processes, requests, room, mutant=False):
    """How many of the requests were granted, by processes that start together."""
    terms = Terms.from_budget(Budget(room))
    DurableLedger(where, terms, key=key).close()
    start, granted = FORKED.Barrier(processes), FORKED.Value("q", 0)
    if mutant:
        Unlocked.barrier = FORKED.Barrier(processes)

    def run(count):
        ledger = DurableLedger(where, terms, key=key)
        if mutant:
            ledger._journal.__class__ = Unlocked
        request, mine = plan(1), 0
        start.wait()
        for _ in range(count):
            try:
                ledger.reserve(request)
                mine += 1
            except BudgetExhausted:
                pass
        if mutant:
            Unlocked.barrier.abort()
        with granted.get_lock():
            granted.value += mine
        os._exit(0)

    shares = [requests // processes + (i < requests % processes) for i in range(processes)]
    workers = [FORKED.Process(target=run, args=(count,)) for count in shares]
    for worker in workers:
        worker.start()
    codes = [worker.join() or worker.exitcode for worker in workers]
    ledger = DurableLedger(where, terms, key=key)
    counts = {"granted": granted.value, "codes": sorted(set(codes))}
    if not mutant:
        counts |= {
            "entries": len(ledger.entries),
            "verified": ledger.verify().entries,
            "left": str(ledger.remaining.epsilon),
        }
    ledger.close()
    return counts


def kill_worker(work, *, steps):
    """Starts a worker, and kills it at a random moment after one to `steps` of its steps."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        work(tell)
    for _ in range(1 + secrets.randbelow(steps)):  # by what it has done, however slowly
        os.read(ready, 1)
    time.sleep(secrets.randbelow(6_000) / 1e6)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready)
    os.close(tell)


def kill(where, key, *, kills, log):
    """Kills a worker at random moments; it notes each release after charging it.

    The worker reserves, writes the entry's number to `log` (that is its release), and settles,
    again and again. Each time the ledger must verify, and hold every charge that was noted.
    """
    terms = Terms.from_budget(Budget(ALL))
    ledger = DurableLedger(where, terms, key=key)
    ledger.close()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    counts = {"kills": 0, "lost": 0}
    for _ in range(kills):
        kill_worker(lambda tell: _work(where, key, terms, out, tell), steps=12)
        counts["kills"] += 1
        ledger = DurableLedger(where, terms, key=key)
        ledger.verify()
        numbers = {entry.number for entry in ledger.entries}
        ledger.close()
        released = {int(line) for line in Path(log).read_text().splitlines()}
        counts["lost"] += len(released - numbers)
    counts |= {"released": len(released), "charged": len(numbers)}
    ledger = DurableLedger(where, terms, key=key)
    counts["spent"] = str(ALL - ledger.remaining.epsilon)
    ledger.close()
    return counts


def _work(where, key, terms, out, tell):
    """A worker, until it is killed; it tells of each step that it has done."""
    ledger = DurableLedger(where, terms, key=key)
    request = plan(1)
    while True:
        os.write(tell, b".")
        entry = ledger.reserve(request)
        os.write(tell, b".")
        os.write(out, f"{entry.number}\n".encode())
        os.write(tell, b".")
        ledger.settle(entry, "{}")


class StillEngine:
    """An engine without rows: each question is answered at once."""

    name = "still"

    def __init__(self, step):
        self._step = step

    def schema(self, table):
        return {"x": "BIGINT", "y": "BIGINT"}

    def prepare(self, plan):
        return WrittenPlan(plan, ())

    def run(self, written):
        self._step()
        features = {name: np.array([7]) for name in written.plan.features}
        self._step()
        return Withheld(ExactGroups((), None, features))

    def close(self):
        pass


def kill_between(where, key, *, kills, log, first=0):
    """Kills a session between two steps of its life: each time one step later than the last.

    A life is: open the ledger, ask one question, note its answer in `log`, close. A step is a
    statement of the database, a call to the system about the mark, the engine's run, or the
    note. Each time the ledger must open, verify, and hold every charge that was answered.
    """
    policy, request = _warm_up()
    out = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
    counts, step = {"kills": 0, "lives": 0, "points": 0}, first
    while counts["kills"] < kills:
        child = os.fork()
        if child == 0:
            _live(where, key, policy, request, out, step)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert ended in (0, -signal.SIGKILL), ended
        counts["kills"] += ended != 0
        counts["lives"] += ended == 0
        counts["points"] = max(counts["points"], step)
        step = step + 1 if ended else 0  # if it was not killed, that was the last step
        ledger = DurableLedger(where, policy, key=key)
        ledger.verify()
        ledger.close()
    return counts | {"next": step} | _count_answers(where, key, policy, log)


def _warm_up():
    """A policy and a plan; everything that a life needs is imported, once for all of them."""
    policy = Policy([Table("data")], epsilon=ALL)
    ledger = MemoryLedger(terms=Terms.from_policy(policy))
    with Session(policy, StillEngine(lambda: None), ledger) as session:
        request = session.plan("SELECT COUNT(*) AS n FROM data", epsilon=1)
        session.release(request)
    return policy, request


def _count_answers(where, key, policy, log):
    """What was answered and what was charged."""
    ledger = DurableLedger(where, policy, key=key)
    states = {entry.number: entry.state for entry in ledger.entries}
    counts = {"charged": len(states), "spent": str(ALL - ledger.remaining.epsilon)}
    ledger.close()
    answered = [int(line) for line in Path(log).read_text().splitlines()]
    settled = sum(states.get(number) == "settled" for number in answered)
    return counts | {"answered": len(answered), "settled": settled}


def kill_both(random, between):
    """Kills at random moments, then between steps."""
    return kill(**random), kill_between(**between)


def _live(where, key, policy, request, out, last):
    """One life of a session, which ends at a step."""
    left = iter(range(last))

    def step(*_, **__):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in ("before_cursor_execute", "after_cursor_execute"):
        event.listen(Engine, name, step)
    for module, name in (
        *((os, name) for name in ("open", "fsync", "replace", "close")),
        (fcntl, "flock"),
    ):
        setattr(module, name, _between(step, getattr(module, name)))
    with Session(policy, StillEngine(step), DurableLedger(where, policy, key=key)) as session:
        answer = session.release(request, fresh=True)
        step()
        os.write(out, f"{answer.certificate.statement['ledger']['position']}\n".encode())
        step()
    os._exit(0)


def _between(step, act):
    def stepped(*arguments, **options):
        step()
        done = act(*arguments, **options)
        step()
        return done

    return stepped


def starve(where, key, *, fault, log):
    """Lets every write fail from some moment on, in a process of its own."""
    terms = Terms.from_budget(Budget(ALL))
    DurableLedger(where, terms, key=key).close()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        ledger, failures = DurableLedger(where, terms, key=key), 0
        before = secrets.randbelow(5)
        for turn in range(before + 3):
            if turn == before:
                refuse(fault)
            try:
                entry = ledger.reserve(plan(1))
                os.write(out, f"{entry.number}\n".encode())
                ledger.settle(entry, "{}")
            except LedgerUnavailable:
                failures += 1
        os.write(tell, json.dumps([before, failures]).encode())
        os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    before, failures = json.loads(os.read(ready, 100))
    ledger = DurableLedger(where, terms, key=key)
    ledger.verify()
    numbers = {entry.number for entry in ledger.entries}
    ledger.reserve(plan(1))  # the next process goes on
    ledger.verify()
    ledger.close()
    released = {int(line) for line in Path(log).read_text().splitlines()}
    return {
        "before": before,
        "failures": failures,
        "released": len(released),
        "lost": len(released - numbers),
        "charged": len(numbers),
    }


JOBS = {"race": race, "kill_both": kill_both, "starve": starve}


def run(job, *, seconds, module="tests.ledger.racing", **arguments):
    """Runs a job in a process of its own; ends it and all its forks if it takes too long."""
    command = [sys.executable, "-m", module]
    text = json.dumps(
        {
            "job": job,
            **arguments,
        },
        default=str,
    )
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        start_new_session=True,
    )
    try:
        out, said = process.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{job} did not end in {seconds} seconds") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == 0, said
    return json.loads(out)


if __name__ == "__main__":
    wanted = json.loads(sys.stdin.readline())
    print(json.dumps(JOBS[wanted.pop("job")](**wanted)))
