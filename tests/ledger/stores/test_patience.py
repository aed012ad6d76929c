"""Waiting for another session: it is told, it has a limit, and nothing is spent."""

import fcntl
import sqlite3
from contextlib import contextmanager

import psycopg
import pytest

from deniable.errors import LedgerUnavailable, LedgerWarning
from deniable.ledger import DurableLedger
from deniable.ledger.stores import patience
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from tests.ledger.contract import plan
from tools.postgresql import empty_place

TERMS = Terms.from_budget(Budget(1))


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]
)
def place(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "l.sqlite")
    return empty_place(request.getfixturevalue("postgresql"))


@pytest.fixture
def ledger(place, tmp_path):
    opened = DurableLedger(place, TERMS, key=tmp_path / "l.key")
    yield opened
    opened.close()


@contextmanager
def other_session(place, *, exclusive=False):
    """Another session that holds the ledger's lock; yields what ends it. An exclusive one lets
    nobody read."""
    address, _, schema = place.partition("#")
    if schema:
        connection = psycopg.connect(address)
        connection.execute(
            f"LOCK TABLE {schema}.deniable_entries IN ACCESS EXCLUSIVE MODE"
            if exclusive
            else f"SELECT * FROM {schema}.deniable_anchor FOR UPDATE"
        )
    else:
        connection = sqlite3.connect(place, isolation_level=None)
        connection.execute("BEGIN EXCLUSIVE" if exclusive else "BEGIN IMMEDIATE")
    try:
        yield connection.rollback
    finally:
        connection.close()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(patience, "TOLD_AFTER", 0.01)
    monkeypatch.setattr(patience, "LOCK_TIMEOUT", 0.05)


def test_waiting_is_told_and_ends_in_a_refusal(place, ledger, impatient):
    told = pytest.warns(LedgerWarning, match="Another session holds the lock of")
    with other_session(place), told, pytest.raises(LedgerUnavailable, match="held the lock of"):
        ledger.reserve(plan(0.25))
    assert ledger.entries == ()
    assert ledger.remaining.epsilon == 1
    ledger.reserve(plan(0.25))
    ledger.verify()


def test_a_session_that_waits_gets_the_lock_when_it_is_free(place, ledger, monkeypatch):
    """The other session ends when the waiting is told."""
    monkeypatch.setattr(patience, "TOLD_AFTER", 0.01)
    told = []
    with other_session(place) as end:
        monkeypatch.setattr(patience, "tell_waiting", lambda why: (told.append(why), end()))
        ledger.reserve(plan(0.25))
    assert len(told) == 1
    assert ledger.remaining.epsilon == 0.75


def test_a_reader_of_the_file_holds_up_a_commit_and_nothing_is_spent(tmp_path, impatient):
    ledger = DurableLedger(tmp_path / "l.sqlite", TERMS)
    reader = sqlite3.connect(tmp_path / "l.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM deniable_anchor").fetchall()
    with pytest.warns(LedgerWarning), pytest.raises(LedgerUnavailable, match="held the lock"):
        ledger.reserve(plan(0.25))
    reader.close()
    assert ledger.entries == ()
    assert ledger.remaining.epsilon == 1
    ledger.reserve(plan(0.25))
    ledger.close()


ACTS = {
    "ask": lambda ledger, _: ledger.reserve(plan(0.25)),
    "remaining": lambda ledger, _: ledger.remaining,
    "entries": lambda ledger, _: ledger.entries,
    "verify": lambda ledger, _: ledger.verify(),
    "open": lambda _, opening: DurableLedger(*opening[:2], key=opening[2]),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_whatever_waits_for_another_program_says_so(place, ledger, tmp_path, impatient, act):
    ledger._journal._engine.dispose()  # new connections wait too
    opening = place, TERMS, tmp_path / "l.key"
    held = pytest.raises(LedgerUnavailable, match="held the lock of")
    with (
        other_session(place, exclusive=True),
        pytest.warns(LedgerWarning, match="Another session"),
        held,
    ):
        act(ledger, opening)
    assert ledger.entries == ()
    ledger.verify()


def test_the_lock_of_the_mark_has_a_limit_too(ledger, tmp_path, impatient):
    """The charge is committed by then: it stays, and nothing is released."""
    with (tmp_path / "l.key.mark.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = pytest.raises(LedgerUnavailable, match="A charge that was reserved")
        with pytest.warns(LedgerWarning, match=r"l\.key\.mark"), refused:
            ledger.reserve(plan(0.25))
    assert ledger.remaining.epsilon == 0.75


def test_nobody_waits_for_the_mark_with_the_ledger_locked(tmp_path, monkeypatch):
    """While a session waits for the lock of the mark, others can write to the ledger."""
    monkeypatch.setattr(patience, "TOLD_AFTER", 0.01)
    ledger = DurableLedger(tmp_path / "l.sqlite", TERMS)
    other, wrote = sqlite3.connect(tmp_path / "l.sqlite", timeout=0), []
    with (tmp_path / "l.key.mark.lock").open() as held:

        def write(_):
            try:
                other.execute("BEGIN EXCLUSIVE")
                wrote.append(other.rollback())
            finally:
                fcntl.flock(held, fcntl.LOCK_UN)

        fcntl.flock(held, fcntl.LOCK_EX)
        monkeypatch.setattr(patience, "tell_waiting", write)
        ledger.reserve(plan(0.25))
    assert wrote == [None]
    other.close()
    ledger.close()
