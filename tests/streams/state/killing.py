"""Kills processes at random moments: `python -m tests.streams.state.killing`.

The arguments are a folder, the number of kills, and what is killed: a counter of events, a
counter with a tally of persons, or a watch. Each process is a fork that kills itself at some
call of a function, counted from its beginning. What it has shown until then must stay, and what
counts of a person is in the tally.
"""

import datetime
import json
import os
import shutil
import signal
import sys
from collections import Counter as Multiset
from multiprocessing import get_context
from pathlib import Path
from random import Random
from types import MappingProxyType

import deniable as dp
from deniable.errors import LedgerBroken
from deniable.streams.state.stored_stream import state_name

EPSILON, HORIZON, MOST = 0.5, 10_000, 3
POLICY = """
[budget]
epsilon = 1000000
delta = 1e-6

[tables.visits]
source = "visits.csv"

[tables.stays]
source = "stays.csv"
unit = "patient"
[tables.stays.columns]
day = { kind = "date" }
"""
SINCE, DAYS = datetime.date(2026, 1, 1), 2000
FORKED = get_context("fork")


class Events:
    """A counter of events."""

    calls, options = 90_000, MappingProxyType({})

    def __init__(self, session, name):
        self.stream = session.counter(
            name, horizon=HORIZON, epsilon=EPSILON, table="visits", **self.options
        )

    def shown(self):
        """All numbers so far."""
        return [self.stream.read(step).value for step in range(1, self.stream.steps + 1)]

    def step(self):
        """Ends a step with events, and returns its number and what it shows."""
        self.add()
        reading = self.stream.step()
        return reading.step, reading.value

    def add(self):
        self.stream.add(times=3)


class Persons(Events):
    """A counter of which every person comes in two steps, twice each: 3 events count."""

    options = MappingProxyType({"per_person": MOST})

    def add(self):
        for neighbor in (0, 1):
            self.stream.add(person=self.stream.steps + neighbor, times=2)


class Watching(Events):
    """A watch of a table in which every patient has four rows, on three days."""

    calls = 600_000

    def __init__(self, session, name):
        self.stream = session.watch(
            "SELECT day, COUNT(*) AS n FROM stays GROUP BY day",
            name=name,
            since=SINCE,
            until=SINCE + datetime.timedelta(DAYS - 1),
            epsilon=EPSILON,
            per_person=MOST,
        )

    def shown(self):
        return self._numbers(self.stream.read(SINCE - datetime.timedelta(1)))

    def step(self):
        done = self.stream.steps
        numbers = self._numbers(self.stream.read(SINCE + datetime.timedelta(done)))
        return len(numbers), numbers[-1]

    def _numbers(self, read):
        return [list(both) for both in zip(read.values, read.totals, strict=True)]


KINDS = {"events": Events, "persons": Persons, "watch": Watching}


def write_data(folder):
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    (folder / "visits.csv").write_text("x\n1\n", encoding="utf-8")
    rows = [
        f"{patient},{SINCE + datetime.timedelta(patient + later)}"
        for patient in range(DAYS)
        for later in (0, 0, 1, 2)
    ]
    text = "\n".join(["patient,day", *rows, ""])
    (folder / "stays.csv").write_text(text, encoding="utf-8")


def kill_after(calls):
    """Kills this process at a call of a function, Python's or C's."""
    left = calls

    def count(*_):
        nonlocal left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)


def live(folder, kind, name, calls, pipe):
    """Opens a stream, shows what it has, and goes on until the kill."""
    session = dp.open(folder / "policy.toml")
    if calls % 2:
        kill_after(calls)  # also while the stream begins, or is opened again
    stream = KINDS[kind](session, name)
    pipe.send(("seen", stream.shown()))
    kill_after(calls)
    while True:
        pipe.send(("step", stream.step()))


def one_life(folder, kind, name, calls, known):
    """Runs one process to its end, and compares what it shows with what was shown."""
    here, there = FORKED.Pipe(duplex=False)
    process = FORKED.Process(target=live, args=(folder, kind, name, calls, there))
    process.start()
    there.close()
    while True:
        try:
            about, shown = here.recv()
        except EOFError:
            break
        if about == "seen":
            assert shown[: len(known)] == known, "a number has changed"
            assert len(shown) <= len(known) + 1, "more than one step was not shown"
            known[:] = shown
        else:
            step, value = shown
            assert step == len(known) + 1, "a step was shown twice, or left out"
            known.append(value)
    process.join()
    assert process.exitcode == -signal.SIGKILL, process.exitcode


def refuses_old_state(folder, kind, name, known):
    """Whether a copy of the state that is one reading old is refused."""
    state = folder / "policy.ledger.streams" / state_name(name, None)
    old = state.with_suffix(".old")
    shutil.copy(state, old)
    with dp.open(folder / "policy.toml") as session:
        stream = KINDS[kind](session, name)
        stream.step()
        latest = state.read_bytes()
        shutil.copy(old, state)
        refused = 0
        for act in (stream.step, lambda: KINDS[kind](session, name)):
            try:
                act()
            except LedgerBroken:
                refused += 1
        state.write_bytes(latest)
        kept = KINDS[kind](session, name).shown()[: len(known)] == known
    return refused == 2 and kept


def tallies_hold(folder, kind, names):
    """Whether all that has counted is in the tally, and nobody counts more than allowed."""
    if kind == "events":
        return True
    with dp.open(folder / "policy.toml") as session:
        for name in names:
            counted, tally = 0, Multiset()
            for record in KINDS[kind](session, name).stream._stepping.stored.records():
                counted += sum(step[0] for step in record["steps"])
                tally |= Multiset(record["tally"])
            if counted != tally.total() or max(tally.values(), default=0) > MOST:
                return False
    return True


def main(folder, kills, kind):
    write_data(folder)
    with dp.open(folder / "policy.toml") as session:  # what is loaded and computed once
        KINDS[kind](session, "c").step()
    chance, known, name = Random(kills), {}, "c0"
    for life in range(kills):
        if chance.random() < 0.3:
            name = f"c{life}"
        known.setdefault(name, [])
        calls = chance.randrange(1, KINDS[kind].calls)
        one_life(folder, kind, name, calls, known[name])
    with dp.open(folder / "policy.toml") as session:
        session.ledger.verify()
        charged = [entry for entry in session.ledger.entries if entry.epsilon][1:]
    longest = max(known, key=lambda name: len(known[name]))
    shown = [name for name, values in known.items() if values]
    return {
        "steps": sum(map(len, known.values())),
        "names": len(known),
        "charges": len(charged),
        "shown": len(shown),
        "tallies hold": tallies_hold(folder, kind, shown),
        "old refused": refuses_old_state(folder, kind, longest, known[longest]),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])))
