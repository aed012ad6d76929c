import os
from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter, LedgerBroken, LedgerUnavailable
from deniable.ledger import ChainedLedger, MemoryLedger
from deniable.ledger.journal import MemoryJournal
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from tests.ledger.contract import LedgerContract, plan


class TestMemoryLedger(LedgerContract):
    def make(self, terms, **clock):
        return MemoryLedger(terms=terms, **clock)


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -0.1},
    ],
)
def test_bad_budgets(bad):
    with pytest.raises(InvalidParameter):
        MemoryLedger(**bad)


def opened(policy, journal, **because):
    return ChainedLedger(Terms.from_policy(policy), journal, **because)


def test_a_ledger_goes_on_where_it_stopped():
    journal, policy = MemoryJournal(SigningKey.new()), Policy([Table("data")], epsilon=1)
    opened(policy, journal).reserve(plan(0.75))
    again = opened(policy, journal)
    assert again.remaining.epsilon == Fraction(1, 4)
    assert again.verify().entries == 2


@pytest.mark.parametrize(
    "other",
    [
        Policy([Table("data")], epsilon=2),
        Policy([Table("data")], epsilon=1, delta=1e-6),
        Policy([Table("data", unit="u")], epsilon=1, units={"u": Budget(1)}),
        Policy([Table("data", public=True)], epsilon=1),
    ],
    ids=["more epsilon", "more delta", "own budget", "public"],
)
def test_what_was_fixed_at_the_start_stays(other):
    journal = MemoryJournal(SigningKey.new())
    opened(Policy([Table("data")], epsilon=1), journal)
    with pytest.raises(LedgerBroken, match="not the one that this ledger was opened with"):
        opened(other, journal)


def test_the_owner_may_narrow_it_later_and_the_ledger_says_so():
    journal = MemoryJournal(SigningKey.new())
    first = opened(Policy([Table("data")], epsilon=1), journal)
    narrow = Policy([Table("data"), Table("new")], epsilon=1, analysts={"ann": Budget(0.5)})
    second = opened(narrow, journal)
    second.reserve(plan(0.5), analyst="ann")
    with pytest.raises(InvalidParameter, match="who asks"):
        first.reserve(plan(0.1))  # opened before, but bound by what holds now
    assert second.verify().entries == 3
    assert [row.read()["kind"] for row in journal.read_all()[0]] == [
        "opened",
        "amended",
        "reserved",
    ]


def test_the_gauges_of_a_budget_that_was_ended_are_gone():
    journal = MemoryJournal(SigningKey.new())
    narrow = Policy([Table("data", budget=Budget(0.5))], epsilon=1, analysts={"a": Budget(1)})
    opened(narrow, journal).reserve(plan(0.5), analyst="a")
    wide = opened(Policy([Table("data")], epsilon=1), journal, because="the board agreed")
    assert [(usage.account, usage.spent) for usage in wide.filter_usages()] == [
        ("unit:*", Fraction(1, 2))
    ]


def test_a_fork_cannot_spend_what_it_only_has_a_copy_of():
    ledger = MemoryLedger(epsilon=1)
    child = os.fork()
    if child == 0:
        try:
            ledger.reserve(plan(1))
        except LedgerUnavailable:
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    ledger.reserve(plan(1))


def test_a_second_budget_is_not_had_by_taking_a_table_out_and_in():
    journal, towns = MemoryJournal(SigningKey.new()), Table("towns", public=True)
    data = Table("data", unit="patient")
    opened(Policy([data, towns], epsilon=1), journal).reserve(plan(1))
    opened(Policy([towns], epsilon=1), journal)
    with pytest.raises(LedgerBroken, match="opened with"):
        opened(Policy([data, towns], epsilon=1, units={"patient": Budget(1)}), journal)
    again = opened(Policy([data, towns], epsilon=1), journal)
    assert again.remaining.epsilon == 0
    assert again.verify().entries == 2  # nothing had to be amended
