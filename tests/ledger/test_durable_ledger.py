"""The contract on a file and on a real PostgreSQL, and what only a store that lasts can do."""

import os
import sqlite3
import stat
from contextlib import nullcontext

import psycopg
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, LedgerBroken, LedgerUnavailable
from deniable.ledger import DurableLedger, current_state, durable_ledger, verify_ledger
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from tests.ledger.contract import LedgerContract, plan
from tools.postgresql import empty_place


def setting(ledger, question):
    with ledger._journal._connection() as connection:
        return connection.exec_driver_sql(question).scalar()


class Durable(LedgerContract):
    rounds = 2  # test_database.py races processes

    @pytest.fixture(autouse=True)
    def _cleanup(self):
        self.opened = []
        yield
        for ledger in self.opened:
            ledger.close()

    def make(self, terms, **clock):
        where, key = self.place()
        ledger = DurableLedger(where, terms, key=key, **clock)
        self.opened.append(ledger)
        return ledger

    def test_it_goes_on_where_it_stopped(self):
        where, key = self.place()
        terms = Terms.from_budget(Budget(1))
        first = DurableLedger(where, terms, key=key)
        entry = first.reserve(plan(0.75), plan_hash="f00d")
        first.close()
        second = DurableLedger(where, terms, key=key)
        second.settle(entry, '{"n": 1}')
        assert str(second.remaining) == "epsilon 0.25, delta 0"
        assert second.recall(plan_hash="f00d").record == '{"n": 1}'
        public, head = second.public_key, second.head
        second.close()
        assert verify_ledger(where, public_key=public, heads=[head]).entries == 3

    def test_another_key_is_refused(self, tmp_path):
        where, key = self.place()
        DurableLedger(where, Terms.from_budget(Budget(1)), key=key).close()
        other = tmp_path / "other.key"
        DurableLedger(tmp_path / "x.sqlite", Terms.from_budget(Budget(1)), key=other).close()
        with pytest.raises(LedgerBroken, match="not signed by its key"):
            DurableLedger(where, Terms.from_budget(Budget(1)), key=other)
        with pytest.raises(LedgerBroken, match=r"signing key .* is missing"):
            DurableLedger(where, Terms.from_budget(Budget(1)), key=tmp_path / "lost.key")


class TestSQLite(Durable):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.folder, self.count = tmp_path, 0

    def test_commits_reach_the_disk(self):
        assert setting(self.ledger(1), "PRAGMA synchronous") == 3  # EXTRA
        assert setting(self.ledger(1), "PRAGMA journal_mode") == "delete"

    def place(self):
        self.count += 1
        where = self.folder / f"{self.count}.sqlite"
        return where, where.with_suffix(".key")


@pytest.mark.needs("postgresql")
class TestPostgreSQL(Durable):
    @pytest.fixture(autouse=True)
    def _server(self, postgresql, tmp_path):
        self.server, self.folder, self.count = postgresql, tmp_path, 0

    def test_commits_reach_the_disk_whatever_the_server_would_do(self):
        place, _, schema = empty_place(self.server).partition("#")
        lazy = f"{place}&options=-csynchronous_commit%3Doff#{schema}"
        with psycopg.connect(lazy.partition("#")[0]) as connection:
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("off",)
        ledger = DurableLedger(lazy, Terms.from_budget(Budget(1)), key=self.folder / "lazy.key")
        assert setting(ledger, "SHOW synchronous_commit") == "on"
        ledger.close()

    def place(self):
        self.count += 1
        return empty_place(self.server), self.folder / f"{self.count}.key"


def test_key_and_ledger_are_their_owners_only(tmp_path):
    ledger = DurableLedger(tmp_path / "l.sqlite", Terms.from_budget(Budget(1)))
    key = tmp_path / "l.key"
    modes = {file.suffix: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    closed = (".mark", ".lock", ".key", ".sqlite")
    assert modes == dict.fromkeys(closed, 0o600) | {".pub": 0o644}
    assert (tmp_path / "l.key.pub").read_text().strip() == ledger.public_key
    ledger.close()
    key.chmod(0o644)
    with pytest.raises(InvalidParameter, match="chmod 600"):
        DurableLedger(tmp_path / "l.sqlite", Terms.from_budget(Budget(1)))


def test_a_fork_gets_connections_of_its_own(tmp_path):
    ledger = DurableLedger(tmp_path / "l.sqlite", Terms.from_budget(Budget(1)))
    ledger.reserve(plan(0.1))
    child = os.fork()
    if child == 0:
        try:
            ledger.reserve(plan(0.2))
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    ledger.reserve(plan(0.3))
    assert str(ledger.remaining) == "epsilon 0.4, delta 0"
    ledger.verify()
    ledger.close()


def test_a_ledger_that_is_none(tmp_path):
    with pytest.raises(LedgerUnavailable, match="no ledger"):
        verify_ledger(tmp_path / "none.sqlite", public_key="00")
    text = tmp_path / "text.sqlite"
    text.write_text("This is no database, however long it may be. " * 100)
    with pytest.raises(LedgerBroken, match="not a database"):
        DurableLedger(text, Terms.from_budget(Budget(1)))
    with pytest.raises(LedgerUnavailable, match="cannot begin"):
        DurableLedger(tmp_path / "no" / "folder.sqlite", Terms.from_budget(Budget(1)))
    with pytest.raises(InvalidParameter, match="begins with postgresql"):
        DurableLedger("mysql://here/there", Terms.from_budget(Budget(1)))


def test_opening_a_policy_twice_spends_one_budget(tmp_path):
    (tmp_path / "visits.csv").write_text("ward,cost\nA,10\n")
    policy = tmp_path / "hospital.toml"
    policy.write_text('[budget]\nepsilon = 1\n[tables.visits]\nsource = "visits.csv"\n')
    for left in ("0.6", "0.2"):
        with dp.open(str(policy)) as visits:
            question = f"SELECT COUNT(*) AS n FROM visits WHERE ward <> '{left}'"
            visits.sql(question, epsilon=0.4)
            assert str(visits.remaining) == f"epsilon {left}, delta 0"
    with dp.open(str(policy)) as visits, pytest.raises(dp.BudgetExhausted):
        visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.4)
    kept = sorted(file.name for file in tmp_path.glob("hospital.ledger*"))
    names = ("key", "key.mark", "key.mark.lock", "key.pub", "sqlite")
    assert kept == [f"hospital.ledger.{name}" for name in names]


def test_a_ledger_of_another_policy_is_not_used(tmp_path):
    where = tmp_path / "l.sqlite"
    DurableLedger(where, Policy([Table("data")], epsilon=1)).close()
    with pytest.raises(LedgerBroken, match="opened with"):
        DurableLedger(where, Policy([Table("data")], epsilon=2))


def test_a_ledger_that_was_begun_does_not_begin_again(tmp_path):
    where, terms = tmp_path / "l.sqlite", Terms.from_budget(Budget(1))
    ledger = DurableLedger(where, terms)
    ledger.reserve(plan(1))
    ledger.close()
    where.unlink()
    for empty in (False, True):
        if empty:
            where.touch()
        with pytest.raises(LedgerBroken, match="does not exist, or is empty"):
            DurableLedger(where, terms)


def test_a_ledger_whose_mark_was_deleted_is_refused_until_its_owner_accepts_it(tmp_path):
    """Otherwise an older copy would have the budget of its time again."""
    where, terms = tmp_path / "l.sqlite", Terms.from_budget(Budget(1))
    ledger = DurableLedger(where, terms)
    older = where.read_bytes()
    ledger.reserve(plan(1))
    (tmp_path / "l.key.mark").unlink()
    with pytest.raises(LedgerBroken, match=r"mark .* is missing"):  # while it is open too
        ledger.reserve(plan(1))
    ledger.close()
    where.write_bytes(older)
    with pytest.raises(LedgerBroken, match=r"mark .* is missing.*deniable ledger accept"):
        DurableLedger(where, terms)
    for accept in (True, False):
        ledger = DurableLedger(where, terms, accept=accept, because="restored by hand")
        entry = ledger.terms_entry()
        assert (entry["accepted"], entry["because"]) == (0, "restored by hand")
        assert ledger.verify().entries == 2
        ledger.close()


def asked_twice(folder):
    """A policy about which two questions were asked: entries 0 to 4."""
    (folder / "visits.csv").write_text("ward\nA\nB\n")
    path = folder / "deniable.toml"
    path.write_text('[budget]\nepsilon = 3\n[tables.visits]\nsource = "visits.csv"\n')
    with dp.open(str(path)) as session:
        for name in "nm":
            session.sql(f"SELECT COUNT(*) AS {name} FROM visits", epsilon=0.5)
    return str(path)


def tamper(folder, *statements):
    connection = sqlite3.connect(folder / "deniable.ledger.sqlite")
    with connection:
        for statement in statements:
            assert connection.execute(statement).rowcount == 1
    connection.close()


CHEAPER = "UPDATE deniable_entries SET body = replace(body, '1/2', '1/4') WHERE number = {}"
GONE = "DELETE FROM deniable_entries WHERE number = {}"
MOVED = "UPDATE deniable_entries SET number = {} WHERE number = {}"


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        ([GONE.format(1)], "Entry 1 is missing"),
        ([GONE.format(0)], "Entry 0 is missing"),
        ([GONE.format(4)], "ends at entry 3, but its signed head is entry 4"),
        ([CHEAPER.format(1)], "Entry 1 was changed"),
        ([CHEAPER.format(3)], "Entry 3 was changed"),
        ([MOVED.format(9, 1), MOVED.format(1, 2), MOVED.format(2, 9)], "Entry 1 was changed"),
    ],
)
def test_a_ledger_that_was_changed_is_not_opened(tmp_path, statements, told):
    path = asked_twice(tmp_path)
    tamper(tmp_path, *statements)
    with pytest.raises(LedgerBroken, match=told):
        dp.open(path)


@pytest.mark.parametrize(("number", "noticed"), [(1, False), (2, True), (3, True), (4, True)])
def test_of_a_long_ledger_the_last_entries_are_checked(tmp_path, monkeypatch, number, noticed):
    monkeypatch.setattr(durable_ledger, "CHECKED_ON_OPENING", 3)
    monkeypatch.setattr(current_state, "CHECKPOINT_EVERY", 2)
    path = asked_twice(tmp_path)
    tamper(tmp_path, f"UPDATE deniable_entries SET body = body || ' ' WHERE number = {number}")
    told = pytest.raises(LedgerBroken, match=f"Entry {number} was changed")
    with told if noticed else nullcontext():
        dp.open(path).close()


def test_an_answer_is_not_given_again_from_an_entry_that_was_changed(tmp_path):
    path = asked_twice(tmp_path)
    with dp.open(path) as session:
        tamper(tmp_path, "UPDATE deniable_entries SET body = body || ' ' WHERE number = 2")
        assert session.sql("SELECT COUNT(*) AS m FROM visits", epsilon=0.5).repeated
        with pytest.raises(LedgerBroken, match="Entry 2 was changed"):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
