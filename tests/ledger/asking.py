"""Processes that ask one question, apart from the tests: `python -m tests.ledger.asking`."""

import contextlib
import json
import os
import signal
import sys
from fractions import Fraction
from pathlib import Path

from deniable.errors import EngineFailed
from deniable.ledger import Entry, RecalledAnswer
from deniable.ledger.durable_ledger import DurableLedger
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from tests.ledger.contract import plan
from tests.ledger.racing import FORKED, kill_worker

TERMS = Terms.from_budget(Budget(100))


def _answer(ledger, question, name):
    """Asks one question, and answers it with a name if nobody has."""
    with ledger.ask(plan(1), plan_hash=question) as outcome:
        if not isinstance(outcome, Entry):
            return outcome.record
        ledger.settle(outcome, json.dumps(name))
        return json.dumps(name)


def ask(where, key, *, processes):
    """All start together; each notes the answer that it got."""
    DurableLedger(where, TERMS, key=key).close()
    start, answers = FORKED.Barrier(processes), FORKED.SimpleQueue()

    def work(name):
        ledger = DurableLedger(where, TERMS, key=key)
        start.wait()
        answers.put(_answer(ledger, "f00d", name))
        os._exit(0)

    workers = [FORKED.Process(target=work, args=(name,)) for name in range(processes)]
    for worker in workers:
        worker.start()
    got = [answers.get() for _ in workers]
    for worker in workers:
        worker.join()
    return {"answers": len(got), "different": len(set(got)), **_told(where, key)}


def orphan(where, key):
    """The first asker is killed while others wait for its answer."""
    DurableLedger(where, TERMS, key=key).close()
    ready, tell = os.pipe()
    first = os.fork()
    if first == 0:
        with DurableLedger(where, TERMS, key=key).ask(plan(1), plan_hash="beef"):
            os.write(tell, b".")
            signal.pause()
    os.read(ready, 1)
    answers = FORKED.SimpleQueue()

    def work(name):
        ledger = DurableLedger(where, TERMS, key=key)
        is_held = ledger._journal.is_held

        def look(token):
            os.write(tell, b".")  # it has found the open question
            return is_held(token)

        ledger._journal.is_held = look
        answers.put(_answer(ledger, "beef", name))
        os._exit(0)

    workers = [FORKED.Process(target=work, args=(name,)) for name in range(3)]
    for worker in workers:
        worker.start()
    os.read(ready, 1)
    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)
    got = [answers.get() for _ in workers]
    for worker in workers:
        worker.join()
    return {"answers": len(got), "different": len(set(got)), **_told(where, key)}


def both(where, key):
    """Six processes ask one question; then the first asker of another one is killed."""
    return {"asked": ask(where, key, processes=6), "killed": orphan(where, key)}


def kill_runs(where, key, *, kills, log):
    """Kills a worker at random moments of its runs; the next one asks the same again.

    The worker asks questions of three steps, each under an id of its own. It notes each run and
    each step after the ledger has it, as one that reads data would.
    """
    DurableLedger(where, TERMS, key=key).close()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    counts = {"kills": 0, "lost": 0, "charged twice": 0}
    for _ in range(kills):
        kill_worker(lambda tell: _work(where, key, log, out, tell), steps=10)
        counts["kills"] += 1
        ledger = DurableLedger(where, TERMS, key=key)
        ledger.verify()
        bodies = [row.read() for row in ledger._journal.read_all()[0]]
        ledger.close()
        ids = [body["question_id"] for body in bodies if body["kind"] == "reserved"]
        steps = {
            f"step {body['of']} {body['step']}" for body in bodies if body["kind"] == "step"
        }
        noted = {line for line in Path(log).read_text().splitlines() if line.startswith("step")}
        counts["lost"] += len(noted - steps)
        counts["charged twice"] += len(ids) - len(set(ids))
    told = _told(where, key)
    outcomes = {state: told["states"].count(state) for state in set(told["states"])}
    return counts | {"runs": len(ids), "spent": told["spent"], "outcomes": outcomes}


def _work(where, key, log, out, tell):
    """A worker, until it is killed: first it asks again what the last one was at."""
    ledger = DurableLedger(where, TERMS, key=key)
    lines = Path(log).read_text().splitlines()
    number = max((int(line.split()[1]) for line in lines if line.startswith("ask")), default=0)
    while True:
        os.write(out, f"ask {number}\n".encode())
        os.write(tell, b".")
        with contextlib.suppress(EngineFailed):
            _answer_in_steps(ledger, number, out, tell)
        number += 1


def _answer_in_steps(ledger, number, out, tell):
    plans = (plan(Fraction(1, 100)), plan(Fraction(1, 200)), plan(Fraction(1, 200)))
    options = {"plan_hash": f"hash {number}", "version": "", "analyst": None, "part": ()}
    options |= {"fresh": False, "question_id": str(number)}
    with ledger.ask_run(plans, **options) as run:
        if isinstance(run, RecalledAnswer):
            return
        for each in plans:
            os.write(tell, b".")
            step = run.step(each)
            os.write(out, f"step {run.entry.number} {step}\n".encode())
            run.keep(step, "{}", plan_hash=f"hash {number} {step}", version="")
        os.write(tell, b".")
        run.settle("[]")


def _told(where, key):
    ledger = DurableLedger(where, TERMS, key=key)
    ledger.verify()
    report = {
        "states": [entry.state for entry in ledger.entries],
        "spent": str(100 - ledger.remaining.epsilon),
    }
    ledger.close()
    return report


JOBS = {"both": both, "kill_runs": kill_runs}

if __name__ == "__main__":
    wanted = json.loads(sys.stdin.readline())
    print(json.dumps(JOBS[wanted.pop("job")](**wanted)))
