"""An attacker who has all but the key links a report to a person in one case of fifty."""

import math

import pytest

from deniable.surveys.collect.store import database, report_store
from deniable.surveys.collect.store.sealing_keys import SealingKey
from tests.surveys.collect.store import crashing, linker
from tools.postgresql import empty_place, server

NOT_SYNCED = "PRAGMA synchronous = OFF"  # the attacker sees the same, sooner
KEEP_ALL = {"wal_keep_size": "8GB", "max_wal_size": "8GB", "checkpoint_timeout": "1d"}


@pytest.fixture(params=["as it is", "without sealing", "without batches"])
def variant(request, monkeypatch):
    """The store as it is, and stores that lack a guard, which must be linked entirely."""
    if request.param == "without sealing":
        monkeypatch.setattr(SealingKey, "seal", lambda key, body: body)
        monkeypatch.setattr(SealingKey, "open", lambda key, sealed: sealed)
    if request.param == "without batches":
        monkeypatch.setattr(report_store, "FULL", 1)
        monkeypatch.setattr(report_store, "BATCH_SIZE", 1)
    return request.param


@pytest.fixture
def people(variant, size):
    # At closing 45 wait that were not shuffled by an earlier batch.
    small, full = (395, 10_045) if variant == "as it is" else (110, 1_000)
    return size(small=small, full=full, what=f"people and a linker, {variant}")


def judge(variant, people, attacks):
    """The best attack on the store as it is gets one in fifty; on the others everybody."""
    if variant != "as it is":
        assert max(attacks.values()) == people, attacks
        return
    allowed = people / 50 + 4 * math.sqrt(people / 50)
    assert all(linked <= allowed for linked in attacks.values()), (attacks, allowed)


@pytest.mark.parametrize("log", ["rollback journal", "write-ahead log"])
def test_the_linker_on_sqlite(tmp_path, monkeypatch, variant, people, log):
    settings = (*database.SQLITE_SETTINGS, NOT_SYNCED)
    if log == "write-ahead log":
        settings = linker.keep_whole_log(settings)
    monkeypatch.setattr(database, "SQLITE_SETTINGS", settings)
    file, seen = tmp_path / "store.sqlite", linker.FirstSeen()
    store = crashing.open_store(str(file), tmp_path)
    if log == "rollback journal":  # a backup after every person
        truth = linker.collect(store, people, linker.sqlite_evidence(file, seen))
    else:
        truth = linker.collect(store, people, lambda: None)
        linker.sqlite_evidence(file, seen)()
    batches = store.batches()
    store.close()  # which copies the log into the file
    orders = linker.sqlite_orders(file) | {"log and backups": seen.places}
    attacks = {
        name: linker.count_linked(truth, batches, seen.places, order)
        for name, order in orders.items()
    }
    assert {*truth} | {*truth.values()} <= {*seen.places}  # the attacker misses nobody
    judge(variant, people, attacks)


@pytest.mark.needs("postgresql")
def test_the_linker_on_postgresql(tmp_path, variant, people):
    with server(fsync="off", **KEEP_ALL) as folder:
        where, seen = empty_place(folder), linker.FirstSeen()
        store = crashing.open_store(where, tmp_path)
        truth = linker.collect(store, people, lambda: None)
        batches = store.batches()
        arrivals, orders = linker.postgresql_spent(where), linker.postgresql_orders(where)
        store.close()
        for data in linker.postgresql_files(folder):
            seen.scan(data)
    attacks = {
        name: linker.count_linked(truth, batches, arrivals, order)
        for name, order in orders.items()
    }
    attacks["log and tables"] = linker.count_linked(truth, batches, seen.places, seen.places)
    assert {*truth} | {*truth.values()} <= {*seen.places}
    judge(variant, people, attacks)
