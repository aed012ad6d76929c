"""The robust slope: pure epsilon, right on clean rows, and unmoved by wild ones."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from deniable.errors import InvalidParameter
from deniable.learn.estimators.linear_regression import Ridge
from deniable.learn.estimators.robust_slope import RobustSlope
from deniable.ledger import MemoryLedger
from deniable.mechanisms import Quantiles
from deniable.privacy import PureLoss

BOUNDS = {"bounds": (0, 10), "target_bounds": (0, 60)}


def rows(wild, count=2_000):
    chance = np.random.default_rng(4)
    X = chance.uniform(0, 10, size=(count, 1))
    y = 3 * X[:, 0] + 5 + chance.normal(size=count)
    y[: int(wild * count)] = np.where(X[: int(wild * count), 0] > 5, 0.0, 60.0)
    return X, y


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_wild_rows_do_not_turn_the_line(neighbors):
    X, y = rows(0.2)
    robust = RobustSlope(epsilon=3, neighbors=neighbors, **BOUNDS).fit(X, y)
    ridge = Ridge(epsilon=3, neighbors=neighbors, **BOUNDS).fit(X, y)
    assert abs(robust.coef_[0] - 3) < 0.8
    assert abs(ridge.coef_[0] - 3) > 1.5
    assert robust.loss_ == PureLoss(3)
    assert np.allclose(robust.predict([[5.0]]), 20, atol=3)


FAR = [(0, 0), (1e6, 0), (1e6, -3e6), (-1e9, 1e9)]


@pytest.mark.parametrize(("right", "up"), FAR)
def test_the_line_is_the_same_far_from_zero(right, up):
    X, y = rows(0.0)
    bounds = {"bounds": (right, right + 10), "target_bounds": (up, up + 60)}
    model = RobustSlope(epsilon=9, **bounds).fit(X + right, y + up)
    assert abs(model.coef_[0] - 3) < 0.1
    assert np.abs(model.predict(X + right) - up - (3 * X[:, 0] + 5)).max() < 0.5


def test_a_narrow_feature_has_a_steep_line():
    X, y = rows(0.0)
    model = RobustSlope(epsilon=9, bounds=(5, 5.01), target_bounds=(0, 60))
    model.fit(X / 1000 + 5, y)
    assert abs(model.coef_[0] - 3000) < 100


def test_its_price_is_epsilon_and_every_step_is_a_median():
    X, y = rows(0.0, 500)
    model = RobustSlope(epsilon=2, **BOUNDS).fit(X, y)
    prices = [step.plan.epsilon for step in model.releases_]
    assert sum(prices) == 2
    assert prices[0] == Fraction(1, 4)
    for release in model.releases_:
        (choice,) = release.plan.choices
        assert isinstance(choice.mechanism, Quantiles)
    assert len(model.certificates_) == 6


def test_units_with_several_rows_are_bounded():
    X, y = rows(0.0, 400)
    table = {"x0": X[:, 0], "who": np.arange(400) // 4}
    model = RobustSlope(epsilon=4, unit="who", max_rows_per_unit=2, **_named()).fit(table, y)
    assert abs(model.coef_[0] - 3) < 1.5


def test_explain_names_the_medians():
    shown = RobustSlope(**BOUNDS).explain(np.ones((3, 1)), np.ones(3))
    assert "six medians" in str(shown)


def _named():
    return {"bounds": {"x0": (0, 10)}, "target_bounds": (0, 60)}


@pytest.mark.parametrize("count", [0, 1])
def test_few_rows_give_a_line(count):
    model = RobustSlope(epsilon=1, **BOUNDS).fit(np.ones((count, 1)), np.ones(count))
    assert np.isfinite(model.predict([[3.0], [99.0]])).all()


@pytest.mark.parametrize(
    ("changed", "width", "message"),
    [
        ({}, 2, "takes one feature"),
        ({"steepest": 0}, 1, "steepest"),
        ({"target_bounds": None}, 1, "no bounds"),
    ],
)
def test_faults_are_found_before_the_charge(changed, width, message):
    model = RobustSlope(**BOUNDS).set_params(**changed)
    with pytest.raises(InvalidParameter, match=message):
        model.fit(np.ones((5, width)), np.ones(5))


def test_its_score_is_charged_and_near_the_exact_one():
    X, y = rows(0.1)
    ledger = MemoryLedger(epsilon=9)
    model = RobustSlope(epsilon=4, ledger=ledger, **BOUNDS).fit(X, y)
    spent = ledger.remaining.epsilon
    score = model.score(X, y, epsilon=2)
    assert spent - ledger.remaining.epsilon == 2
    assert "charged: epsilon 2" in str(score)
    left = y - model.predict(X)
    exact = 1 - (np.clip(left, -30, 30) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert abs(score - exact) < 0.05
    assert str(model.score(X, y)).endswith("(charged: epsilon 0.4)")


def test_a_line_that_is_not_fitted_has_no_score():
    with pytest.raises(NotFittedError, match="not fitted"):
        RobustSlope(**BOUNDS).score(np.ones((3, 1)), np.ones(3))


@pytest.mark.parametrize(
    "declared",
    [
        {"bounds": (0, 1e-13)},
        {"target_bounds": (0, 1e13)},
        {"bounds": (-1e55, 1e55)},
        {"target_bounds": (0, 1e-55)},
        {"steepest": 1e25},
        {"steepest": 1e-25},
    ],
)
def test_what_could_not_be_written_later_is_refused_before_the_charge(declared):
    ledger = MemoryLedger(epsilon=1)
    with pytest.raises(InvalidParameter, match="Nothing was spent"):
        RobustSlope(**{**BOUNDS, **declared}, ledger=ledger).fit([[1.0]], [1.0])
    assert ledger.remaining.epsilon == 1


@pytest.mark.parametrize("declared", [{"bounds": (0, 2e-12)}, {"target_bounds": (0, 1e12)}])
def test_the_widest_and_the_narrowest_bounds_can_be_written(declared):
    declared = {**BOUNDS, **declared}
    X, y = (
        np.linspace(0, high, 50) for _, high in (declared["bounds"], declared["target_bounds"])
    )
    model = RobustSlope(epsilon=900, **declared).fit(X[:, None], y)
    assert model.coef_[0] == pytest.approx(y[-1] / X[-1], rel=0.1)
