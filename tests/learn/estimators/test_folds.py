"""Folds: each unit is assigned by itself, and pays for what it is in."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

import deniable as dp
from deniable.errors import BudgetExhausted, InvalidParameter, SplitterWarning
from deniable.learn import (
    PCA,
    Folds,
    LogisticRegression,
    NaiveBayes,
    cross_validate,
)
from deniable.learn.measure.holding_out import split_folds

X = np.random.default_rng(1).uniform(0, 1, (200, 2))
Y = (X[:, 0] > 0.5).astype(int)


def estimator(epsilon=3, **more):
    ledger = dp.MemoryLedger(epsilon=epsilon)
    return NaiveBayes(epsilon=0.5, bounds=(0, 1), classes=[0, 1], ledger=ledger, **more)


def test_one_row_moves_no_other():
    folds = Folds(5, key="a key")
    whole = folds.assign(X, Y)
    for gone in range(0, 200, 23):
        kept = np.arange(200) != gone
        assert folds.assign(X[kept], Y[kept]).tolist() == whole[kept].tolist()
    assert len(set(whole.tolist())) == 5
    assert Folds(5, key="another").assign(X, Y).tolist() != whole.tolist()


def test_a_person_is_in_one_fold():
    people = np.arange(200) // 4
    folds = Folds(3).assign(X, Y, people)
    assert all(len(set(folds[people == person].tolist())) == 1 for person in range(50))


@pytest.mark.parametrize(("neighbors", "left"), [("add-remove", "1.45"), ("replace", "0.9")])
def test_each_unit_pays_for_all_fits_but_one_and_one_score(neighbors, left):
    model = estimator(neighbors=neighbors)
    validation = cross_validate(model, X, Y, cv=Folds(4))
    assert str(model.ledger.remaining) == f"epsilon {left}, delta 0"
    assert len(validation.scores) == len(validation.estimators) == 4
    assert f"together epsilon {3 - float(left):g}." in str(validation)


def test_splitters_that_move_other_rows_are_refused():
    for splitter in (KFold(3), KFold(3, shuffle=True), StratifiedKFold(3)):
        with pytest.raises(InvalidParameter, match="Folds"):
            cross_validate(estimator(), X, Y, cv=splitter)
    assert cross_validate(estimator(neighbors="replace"), X, Y, cv=KFold(2)).scores
    with pytest.raises(InvalidParameter, match="Folds"):
        cross_validate(estimator(neighbors="replace"), X, Y, cv=KFold(2, shuffle=True))


def test_nothing_is_spent_if_the_whole_does_not_fit():
    model = estimator(epsilon=1)
    with pytest.raises(BudgetExhausted, match="4 fits"):
        cross_validate(model, X, Y)
    assert model.ledger.remaining.epsilon == 1


def test_scikit_learns_own_loop_charges_every_fit_and_score():
    model = estimator()
    with pytest.warns(SplitterWarning, match=r"must be dp\.learn\.Folds"):
        assert len(cross_val_score(model, X, Y, cv=Folds(3))) == 3
    assert str(model.ledger.remaining) == "epsilon 1.35, delta 0"


def people(ids, **more):
    model = estimator(unit="id", max_rows_per_unit=4, **more)
    return model, {"id": ids, "x": X[:, 0]}


def test_other_groups_than_the_unit_are_refused():
    model, frame = people(np.arange(200) // 4)
    with pytest.raises(InvalidParameter, match="other `groups`"):
        cross_validate(model, frame, Y, cv=Folds(4), groups=np.arange(200))
    assert model.ledger.remaining.epsilon == 3


def test_positions_are_no_folds_of_people():
    model, frame = people(np.arange(200) // 4, neighbors="replace")
    with pytest.raises(InvalidParameter, match="rows are the units"):
        cross_validate(model, frame, Y, cv=KFold(2))
    stranger = type("KFold", (), {"shuffle": False, "split": None})()
    with pytest.raises(InvalidParameter, match="Folds"):
        cross_validate(estimator(neighbors="replace"), X, Y, cv=stranger)
    assert model.ledger.remaining.epsilon == 3


ODD = ["x", None, 2.5, True, 10**400, object()]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_one_odd_value_moves_no_other_row(odd):
    folds = Folds(5, key="a key")
    rows, target = [[i, str(i)] for i in range(40)], [i % 2 for i in range(40)]
    whole = folds.assign(rows, target).tolist()
    assert folds.assign([*rows, [odd, "1"]], [*target, 1]).tolist()[:40] == whole
    assert folds.assign([*rows, [1, "1"]], [*target, odd]).tolist()[:40] == whole
    objects = np.array([*rows, [1, "1"]], object)
    objects[40, 1] = odd
    assert folds.assign(objects, [*target, 1]).tolist()[:40] == whole
    ids = [2**60 + i for i in range(40)]
    groups = folds.assign(rows, None, ids).tolist()
    assert folds.assign([*rows, [1, 1]], None, [*ids, odd]).tolist()[:40] == groups


def test_equal_numbers_are_in_one_fold_whatever_their_type():
    for pair in ([0.0, -0.0], [7, 7.0], [np.float32(0.5), 0.5], [2**60, float(2**60)]):
        assert (
            len({tuple(Folds(97, key="k").assign([[1]], None, [value])) for value in pair}) == 1
        )
    large = [str(2**60 + i) for i in range(40)]
    assert len(set(Folds(40, key="k").assign([[1]] * 40, None, large).tolist())) > 10
    assert np.ptp(Folds(97, key="k").assign([[2**60], [2**60 + 1]])) != 0


def test_ids_that_the_engine_reads_alike_are_in_one_fold():
    seen = []

    class Spy(NaiveBayes):
        def fit(self, X, y=None, **more):
            seen.append(set(X["id"].to_pylist()))
            return super().fit(X, y, **more)

    ids = [place // 4 if place % 2 else str(place // 4) for place in range(200)]
    model = Spy(epsilon=0.1, bounds={"x": (0, 1)}, classes=[0, 1], unit="ID")
    model.max_rows_per_unit, model.ledger = 4, dp.MemoryLedger(epsilon=3)
    cross_validate(model, {"id": ids, "x": X[:, 0]}, Y, cv=Folds(4))
    everybody = set.union(*seen)
    assert everybody == {str(each) for each in range(50)}
    assert sum(len(everybody - each) for each in seen) == 50  # each is left out once


def test_the_sum_has_a_delta_too():
    ledger = dp.MemoryLedger(epsilon=5, delta=2e-6)
    model = LogisticRegression(epsilon=0.5, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    with pytest.raises(BudgetExhausted, match=r"epsilon 2\.05 and delta 4e-06\. Left"):
        cross_validate(model, X, Y)
    assert str(ledger.remaining) == "epsilon 5, delta 2e-06"


def test_what_cannot_be_cross_validated_is_refused_at_once():
    ledger = dp.MemoryLedger(epsilon=9)
    axes = PCA(1, epsilon=1, bounds=(0, 1), ledger=ledger)
    with pytest.raises(InvalidParameter, match="PCA has no score"):
        cross_validate(axes, X[:, :1], Y)
    data = dp.protect(pa.table({"x": X[:, 0]}), bounds={"x": (0, 1)}, epsilon=5)
    with pytest.raises(InvalidParameter, match="PCA has no score"):
        cross_validate(axes, data.table("data"), target="x")
    with pytest.raises(InvalidParameter, match="no column 'id'"):
        cross_validate(estimator(unit="id"), X, Y)
    assert ledger.remaining.epsilon == 9


def test_clones_are_silent_where_no_splitter_moves_rows():
    replaced = estimator(neighbors="replace")
    assert len(cross_val_score(replaced, X, Y, cv=KFold(2))) == 2
    estimator().fit(X, Y)
    cross_validate(estimator(), X, Y, cv=Folds(2))


PEOPLE = pa.table(
    {
        "x": [i % 7 / 6 for i in range(400)],
        "y": [i % 7 > 3 for i in range(400)],
        "who": [i // 4 for i in range(400)],
    }
)
PERSONS = {"unit": "who", "max_rows_per_unit_per_group": 4}


def protect(epsilon=40, **declared):
    return dp.protect(PEOPLE, bounds={"x": (0, 1)}, epsilon=epsilon, **declared)


@pytest.mark.parametrize(
    ("declared", "price"), [({}, 6.2), (PERSONS, 6.2), ({"neighbors": "replace"}, 8.4)]
)
def test_a_protected_table_is_charged_as_arrays_are(declared, price):
    data = protect(**declared)
    model = NaiveBayes(epsilon=2, features=["x"])
    validation = cross_validate(model, data.table("data"), target="y", cv=Folds(4))
    assert len(validation.scores) == len(validation.estimators) == 4
    assert float(validation.epsilon) == pytest.approx(price)
    assert float(data.remaining.epsilon) == pytest.approx(40 - price)
    assert data.ledger.verify()


@pytest.mark.parametrize("declared", [{}, PERSONS])
def test_the_folds_of_a_table_divide_its_units(declared):
    """Each row is in one fold, and outside of all others; a person with all rows."""
    data = protect(10**6, **declared)
    parts, paths = split_folds(data.table("data"), 3, "k")
    assert len(set(paths)) == 3

    def rows(part):
        number = round(part.session.sql("SELECT COUNT(*) FROM data", epsilon=1000).value)
        if declared:
            units = part.session.sql("SELECT COUNT(DISTINCT who) FROM data", epsilon=1000)
            assert number == 4 * round(units.value)
        return number

    counts = [(rows(train), rows(test)) for train, test in parts]
    assert all(outside + inside == 400 for outside, inside in counts)
    assert sum(inside for _, inside in counts) == 400
    assert all(inside > 60 for _, inside in counts)


def test_faulty_requests_about_a_table_are_refused_before_the_charge():
    data, model = protect(), NaiveBayes(epsilon=2, features=["x"])
    table = data.table("data")
    for arguments in (
        {},
        {"target": "y", "groups": [1]},
        {"target": "y", "cv": KFold(3)},
        {"y": [1], "target": "y"},
    ):
        with pytest.raises(InvalidParameter, match="Nothing was spent"):
            cross_validate(model, table, **arguments)
    with pytest.raises(InvalidParameter, match="`target` is of a protected table"):
        cross_validate(model, [[0.0]], [1], target="y")
    with pytest.raises(InvalidParameter, match="letters and digits"):
        cross_validate(model, table, target="y", cv=Folds(3, key="a'b"))
    with pytest.raises(BudgetExhausted, match="Nothing was spent"):
        cross_validate(NaiveBayes(epsilon=20), table, target="y", cv=Folds(4))
    assert data.remaining.epsilon == 40
