"""Ridge and linear regression: how far one unit moves them, coefficients and intervals."""

from math import inf, isclose

import numpy as np
import pyarrow as pa
import pytest

from deniable import audit
from deniable.errors import InvalidParameter
from deniable.learn.estimators.linear_regression import LinearRegression, Ridge
from deniable.learn.measure.moment_step import SCALE, code_terms, moment_program
from tests.learn.movement import share_of_declared

ZEROS = "deniable.mechanisms.noise.gaussian.rounded_gaussian"


def toy(**changed):
    """Two features and a target of three values each, with people who have several rows."""
    table = pa.table(
        {
            "who": [1, 1, 2, 3, 3, 3],
            "a": [0, 1, 2, 2, 1, 0],
            "b": [0, 1, 0, 1, 1, 0],
        }
    )
    model = Ridge(
        bounds={"a": (0, 2), "b": (0, 1)}, target_bounds=(0, 2), unit="who", **changed
    )
    return model, table, pa.array([0, 2, 1, 2, 0, 1])


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_no_unit_moves_the_products_by_more(neighbors, rows):
    model, X, y = toy(neighbors=neighbors, max_rows_per_unit=rows)
    data = model.open(X, y, None)
    training = model.prepare(data)
    program = moment_program(training.sizes, code_terms(training.roles))
    share = share_of_declared(training, program)
    data.close()
    declared = training.planner.sensitivities(program)[1]
    length = 4 * SCALE**2  # the constant, two features, the target
    assert declared == length**2 * rows**2 * (1 if neighbors == "add-remove" else 2)
    assert isclose(share, 1.0)  # (1, 1, 1, 1) and (1, 1, -1, -1) are orthogonal


def test_texts_and_nulls_are_within_it_too():
    X = pa.table({"a": [0, 1, None], "t": ["x", "y", None]})
    model = Ridge(bounds={"a": (0, 2)}, keys={"t": ["x", "y", "z"]}, target_bounds=(0, 1))
    data = model.open(X, [0, 1, 1], None)
    training = model.prepare(data)
    program = moment_program(training.sizes, code_terms(training.roles))
    assert share_of_declared(training, program) <= 1
    data.close()


def test_the_engine_adds_up_what_the_rows_say(monkeypatch):
    """Without noise, the moments are those of the gridded rows, and the solution is numpy's."""
    monkeypatch.setattr(ZEROS, lambda variance, size, **_: np.zeros(size, np.int64))
    chance = np.random.default_rng(3)
    X = chance.integers(0, 11, size=(300, 2)).astype(float)
    y = np.clip(X @ [2.0, -1.0] + 7 + chance.normal(size=300), 0, 30).round()
    model = Ridge(alpha=4, bounds=(0, 10), target_bounds=(0, 30)).fit(X, y)
    scaled = np.column_stack([np.ones(300), X / 5 - 1])
    wanted = np.linalg.solve(
        scaled.T @ scaled + np.diag([0, 4, 4]), scaled.T @ (np.array(y) / 15 - 1)
    )
    assert np.allclose(model.coef_, wanted[1:] * 3, atol=0.02)
    assert np.allclose(model.predict([[5.0, 5.0]]), 15 * (wanted[0] + 1), atol=0.05)


def test_intervals_contain_the_same_ridge_without_noise(size, monkeypatch):
    """Whole fits through a session: the target is the fit with the noise set to zero."""
    fits = size(small=8, full=300, what="whole ridge fits")
    chance = np.random.default_rng(5)
    X = chance.uniform(0, 10, size=(2_000, 2))
    y = np.clip(X @ [2.0, -1.0] + 12, 0, 30)
    model = Ridge(epsilon=1, alpha=30, bounds=(0, 10), target_bounds=(0, 30))
    with monkeypatch.context() as patch:
        patch.setattr(ZEROS, lambda variance, size, **_: np.zeros(size, np.int64))
        exact = dict(zip(("x0", "x1"), model.fit(X, y).coef_, strict=True))
        exact["intercept"] = model.intercept_
    missed = 0
    for _ in range(fits):
        intervals = model.fit(X, y).intervals()
        missed += sum(not low <= exact[name] <= high for name, (low, high) in intervals.items())
    print(f"{missed} of {3 * fits} intervals missed")
    assert missed <= 3 * fits * 0.05 + 4 * (3 * fits * 0.05 * 0.95) ** 0.5


def test_texts_are_terms_and_coefficients_have_units():
    chance = np.random.default_rng(7)
    X = pa.table(
        {"sex": chance.choice(["f", "m"], 4_000), "age": chance.integers(0, 100, 4_000)}
    )
    y = np.where(np.array(X["sex"]) == "f", 10, 20) + np.array(X["age"]) / 10
    model = Ridge(
        epsilon=2,
        bounds={"age": (0, 99)},
        keys={"sex": ["f", "m"]},
        target_bounds=(0, 40),
    ).fit(X, y)
    assert model.feature_names_ == ("sex=m", "age")
    assert np.allclose(model.coef_, [10, 0.1], rtol=0.25)
    wide, narrow = model.intervals(together=True), model.intervals()
    assert wide["age"][1] - wide["age"][0] > narrow["age"][1] - narrow["age"][0]
    unseen = pa.table({"sex": ["x", None], "age": [1_000, None]})
    assert ((model.predict(unseen) >= 0) & (model.predict(unseen) <= 40)).all()


def test_least_squares_without_a_penalty_says_where_it_has_no_limits():
    X = np.array([[1.0, 1.0], [2.0, 2.0]] * 20)
    model = LinearRegression(epsilon=0.1, bounds=(0, 10), target_bounds=(0, 10)).fit(X, X[:, 0])
    assert np.isfinite(model.coef_).all()
    assert model.intervals()["x0"] == (-inf, inf)


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows_and_a_constant_target_give_a_model(rows):
    X = np.ones((rows, 1))
    model = Ridge(epsilon=1, bounds=(0, 2), target_bounds=(0, 2)).fit(X, np.ones(rows))
    assert np.isfinite(model.predict([[1.0], [50.0]])).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target_bounds": None}, "target has no bounds"),
        ({"alpha": -1}, "`alpha` must be zero or more"),
        ({"features": ["x9"]}, "has no column"),
        ({"features": ["x0", "x0"]}, "different columns"),
        ({"features": ["target"]}, "different columns"),
        ({"delta": 0}, "needs a delta"),
    ],
)
def test_faults_are_found_before_the_charge(changed, message):
    model = Ridge(bounds=(0, 1), target_bounds=(0, 1)).set_params(**changed)
    with pytest.raises(InvalidParameter, match=message):
        model.fit(np.ones((5, 2)), np.ones(5))


def test_scores_are_charged_and_say_so():
    chance = np.random.default_rng(8)
    X = pa.table({"a": chance.uniform(0, 10, 3_000), "t": chance.choice(["x", "y"], 3_000)})
    y = 2 * np.array(X["a"]) + np.where(np.array(X["t"]) == "x", 0, 10)
    declared = {"bounds": {"a": (0, 10)}, "keys": {"t": ["x", "y"]}, "target_bounds": (0, 30)}
    model = Ridge(epsilon=2, **declared).fit(X, y)
    score = model.score(X, y, epsilon=1)
    assert 0.8 < score < 1.1
    assert "charged: epsilon 1" in repr(score)
    near = model.model_.as_cells(200).scores([X["a"].to_pylist(), X["t"].to_pylist()])[:, 0]
    assert np.allclose(np.clip(near, 0, 30), model.predict(X), atol=0.1)


def test_explain_says_what_is_released():
    model = Ridge(epsilon=1, delta=1e-6, bounds=(0, 1), target_bounds=(0, 1))
    shown = str(model.explain(np.ones((5, 2)), np.ones(5)))
    assert "one release of 16 products, standard deviation 16.9 rows each" in shown


def test_whole_fits_keep_their_claim(size):
    """A black-box audit of fits to neighbouring tables: it must find nothing."""
    fits = size(small=4, full=2_000, what="whole fits of a toy table")
    model = Ridge(epsilon=1, delta=1e-6, bounds=(0, 2), target_bounds=(0, 2))

    def fit(rows):
        X = np.array([[row % 3] for row in rows], dtype=float)
        model.fit(X, np.array([row // 3 for row in rows], dtype=float))
        return float(model.coef_[0]), model.intercept_

    before, after = (0, 1, 5, 5, 8), (0, 1, 5, 5)
    if fits < 100:  # an audit needs more calls
        assert len({fit(before) for _ in range(fits)}) == fits
        return
    verdict = audit.test(fit, [(before, after)], fit_loss(model), calls=fits)
    print(verdict)
    assert not verdict.violated


def fit_loss(model):
    """What a fit of the model costs."""
    return model.fit(np.ones((2, 1)), np.ones(2)).loss_


def test_too_many_terms_are_refused():
    with pytest.raises(InvalidParameter, match="AdditiveModel"):
        Ridge(bounds=(0, 1), target_bounds=(0, 1)).fit(np.ones((5, 60)), np.ones(5))


def test_a_model_that_is_not_fitted_says_so():
    for ask in (lambda: Ridge().predict([[1.0]]), Ridge().intervals):
        with pytest.raises(ValueError, match="not fitted"):  # scikit-learn's, if it is there
            ask()
    fitted = Ridge(bounds=(0, 1), target_bounds=(0, 1)).fit(np.ones((5, 2)), np.ones(5))
    with pytest.raises(InvalidParameter, match="expecting 2 features"):
        fitted.predict([[1.0]])
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        fitted.intervals(1.5)
