"""Classifiers: declared cells and classes, odd values, faults before the charge."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dp
from deniable import audit
from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.learn import AdditiveModel, LogisticRegression, NaiveBayes
from deniable.privacy import PureLoss

X = np.array([[0.0], [1.0]] * 300)
Y = X[:, 0].astype(int)
DECLARED = {"epsilon": 8, "bounds": (0, 1), "classes": [0, 1]}


def test_declared_classes_and_cells_do_not_depend_on_rows():
    whole = NaiveBayes(**DECLARED).fit(X, Y)
    small = NaiveBayes(**DECLARED).fit(X[:1] / 2, Y[:1])
    assert whole.model_.features == small.model_.features
    assert whole.classes_.tolist() == small.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("kind", [NaiveBayes, LogisticRegression, AdditiveModel])
@pytest.mark.parametrize("rows", [0, 1, 40])
def test_no_rows_or_one_class_give_a_model(kind, rows):
    model = kind(**DECLARED).fit(X[:rows] * 0, Y[:rows] * 0)
    probabilities = model.predict_proba([[0.5], [None], [7.0]])
    assert probabilities.shape == (3, 2)
    assert np.isfinite(probabilities).all()
    assert np.allclose(np.exp(model.predict_log_proba([[0.5], [None], [7.0]])), probabilities)


def test_whole_fits_keep_their_claim(size):
    """A black-box audit of fits to neighbouring tables: it must find nothing."""
    fits = size(small=4, full=2_000, what="whole fits of a toy table")
    model = NaiveBayes(epsilon=1, keys={"x0": [0, 1]}, classes=[0, 1])

    def fit(rows):
        model.fit(np.array([[row % 2] for row in rows], float), np.array(rows) // 2)
        return tuple(model.model_.tables[0][:2].ravel().round(12).tolist())

    before, after = (0, 0, 1, 3, 3), (0, 0, 1, 3)
    if fits < 100:  # an audit needs more calls
        assert len({fit(before) for _ in range(fits)}) > 1
        return
    verdict = audit.test(fit, [(before, after)], PureLoss(1), calls=fits)
    print(verdict)
    assert not verdict.violated


def test_a_table_may_have_many_columns():
    """The kernel adds up the ranges of all columns at once."""
    wide = np.tile(X, (1, 20))
    model = NaiveBayes(**{**DECLARED, "epsilon": 100}).fit(wide, Y)
    assert model.predict(wide[:2]).tolist() == [0, 1]


def test_unseen_and_missing_values_have_a_cell():
    frame = pa.table({"sex": ["f", "m"] * 300})
    model = NaiveBayes(epsilon=8, keys={"sex": ["f", "m"]}, classes=["a", "b"])
    model.fit(frame, ["a", "b"] * 300)
    labels = model.predict({"sex": ["f", "m", "x", None]})
    assert labels[:2].tolist() == ["a", "b"]
    assert set(labels[2:]) <= {"a", "b"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"classes": None}, "classes"),
        ({"classes": [1]}, "one class"),
        ({"bounds": None}, "cells"),
        ({"epsilon": 0}, "epsilon"),
        ({"cuts": {"nothing": [1]}}, "cuts"),
        ({"features": ["x9"]}, "x9"),
    ],
)
def test_faults_are_found_before_the_charge(changes, words):
    ledger = dp.MemoryLedger(epsilon=10)
    model = NaiveBayes(**{**DECLARED, **changes}, ledger=ledger)
    with pytest.raises(InvalidParameter, match=words):
        model.fit(X, Y)
    assert ledger.remaining.epsilon == 10


def test_a_training_that_does_not_fit_the_budget_reads_nothing():
    data = dp.protect(pa.table({"x": X[:, 0], "y": Y == 1}), bounds={"x": (0, 1)}, epsilon=1)
    with pytest.raises(BudgetExhausted):
        NaiveBayes(epsilon=2).fit(data.table("data"), target="y")
    assert data.remaining.epsilon == 1
    model = NaiveBayes(epsilon=1).fit(data.table("data"), target="y")
    assert data.remaining.epsilon == 0
    assert len(model.certificates_) == 1
    assert model.predict({"x": [0.0, 1.0]}).tolist() == [False, True]
    with pytest.raises(InvalidParameter, match="no y"):
        model.fit(data.table("data"), Y)


def test_steps_are_charged_once_and_certified():
    ledger = dp.MemoryLedger(epsilon=3, delta=1e-5)
    model = AdditiveModel(**{**DECLARED, "epsilon": 1}, delta=1e-6, ledger=ledger).fit(X, Y)
    assert str(ledger.remaining) == "epsilon 2, delta 9e-06"
    assert len(model.releases_) == 6
    assert sum(release.plan.loss.mu_squared for release in model.releases_) == (
        model.loss_.mu_squared
    )
    assert dp.verify(model.releases_[-1].certificate.to_json())


NAN = float("nan")
NUMBERS = [0.05] * 300 + [0.99] * 300 + [NAN] * 600
FRAMES = {
    "array": np.array(NUMBERS)[:, None],
    "narrow array": np.array(NUMBERS, np.float32)[:, None],
    "lists": [[value] for value in NUMBERS],
    "Arrow": pa.table({"x0": NUMBERS}),
    "Arrow in chunks": pa.table({"x0": pa.chunked_array([NUMBERS[:500], NUMBERS[500:]])}),
    "narrow Arrow": pa.table({"x0": pa.array(NUMBERS, pa.float32())}),
    "pandas": pd.DataFrame({"x0": NUMBERS}),
    "pandas with NA": pd.DataFrame({"x0": pd.array(NUMBERS, dtype="Float64")}),
    "Polars": pl.DataFrame({"x0": NUMBERS}),
}


@pytest.mark.parametrize("trained", FRAMES)
def test_nan_is_missing_in_training_and_in_predictions(trained):
    """All rows of class 1 are missing, and the largest numbers are of class 0."""
    classes = [0] * 600 + [1] * 600
    model = NaiveBayes(**DECLARED | {"epsilon": 50}).fit(FRAMES[trained], classes)
    for name, rows in FRAMES.items():
        assert model.predict(rows)[[0, 400, 1000]].tolist() == [0, 0, 1], name
    assert model.score(FRAMES[trained], classes, epsilon=10) > 0.98


@pytest.mark.parametrize(
    "classes", [np.array([0, 1]), [np.int64(0), np.int64(1)], pd.Series([0, 1]), (0, 1)]
)
def test_classes_of_any_list_are_plain_values_in_a_file(classes, tmp_path):
    model = NaiveBayes(**{**DECLARED, "classes": classes}).fit(X, Y)
    path = dp.learn.save(model, tmp_path / "model.json")
    assert dp.learn.verify(path).estimator.predict(X[:2]).tolist() == [0, 1]


@pytest.mark.parametrize("classes", ["ab", [0, 0], [0, "a"], [], 7])
def test_classes_that_are_no_list_of_one_kind_are_refused(classes):
    ledger = dp.MemoryLedger(epsilon=9)
    with pytest.raises(InvalidParameter, match="list of distinct values"):
        NaiveBayes(**{**DECLARED, "classes": classes}, ledger=ledger).fit(X, Y)
    assert ledger.remaining.epsilon == 9


@pytest.mark.parametrize("name", ["target", "Target"])
def test_a_feature_that_is_named_target_is_not_lost(name):
    """y would take its place."""
    rows = {"x": X[:, 0], name: X[:, 0]}
    with pytest.raises(InvalidParameter, match="Rename the column"):
        NaiveBayes(**DECLARED).fit(rows, Y)
