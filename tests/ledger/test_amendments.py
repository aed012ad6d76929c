"""Editing a policy mints no budget: it narrows, or its owner consents, or it is refused."""

import datetime
from contextlib import nullcontext
from fractions import Fraction

import pytest

import deniable as dp
from deniable.errors import LedgerBroken
from deniable.ledger import ChainedLedger
from deniable.ledger.amendments import Gift, gifts
from deniable.ledger.beginning import amend_ledger
from deniable.ledger.journal import EMPTY, MemoryJournal
from deniable.ledger.replay import Replay
from deniable.ledger.stores.ledger_formats import FORMAT
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget, Schedule
from tests.ledger.contract import plan

VISITS = Table("visits", "visits.csv", unit="patient", budget=Budget(1, 1e-7))
STAFF = Table("staff", "staff.csv", unit="employee")
TOWNS = Table("towns", "towns.csv", public=True)
GROWS = Schedule(start=datetime.date(2026, 1, 1), every=30, epsilon=1, times=1)


def policy(*tables, **changes):
    """The policy that a ledger begins with, or an edited one."""
    units = {"employee": Budget(2)} if any(table.unit == "employee" for table in tables) else {}
    analysts = {"ann": Budget(0.5), "bob": Budget(0.5)}
    whole = {"epsilon": 3, "delta": 1e-6, "units": units, "analysts": analysts}
    return Policy(tables, **whole | changes)


FIRST, ONE = policy(VISITS, STAFF, TOWNS), policy(VISITS, TOWNS)
ANALYSTS = FIRST.analysts
LIMITED = {"unit": "patient", "budget": Budget(1, 1e-7)}

GIVES = {
    "a unit with a budget of its own": (
        policy(VISITS, STAFF, Table("v", unit="id"), units={**FIRST.units, "id": Budget(4)}),
        [("budget", "unit:id", 4)],
    ),
    "a budget of a unit that grows": (
        policy(
            *(VISITS, STAFF, Table("v", unit="id")),
            units={**FIRST.units, "id": Budget(4, schedule=GROWS)},
        ),
        [("budget", "unit:id", 5)],
    ),
    "a renamed table that is charged to another unit": (
        policy(STAFF, Table("v", unit="employee", budget=Budget(0.75))),
        [("protection", "v", Fraction(3, 4))],
    ),
    "a table next to tables of two units": (
        policy(VISITS, STAFF, Table("v", unit="patient")),
        [("protection", "v", 3)],
    ),
    "a renamed table that is public": (
        policy(STAFF, Table("v", public=True)),
        [("public", "v", None)],
    ),
    "two public tables, in any order": (
        policy(VISITS, STAFF, Table("z", public=True), Table("a", public=True)),
        [("public", "a", None), ("public", "z", None)],
    ),
    "a table with the source of another": (
        policy(VISITS, Table("staff", "visits.csv", unit="employee")),
        [("protection", "staff", 2)],
    ),
    "two tables with their sources swapped": (
        policy(
            Table("visits", "staff.csv", **LIMITED),
            Table("staff", "./visits.csv", unit="employee"),
        ),
        [("protection", "staff", 2), ("protection", "visits", 1)],
    ),
    "a public table with the source of another": (
        policy(VISITS, STAFF, Table("towns", "visits.csv", public=True)),
        [("public", "towns", None)],
    ),
    "a table's limit is removed": (
        policy(Table("visits", unit="patient"), STAFF),
        [("limit", "table:visits", 2)],
    ),
    "a table's limit is raised": (
        policy(Table("visits", unit="patient", budget=Budget(2, 1e-7)), STAFF),
        [("limit", "table:visits", 1)],
    ),
    "a table's limit is raised above its unit's budget": (
        policy(Table("visits", unit="patient", budget=Budget(99)), STAFF),
        [("limit", "table:visits", 2)],
    ),
    "a table's delta is raised": (
        policy(Table("visits", unit="patient", budget=Budget(1, 1e-6)), STAFF),
        [("limit", "table:visits", 0)],
    ),
    "a table's limit grows": (
        policy(Table("visits", unit="patient", budget=Budget(1, schedule=GROWS)), STAFF),
        [("limit", "table:visits", 1)],
    ),
    "a new analyst": (
        policy(VISITS, STAFF, analysts={**ANALYSTS, "cid": Budget(1)}),
        [("limit", "analyst:cid", 1)],
    ),
    "any analyst": (
        policy(VISITS, STAFF, analysts={**ANALYSTS, "*": Budget(0.25)}),
        [("limit", "analyst:*", Fraction(1, 4))],
    ),
    "an analyst's limit is raised": (
        policy(VISITS, STAFF, analysts={**ANALYSTS, "ann": Budget(1)}),
        [("limit", "analyst:ann", Fraction(1, 2))],
    ),
    "no limits for analysts": (
        policy(VISITS, STAFF, analysts={}),
        [
            ("limit", "analyst:*", 3),
            ("limit", "analyst:ann", Fraction(5, 2)),
            ("limit", "analyst:bob", Fraction(5, 2)),
        ],
    ),
}


OF_ONE_UNIT = {
    "a renamed table with its limit": (
        policy(Table("v", "visits.csv", **LIMITED)),
        [("limit", "table:v", 1)],
    ),
    "a renamed table with a lower limit, from a copy of its file": (
        policy(Table("v", "copy.csv", unit="Patient", budget=Budget(0.75))),
        [("limit", "table:v", Fraction(3, 4))],
    ),
    "a renamed table without its limit": (
        policy(Table("v", unit="patient")),
        [("limit", "table:v", 2)],
    ),
    "a second table without the limit": (
        policy(VISITS, Table("v", unit="patient")),
        [("limit", "table:v", 2)],
    ),
    "a renamed table with a higher limit": (
        policy(Table("v", unit="patient", budget=Budget(1.5))),
        [("limit", "table:v", Fraction(3, 2))],
    ),
    "another spelling of the name, without its limit": (
        policy(Table("Visits", unit="patient")),
        [("limit", "table:Visits", 2)],
    ),
    "a renamed table without its unit": (
        policy(Table("v", budget=Budget(1, 1e-7))),
        [("protection", "v", 1)],
    ),
    "a renamed table with another unit": (
        policy(Table("v", unit="visit")),
        [("protection", "v", 3)],
    ),
    "a renamed table under another relation": (
        policy(Table("v", neighbors="replace", **LIMITED)),
        [("protection", "v", 1)],
    ),
}
GIVEN = {
    name: (first, *case)
    for first, cases in ((FIRST, GIVES), (ONE, OF_ONE_UNIT))
    for name, case in cases.items()
}


def opened(edited, journal, **because):
    return ChainedLedger(Terms.from_policy(edited), journal, **because)


@pytest.mark.parametrize(("first", "edited", "given"), GIVEN.values(), ids=GIVEN)
def test_what_gives_more_asks_for_consent_and_records_it(first, edited, given):
    journal = MemoryJournal(SigningKey.new())
    opened(first, journal).reserve(plan(0.25, table="visits"), analyst="ann")
    for read_only in (False, True):
        with pytest.raises(LedgerBroken, match="deniable ledger amend --because"):
            opened(edited, journal, because=" ", read_only=read_only)
    ledger = opened(edited, journal, because="the board agreed")
    entry = ledger.terms_entry()
    assert entry["because"] == "the board agreed"
    offers = [Gift.from_json(offer) for offer in entry["gives"]]
    assert [(offer.kind, offer.to, offer.epsilon) for offer in offers] == given
    for gift, (_, _, epsilon) in zip(offers, given, strict=True):
        assert "epsilon" in str(gift)
        assert epsilon is None or str(float(epsilon)).removesuffix(".0") in str(gift)
    assert ledger.verify().entries == 3
    opened(edited, journal)  # once is enough
    assert ledger.verify().entries == 3


@pytest.mark.parametrize(
    "edited",
    [
        policy(VISITS, STAFF, epsilon=4),
        policy(VISITS, STAFF, epsilon=2),
        policy(VISITS, STAFF, delta=1e-5),
        policy(VISITS, STAFF, schedule=GROWS),
        policy(VISITS, STAFF, units={"employee": Budget(3)}),
        policy(VISITS, STAFF, units={}),
        policy(VISITS, STAFF, units={"employee": Budget(2), "patient": Budget(3)}),
        policy(VISITS, Table("s", unit="employee"), units={}),  # charged elsewhere from now on
        policy(STAFF, Table("v", unit="patient"), units={**FIRST.units, "patient": Budget(3)}),
        policy(STAFF, Table("visits", unit="visit", budget=Budget(1))),
        policy(STAFF, Table("visits", budget=Budget(1))),
        policy(STAFF, Table("visits", neighbors="replace", **LIMITED)),
        policy(STAFF, Table("visits", public=True)),
        policy(VISITS, STAFF, filters=("pure", "zcdp"), analysts={}, units={}),
    ],
)
def test_what_was_fixed_is_refused_with_a_reason_too(edited):
    journal = MemoryJournal(SigningKey.new())
    opened(FIRST, journal)
    with pytest.raises(LedgerBroken, match="opened"):
        opened(edited, journal, because="the board agreed")


@pytest.mark.parametrize(
    "edited",
    [
        policy(Table("visits", unit="patient", budget=Budget(0.5)), STAFF),
        policy(VISITS, STAFF, Table("towns", "new.csv", public=True)),
        policy(VISITS),  # the tables of a unit are gone, and so is its budget
        policy(VISITS, STAFF, analysts={"ann": Budget(0.25)}),
        policy(Table("visits", version="2", source="new.csv", **LIMITED), STAFF),
        policy(
            Table(
                *("visits", None),
                **LIMITED,
                max_groups_per_unit=9,
                max_rows_per_unit_per_group=9,
                row_ceiling=5,
            ),
            STAFF,
        ),
    ],
)
def test_what_narrows_or_costs_no_privacy_needs_no_consent(edited):
    journal = MemoryJournal(SigningKey.new())
    opened(FIRST, journal)
    ledger = opened(edited, journal)
    assert "gives" not in ledger.terms_entry()
    ledger.verify()


def test_tables_of_one_unit_without_limits_may_be_added_and_renamed():
    journal = MemoryJournal(SigningKey.new())
    unlimited = [Table(name, f"{name}.csv", unit="patient") for name in ("a", "b", "c")]
    opened(policy(*unlimited[:2]), journal)
    ledger = opened(policy(*unlimited[1:]), journal)
    swapped = policy(Table("b", "c.csv", unit="patient"), Table("c", "a.csv", unit="patient"))
    ledger = opened(swapped, journal)
    assert "gives" not in ledger.terms_entry()
    ledger.verify()


def test_a_raised_delta_is_a_gift_whichever_unit_has_the_most():
    units = {"employee": Budget(1, 1e-6)}
    before, after = (
        Terms.from_policy(
            policy(VISITS, STAFF, delta=0, units=units, analysts={"ann": Budget(1, delta)})
        )
        for delta in (0, 1e-6)
    )
    (gift,) = gifts(before, after)
    assert (gift.to, gift.delta) == ("analyst:ann", Fraction(1, 10**6))


def test_a_source_is_known_again_by_another_user_or_from_another_folder(tmp_path):
    """So a move of the policy's folder hides no exchange of sources."""
    address = "postgresql://{}@db.example.org/hospital#public.visits"
    for first, later in (
        (address.format("ann"), address.format("bob")),
        (str(tmp_path / "a" / "v.csv"), str(tmp_path / "b" / "v.csv")),
    ):
        before, after = (
            Policy(tables, epsilon=1, units={"x": Budget(1)}, ledger_key=str(tmp_path / key))
            for key, tables in (
                ("a/k", [Table("v", first), Table("w", unit="x")]),
                ("b/k", [Table("v", "/other.csv"), Table("w", later, unit="x")]),
            )
        )
        offers = gifts(Terms.from_policy(before), Terms.from_policy(after))
        assert [(gift.kind, gift.to) for gift in offers] == [("protection", "w")]


def test_a_source_that_a_table_had_once_is_remembered():
    journal = MemoryJournal(SigningKey.new())
    opened(FIRST, journal)
    moved = Table("visits", "moved.csv", **LIMITED)
    opened(policy(moved, STAFF), journal)
    with pytest.raises(LedgerBroken, match="table staff may hold rows of visits"):
        opened(policy(moved, Table("staff", "visits.csv", unit="employee")), journal)


def test_limits_of_tables_and_units_that_were_taken_out_are_remembered():
    journal, staff = MemoryJournal(SigningKey.new()), policy(STAFF)
    opened(FIRST, journal).reserve(plan(0.5, table="visits"), analyst="ann")
    for between in (staff, policy(Table("visits", **LIMITED))):
        opened(between, journal)
        with pytest.raises(LedgerBroken, match="limit of table visits is looser by epsilon 2"):
            opened(policy(Table("visits", unit="patient"), STAFF), journal)
        with pytest.raises(LedgerBroken, match="opened with"):
            opened(policy(VISITS, STAFF, units={"employee": Budget(9)}), journal)
    again = opened(FIRST, journal)
    assert again.remaining_for("bob", tables=("visits",)).epsilon == Fraction(1, 2)
    again.verify()


def test_sessions_that_were_open_are_bound_by_the_new_limits():
    journal = MemoryJournal(SigningKey.new())
    before = opened(FIRST, journal)
    opened(policy(Table("visits", unit="patient", budget=Budget(0.25)), STAFF), journal)
    with pytest.raises(dp.BudgetExhausted, match="for table visits"):
        before.reserve(plan(0.5, table="visits"), analyst="ann")


@pytest.mark.parametrize("change", [{"gives": []}, {"because": ""}, {"because": None}])
def test_a_replay_notices_a_consent_that_was_not_given(change):
    journal = MemoryJournal(SigningKey.new())
    opened(FIRST, journal)
    edited = Terms.from_policy(GIVES["a table's limit is removed"][0])
    ledger = opened(policy(VISITS, STAFF), journal)

    def forged(view):
        state = ledger._state(view)
        old = ledger._current_terms(view, state)
        body = {
            "because": "so",
            "gives": [gift.to_json() for gift in gifts(old, edited)],
            "kind": "amended",
            "terms": edited.with_tables_of(old).to_json(),
            "time": "2026-01-01T00:00:00+00:00",
        }
        body |= change
        state.apply(1, body)
        return (body,), state.to_json()

    journal.append(forged)
    with pytest.raises(LedgerBroken, match=r"gives away more|cannot be read"):
        ledger.verify()


@pytest.mark.parametrize("format_", [1, FORMAT])
def test_only_format_1_had_amendments_without_consent(format_):
    journal = MemoryJournal(SigningKey.new())
    old, new = (
        Terms.from_policy(edited) for edited in (FIRST, GIVES["a table's limit is removed"][0])
    )
    fields = {"begun": "7f", "format": format_, "key": journal.key.public, "kind": "opened"}
    new = new.with_tables_of(old)
    bodies = [fields | {"terms": old.to_json()}, {"kind": "amended", "terms": new.to_json()}]
    timed = [body | {"time": "2026-01-01T00:00:00+00:00"} for body in bodies]
    rows = journal.extend(EMPTY, (timed, None))[0]
    replay = Replay(journal.key.public)
    with nullcontext() if format_ == 1 else pytest.raises(LedgerBroken, match="--because"):
        for row in rows:
            replay.add(row)


TEXT = """[budget]
epsilon = 1
[tables.visits]
source = "visits.csv"
"""


def test_a_policy_file_is_amended_by_its_owner(tmp_path):
    (tmp_path / "visits.csv").write_text("patient,ward\n1,A\n2,B\n")
    path = tmp_path / "hospital.toml"
    path.write_text(TEXT)
    dp.open(str(path)).close()
    named = path.read_text()
    path.write_text(named.replace("visits]", "renamed]\npublic = true"))
    with pytest.raises(LedgerBroken, match="table renamed is public"):
        dp.open(str(path))
    with pytest.raises(LedgerBroken, match="--because"):
        amend_ledger(path, because="")
    assert [gift.kind for gift in amend_ledger(path, because="it is published")] == ["public"]
    assert amend_ledger(path, because="once more") == ()  # nothing more is given
    dp.open(str(path)).close()
    path.write_text(TEXT)
    with pytest.raises(dp.InvalidParameter, match="nothing to amend"):
        amend_ledger(path, because="no ledger")
