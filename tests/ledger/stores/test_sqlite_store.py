"""The file of a ledger: it is the same file all the time, and holds nothing else."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger import DurableLedger, verify_ledger
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from tests.ledger.contract import plan

TERMS = Terms.from_budget(Budget(1))


@pytest.fixture
def ledger(tmp_path):
    opened = DurableLedger(tmp_path / "l.sqlite", TERMS)
    opened.reserve(plan(0.25))
    yield opened
    opened.close()


def change(file, *statements):
    connection = sqlite3.connect(file, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def replace_by_copy(file):
    """Another file with the same bytes in its place."""
    shutil.copy(file, f"{file}.new")
    Path(f"{file}.new").replace(file)


@pytest.mark.parametrize("lose", [os.unlink, replace_by_copy, lambda f: f.rename(f"{f}.old")])
def test_a_session_does_not_go_on_in_a_file_that_is_not_there_any_more(ledger, tmp_path, lose):
    lose(tmp_path / "l.sqlite")
    for _ in range(2):
        with pytest.raises(LedgerBroken, match="deleted, moved or replaced"):
            ledger.reserve(plan(0.25))


def test_two_sessions_cannot_spend_in_two_files(ledger, tmp_path):
    """The session in the old file and one in the new file share one budget."""
    replace_by_copy(tmp_path / "l.sqlite")
    second = DurableLedger(tmp_path / "l.sqlite", TERMS)
    second.reserve(plan(0.75))
    second.close()
    with pytest.raises(LedgerBroken, match="replaced"):
        ledger.reserve(plan(0.75))


def test_a_second_name_is_refused(ledger, tmp_path):
    os.link(tmp_path / "l.sqlite", tmp_path / "again.sqlite")
    with pytest.raises(LedgerBroken, match="another name"):
        ledger.reserve(plan(0.25))
    with pytest.raises(LedgerBroken, match="another name"):
        DurableLedger(tmp_path / "l.sqlite", TERMS)


def test_a_commit_leaves_nothing_in_another_file(ledger, tmp_path):
    """So a copy of the one file is the whole ledger."""
    names = {file.name for file in tmp_path.iterdir()}
    assert not {"l.sqlite-wal", "l.sqlite-shm", "l.sqlite-journal"} & names
    shutil.copy(tmp_path / "l.sqlite", tmp_path / "copy.sqlite")
    checked = verify_ledger(tmp_path / "copy.sqlite", public_key=ledger.public_key)
    assert checked.head == ledger.head


def test_an_older_ledger_with_a_write_ahead_log_is_converted(ledger, tmp_path):
    ledger.close()
    change(tmp_path / "l.sqlite", "PRAGMA journal_mode = WAL", "PRAGMA application_id = 0")
    other = sqlite3.connect(tmp_path / "l.sqlite", isolation_level=None)
    other.execute("PRAGMA user_version").fetchall()
    other.execute("BEGIN")
    other.execute("SELECT * FROM deniable_anchor").fetchall()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("deniable.ledger.stores.patience.LOCK_TIMEOUT", 0)
            with pytest.raises(LedgerUnavailable, match="has a write-ahead log"):
                DurableLedger(tmp_path / "l.sqlite", TERMS)
    finally:
        other.close()
    again = DurableLedger(tmp_path / "l.sqlite", TERMS)
    assert str(again.remaining) == "epsilon 0.75, delta 0"
    again.close()
    reopened = sqlite3.connect(tmp_path / "l.sqlite")
    assert reopened.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    reopened.close()


def test_a_log_that_another_program_switched_on_is_noticed(ledger, tmp_path, monkeypatch):
    """Or charges would lie in a second file, which a copy of the first lacks."""
    file, folder = tmp_path / "l.sqlite", tmp_path / "read only"
    change(file, "PRAGMA journal_mode = WAL")
    for act in (lambda: ledger.reserve(plan(0.25)), ledger.verify):
        with pytest.raises(LedgerUnavailable, match="has a write-ahead log"):
            act()
    folder.mkdir()
    shutil.copy(file, folder / "l.sqlite")
    for writable in (True, False):
        monkeypatch.setattr(os, "access", lambda *_, answer=writable: answer)
        with pytest.raises(LedgerUnavailable, match="a copy of this one lacks"):
            verify_ledger(folder / "l.sqlite", public_key=ledger.public_key)
    ledger.close()
    again = DurableLedger(file, TERMS)  # converts it
    again.reserve(plan(0.25))
    assert again.verify().entries == 3
    again.close()


def test_a_damaged_index_is_found_by_everybody_who_verifies(ledger, tmp_path):
    """The rows are whole, but a kept answer could not be found, and would be paid again."""
    with ledger.ask(plan(0.25), plan_hash="f00d") as entry:
        ledger.settle(entry, "{}")
    ledger.close()
    file = tmp_path / "l.sqlite"
    connection = sqlite3.connect(file)
    (page,) = connection.execute(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'ix_deniable_entries_recall'"
    ).fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    (key,) = connection.execute("SELECT max(recall) FROM deniable_entries").fetchone()
    connection.close()
    content, place = bytearray(file.read_bytes()), slice((page - 1) * size, page * size)
    content[place] = content[place].replace(key.encode(), b"0" * len(key))
    file.write_bytes(content)
    opened = DurableLedger(file, TERMS)
    with pytest.raises(LedgerBroken, match="is damaged"):
        opened.verify()
    with pytest.raises(LedgerBroken, match="is damaged"):
        verify_ledger(file, public_key=opened.public_key)
    opened.close()


def test_what_sqlite_runs_by_itself_cannot_come_from_the_file(ledger):
    with ledger._journal._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA trusted_schema").scalar() == 0


def test_a_new_file_says_whose_it_is(ledger, tmp_path):
    connection = sqlite3.connect(tmp_path / "l.sqlite")
    assert connection.execute("PRAGMA application_id").fetchone() == (0x64656E69,)
    connection.close()


ENDLESS = (  # each charge is forgotten: the anchor goes back to what it was
    "CREATE TABLE old AS SELECT * FROM deniable_anchor",
    "CREATE TRIGGER forget AFTER UPDATE ON deniable_anchor WHEN new.number > 1 BEGIN "
    "UPDATE deniable_anchor SET number = (SELECT number FROM old), "
    "hash = (SELECT hash FROM old), state = (SELECT state FROM old), "
    "signature = (SELECT signature FROM old); "
    "DELETE FROM deniable_entries WHERE number > (SELECT number FROM old); END",
)
REBUILT = (
    "ALTER TABLE deniable_entries RENAME TO old",
    "CREATE TABLE deniable_entries (number BIGINT NOT NULL PRIMARY KEY ON CONFLICT IGNORE, "
    "body TEXT NOT NULL, hash TEXT NOT NULL, ends TEXT UNIQUE, recall TEXT)",
    "INSERT INTO deniable_entries SELECT * FROM old",
    "DROP TABLE old",
    "CREATE INDEX ix_deniable_entries_recall ON deniable_entries (recall)",
)


@pytest.mark.parametrize(
    "statements",
    [
        ENDLESS,
        REBUILT,
        ("CREATE TRIGGER t BEFORE INSERT ON deniable_entries BEGIN SELECT RAISE(IGNORE); END",),
        ("CREATE VIEW v AS SELECT * FROM deniable_entries",),
        ("CREATE TABLE mine (x)",),
        ("ALTER TABLE deniable_anchor ADD COLUMN twice GENERATED ALWAYS AS (number * 2)",),
        ("DROP INDEX ix_deniable_entries_recall",),
        ("CREATE UNIQUE INDEX i ON deniable_entries (body)",),
    ],
)
def test_foreign_objects_are_refused_by_open_and_new_sessions_and_strangers(
    ledger, tmp_path, statements
):
    file = tmp_path / "l.sqlite"
    change(file, *statements)
    with pytest.raises(LedgerBroken, match="two tables and nothing else"):
        ledger.reserve(plan(0.25))
    with pytest.raises(LedgerBroken, match="two tables and nothing else"):
        DurableLedger(file, TERMS)
    with pytest.raises(LedgerBroken, match="two tables and nothing else"):
        verify_ledger(file, public_key=ledger.public_key)


def test_statistics_of_sqlite_are_no_foreign_object(ledger, tmp_path):
    change(tmp_path / "l.sqlite", "ANALYZE")
    ledger.reserve(plan(0.25))
    DurableLedger(tmp_path / "l.sqlite", TERMS).close()


def test_the_file_of_another_program_is_refused(ledger, tmp_path):
    ledger.close()
    change(tmp_path / "l.sqlite", "PRAGMA application_id = 77")
    with pytest.raises(LedgerBroken, match="another program"):
        DurableLedger(tmp_path / "l.sqlite", TERMS)


def test_a_stranger_verifies_a_copy_that_cannot_be_written(ledger, tmp_path):
    folder = tmp_path / "read only"
    folder.mkdir()
    copy = folder / "l #1?.sqlite"
    shutil.copy(tmp_path / "l.sqlite", copy)
    copy.chmod(0o400)
    folder.chmod(0o500)
    before = copy.stat().st_mtime_ns, copy.read_bytes()
    assert verify_ledger(copy, public_key=ledger.public_key).entries == 2
    assert (copy.stat().st_mtime_ns, copy.read_bytes()) == before
    assert [file.name for file in folder.iterdir()] == [copy.name]
    folder.chmod(0o700)


def test_a_commit_that_did_not_happen_is_noticed(ledger, monkeypatch):
    """The anchor is read back on a second connection."""
    journal = ledger._journal
    monkeypatch.setattr(journal, "_transaction", RolledBack)
    with pytest.raises(LedgerBroken, match="was committed, but the ledger does not hold it"):
        ledger.reserve(plan(0.25))


class RolledBack:
    """A transaction that says nothing of its end."""

    def __init__(self, connection, begin):
        self.connection, self.begin = connection, begin

    def __enter__(self):
        for statement in self.begin:
            self.connection.exec_driver_sql(statement)

    def __exit__(self, *_):
        self.connection.exec_driver_sql("ROLLBACK")
