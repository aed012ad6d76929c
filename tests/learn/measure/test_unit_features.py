"""Features from a unit's rows in another table: values, charges, movement, refusals."""

from itertools import combinations_with_replacement

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import learn
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.learn.measure.training import TrainingRun
from deniable.learn.measure.unit_features import with_features
from deniable.policy import Policy, Table
from deniable.release.session.connecting import connect
from tests.engines.steps import inlined

VISITS = "SELECT person, COUNT(*) AS visits, SUM(cost) AS spent FROM visits GROUP BY person"
BOUNDS = {"visits": (0, 3), "spent": (0, 20)}
NOBODY = pa.table({"person": pa.array([], pa.int64()), "cost": pa.array([], pa.float64())})


def tables(people, visits, neighbors="add-remove"):
    of = {"unit": "person", "neighbors": neighbors}
    limits = {"max_rows_per_unit_per_group": 3, "bounds": {"cost": (0, 10)}}
    return [
        Table.declare("people", people, bounds={"age": (0, 90)}, keys={"ill": [0, 1]}, **of),
        Table.declare("visits", visits, **limits, **of),
        Table.declare("rooms", NOBODY),
    ]


def made_up(count=300):
    chance = np.random.default_rng(1)
    visits = chance.integers(0, 4, count)
    people = {"person": np.arange(count), "age": chance.integers(0, 90, count)}
    people["ill"] = (visits >= 2).astype(int)
    who = np.repeat(np.arange(count), visits)
    return pa.table(people), pa.table({"person": who, "cost": chance.uniform(0, 10, len(who))})


def opened(people, visits, neighbors="add-remove"):
    policy = Policy(tables(people, visits, neighbors), epsilon=50, delta=1e-4)
    return connect(policy, dp.Session)


@pytest.mark.parametrize("end", ["", ";", "  -- visits of each"])
def test_the_text_may_end_as_any_text_does(end):
    with opened(*made_up(20)) as session:
        rows = with_features(session.table("people"), VISITS + end, bounds=BOUNDS)
    assert rows.other == "visits"
    assert list(rows.columns) == ["visits", "spent"]


@pytest.mark.parametrize("kind", [learn.NaiveBayes, learn.AdditiveModel])
def test_a_model_learns_from_them(kind):
    with opened(*made_up()) as session:
        rows = with_features(session.table("people"), VISITS, bounds=BOUNDS)
        model = kind(epsilon=20).fit(rows, target="ill")
        score = model.score(rows, target="ill", epsilon=5)
        assert session.remaining.epsilon == 25
        assert {entry.tables for entry in session.ledger.entries} == {("people", "visits")}
    assert score > 0.9
    new = {"age": [40, 40, 40], "visits": [0, 3, None], "spent": [0, 15, None]}
    assert model.predict(new).tolist() == [0, 1, 0]


def test_values_are_clipped_to_their_bounds():
    """A person whose sum lies beyond the bounds counts at them; nobody is left out."""
    people = pa.table({"person": [1, 2], "age": [40, 50], "ill": [0, 1]})
    visits = pa.table({"person": [1, 1, 1, 2], "cost": [10.0, 10.0, 10.0, 4.0]})
    with opened(people, visits) as session:
        rows = with_features(session.table("people"), VISITS, bounds=BOUNDS)
        model = learn.Ridge(epsilon=20, features=["spent"]).fit(rows, target="age")
    (term,) = model.terms_
    assert (term.middle - term.half, term.middle + term.half) == (0, 20)
    (release,) = model.releases_
    with duckdb.connect() as connection:
        connection.register("people", people)
        connection.register("visits", visits)
        statement = inlined(release.plan).replace("$salt", "0")
        (exact,) = connection.execute(statement).fetchall()
    assert exact[0] == 2 * 255**2  # both rows count
    assert abs(exact[1] / 255**2 - (1 + (4 / 10 - 1))) < 0.01  # 30 is clipped to 20


RECORDS = [(age, ill, n) for age in (0.0, 80.0) for ill in (0, 1) for n in range(4)]


def contributions(plan, size):
    """What a person with each record adds to all sums, by the engine."""
    statement = inlined(plan).replace("$salt", "0")
    vectors = []
    with duckdb.connect() as connection:
        for age, ill, visits in RECORDS:
            connection.register("people", pa.table({"person": [1], "age": [age], "ill": [ill]}))
            rows = {"person": pa.array([1] * visits, pa.int64()), "cost": [9.0] * visits}
            connection.register("visits", pa.table(rows, NOBODY.schema))
            sums = np.zeros(size)
            for place, value in connection.execute(statement).fetchall():
                sums[place] = value
            vectors.append(sums)
    return vectors


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_no_person_moves_a_step_by_more_than_it_declares(neighbors, monkeypatch):
    steps = []
    step = TrainingRun.step

    def noting(self, program, about, **price):
        result = step(self, program, about, **price)
        steps.append((program, self.training.planner.sensitivities(program)[1], self.releases))
        return result

    monkeypatch.setattr(TrainingRun, "step", noting)
    with opened(*made_up(), neighbors) as session:
        rows = with_features(session.table("people"), VISITS, bounds=BOUNDS)
        model = learn.LogisticRegression(epsilon=4, delta=1e-6).fit(rows, target="ill")
    program, declared, _ = steps[0]
    vectors = contributions(model.releases_[0].plan, program.size)
    if neighbors == "add-remove":
        moved = max(float(own @ own) for own in vectors)
    else:
        pairs = combinations_with_replacement(vectors, 2)
        moved = max(float((left - right) @ (left - right)) for left, right in pairs)
    assert moved == declared  # D, or 2 D: each column once


@pytest.mark.parametrize(
    ("sql", "bounds", "words"),
    [
        ("SELECT COUNT(*) AS n FROM visits", {"n": (0, 3)}, "GROUP BY person"),
        (
            "SELECT person, COUNT(*) AS n FROM rooms GROUP BY person",
            {"n": (0, 3)},
            "two tables",
        ),
        ("SELECT person, COUNT(*) AS n FROM homes GROUP BY person", {"n": (0, 3)}, "no table"),
        (
            "SELECT person, COUNT(*) AS age FROM visits GROUP BY person",
            {"age": (0, 3)},
            "named",
        ),
        (VISITS, {"visits": (0, 3)}, "one pair for each feature, visits, spent"),
        (VISITS.replace("FROM visits", "FROM (SELECT * FROM visits)"), BOUNDS, "one table"),
    ],
    ids=["not grouped", "no unit", "unknown", "same name", "no bounds", "sub-query"],
)
def test_faults_are_found_before_the_charge(sql, bounds, words):
    with opened(*made_up(20)) as session:
        with pytest.raises((InvalidParameter, InvalidQuery), match=words):
            with_features(session.table("people"), sql, bounds=bounds)
        assert session.remaining.epsilon == 50


def test_parts_of_two_tables_are_refused():
    with opened(*made_up(20)) as session:
        rows = with_features(session.table("people"), VISITS, bounds=BOUNDS)
        with pytest.raises(InvalidParameter, match="cannot be held out"):
            learn.hold_out(rows)
        train, _ = learn.hold_out(session.table("people"))
        held = with_features(train, VISITS, bounds=BOUNDS)
        with pytest.raises(dp.DeniableError):
            learn.NaiveBayes(epsilon=1).fit(held, target="ill")
        assert session.remaining.epsilon == 50
