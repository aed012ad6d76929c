"""Evaluation: one charge, the right numbers, intervals."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.learn import AdditiveRegressor, LogisticRegression, NaiveBayes, Ridge

RNG = np.random.default_rng(5)
X = RNG.uniform(-1, 1, (4000, 2))
Y = (X[:, 0] + RNG.normal(0, 0.3, 4000) > 0).astype(int)
DECLARED = {"epsilon": 8, "bounds": (-1, 1), "classes": [0, 1]}


def test_a_score_is_charged():
    ledger = dp.MemoryLedger(epsilon=10)
    model = NaiveBayes(**DECLARED, ledger=ledger).fit(X, Y)
    score = model.score(X, Y)
    assert str(ledger.remaining) == "epsilon 1.2, delta 0"
    assert "charged: epsilon 0.8" in repr(score)
    assert score == pytest.approx((model.predict(X) == Y).mean(), abs=0.02)
    model.score(X, Y, epsilon=1.2)
    assert ledger.remaining.epsilon == 0


def test_the_histogram_is_that_of_the_predictions():
    model = LogisticRegression(**DECLARED, delta=1e-6).fit(X, Y)
    evaluation = model.evaluate(X, Y, epsilon=50)
    scores = model.decision_function(X)
    order = np.argsort(np.argsort(scores))
    ones = Y.sum()
    auc = (order[Y == 1].sum() - ones * (ones - 1) / 2) / (ones * (len(Y) - ones))
    assert evaluation.auc().value == pytest.approx(auc, abs=0.01)
    assert evaluation.counts.sum() == pytest.approx(4000, abs=30)


def test_groups_and_several_classes():
    frame = pa.table({"x": X[:, 0], "g": ["a", "b"] * 2000})
    classes = np.digitize(X[:, 0], [-0.3, 0.3])
    options = {"epsilon": 8, "bounds": {"x": (-1, 1)}, "keys": {"g": ["a", "b"]}}
    model = NaiveBayes(**options, classes=[0, 1, 2]).fit(frame, classes)
    evaluation = model.evaluate(frame, classes, epsilon=20, group="g")
    assert evaluation.groups == ("a", "b", None)
    right = (model.predict(frame) == classes).mean()
    assert evaluation.accuracy().value == pytest.approx(right, abs=0.02)


def test_the_score_of_a_regression():
    number = 105 + 3 * X[:, 0]
    model = AdditiveRegressor(epsilon=8, bounds=(-1, 1), target_bounds=(100, 110))
    model.fit(X, number)
    truth = 1 - ((model.predict(X) - number) ** 2).mean() / number.var()
    assert float(model.score(X, number, epsilon=20)) == pytest.approx(truth, abs=0.05)


def test_a_model_that_is_not_fitted_has_no_score():
    with pytest.raises((InvalidParameter, ValueError), match="not fitted"):
        NaiveBayes(**DECLARED).score(X, Y)


def test_r_squared_of_few_rows_is_within_its_margin():
    """Noise far larger than the target's spread: it was divided by 1, and in the thousands."""
    y = np.clip(X[:60, 0], -0.1, 0.1)
    declared = {"bounds": (-1, 1), "target_bounds": (-1, 1)}
    model = Ridge(
        epsilon=50, delta=1e-6, ledger=dp.MemoryLedger(epsilon=90, delta=0.1), **declared
    )
    model.fit(X[:60], y)
    for _ in range(4):
        score = model.score(X[:60], y, epsilon=0.05)
        value, margin = (float(part) for part in score.about.split(" ± "))
        assert margin <= 4
        assert abs(value) < 40
