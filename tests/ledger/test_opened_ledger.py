"""One analyst under many spellings has one budget; and a ledger of format 1 is migrated."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.errors import (
    BudgetExhausted,
    InvalidParameter,
    LedgerBroken,
    LedgerUnavailable,
)
from deniable.ledger import DurableLedger, Head, MemoryLedger, verify_ledger
from deniable.ledger.chained_ledger import find_stream, reserve_stream
from deniable.ledger.journal import JournalAnchor, JournalRow
from deniable.ledger.replay import replay_ledger
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.privacy import PureLoss
from tests.ledger.contract import plan
from tests.ledger.old_formats import OLD, SECOND, write_old

ANN = ["Ann", "ann ", "\uff21nn", "ANN"]
HEADS = [Head(**head) for head in OLD["heads"]]
BUDGETS = {"Ann": Budget(2), "*": Budget(1)}
POLICY = Policy([Table("data")], epsilon=100, analysts=BUDGETS)


def ledger(**analysts):
    policy = Policy([Table("data")], epsilon=100, analysts=analysts)
    return MemoryLedger(terms=Terms.from_policy(policy))


@pytest.mark.parametrize("named", ["Ann", "*"])
def test_an_analyst_has_one_budget_however_the_name_is_written(named):
    opened = ledger(**{named: Budget(1)})
    for name in ANN:
        opened.reserve(plan(0.25), analyst=name)
        assert opened.remaining_for(name) == opened.remaining_for("ann")
    for name in ANN:
        with pytest.raises(BudgetExhausted):
            opened.reserve(plan(0.25), analyst=name)
        assert opened.remaining_for(name).epsilon == 0
        assert opened.how_many(plan(0.25), name) == 0
    assert [entry.analyst for entry in opened.entries] == ANN  # as they were given
    opened.verify()


def test_an_answer_is_paid_for_once_however_the_name_is_written():
    opened = ledger(ann=Budget(9), bob=Budget(9))
    question = {"plan_hash": "f00d", "version": "march"}
    opened.settle(opened.reserve(plan(1), analyst="bob", **question), "{}")
    for name in ANN:
        with opened.ask(plan(1), analyst=name, **question) as answer:
            assert answer.record == "{}"
        assert opened.recall(analyst=name, **question) == answer
    assert opened.remaining_for("ann").epsilon == 8


def test_a_part_is_one_part_however_it_is_written():
    opened = MemoryLedger(epsilon=1)
    for name in ("A", "a ", "\uff21"):
        opened.reserve(plan(0.25), part=(("Ward", name),))
        assert opened.remaining_for(part=(("ward", name),)).epsilon == opened.remaining.epsilon
    assert opened.remaining.epsilon == Fraction(1, 4)
    opened.reserve(plan(0.75), part=(("ward", "B"),))
    assert opened.remaining.epsilon == Fraction(1, 4)
    opened.verify()


@pytest.mark.parametrize("name", ["x" * 201, "\ufdfa" * 20, "a\u200bb", 3])
def test_a_name_that_is_none_or_too_long_is_refused_before_the_charge(name):
    opened = ledger(**{"*": Budget(1)})
    with pytest.raises(InvalidParameter, match="Nothing was spent"):
        opened.reserve(plan(0.25), analyst=name)
    for part in ((("ward", name),), ((name, "A"),)):
        for act in (
            lambda part=part: opened.reserve(plan(0.25), analyst="ann", part=part),
            lambda part=part: opened.remaining_for("ann", part=part),
        ):
            with pytest.raises(InvalidParameter, match="Nothing was spent"):
                act()
    assert opened.entries == ()


@pytest.fixture
def old(tmp_path):
    return write_old(tmp_path / "l.sqlite", tmp_path / "l.key")


def public_key():
    return json.loads(OLD["entries"][0][1])["key"]


def usages(ledger):
    return {usage.account: usage.spent for usage in ledger.filter_usages()}


def test_a_head_of_format_1_must_hold_the_sums_of_its_entries(old):
    anchor = JournalAnchor(*OLD["anchor"][0][1:])
    key = SigningKey.read(old.with_suffix(".key"))
    other = replace(anchor, state=anchor.state.replace("1/4", "1/8"))
    assert other != anchor
    other = replace(other, signature=key.sign(other.head.message))
    rows = [JournalRow(*row) for row in OLD["entries"]]
    replay_ledger(rows, anchor, key.public)
    with pytest.raises(LedgerBroken, match="sums in the head"):
        replay_ledger(rows, other, key.public)


def test_an_older_ledger_is_read_but_not_added_to(old):
    assert verify_ledger(old, public_key=public_key(), heads=HEADS).earlier == 4
    ledger = DurableLedger(old, POLICY, read_only=True)
    assert len(ledger.entries) == 7
    assert ledger.head == HEADS[-1]
    ledger.close()
    before = old.read_bytes()
    with pytest.raises(LedgerUnavailable, match=r"has format 1.*deniable ledger migrate"):
        DurableLedger(old, POLICY)
    assert old.read_bytes() == before


def test_a_migrated_ledger_adds_up_what_one_person_spent_under_several_names(old):
    ledger = DurableLedger(old, POLICY, migrate=True)
    spent = usages(ledger)
    assert spent["analyst:ann"] == 2 + 2 + Fraction(1, 4)
    assert spent["analyst:bob"] == Fraction(3, 4)  # A and a are one part now
    assert spent["unit:*"] == 2 + Fraction(1, 4) + Fraction(3, 4) + Fraction(1, 2)
    with pytest.raises(BudgetExhausted):
        ledger.reserve(plan(0.25), analyst="ann")
    assert ledger.recall(plan_hash="f00d", version="march", analyst="ANN").number == 1
    ledger.reserve(plan(0.25), analyst="Bob", part=(("ward", "a"),))
    assert ledger.verify(HEADS).earlier == 4  # heads from before it stay valid
    head = ledger.head
    ledger.close()
    again = DurableLedger(old, POLICY, migrate=True)  # once is enough
    assert again.head == head
    again.close()
    kinds = [json.loads(body)["kind"] for (body,) in entries(old)]
    assert kinds.count("migrated") == 1
    assert verify_ledger(old, public_key=public_key(), heads=[*HEADS, head]).earlier == 5


def entries(file):
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(
            "SELECT body FROM deniable_entries ORDER BY number"
        ).fetchall()


@pytest.mark.parametrize(
    "change",
    [
        {"terms": Terms.from_budget(Budget(100)).to_json()},
        {"format": 1},
    ],
)
def test_an_owner_cannot_migrate_to_other_terms(old, change):
    ledger = DurableLedger(old, POLICY, migrate=True)
    body = json.loads(entries(old)[-1][0]) | change
    rows, _ = ledger._journal.read_all()
    copy = MemoryLedger(epsilon=1)
    copy._journal.key = ledger._journal.key
    copy._journal._rows = list(rows)[:-1]
    copy._journal._anchor = copy._journal._sign(copy._journal._rows[-1], OLD["anchor"][0][3])
    copy._journal.append(lambda view: ((body,), None))
    with pytest.raises(LedgerBroken, match="more than migrate"):
        copy.verify()
    ledger.close()


def test_a_ledger_of_a_later_format_is_refused_in_words(old):
    with closing(sqlite3.connect(old)) as connection, connection:
        connection.execute("UPDATE deniable_anchor SET state = '{\"format\":4}' WHERE id = 1")
    for act in (
        lambda: DurableLedger(old, POLICY),
        lambda: DurableLedger(old, POLICY, migrate=True),
        lambda: DurableLedger(old, POLICY, read_only=True),
        lambda: verify_ledger(old, public_key=public_key()),
    ):
        with pytest.raises(LedgerUnavailable, match="has format 4"):
            act()


@pytest.fixture
def second(tmp_path):
    return write_old(tmp_path / "l.sqlite", tmp_path / "l.key", SECOND)


def said(file):
    """The format that the head of a ledger names."""
    with closing(sqlite3.connect(file)) as connection:
        (state,) = connection.execute(
            "SELECT state FROM deniable_anchor WHERE id = 1"
        ).fetchone()
    return json.loads(state)["format"]


def test_a_ledger_without_streams_stays_in_format_2(second):
    ledger = DurableLedger(second, POLICY)
    ledger.reserve(plan(0.25), analyst="carl")
    assert ledger.verify([Head(**head) for head in SECOND["heads"]]).entries == 5
    ledger.close()
    assert said(second) == 2


def test_the_first_stream_raises_the_format_so_that_older_versions_refuse_it(second):
    ledger = DurableLedger(second, POLICY)
    before = usages(ledger)
    run = reserve_stream(ledger, "visits", PureLoss(0.5), analyst="Ann")
    run.advance("5f1c")
    again = reserve_stream(ledger, "beds", PureLoss(0.5), analyst="Ann")
    assert said(second) == 3
    assert usages(ledger)["unit:*"] == before["unit:*"] + 1
    ledger.reserve(plan(0.25), analyst="carl")
    heads = [Head(**head) for head in SECOND["heads"]]
    assert ledger.verify([*heads, ledger.head]).earlier == len(heads) + 1
    ledger.close()
    assert said(second) == 3
    kinds = [json.loads(body)["kind"] for (body,) in entries(second)]
    assert kinds.count("migrated") == 1
    opened = DurableLedger(second, POLICY)
    assert find_stream(opened, "visits", analyst="ann").state == "5f1c"
    assert find_stream(opened, "beds", analyst="ann").number == again.number
    opened.close()


def test_a_ledger_of_format_2_can_be_migrated_by_hand(second):
    DurableLedger(second, POLICY, migrate=True).close()
    assert said(second) == 3
    ledger = DurableLedger(second, POLICY)
    assert ledger.verify([Head(**head) for head in SECOND["heads"]]).earlier == 3
    ledger.close()


def test_a_format_is_never_lowered(second):
    ledger = DurableLedger(second, POLICY, migrate=True)
    body = json.loads(entries(second)[-1][0]) | {"format": 2}
    ledger._journal.append(lambda view: ((body,), None))
    with pytest.raises(LedgerBroken, match="more than migrate"):
        ledger.verify()
    ledger.close()


def test_a_new_ledger_has_the_format_with_streams(tmp_path):
    DurableLedger(tmp_path / "new.sqlite", POLICY).close()
    assert said(tmp_path / "new.sqlite") == 3
