"""Rows that were changed: an answer as before, or one of our own errors, and never Python's."""

import json
import random
import sqlite3
from contextlib import suppress

import pytest

from deniable.errors import DeniableError, LedgerBroken
from deniable.ledger import DurableLedger, current_state
from deniable.ledger.journal import JournalAnchor, entry_hash, lookup_keys
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from deniable.privacy import PureLoss
from tests.ledger.contract import plan

TERMS = Terms.from_budget(Budget(9))
COLUMNS = {
    "deniable_entries": ("number", "body", "hash", "ends", "recall"),
    "deniable_anchor": ("number", "hash", "state", "signature"),
}
JUNK = ("x", "", "{}", "[]", "null", "1e400", 5, -1, 2.5, 2**62, b"\xff", None, "../../x")
PARTS = (None, "", "x", "../x", [], {}, -1, 10**40, "1/0", "1e999999999", 2.5, ["x"], [[]])


def make(file):
    """A ledger with answers, a failure, a run, ids and an open question."""
    ledger = DurableLedger(file, TERMS)
    for name in ("f00d", "beef"):
        with ledger.ask(plan(0.25), plan_hash=name, question_id=name) as entry:
            ledger.settle(entry, "{}")
    ledger.fail(ledger.reserve(plan(0.25)), "7")
    with ledger.ask(plan(0.25), plan_hash="open"):
        pass
    run = ledger.reserve_run(PureLoss(1))
    run.step(plan(0.25))
    run.keep(1, "{}", plan_hash="step", version="")
    run.step(plan(0.25))
    ledger.close()


def use(ledger):
    """Whatever reads stored rows; then whatever decides on them."""
    question = {"plan_hash": "f00d", "question_id": "f00d"}
    acts = [
        lambda: ledger.remaining,
        lambda: ledger.entries,
        lambda: ledger.origin,
        ledger.verify,
        ledger.terms_entry,
        lambda: ledger.recall(plan_hash="beef"),
        lambda: ledger.recall(plan_hash="step"),
        lambda: ledger.ask(plan(0.25), **question).__enter__(),
        lambda: ledger.ask(plan(0.25), plan_hash="open").__enter__(),
    ]
    for act in acts:
        with suppress(DeniableError):
            act()


def damage(file, draw, key):
    """Changes one value of one row. Perhaps with hashes, or by one who has the key."""
    connection = sqlite3.connect(file, isolation_level=None)
    table = draw.choice(list(COLUMNS))
    rows = [row for (row,) in connection.execute(f"SELECT rowid FROM {table}")]
    column, row = draw.choice(COLUMNS[table]), draw.choice(rows)
    (value,) = connection.execute(
        f"SELECT {column} FROM {table} WHERE rowid = ?", [row]
    ).fetchone()
    if column in ("body", "state") and draw.random() < 0.9:
        value = json.dumps(_spoil(json.loads(value or "{}"), draw))
    else:
        value = draw.choice(JUNK)
    with suppress(sqlite3.IntegrityError):
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", [value, row])
    if draw.random() < 0.6:
        _chain(connection, SigningKey.read(key))
    connection.close()


def _spoil(read, draw):
    """A JSON value with one part left out, or replaced."""
    if isinstance(read, (dict, list)) and read and draw.random() < 0.8:
        place = draw.choice(list(read) if isinstance(read, dict) else range(len(read)))
        if draw.random() < 0.3:
            del read[place]
        else:
            read[place] = _spoil(read[place], draw)
        return read
    return draw.choice(PARTS)


def _chain(connection, key):
    """Hashes and signatures as if all had been written like this."""
    before, last = "", -1
    rows = connection.execute("SELECT rowid, number, body FROM deniable_entries ORDER BY 2")
    for row, number, body in rows.fetchall():
        with suppress(Exception):
            before, last = entry_hash(before, number, body), number
            keys = (None, None)
            with suppress(Exception):
                keys = lookup_keys(json.loads(body))
            connection.execute(
                "UPDATE deniable_entries SET hash = ?, ends = ?, recall = ? WHERE rowid = ?",
                [before, *keys, row],
            )
    for row, state in connection.execute("SELECT id, state FROM deniable_anchor").fetchall():
        with suppress(Exception):
            head = JournalAnchor(last, before, state, "")
            connection.execute(
                "UPDATE deniable_anchor SET number = ?, hash = ?, signature = ? WHERE id = ?",
                [last, before, key.sign(head.head.message), row],
            )


def test_a_changed_row_gives_our_own_error(tmp_path, monkeypatch, size):
    trials = size(small=10, full=2_000, what="changes of a stored row")
    monkeypatch.setattr(current_state, "CHECKPOINT_EVERY", 4)
    draw, file = random.Random(trials), tmp_path / "l.sqlite"
    make(file)
    kept = [(path, path.read_bytes()) for path in (file, tmp_path / "l.key.mark")]
    for _ in range(trials):
        for path, content in kept:
            path.write_bytes(content)
        opened = DurableLedger(file, TERMS)
        damage(file, draw, tmp_path / "l.key")
        use(opened)
        opened.close()
        with suppress(DeniableError):
            fresh = DurableLedger(file, TERMS)
            use(fresh)
            fresh.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE deniable_anchor SET number = 'x' WHERE id = 2",
        "UPDATE deniable_anchor SET number = 'x' WHERE id = 1",
        "UPDATE deniable_anchor SET signature = x'ff' WHERE id = 1",
        "UPDATE deniable_anchor SET state = '[]' WHERE id = 1",
        "UPDATE deniable_anchor SET (number, hash, state, signature) = (SELECT number, hash, "
        "state, signature FROM deniable_anchor WHERE id = 1) WHERE id = 2",
        "UPDATE deniable_entries SET body = x'ff' WHERE number = 3",
        "UPDATE deniable_entries SET body = '[]' WHERE number = 3",
        "UPDATE deniable_entries SET body = '{}' WHERE recall IS NOT NULL",
    ],
)
def test_these_changes_give_our_own_error(tmp_path, monkeypatch, statement):
    monkeypatch.setattr(current_state, "CHECKPOINT_EVERY", 4)
    make(tmp_path / "l.sqlite")
    opened = DurableLedger(tmp_path / "l.sqlite", TERMS)
    connection = sqlite3.connect(tmp_path / "l.sqlite", isolation_level=None)
    connection.execute(statement)
    connection.close()
    with pytest.raises(LedgerBroken):
        opened.verify()
    with pytest.raises(LedgerBroken):  # opening, unless it needs no more than the head
        use_strictly(DurableLedger(tmp_path / "l.sqlite", TERMS))
    opened.close()


def use_strictly(ledger):
    """The first error counts."""
    try:
        assert ledger.remaining
        ledger.recall(plan_hash="beef")
        ledger.verify()
    finally:
        ledger.close()
