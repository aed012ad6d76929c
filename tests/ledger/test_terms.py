import datetime

import pytest

from deniable.errors import InvalidParameter, LedgerBroken
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget, Schedule

GROWS = Schedule(start=datetime.date(2026, 1, 31), every=30, epsilon=0.5, delta=1e-7, times=4)
POLICY = Policy(
    [
        Table("visits", unit="Patient", budget=Budget(0.5)),
        Table("labs", unit="patient"),
        Table("staff", unit="employee"),
        Table("towns", public=True),
    ],
    epsilon=3,
    delta=1e-6,
    schedule=GROWS,
    filters=("pure",),
    units={"Employee": Budget(1)},
    analysts={"ann": Budget(2), "*": Budget(1)},
)


def test_each_question_charges_units_tables_and_analyst():
    terms = Terms.from_policy(POLICY)
    assert terms.accounts(("visits",), "ann") == ("unit:*", "table:visits", "analyst:ann")
    assert terms.accounts(("labs", "visits"), "bob") == (
        "unit:*",
        "table:visits",
        "analyst:bob",
    )
    assert terms.accounts(("labs", "staff"), "ann")[:2] == ("unit:*", "unit:employee")
    assert terms.accounts(("towns",), "ann") == ("analyst:ann",)
    assert terms.budget("analyst:bob") == Budget(1)
    with pytest.raises(LedgerBroken, match="no budget"):
        terms.budget("unit:nobody")
    with pytest.raises(InvalidParameter, match="who asks"):
        terms.analyst_account("*")


def test_what_is_written_is_read_again():
    terms = Terms.from_policy(POLICY)
    assert Terms.from_json(terms.to_json()) == terms
    assert Terms.from_json(terms.to_json()).budget("unit:*").schedule == GROWS


def test_limits_grow_with_the_days():
    terms = Terms.from_policy(POLICY)
    days = [datetime.date(2026, 1, 1), datetime.date(2026, 3, 2), None]
    assert [str(terms.limits("unit:*", day)["pure"].amount) for day in days] == [
        "3",
        "7/2",
        "5",
    ]


def test_only_what_narrows_may_change():
    old = Terms.from_policy(POLICY)
    old.check_change(old)
    narrow = Policy(
        [*POLICY.tables.values(), Table("new")],
        **{"epsilon": 3, "delta": 1e-6, "schedule": GROWS, "units": POLICY.units},
    )
    old.check_change(Terms.from_policy(narrow))  # whether it needs consent: test_amendments
    for change in (
        {"schedule": None},
        {"epsilon": 2},
        {"units": {}},
        {"filters": ("pure", "zcdp")},
    ):
        kept = {"epsilon": 3, "delta": 1e-6, "schedule": GROWS, "units": POLICY.units} | change
        if "filters" in change:
            kept["units"] = {"employee": Budget(1, 1e-6)}
        tables = [Table("visits", unit="Patient"), Table("staff", unit="employee")]
        with pytest.raises(LedgerBroken, match="opened with"):
            old.check_change(Terms.from_policy(Policy(tables, **kept)))


def amended(old, new):
    """The terms after a policy was changed, as a ledger has them."""
    known = Terms.from_policy(old)
    known.check_change(Terms.from_policy(new))
    return Terms.from_policy(new).with_tables_of(known)


VISITS, TOWNS = Table("visits", unit="patient"), Table("towns", public=True)


@pytest.mark.parametrize(
    "later",
    [
        Policy([VISITS, TOWNS], epsilon=1, units={"patient": Budget(100)}),
        Policy([Table("visits", public=True), TOWNS], epsilon=1),
        Policy([Table("renamed", unit="Patient")], epsilon=1, units={"patient": Budget(100)}),
        Policy([Table("visits")], epsilon=1),
        Policy([Table("visits", unit="visit")], epsilon=1),
        Policy([Table("visits", unit="patient", neighbors="replace")], epsilon=1),
    ],
)
def test_a_table_that_was_taken_out_is_remembered(later):
    """Nobody gets a second budget, or less protection, by way of a policy without the table."""
    between = amended(Policy([VISITS, TOWNS], epsilon=1), Policy([TOWNS], epsilon=1))
    with pytest.raises(LedgerBroken):
        between.check_change(Terms.from_policy(later))


def test_a_table_may_come_back_as_it_was():
    first, between = Policy([VISITS, TOWNS], epsilon=1), Policy([TOWNS], epsilon=1)
    known = amended(first, between)
    known.check_change(Terms.from_policy(first))
    assert (
        Terms.from_policy(first).with_tables_of(known)
        == Terms.from_policy(between).with_tables_of(Terms.from_policy(first))
        == known
    )
    known.check_change(Terms.from_policy(Policy([Table("VISITS2", unit="PATIENT")], epsilon=1)))


def test_who_never_shared_a_budget_may_get_their_own():
    old = Policy([VISITS], epsilon=1)
    new = Policy([VISITS, Table("staff", unit="nurse")], epsilon=1, units={"nurse": Budget(2)})
    assert amended(old, new).accounts(("staff",), None) == ("unit:nurse",)


@pytest.mark.parametrize("name", ["ann\nbob", "\x1b[31m", "\u202eann"])
def test_names_of_analysts_can_be_printed(name):
    for terms in (Terms.from_policy(POLICY), Terms.from_budget(Budget(1))):
        with pytest.raises(InvalidParameter, match="printable"):
            terms.accounts(("visits",), name)
