"""Stores whose process dies, or races with others. Run apart from the tests, by `run`.

Standard input is one job in JSON. Everything is imported once; what dies or races is a fork.
"""

import contextlib
import json
import os
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import deniable.surveys.collect.store.report_store as module
from deniable.surveys.collect.store import database, sealing_keys
from deniable.surveys.collect.store.database import CollectionDatabase
from deniable.surveys.collect.store.report_store import ReportStore

# A process that is killed loses nothing that it gave to the system, so nothing waits for disks.
database.SQLITE_SETTINGS = (*database.SQLITE_SETTINGS, "PRAGMA synchronous = OFF")
FORKED = get_context("fork")
ROOT = Path(__file__).parents[4]


def open_store(where, folder):
    return ReportStore(where, Path(folder) / "keys" / "sealing.key", "manifest")


def body(number):
    return f"report {number:08}".encode()


def spend(number):
    return f"pass {number:08}".encode()


def _die(*_, **__):
    os._exit(9)


def _die_after(act):
    def acting(*arguments, **named):
        act(*arguments, **named)
        os._exit(9)

    return acting


@contextlib.contextmanager
def _die_at_commit(database):
    with _writing(database) as connection:
        yield connection
        os._exit(9)


_writing = CollectionDatabase.writing
MOMENTS = {  # when a process dies that writes a batch, or closes the survey
    "before the new key is written": (sealing_keys.SealingKeyFile, "write", _die),
    "after the new key is written": (
        sealing_keys.SealingKeyFile,
        "write",
        _die_after(sealing_keys.SealingKeyFile.write),
    ),
    "before the reports are written": (module, "insert_batch", _die),
    "after the reports are written": (
        module,
        "insert_batch",
        _die_after(module.insert_batch),
    ),
    "before the commit": (CollectionDatabase, "writing", _die_at_commit),
    "after the commit": (sealing_keys.SealingKeyFile, "keep_only", _die),
    "after the old key is removed": (
        sealing_keys.SealingKeyFile,
        "keep_only",
        _die_after(sealing_keys.SealingKeyFile.keep_only),
    ),
}


def die(where, folder, *, moment, closing):
    """Dies at a moment; then the store is used again. What it holds in the end."""
    store = open_store(where, folder)
    for number in range(120):
        store.accept(body(number), spend=spend(number))
    store.close()
    child = os.fork()
    if child == 0:
        again = open_store(where, folder)
        place, name, dying = MOMENTS[moment]
        setattr(place, name, dying)
        again.close_survey() if closing else again.write_batches()
        os._exit(0)
    died = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    store = open_store(where, folder)
    keys = len(store._keys.read())
    closed = store.is_closed
    if not closed:
        store.accept(body(120), spend=spend(120))
        store.write_batches()
        store.close_survey()
    held = [each.decode() for batch in store.batches() for each in batch.bodies]
    return {"died": died, "keys": keys, "closed": closed, "held": sorted(held)}


def race(where, folder, *, processes, passes):
    """Processes that all send every pass, each with a body of its own, and write batches."""
    open_store(where, folder).close()
    start = FORKED.Barrier(processes)

    def run(mine):
        store = open_store(where, folder)
        start.wait()
        for turn in range(passes):
            number = (turn + mine * passes // processes) % passes
            if store.accept(f"{number:04} by {mine:02}".encode(), spend=spend(number)):
                store.write_batches()
        os._exit(0)

    workers = [FORKED.Process(target=run, args=(each,)) for each in range(processes)]
    for worker in workers:
        worker.start()
    codes = {worker.join() or worker.exitcode for worker in workers}
    store = open_store(where, folder)
    keys = len(store._keys.read())
    store.close_survey()
    batches = [[each.decode() for each in batch.bodies] for batch in store.batches()]
    return {"codes": sorted(codes), "keys": keys, "batches": batches}


def run(job, where, folder, **how):
    """Runs a job in a process of its own and returns what it found."""
    task = {"job": job, "where": str(where), "folder": str(folder)} | how
    done = subprocess.run(
        [sys.executable, "-m", "tests.surveys.collect.store.crashing"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


if __name__ == "__main__":
    given = json.loads(sys.stdin.read())
    print(json.dumps({"die": die, "race": race}[given.pop("job")](**given)))
