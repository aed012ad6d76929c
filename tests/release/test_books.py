from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter, LedgerBroken
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.release import Books, MemoryLedger
from deniable.release.journal import MemoryJournal
from deniable.release.keys import Key
from deniable.release.terms import Terms
from tests.release.contract import LedgerContract, plan


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


def opened(policy, journal):
    return Books(Terms.of(policy), journal)


def test_a_ledger_goes_on_where_it_stopped():
    journal, policy = MemoryJournal(Key.new()), Policy([Table("data")], epsilon=1)
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
    journal = MemoryJournal(Key.new())
    opened(Policy([Table("data")], epsilon=1), journal)
    with pytest.raises(LedgerBroken, match="not the one that this ledger was opened with"):
        opened(other, journal)


def test_the_owner_may_narrow_it_later_and_the_ledger_says_so():
    journal = MemoryJournal(Key.new())
    first = opened(Policy([Table("data")], epsilon=1), journal)
    narrow = Policy([Table("data"), Table("new")], epsilon=1, analysts={"ann": Budget(0.5)})
    second = opened(narrow, journal)
    second.reserve(plan(0.5), analyst="ann")
    with pytest.raises(InvalidParameter, match="who asks"):
        first.reserve(plan(0.1))  # opened before, but bound by what holds now
    assert second.verify().entries == 3
    assert [row.read()["kind"] for row in journal.whole()[0]] == [
        "opened",
        "amended",
        "reserved",
    ]
