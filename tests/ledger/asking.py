"""Processes that ask one question, apart from the tests: `python -m tests.ledger.asking`."""

import json
import os
import signal
import sys

from deniable.ledger import Entry
from deniable.ledger.durable_ledger import DurableLedger
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from tests.ledger.contract import plan
from tests.ledger.racing import FORKED

TERMS = Terms.from_budget(Budget(100))


def _answer(ledger, name):
    """Asks the one question, and answers it with a name if nobody has."""
    with ledger.ask(plan(1), plan_hash="f00d") as found:
        if not isinstance(found, Entry):
            return found.record
        ledger.settle(found, json.dumps(name))
        return json.dumps(name)


def ask(where, key, *, processes):
    """All start together; each notes the answer that it got."""
    DurableLedger(where, TERMS, key=key).close()
    start, answers = FORKED.Barrier(processes), FORKED.SimpleQueue()

    def work(name):
        ledger = DurableLedger(where, TERMS, key=key)
        start.wait()
        answers.put(_answer(ledger, name))
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
        with DurableLedger(where, TERMS, key=key).ask(plan(1), plan_hash="f00d"):
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
        answers.put(_answer(ledger, name))
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


def _told(where, key):
    ledger = DurableLedger(where, TERMS, key=key)
    ledger.verify()
    found = {
        "states": [entry.state for entry in ledger.entries],
        "spent": str(100 - ledger.remaining.epsilon),
    }
    ledger.close()
    return found


JOBS = {"ask": ask, "orphan": orphan}

if __name__ == "__main__":
    wanted = json.loads(sys.stdin.readline())
    print(json.dumps(JOBS[wanted.pop("job")](**wanted)))
