"""What a ledger costs as it grows: in entries, and in analysts.

A reservation must cost the same after a million entries as after ten, and with a thousand
analysts as with ten. Opening and verifying a million entries are timed in a process of their
own, so that its memory is theirs. The long ledgers are built by appending many entries in one
commit; each of them is an entry like any other, and `verify` checks them all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.ledger import milliseconds
from benchmarks.stopwatch import Row, medians
from deniable.ledger import DurableLedger
from deniable.ledger.current_state import Change
from deniable.ledger.journal import JournalView
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.query.language.parse import parse
from deniable.query.plan.plan import Plan
from deniable.query.planner.planner import plan

ENTRIES = (10, 1_000, 1_000_000)
ANALYSTS = (10, 1_000)
MOST = 2.0  # times the time of a reservation in the smallest ledger
MOST_SECONDS = 1.0  # to open the longest ledger
MOST_MEBIBYTES = 50.0  # more than to verify the shortest
CHUNK = 20_000  # entries in one commit
ROWS = Table.declare("visits", bounds={"age": (0, 120)}).with_schema({"age": "INTEGER"})
POLICY = Policy([ROWS], epsilon=10**9, analysts={"*": Budget(10**9)})

_OPEN = """
import json, resource, sys, time
from benchmarks.growth import POLICY
from deniable.ledger import DurableLedger, verify_ledger
file = sys.argv[1]
start = time.perf_counter()
ledger = DurableLedger(file, POLICY)
remaining = ledger.remaining
opened = time.perf_counter() - start
key = ledger.public_key
ledger.close()
start = time.perf_counter()
entries = verify_ledger(file, public_key=key).entries
verified = time.perf_counter() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(dict(open=opened, verify=verified, memory=memory, entries=entries)))
"""


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        files = build(Path(name))
        yield from reservations(files)
        yield from openings(*(files[size(ENTRIES), max(ANALYSTS)] for size in (min, max)))


def build(folder: Path) -> dict[tuple[int, int], Path]:
    """A ledger for each number of entries and analysts."""
    files = {}
    for entries in ENTRIES:
        for analysts in ANALYSTS:
            file = files[entries, analysts] = folder / f"{entries} {analysts}.sqlite"
            ledger = DurableLedger(file, POLICY)
            fill(ledger, entries, analysts)
            ledger.close()
    return files


def fill(ledger: DurableLedger, entries: int, analysts: int) -> None:
    """Adds reservations and their answers, many in one commit, up to a number of entries."""
    entry = ledger.reserve(question(), analyst="analyst 0", plan_hash="f00d")
    ledger.settle(entry, "{}" * 500)
    with ledger._journal.view() as view:
        reserved, settled = view.row(entry.number), view.row(entry.number + 1)
    assert reserved is not None
    assert settled is not None
    pair = reserved.read(), settled.read()
    while (head := ledger.head.number) < entries - 2:
        count = min(CHUNK, entries - 1 - head) // 2
        ledger._current.write(partial(copies, ledger, pair, count, analysts))


def copies(
    ledger: DurableLedger, pair: Any, count: int, analysts: int, view: JournalView
) -> Change:
    """The same reservation and answer again, for one analyst after the other."""
    reserved, settled = pair
    state, written = ledger._state(view), []
    charge = reserved["charges"]["unit:*"]
    for turn in range(count):
        number = view.anchor.number + 1 + 2 * turn
        name = f"analyst {number // 2 % analysts}"
        charges = {"unit:*": charge, f"analyst:{name}": charge}
        written += [
            reserved | {"analyst": name, "charges": charges},
            settled | {"analyst": name, "of": number, "version": str(number)},
        ]
        state.apply(number, written[-2])
    return written, state


def question() -> Plan:
    return plan(parse("SELECT COUNT(*) FROM visits"), POLICY, epsilon=1)


def reservations(files: dict[tuple[int, int], Path]) -> Iterator[Row]:
    ledgers = {size: DurableLedger(file, POLICY) for size, file in files.items()}
    visits_plan = question()
    times = medians(
        {
            str(size): milliseconds(
                lambda ledger=ledger: ledger.reserve(visits_plan, analyst="ann")
            )
            for size, ledger in ledgers.items()
        }
    )
    least = times[str((min(ENTRIES), min(ANALYSTS)))]
    for (entries, analysts), ledger in ledgers.items():
        ledger.close()
        took = times[str((entries, analysts))]
        yield Row(
            f"a reservation after {entries:,} entries of {analysts:,} analysts",
            "ms",
            took,
            least,
            "the smallest ledger",
            took / least,
            f"≤ {MOST:g}",
            took / least <= MOST,
        )


def openings(short: Path, long: Path) -> Iterator[Row]:
    small, large = measure(short), measure(long)
    size = f"{large['entries']:,} entries"
    more = large["memory"] - small["memory"]
    yield Row(
        f"opening {size}",
        "s",
        large["open"],
        small["open"],
        "the smallest ledger",
        large["open"] / small["open"],
        f"≤ {MOST_SECONDS:g} s",
        large["open"] <= MOST_SECONDS,
    )
    yield Row(f"verifying {size}", "s", large["verify"], small["verify"], "the smallest ledger")
    yield Row(
        f"memory for verifying {size}",
        "MiB",
        large["memory"],
        small["memory"],
        "the smallest ledger",
        large["memory"] / small["memory"],
        f"≤ {MOST_MEBIBYTES:g} MiB more",
        more <= MOST_MEBIBYTES,
    )


def measure(file: Path) -> dict[str, float]:
    """Seconds to open and to verify a ledger, and the most memory that both needed."""
    run = [sys.executable, "-c", _OPEN, str(file)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures
