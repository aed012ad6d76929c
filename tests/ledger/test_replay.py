"""Tampering: whatever is changed, taken away, swapped or cut off is found."""

import json
from dataclasses import replace
from functools import cache

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import LedgerBroken
from deniable.ledger import DurableLedger, MemoryLedger, current_state
from deniable.ledger.journal import (
    digest,
    entry_hash,
    lookup_keys,
)
from deniable.ledger.replay import LedgerState, OpenCharges, Replay, replay_ledger
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.privacy import ApproximateLoss
from deniable.query.plan.canonical import canonical_text
from tests.ledger.contract import answer_to, plan

ANALYSTS = {"ann": Budget(10**6, 0.1), "*": Budget(10**6, 0.1)}


def filled(ledger, entries):
    """A ledger with entries of every kind."""
    turn = 0
    while ledger.head.number < entries - 1:
        turn += 1
        question = {"plan_hash": f"hash of {turn}", "version": "march"}
        part = (("ward", "ABC"[turn % 3]),) if turn % 4 == 0 else ()
        entry = ledger.reserve(plan(turn), analyst="ann", part=part, **question)
        if turn % 5 == 0:
            ledger.fail(entry, "beef")
        elif turn % 5 == 4:
            run = ledger.reserve_run(ApproximateLoss(turn, 1e-9), analyst="ann")
            run.keep(run.step(plan(1, 1e-10)), json.dumps({"n": turn}), **question)
            run.settle()
        else:
            ledger.settle(entry, json.dumps({"n": turn}))
            answer_to(ledger, plan(turn), analyst=f"bob {turn % 2}", **question)
    return ledger


@pytest.fixture
def book(size):
    """Rows and anchor of many entries, and the public key."""
    return kept(size(small=250, full=1_000, what="entries whose every byte is changed"))


@cache
def kept(entries):
    policy = Policy([Table("data")], epsilon=10**6, delta=0.1, analysts=ANALYSTS)
    ledger = filled(MemoryLedger(terms=Terms.from_policy(policy)), entries)
    rows, anchor = ledger._journal.read_all()
    return list(rows), anchor, ledger.public_key


def changes(value):
    """Every stored value that differs in one byte (or, of numbers, a little)."""
    if value is None:
        yield from ("", "0.0", 0)
    elif isinstance(value, int):
        yield from (value + 1, value - 1, -value - 1, value + 2**32)
    else:
        yield value[:-1]
        yield value + " "
        for place, letter in enumerate(value):
            for other in (chr(ord(letter) ^ 1), chr(ord(letter) ^ 32)):  # 32: a and A
                yield f"{value[:place]}{other}{value[place + 1 :]}"


def is_found(act, *arguments):
    try:
        act(*arguments)
    except LedgerBroken:
        return True
    return False


def test_every_byte_of_every_field_counts(book):
    """Each is changed at its place in the replay, where all before it is sound."""
    rows, anchor, public = book
    assert {json.loads(row.body)["kind"] for row in rows} == {
        "opened",
        "reserved",
        "settled",
        "failed",
        "repeated",
        "step",
        "answered",
    }
    replay, count = Replay(public), 0
    for row in rows:
        for name in type(row).__slots__:
            for changed in changes(getattr(row, name)):
                count += 1
                assert is_found(replay.add, replace(row, **{name: changed}))
        replay.add(row)
    for name in type(anchor).__slots__:
        for changed in changes(getattr(anchor, name)):
            count += 1
            assert is_found(replay.finish, replace(anchor, **{name: changed}))
    assert replay.finish(anchor).entries == len(rows)
    assert count > 500 * len(rows)


def test_every_deletion_swap_and_truncation_is_found(book):
    """At its place: what follows is not what the chain goes on with."""
    rows, anchor, public = book
    replay = Replay(public)
    for place, row in enumerate(rows):
        assert is_found(replay.finish, anchor)  # cut off here
        for other in rows[place + 1 :]:  # the ones before it deleted, or the two swapped
            assert is_found(replay.add, other)
        for other in rows[place + 1 :: 37]:  # and renumbered
            assert is_found(replay.add, replace(other, number=row.number))
        replay.add(row)
        assert is_found(replay.add, row)  # twice
    replay.finish(anchor)


def test_a_forger_without_the_key_is_found(book):
    """Someone recomputes every hash and the sums after a change; the signature is missing."""
    rows, anchor, public = book
    forged, before = [], ""
    for row in rows:
        body = row.read()
        if body["kind"] == "reserved" and row.number > 100 and "run" not in body:
            body["plans"][0]["epsilon"] = "0"
            for charge in body["charges"].values():
                charge["pure"][0] = "0"
        written = canonical_text(body)
        before = entry_hash(before, row.number, written)
        forged.append(replace(row, body=written, hash=before))
    with pytest.raises(LedgerBroken, match="not signed"):
        replay_ledger(forged, replace(anchor, hash=before), public)
    other = SigningKey.new()
    resigned = replace(anchor, hash=before)
    resigned = replace(resigned, signature=other.sign(resigned.head.message))
    with pytest.raises(LedgerBroken, match="not signed"):
        replay_ledger(forged, resigned, public)
    with pytest.raises(LedgerBroken, match="another key"):
        replay_ledger(forged, resigned, other.public)


def rewritten(change, terms=None):
    """A ledger whose owner, with the key, wrote something else as its third entry."""
    ledger = MemoryLedger(terms=terms or Terms.from_budget(Budget(1)))
    ledger.reserve(plan(0.5))

    ledger._journal.append(lambda view: ((view.row(1).read() | change,), None))
    return ledger.verify()


def test_an_owner_cannot_grant_more_than_was_committed():
    assert rewritten({}).entries == 3  # as much again: it fits just so
    with pytest.raises(LedgerBroken, match="but the budget of unit:"):
        rewritten(charged("51/100"))
    with pytest.raises(LedgerBroken, match="not the one"):
        rewritten({"kind": "amended", "terms": Terms.from_budget(Budget(2)).to_json()})
    with pytest.raises(LedgerBroken, match="opens a ledger"):
        rewritten({"kind": "opened"})
    with pytest.raises(LedgerBroken, match="an unknown kind"):
        rewritten({"kind": "refunded"})


def charged(epsilon, *, tables=("data",), account="unit:*", **sums):
    """A plan at a price, and that price charged to an account, or something else."""
    told = {"epsilon": epsilon, "delta": "0", "plan": None, "tables": list(tables)}
    return {"plans": [told], "charges": {account: {"pure": [epsilon, "0"]} | sums}}


NOT_ALL = "does not charge the accounts"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"charges": {}}, NOT_ALL),
        (charged("1/4", account="unit:other"), NOT_ALL),
        (charged("1/4", account="table:more"), NOT_ALL),
        (charged("1/4", tables=("more",)), NOT_ALL),  # the table's own account is missing
        (charged("1/4", pure=["1/8", "0"]), "what its plans cost"),
        (charged("1/4", pure=["1/3", "0"]), "what its plans cost"),
        (charged("1/4", pure=["1/4", "1/9"]), "what its plans cost"),
        (charged("1/4", pure=["0", "1/9"]) | {"together": "1/9"}, "what its plans cost"),
        (charged("1/4", pure=["1/8", "0"]) | {"together": "1/9"}, "what its plans cost"),
        (charged("-1/4"), "refunds a charge"),
        (charged("1/4", zcdp=["0", "0"]), "in every filter"),
        (charged("1/4", pure=None), "what its plans cost"),
        ({"kind": "repeated", "of": 1, "place": 0, "plan": "a", "version": ""}, NOT_ALL),
    ],
)
def test_an_owner_cannot_charge_others_or_less_than_plans_say(change, told):
    tables = [Table("data"), Table("more", budget=Budget(1))]
    terms = Terms.from_policy(Policy(tables, epsilon=1))
    with pytest.raises(LedgerBroken, match=told):
        rewritten(change, terms)


def test_charges_that_name_all_that_plans_concern_are_sound():
    tables = [Table("data"), Table("more", budget=Budget(1))]
    terms = Terms.from_policy(Policy(tables, epsilon=1))
    assert rewritten(charged("1/4"), terms).entries == 3
    more = charged("1/4", tables=("data", "more"))
    more["charges"]["table:more"] = {"pure": ["1/4", "0"]}
    assert rewritten(more, terms).entries == 3
    analysts = {"ann": Budget(1)}
    terms = Terms.from_policy(Policy([Table("data")], epsilon=1, analysts=analysts))
    ledger = MemoryLedger(terms=terms)
    ledger.reserve_all([plan(0.1)] * 3, analyst="ann", delta=0)
    ledger.verify()


def test_what_is_looked_up_is_what_is_said():
    assert lookup_keys({"kind": "reserved"}) == (None, None)
    body = {"kind": "settled", "of": 3, "place": 0, "record": "{}", "plan": "a", "version": "b"}
    assert lookup_keys(body) == ("3.0", digest(canonical_text(["a", "b"])))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE deniable_entries SET body = replace(body, 'ann', 'eve') WHERE number = 20",
        "UPDATE deniable_entries SET hash = upper(hash) WHERE number = 20",
        "UPDATE deniable_entries SET ends = NULL WHERE number = 2",
        "UPDATE deniable_entries SET recall = NULL WHERE number = 2",
        "DELETE FROM deniable_entries WHERE number = 20",
        "DELETE FROM deniable_entries WHERE number = (SELECT number FROM deniable_anchor)",
        "DELETE FROM deniable_entries",
        "UPDATE deniable_anchor SET number = number - 1",
        "UPDATE deniable_anchor SET hash = upper(hash)",
        "UPDATE deniable_anchor SET signature = upper(signature)",
        "UPDATE deniable_anchor SET state = replace(state, '3', '1')",
        "DELETE FROM deniable_anchor",
    ],
)
def test_a_changed_database_is_found(statement, tmp_path):
    policy = Policy([Table("data")], epsilon=10**6, delta=0.1, analysts=ANALYSTS)
    ledger = filled(DurableLedger(tmp_path / "l.sqlite", policy), 30)
    ledger.verify()
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'l.sqlite'}")
    with engine.begin() as connection:
        assert connection.exec_driver_sql(statement).rowcount > 0
    engine.dispose()
    with pytest.raises(LedgerBroken):
        ledger.verify()
    if "entries" not in statement:  # what a decision rests on is checked each time
        with pytest.raises(LedgerBroken):
            ledger.reserve(plan(1), analyst="ann")
    ledger.close()


def test_an_older_copy_is_found_with_a_later_head(tmp_path):
    where = tmp_path / "l.sqlite"
    policy = Policy([Table("data")], epsilon=1)
    ledger = DurableLedger(where, policy)
    ledger.reserve(plan(0.5))
    ledger.close()
    mark = tmp_path / "l.key.mark"
    copy, older = where.read_bytes(), mark.read_bytes()
    ledger = DurableLedger(where, policy)
    ledger.reserve(plan(0.5))
    head = ledger.head
    ledger.close()
    where.write_bytes(copy)
    mark.write_bytes(older)  # a mark that is set back with its ledger proves nothing
    back = DurableLedger(where, policy)
    assert back.verify().entries == 2  # by itself it is sound
    with pytest.raises(LedgerBroken, match="set back"):
        back.verify([head])
    back.close()


def test_an_entry_cannot_be_rewritten_with_a_hash_of_its_own(book):
    """Its hash fits, and no sum changes; but the next entry was chained to another."""
    rows, anchor, public = book
    for place in range(1, len(rows) - 1, 40):
        body, before = rows[place].read(), rows[place - 1].hash
        written = canonical_text(body | {"time": "2001-01-01T00:00:00+00:00"})
        forged = replace(rows[place], body=written, hash=entry_hash(before, place, written))
        with pytest.raises(LedgerBroken, match=f"Entry {place + 1} was changed"):
            replay_ledger([*rows[:place], forged, *rows[place + 1 :]], anchor, public)


@pytest.mark.parametrize("of", [0, 2, 7])
def test_an_owner_cannot_end_what_is_not_open(of):
    ended = {"kind": "settled", "of": 1, "place": 0}
    assert rewritten(ended | {"charges": {}, "plans": []}).entries == 3
    with pytest.raises(LedgerBroken, match="not open"):
        rewritten(ended | {"of": of})
    with pytest.raises(LedgerBroken, match="not open"):
        rewritten(ended | {"place": 1})


def test_an_owner_cannot_sign_other_sums_than_those_of_the_entries(monkeypatch):
    ledger = MemoryLedger(terms=Terms.from_budget(Budget(1)))
    ledger.reserve(plan(1))
    ended = {"kind": "failed", "of": 1, "place": 0, "reference": "", "time": "2026-01-01"}
    ledger._journal.append(lambda view: ((ended,), LedgerState(terms=0).to_json()))
    monkeypatch.setattr(current_state, "CHECKPOINT_EVERY", 0)
    ledger._current = current_state.CurrentState(ledger._journal)  # as a new process would
    assert ledger.remaining.epsilon == 1  # as if nothing had been spent
    with pytest.raises(LedgerBroken, match="sums"):
        ledger.verify()


def test_an_ending_that_was_cut_off_is_found_though_it_changes_no_sum():
    ledger = MemoryLedger(terms=Terms.from_budget(Budget(1)))
    ledger.settle(ledger.reserve(plan(0.5)))
    rows, anchor = ledger._journal.read_all()
    assert replay_ledger(rows, anchor, ledger.public_key).entries == 3
    with pytest.raises(LedgerBroken, match="were removed"):
        replay_ledger(rows[:-1], anchor, ledger.public_key)


def test_a_ledger_that_went_on_in_two_ways_is_found_with_a_head_of_the_other(tmp_path):
    """Both are as long, and signed with one key; each is sound by itself."""
    where, policy = tmp_path / "l.sqlite", Policy([Table("data")], epsilon=1)
    DurableLedger(where, policy).close()
    mark = tmp_path / "l.key.mark"
    copy, older, heads = where.read_bytes(), mark.read_bytes(), []
    for epsilon in (0.5, 0.4):
        where.write_bytes(copy)
        mark.write_bytes(older)
        ledger = DurableLedger(where, policy)
        ledger.reserve(plan(epsilon))
        heads.append(ledger.head)
        ledger.verify(heads[-1:])
        ledger.close()
    assert heads[0].number == heads[1].number
    ledger = DurableLedger(where, policy)
    with pytest.raises(LedgerBroken, match="not the one that an earlier head signed"):
        ledger.verify(heads[:1])
    ledger.close()


@pytest.mark.parametrize("name", ["state", "hash", "signature"])
def test_a_head_that_was_changed_is_not_believed_by_who_sees_it_first(tmp_path, name):
    """A process that begins knows no earlier head, and has only the signature to go by."""
    where, policy = tmp_path / "l.sqlite", Policy([Table("data")], epsilon=1)
    ledger = DurableLedger(where, policy)
    ledger.reserve(plan(1))
    ledger.close()
    engine = sa.create_engine(f"sqlite:///{where}")
    less = {"state": "replace(state, '3', '1')"}
    change = f"UPDATE deniable_anchor SET {name} = {less.get(name, f'upper({name})')}"
    select = f"SELECT {name} FROM deniable_anchor WHERE id = 1"
    with engine.begin() as connection:
        before = connection.exec_driver_sql(select).one()
        connection.exec_driver_sql(change)
        assert connection.exec_driver_sql(select).one() != before
    engine.dispose()
    with pytest.raises(LedgerBroken, match="not signed by its key"):
        DurableLedger(where, policy).reserve(plan(1))


def test_a_ledger_set_back_under_a_running_process_is_found_at_once(tmp_path):
    """Even if its mark is set back with it."""
    ledger = DurableLedger(tmp_path / "l.sqlite", Policy([Table("data")], epsilon=10))
    ledger.reserve(plan(1))
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'l.sqlite'}")
    columns = "number, hash, state, signature"
    with engine.begin() as connection:
        before = connection.exec_driver_sql(
            f"SELECT {columns} FROM deniable_anchor WHERE id = 1"
        ).one()
    (mark,) = tmp_path.glob("*.mark")
    marked = mark.read_bytes()
    entry = ledger.reserve(plan(1))
    mark.write_bytes(marked)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM deniable_entries WHERE number > 1")
        restored = f"UPDATE deniable_anchor SET ({columns}) = (?, ?, ?, ?) WHERE id = 1"
        connection.exec_driver_sql(restored, tuple(before))
    engine.dispose()
    for act in (lambda: ledger.reserve(plan(1)), lambda: ledger.settle(entry)):
        with pytest.raises(LedgerBroken, match="was set back"):
            act()
    ledger.close()


opened = st.lists(st.integers(0, 3), max_size=20)
ended = st.lists(st.tuples(st.integers(-2, 22), st.integers(-1, 4)), max_size=30)


@given(opened, ended)
def test_each_charge_ends_once(counts, endings):
    charges, expected = OpenCharges(), set()
    for number, count in enumerate(counts):
        if count or number % 2:  # not every entry is a charge
            charges.add(number, count)
            expected.update((number, place) for place in range(count))
    for number, place in endings:
        assert charges.end(number, place) == ((number, place) in expected)
        expected.discard((number, place))
