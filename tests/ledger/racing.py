"""Many processes and one ledger, run apart from the tests: `python -m tests.ledger.racing`.

The first line of standard input is a job in JSON. Everything is imported once; the processes
that race, or are killed, are forks, and `run` ends them all should one hang.
"""

import contextlib
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

from deniable.errors import BudgetExhausted, LedgerUnavailable
from deniable.ledger.database_journal import DatabaseJournal
from deniable.ledger.durable_ledger import DurableLedger
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
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


def race(where, key, *, processes, requests, room, mutant=False):
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
        asked, mine = plan(1), 0
        start.wait()
        for _ in range(count):
            try:
                ledger.reserve(asked)
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
    found = {"granted": granted.value, "codes": sorted(set(codes))}
    if not mutant:
        found |= {
            "entries": len(ledger.entries),
            "verified": ledger.verify().entries,
            "left": str(ledger.remaining.epsilon),
        }
    ledger.close()
    return found


def kill(where, key, *, kills, log):
    """Kills a worker at random moments; it notes each release after charging it.

    The worker reserves, writes the entry's number to `log` (that is its release), and settles,
    again and again. Each time the ledger must verify, and hold every charge that was noted.
    """
    terms = Terms.from_budget(Budget(ALL))
    ledger = DurableLedger(where, terms, key=key)
    ledger.close()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    found = {"kills": 0, "lost": 0}
    for _ in range(kills):
        ready, tell = os.pipe()
        child = os.fork()
        if child == 0:
            _work(where, key, terms, out, tell)
        for _ in range(1 + secrets.randbelow(12)):  # by what it has done, however slowly
            os.read(ready, 1)
        time.sleep(secrets.randbelow(6_000) / 1e6)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(tell)
        found["kills"] += 1
        ledger = DurableLedger(where, terms, key=key)
        ledger.verify()
        numbers = {entry.number for entry in ledger.entries}
        ledger.close()
        released = {int(line) for line in Path(log).read_text().splitlines()}
        found["lost"] += len(released - numbers)
    found |= {"released": len(released), "charged": len(numbers)}
    ledger = DurableLedger(where, terms, key=key)
    found["spent"] = str(ALL - ledger.remaining.epsilon)
    ledger.close()
    return found


def _work(where, key, terms, out, tell):
    """A worker, until it is killed; it tells of each step that it has done."""
    ledger = DurableLedger(where, terms, key=key)
    asked = plan(1)
    while True:
        os.write(tell, b".")
        entry = ledger.reserve(asked)
        os.write(tell, b".")
        os.write(out, f"{entry.number}\n".encode())
        os.write(tell, b".")
        ledger.settle(entry, "{}")


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


JOBS = {"race": race, "kill": kill, "starve": starve}


def run(job, *, seconds, module="tests.ledger.racing", **arguments):
    """Runs a job in a process of its own; ends it and all its forks if it takes too long."""
    command = [sys.executable, "-m", module]
    text = json.dumps(
        {
            "job": job,
            **{
                name: str(one) if isinstance(one, Path) else one
                for name, one in arguments.items()
            },
        }
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
