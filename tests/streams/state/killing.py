"""Kills processes at random moments: `python -m tests.streams.state.killing`.

The arguments are a folder and the number of kills. Each process is a fork that kills itself at
some call of a function, counted from its beginning. What it has shown until then must stay.
"""

import json
import os
import shutil
import signal
import sys
from multiprocessing import get_context
from pathlib import Path
from random import Random

import deniable as dp
from deniable.errors import LedgerBroken
from deniable.streams.counters.counter import Counter
from deniable.streams.state.stored_stream import state_name

EPSILON, HORIZON = 0.5, 10_000
POLICY = """
[budget]
epsilon = 1000000
delta = 1e-6

[tables.visits]
source = "visits.csv"
"""
FORKED = get_context("fork")


def kill_after(calls):
    """Kills this process at a call of a function, Python's or C's."""
    left = calls

    def count(*_):
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)


def live(folder, name, calls, pipe):
    """Opens a counter, shows what it has, and counts on until the kill."""
    session = dp.open(folder / "policy.toml")
    if calls % 2:
        kill_after(calls)  # also while the counter begins, or is opened again
    counter = session.counter(name, horizon=HORIZON, epsilon=EPSILON)
    pipe.send(("seen", [counter.read(step).value for step in range(1, counter.steps + 1)]))
    kill_after(calls)
    while True:
        counter.add(times=3)
        reading = counter.step()
        pipe.send(("step", [reading.step, reading.value]))


def one_life(folder, name, calls, known):
    """Runs one process to its end, and compares what it shows with what was shown."""
    here, there = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=live, args=(folder, name, calls, there))
    process.start()
    there.close()
    while True:
        try:
            kind, shown = here.recv()
        except EOFError:
            break
        if kind == "seen":
            assert shown[: len(known)] == known, "a number has changed"
            assert len(shown) <= len(known) + 1, "more than one step was not shown"
            known[:] = shown
        else:
            step, value = shown
            assert step == len(known) + 1, "a step was shown twice, or left out"
            known.append(value)
    process.join()
    assert process.exitcode == -signal.SIGKILL, process.exitcode


def refuses_old_state(folder, name, known):
    """Whether a copy of the state that is one reading old is refused."""
    state = folder / "policy.ledger.streams" / state_name(name, None)
    old = state.with_suffix(".old")
    shutil.copy(state, old)
    with dp.open(folder / "policy.toml") as session:
        counter = session.counter(name, horizon=HORIZON, epsilon=EPSILON)
        counter.step()
        latest = state.read_bytes()
        shutil.copy(old, state)
        refused = 0
        for act in (
            counter.step,
            lambda: session.counter(name, horizon=HORIZON, epsilon=EPSILON),
        ):
            try:
                act()
            except LedgerBroken:
                refused += 1
        state.write_bytes(latest)
        again = session.counter(name, horizon=HORIZON, epsilon=EPSILON)
        kept = [again.read(step).value for step in range(1, len(known) + 1)] == known
    return refused == 2 and kept


def main(folder, kills):
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    (folder / "visits.csv").write_text("x\n1\n", encoding="utf-8")
    with dp.open(folder / "policy.toml") as session:  # what is loaded and computed once
        warm = session.counter("c", horizon=HORIZON, epsilon=EPSILON)
        assert isinstance(warm, Counter)
        warm.step()
    chance, known, name = Random(kills), {}, "c0"
    for life in range(kills):
        if chance.random() < 0.3:
            name = f"c{life}"
        known.setdefault(name, [])
        one_life(folder, name, chance.randrange(1, 90_000), known[name])
    with dp.open(folder / "policy.toml") as session:
        session.ledger.verify()
        charged = [entry for entry in session.ledger.entries if entry.epsilon][1:]
    longest = max(known, key=lambda name: len(known[name]))
    return {
        "steps": sum(map(len, known.values())),
        "names": len(known),
        "charges": len(charged),
        "shown": sum(bool(values) for values in known.values()),
        "old refused": refuses_old_state(folder, longest, known[longest]),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
