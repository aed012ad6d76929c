"""A profile costs exactly what was stated, whatever the table is like."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.release.profile.profile_plans import plan_profile

pytestmark = pytest.mark.usefixtures("plans_checked_once")

ROWS = 6000
RNG = np.random.default_rng(11)
FRAME = pa.table(
    {
        "patient": RNG.integers(0, 3000, ROWS),
        "age": RNG.integers(20, 80, ROWS),
        "cost": pa.array(
            np.where(RNG.random(ROWS) < 0.25, np.nan, RNG.random(ROWS) * 90), from_pandas=True
        ),
        "ward": RNG.choice(["A", "B"], ROWS, p=[0.8, 0.2]),
        "room": RNG.integers(0, 60, ROWS),
        "urgent": RNG.random(ROWS) < 0.1,
        "diagnosis": RNG.choice(["flu", "cold"], ROWS, p=[0.7, 0.3]),
        'odd "name"': RNG.normal(1000, 10, ROWS),
        "note": [f"only {i}" for i in range(ROWS)],
    }
)
DECLARED = {
    "name": "visits",
    "bounds": {"age": (0, 100), "cost": (0, 100)},
    "keys": {"ward": ["A", "B", "C"], "room": list(range(60)), "diagnosis": "private"},
    "expected_rows": ROWS,
}


def hospital(*, person=False, **more):
    limits = (
        {"unit": "patient", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 4}
        if person
        else {}
    )
    frame = FRAME if person else FRAME.drop_columns(["patient"])
    return dp.protect(frame, **{**DECLARED, **limits, "epsilon": 50, "delta": 1e-3, **more})


@pytest.fixture(scope="module")
def look():
    with hospital() as session:
        return session.profile("visits", epsilon=40)


def column(profile, name):
    return next(part for part in profile.columns if part.name == name)


@pytest.mark.parametrize(("person", "epsilon"), [(False, 0.7), (True, Fraction(7, 3))])
def test_it_costs_exactly_what_was_stated(person, epsilon):
    with hospital(person=person) as session:
        before = session.remaining
        stated = plan_profile(session, "visits", epsilon=epsilon).price
        assert session.remaining == before
        profile = session.profile("visits", epsilon=epsilon)
        after = session.remaining
    assert stated.epsilon == Fraction(str(epsilon))
    assert before.epsilon - after.epsilon == stated.epsilon
    assert before.delta - after.delta == stated.delta
    assert profile.price == stated
    assert sum(plan.epsilon for plan in profile.plans) == stated.epsilon


def test_without_a_delta_private_values_are_only_counted():
    with hospital(delta=0) as session:
        profile = session.profile(epsilon=40)
        assert session.remaining.epsilon == 10
        assert session.remaining.delta == 0
    told = column(profile, "diagnosis")
    assert told.counts == ()
    assert "only for a delta" in told.notes[0]
    assert abs(told.missing.value) < 60


def test_numbers_have_quantiles_and_bins(look):
    age = column(look, "age")
    assert [float(at) for at, _ in age.quantiles] == [0.05, 0.25, 0.5, 0.75, 0.95]
    assert abs(age.quantiles[2][1].value - 50) <= 5
    assert sum(n.value for _, n in age.counts) == pytest.approx(ROWS, abs=100)
    assert age.ordered
    assert len(age.counts) == 12


def test_missing_values_are_counted(look):
    assert column(look, "cost").missing.value == pytest.approx(0.25 * ROWS, rel=0.2)
    assert abs(column(look, "age").missing.value) < 60


def test_declared_values_are_listed_by_how_frequent_they_are(look):
    assert [label for label, _ in column(look, "ward").counts] == ["A", "B", "C"]
    assert [label for label, _ in column(look, "urgent").counts] == ["False", "True"]
    assert len(column(look, "room").counts) == 10


def test_private_values_must_earn_their_place(look):
    assert [label for label, _ in column(look, "diagnosis").counts] == ["flu", "cold"]
    note = column(look, "note")
    assert note.counts == ()
    assert note.notes[0] == "No value is common enough to be shown."


def test_numbers_without_bounds_find_them(look):
    odd = column(look, 'odd "name"')
    assert "512 to 1024" in odd.notes[0] or "512 to 2048" in odd.notes[0]
    assert abs(odd.quantiles[2][1].value - 1000) < 50


def test_people_are_counted_and_no_more():
    with hospital(person=True) as session:
        profile = session.profile("VISITS", epsilon=40)
    truth = len(set(FRAME["patient"].to_pylist()))
    assert profile.units.value == pytest.approx(truth, abs=60)
    assert column(profile, "patient").notes == ("Only the units are counted.",)


def test_a_profile_too_dear_is_refused_before_anything_is_read():
    with hospital() as session:
        with pytest.raises(BudgetExhausted, match="costs epsilon 51"):
            session.profile(epsilon=51)
        assert session.remaining.epsilon == 50


def test_the_plans_do_not_depend_on_rows():
    with hospital() as first, hospital() as other:
        few = dp.protect(
            FRAME.drop_columns(["patient"]).slice(0, 3),
            **{**DECLARED, "epsilon": 50, "delta": 1e-3},
        )
        assert plan_profile(first, None, epsilon=1) == plan_profile(other, None, epsilon=1)
        whole, small = (plan_profile(each, None, epsilon=1) for each in (first, few))
        assert (whole.counts, whole.quantiles, whole.groups, whole.first) == (
            small.counts,
            small.quantiles,
            small.groups,
            small.first,
        )


@pytest.mark.parametrize("name", ["nothing", "visit"])
def test_unknown_tables_are_named(name):
    with hospital() as session, pytest.raises(InvalidParameter, match="visits"):
        session.profile(name, epsilon=1)


def test_the_same_profile_again_is_free_when_nothing_is_left():
    with hospital(epsilon=1) as session:
        first = session.profile(epsilon=1)
        assert session.remaining.epsilon == 0
        again = session.profile(epsilon=1)
        assert (again.rows, again.columns, again.plans) == (
            first.rows,
            first.columns,
            first.plans,
        )
        assert [entry.epsilon for entry in session.ledger.entries] == [1]  # one charge
        session.ledger.verify()
        with pytest.raises(BudgetExhausted, match="This answer costs epsilon"):
            session.profile(epsilon=0.5)
        assert len(session.ledger.entries) == 1


def test_where_nothing_is_missing_nothing_is_counted_as_missing():
    """Each patient has twice as many rows as count, and a third of all wards are missing."""
    who = [i // 8 for i in range(4000)]
    wards = [None if i % 3 == 0 else "A" for i in range(4000)]
    table = pa.table({"patient": who, "ward": wards, "cost": [5.0] * 4000})
    limits = {"max_groups_per_unit": 1, "max_rows_per_unit_per_group": 4}
    data = dp.protect(
        table,
        unit="patient",
        keys={"ward": ["A"]},
        bounds={"cost": (0, 9)},
        epsilon=2000,
        **limits,
    )
    profile = data.profile(epsilon=1000)
    by_name = {column.name: column for column in profile.columns}
    assert abs(by_name["cost"].missing.value) <= by_name["cost"].missing.margin
    assert profile.rows.value == pytest.approx(2000, abs=5)
    assert 400 < by_name["ward"].missing.value < 800
