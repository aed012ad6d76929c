"""An attacker who has all but the key links a report to a person in one case of fifty."""

import math
import re

import pytest

from deniable.surveys.collect.passes.blind_signatures import PublicPassKey
from deniable.surveys.collect.passes.pass_keys import SecretPassKey
from deniable.surveys.collect.store import database, report_store
from deniable.surveys.collect.store.sealing_keys import SealingKey
from tests.app.server import linking, surveying
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
    small, full = (145, 10_045) if variant == "as it is" else (55, 1_000)
    return size(small=small, full=full, what=f"people and a linker, {variant}")


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Where the server's log goes, the only one that it writes."""
    linking.mark_hashes(monkeypatch)
    with linking.logging_to(tmp_path / "server.log") as file:
        yield file


def judge(variant, people, batches, orders, log):
    """The best attack on the survey as it is gets one in fifty; on the others everybody."""
    lines = log.read_text(encoding="utf-8").splitlines()
    expected = r"\d{4}-\d\d-\d\d failure [0-9a-f]{8}: RuntimeError in [a-z_.]+:\d+"
    assert all(re.fullmatch(expected, line) for line in lines), lines  # nothing about anybody
    attacks = linking.attack(people, batches, orders)
    everybody = len(people)
    if variant != "as it is":
        assert max(attacks.values()) == everybody, attacks
        return
    assert min(len(batch.bodies) for batch in batches) >= 50  # each is hidden among fifty
    errors = 4 if everybody > 10_000 else 8  # with few people 4 would be seen now and then
    allowed = everybody / 50 + errors * math.sqrt(everybody / 50)
    print(
        f"{everybody} people, {len(attacks)} attacks: {sorted(attacks.values())}, {allowed:.0f}"
    )
    assert max(attacks.values()) <= allowed, (attacks, allowed)


def has_all(seen, people):
    """Whether the attacker has found every trace of everybody."""
    marks = {mark for p in people for mark in (p.token, p.blinded, p.spent, p.body)}
    return marks <= seen.places.keys()


@pytest.mark.parametrize("journal", ["rollback journal", "write-ahead log"])
def test_the_linker_on_sqlite(tmp_path, monkeypatch, variant, people, journal, log):
    settings = (*database.SQLITE_SETTINGS, NOT_SYNCED)
    if journal == "write-ahead log":
        settings = linking.keep_whole_log(settings)
    monkeypatch.setattr(database, "SQLITE_SETTINGS", settings)
    file, seen = tmp_path / "store.sqlite", linking.FirstSeen()
    collection = surveying.open_survey(tmp_path, "pass", text=linking.TEXT, store=str(file))
    look = linking.sqlite_evidence(file, seen)
    if journal == "rollback journal":  # a backup after every person
        persons = linking.collect(collection, people, look)
    else:
        persons = linking.collect(collection, people, lambda: None)
        look()
    batches = collection.store.batches()
    collection.close()  # which copies the log into the file
    orders = linking.sqlite_orders(file) | {"log and backups": seen.places}
    assert has_all(seen, persons)
    judge(variant, persons, batches, orders, log)


@pytest.fixture(scope="module")
def postgresql():
    with server(fsync="off", **KEEP_ALL) as folder:
        yield folder


@pytest.mark.needs("postgresql")
def test_the_linker_on_postgresql(tmp_path, variant, people, postgresql, log):
    where, seen = empty_place(postgresql), linking.FirstSeen()
    collection = surveying.open_survey(tmp_path, "pass", text=linking.TEXT, store=where)
    persons = linking.collect(collection, people, lambda: None)
    batches = collection.store.batches()
    orders = linking.postgresql_orders(where)
    collection.close()
    for data in linking.postgresql_files(postgresql):
        seen.scan(data)
    assert has_all(seen, persons)
    judge(variant, persons, batches, orders | {"log and tables": seen.places}, log)


@pytest.mark.parametrize("blinded", [True, False], ids=["as it is", "without blinding"])
def test_no_pass_is_linked_to_its_exchange(monkeypatch, size, blinded):
    """A host that keeps every message whole: what it was asked to sign, its signatures, and
    later the passes. One that nobody has blinded is found again; else none is."""
    people = size(small=20, full=1_000, what="passes and a host that keeps every message")
    if not blinded:
        monkeypatch.setattr(PublicPassKey, "_draw_cover", lambda key: (1, 1))
    secret = SecretPassKey.new()
    n, e = secret.public.n, secret.public.e
    exchanges, passes = {}, []
    for person in range(people):
        waiting = secret.public.blind()
        signature = secret.sign(waiting.blinded)
        for seen in (waiting.blinded, signature):
            exchanges[int.from_bytes(seen)] = person
        passes.append(secret.public.finish(waiting, signature))
    linked = 0
    for person, ticket in enumerate(passes):
        signed = int.from_bytes(ticket.signature)
        known = [signed, pow(signed, e, n), int.from_bytes(ticket.number)]
        known += [int.from_bytes(ticket.randomizer), -signed % n, pow(signed, -1, n)]
        linked += any(exchanges.get(value) == person for value in known)
    assert linked == (0 if blinded else people)
