"""Counters of a session: one charge, events and persons, and readings that name the promise."""

import pickle
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, Unsupported, UsedUp

NO_NOISE = 10**6  # an epsilon at which noise is 0


def session(**options):
    return dp.protect(pa.table({"x": [1]}), **{"epsilon": 10**9, **options})


def inputs(counter):
    """The exact inputs of all steps."""
    stored = counter._stepping.stored.records()
    return [step[0] for record in stored for step in record["steps"]]


def test_events_are_counted_and_read_as_often_as_one_likes():
    data = session()
    visits = data.counter("visits", horizon=10, epsilon=NO_NOISE)
    visits.add()
    visits.add(times=4)
    visits.add(times=0)
    first = visits.step()
    assert (first.step, first.value, first.promise) == (
        1,
        5,
        "one event at one time (it may come or go)",
    )
    visits.step()
    visits.add(times=2)
    assert visits.step(3).value == 7
    assert [visits.read(step).value for step in range(1, 6)] == [5, 5, 7, 7, 7]
    assert visits.read() == visits.read(5)
    assert visits.to_arrow().column("step_value").to_pylist() == [5, 0, 2, 0, 0]
    assert data.ledger.entries[0].epsilon == NO_NOISE
    assert len(data.ledger.entries) == 1


def test_only_one_charge_for_the_whole_horizon():
    data = session(epsilon=1)
    visits = data.counter("visits", horizon=30, epsilon=1)
    for _ in range(30):
        visits.add()
        visits.step()
    assert data.remaining.epsilon == 0
    with pytest.raises(UsedUp, match="charged for 30 steps, and 30"):
        visits.step()
    with pytest.raises(UsedUp):
        data.counter("visits", horizon=30, epsilon=1).step()
    assert visits.steps == 30
    with pytest.raises(dp.BudgetExhausted):
        data.counter("more", horizon=5, epsilon=1)
    assert data.ledger.verify()


def test_persons_count_only_so_often_in_the_whole_life():
    data = session()
    visits = data.counter("visits", horizon=9, epsilon=NO_NOISE, per_person=3)
    for step in range(4):
        visits.add(person="ann", times=2)
        visits.add(person=7)
        if step == 1:
            visits.add(person="bob")
        visits.step()
    assert inputs(visits) == [3, 3, 1, 0]
    again = data.counter("visits", horizon=9, epsilon=NO_NOISE, per_person=3)
    again.add(person="ann")
    again.add(person="bob", times=5)
    again.step()
    assert inputs(again) == [3, 3, 1, 0, 2]
    assert "at most 3 count" in again.read().promise


def test_one_person_under_several_types_is_one():
    visits = session().counter("visits", horizon=9, epsilon=NO_NOISE, per_person=2)
    for person in (7, np.int64(7), np.int32(7), "7"):
        visits.add(person=person)
    for person in (7.0, True, b"7", object()):
        with pytest.raises(InvalidParameter, match="text or a whole number"):
            visits.add(person=person)
    visits.step()
    assert inputs(visits) == [3]


def test_an_interrupted_step_counts_no_event_twice(monkeypatch):
    visits = session().counter("visits", horizon=9, epsilon=NO_NOISE, per_person=3)
    visits.add(person="ann", times=2)

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(visits._stepping.stored), "add", fail)
        with pytest.raises(KeyboardInterrupt):
            visits.step()
    assert visits.steps == 0
    visits.add(person="ann", times=9)
    visits.step()
    assert inputs(visits) == [3]  # the two were not written, and their tally neither


def test_without_a_horizon_only_with_a_tally():
    data = session()
    with pytest.raises(InvalidParameter, match="needs a `horizon`"):
        data.counter("visits", epsilon=1)
    visits = data.counter("visits", epsilon=NO_NOISE, per_person=2)
    visits.add(person=1)
    assert visits.step(100).value == 1
    assert visits.horizon is None
    assert "visits: 100 steps" in repr(visits)


def test_sums_of_signed_values_on_a_grid():
    data = session()
    money = data.counter("money", horizon=5, epsilon=NO_NOISE, bounds=(-2, 10), grid=0.5)
    for value in (1.25, 7, 99, -99, -0.5):
        money.add(value)
    assert inputs(money) == []
    assert money.step().value == pytest.approx(1 + 7 + 10 - 2 - 0.5)
    assert inputs(money) == [31]
    assert money._stepping.price.design.promise.l1 == 20


def test_the_noise_knows_the_neighbours():
    def variance(**options):
        data = session(delta=1e-6, **options)
        design = data.counter("visits", horizon=8, rho=0.5)._stepping.price.design
        return design.segment(0).noise.variance

    assert variance(neighbors="replace") == 2 * variance()


def test_windows():
    visits = session().counter("visits", horizon=20, epsilon=NO_NOISE, window=3)
    shown = []
    for step in range(8):
        visits.add(times=step)
        shown.append(visits.step().value)
    assert shown == [0, 1, 3, 6, 9, 12, 15, 18]
    assert str(visits.read()).startswith("visits in the last 3 steps after step 8: 18")


def test_a_policy_that_protects_persons_needs_per_person():
    table = pa.table({"patient": [1, 2]})
    limits = {"max_groups_per_unit": 1, "max_rows_per_unit_per_group": 1}
    data = dp.protect(table, unit="patient", **limits, epsilon=1)
    with pytest.raises(InvalidParameter, match=r"protects persons \(patient\)"):
        data.counter("visits", horizon=5, epsilon=1)
    visits = data.counter("visits", horizon=5, epsilon=1, per_person=2)
    assert str(visits.promise).startswith("all events of one patient: at most 2 count")
    with pytest.raises(InvalidParameter, match="Name the `person`"):
        visits.add()


def two_tables(folder, first, second):
    """A session about two tables with these units."""
    text = "[budget]\nepsilon = 9\n"
    for name, unit in (("visits", first), ("letters", second)):
        (folder / f"{name}.csv").write_text("patient,doctor\n1,2\n", encoding="utf-8")
        text += f'[tables.{name}]\nsource = "{name}.csv"\n'
        if unit:
            text += f'unit = "{unit}"\nmax_groups_per_unit = 1\n'
            text += "max_rows_per_unit_per_group = 1\n"
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    return dp.open(folder / "policy.toml")


def test_no_other_person_than_the_policys_unit(tmp_path):
    data = two_tables(tmp_path, "patient", "patient")
    price = {"horizon": 5, "epsilon": 1, "per_person": 2}
    for other in ("event", "Patient", ""):
        with pytest.raises(InvalidParameter, match="The policy protects each patient"):
            data.counter("visits", **price, person=other)
    with pytest.raises(InvalidParameter, match="protects each patient"):
        data.counter("visits", **price, person="event", table="visits", explain=True)
    assert data.remaining.epsilon == 9
    for name, person in (("visits", "patient"), ("letters", None)):
        counter = data.counter(name, **price, person=person)
        assert counter.promise.person == "patient"
    rows = session().counter("visits", **price, person="guest")
    assert rows.promise.person == "guest"


@pytest.mark.parametrize("other", ["doctor", None])
def test_tables_with_different_units_are_not_counted_together(other, tmp_path):
    data = two_tables(tmp_path, "patient", other)
    price = {"horizon": 5, "epsilon": 1}
    with pytest.raises(InvalidParameter, match=r"different units: visits \(patient\)"):
        data.counter("visits", **price, per_person=2)
    assert data.remaining.epsilon == 9
    for table, unit in (("visits", "patient"), ("letters", other)):
        many = {} if unit is None else {"per_person": 2}
        assert data.counter(table, **price, **many, table=table).promise.person == unit


def test_parts_of_a_table_have_no_counters():
    """They are charged in parallel, but nothing ties an event to a part."""
    data = dp.protect(pa.table({"site": ["a", "b"]}), epsilon=2)
    for part in data.partition("site", ["a", "b"]).values():
        with pytest.raises(Unsupported, match="about a part of a table, data"):
            part.counter("visits", horizon=5, epsilon=1)
        with pytest.raises(Unsupported, match="Nothing ties the events"):
            part.counter("visits", horizon=5, epsilon=1, explain=True)
    assert data.remaining.epsilon == 2
    data.counter("visits", horizon=5, epsilon=1)


def test_explain_spends_nothing():
    data = session(epsilon=1, delta=1e-6)
    text = str(data.counter("visits", horizon=365, epsilon=1, explain=True))
    assert "protects one event" in text
    assert "costs epsilon 1, delta 1e-08, once, for 365 steps" in text
    assert "at most ± 29" in text
    assert data.remaining.epsilon == 1
    pure = str(data.counter("visits", horizon=3, epsilon=1, explain=True))
    assert "Laplace noise" in pure  # which is less for few steps
    endless = str(data.counter("visits", epsilon=1, per_person=1, explain=True))
    assert "no end" in endless


def test_explain_names_what_the_ledger_charges_for_rho():
    data = session(epsilon=10, delta=1e-6)
    text = str(data.counter("visits", horizon=365, rho=0.3, explain=True))
    match = re.search(r"rho 0.3 \(in the sum of epsilons: epsilon (.*), delta 1e-08\)", text)
    data.counter("visits", horizon=365, rho=0.3)
    charged = data.ledger.entries[0]
    assert charged.delta == Fraction(1, 10**8)
    assert 0 <= Fraction(match[1]) - charged.epsilon <= charged.epsilon / 10**5


def test_prices():
    data = session(epsilon=5, delta=1e-6)
    data.counter("a", horizon=365, epsilon=0.1)
    left = data.remaining.epsilon
    assert 0 <= left - Fraction(49, 10) < Fraction(1, 10**9)
    data.counter("b", horizon=365, rho=0.01)
    assert data.remaining.epsilon < left
    data.counter("c", horizon=365, epsilon=0.1, delta=0)
    for wrong in ({}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"epsilon": 1, "delta": 1}):
        with pytest.raises(InvalidParameter):
            data.counter("d", horizon=365, **wrong)
    with pytest.raises(InvalidParameter, match="needs a delta"):
        session().counter("e", horizon=9, rho=1)
    with pytest.raises(InvalidParameter, match="Unknown option `epsilom`"):
        data.counter("f", horizon=9, epsilom=1)


def test_wrong_uses():
    visits = session().counter("visits", horizon=5, epsilon=1)
    for act in (
        lambda: visits.add(person="ann"),
        lambda: visits.add(times=-1),
        lambda: visits.step(0),
        visits.read,
    ):
        with pytest.raises(InvalidParameter):
            act()
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(visits)
    for bounds in ((1, 2), (1, 2, 3), 7):
        with pytest.raises(InvalidParameter, match="bounds"):
            session().counter("x", horizon=5, epsilon=1, bounds=bounds)
