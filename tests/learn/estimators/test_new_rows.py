"""Rows for a fitted model: a matrix has the columns of the fit, and no others."""

import numpy as np
import pytest

from deniable import learn
from deniable.errors import InvalidParameter

ROWS = np.random.default_rng(0).uniform(0, 1, (300, 3))
HIGH = (ROWS[:, 1] > 0.5).astype(int)
NUMBERS = {"epsilon": 9, "bounds": (0, 1)}
TARGET = {**NUMBERS, "target_bounds": (0, 1)}
KINDS = {
    "NaiveBayes": {**NUMBERS, "classes": [0, 1]},
    "AdditiveRegressor": TARGET,
    "Ridge": TARGET,
    "RobustSlope": {**TARGET, "features": ["x1"]},
    "KMeans": {**NUMBERS, "n_clusters": 2},
    "PCA": {**NUMBERS, "n_components": 1},
}


def predict(model, rows):
    ask = model.transform if isinstance(model, learn.PCA) else model.predict
    return ask(rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("features", [None, ["x1"]])
def test_a_matrix_is_as_wide_as_that_of_the_fit(kind, features, tmp_path):
    """Also if some of its columns are no features; else other columns would be taken."""
    declared = {**({} if features is None else {"features": features}), **KINDS[kind]}
    model = getattr(learn, kind)(**declared).fit(ROWS, HIGH)
    assert model.n_features_in_ == 3
    named = {"x0": ROWS[:, 0], "x1": ROWS[:, 1], "x2": ROWS[:, 2]}
    assert np.array_equal(predict(model, ROWS), predict(model, named))
    for wrong in (ROWS[:, :2], ROWS[:, [0, 1, 2, 0]]):
        with pytest.raises(InvalidParameter, match="expecting 3 features"):
            predict(model, wrong)
    read = learn.load(learn.save(model, tmp_path / "model.json"))
    known = ROWS[:, : read.n_features_in_]
    assert read.n_features_in_ == (2 if "features" in declared else 3)
    assert np.array_equal(predict(read, known), predict(model, ROWS))
    assert np.array_equal(predict(read, ROWS), predict(model, ROWS))  # the matrix of the fit
    with pytest.raises(InvalidParameter, match=f"expecting {known.shape[1]} features"):
        predict(read, known[:, :-1])


def test_features_of_a_matrix_can_be_named_for_a_score():
    model = learn.NaiveBayes(**KINDS["NaiveBayes"], features=["x1"]).fit(ROWS, HIGH)
    assert model.score(ROWS, HIGH, epsilon=9) > 0.9


@pytest.mark.parametrize("kind", ["NaiveBayes", "LogisticRegression", "AdditiveModel"])
def test_a_look_ahead_or_a_refused_fit_leaves_a_model_as_it_is(kind):
    """Otherwise the classes of one request would name the predictions of another's model."""
    words = np.array(["no", "yes"])[HIGH]
    model = getattr(learn, kind)(**NUMBERS, classes=["no", "yes"]).fit(ROWS, words)
    before = model.predict(ROWS).tolist()
    model.set_params(classes=["yes", "no"])
    model.explain(ROWS, words)
    assert model.predict(ROWS).tolist() == before
    model.set_params(bounds=(0, -1))
    with pytest.raises(Exception, match="bounds"):
        model.fit(ROWS[:, :2], words)
    assert model.predict(ROWS).tolist() == before
