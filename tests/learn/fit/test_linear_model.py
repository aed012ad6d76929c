"""A model in the units of the table says the same as the fit on scaled terms."""

import numpy as np
import pytest

from deniable.learn.fit.linear_fit import LinearFit
from deniable.learn.fit.linear_model import LinearModel
from deniable.learn.fit.noisy_moments import NoisyMoments
from deniable.learn.fit.scaled_terms import ScaledTerm

AGE, PAY = ScaledTerm("age", 50.0, 50.0), ScaledTerm("pay", 3_000.0, 3_000.0)


@pytest.fixture(name="fit")
def _fit():
    chance = np.random.default_rng(1)
    ages = chance.uniform(0, 100, 500)
    pay = np.clip(1_000 + 20 * ages, 0, 6_000)
    rows = np.column_stack([np.ones(500), ages / 50 - 1, pay / 3_000 - 1])
    return LinearFit(NoisyMoments(rows.T @ rows, 1.0), (0.0, 0.0))


def test_units_are_those_of_the_columns(fit):
    model = LinearModel.of(fit, [AGE], PAY)
    assert model.coefficients == pytest.approx([20.0])
    assert model.intercept == pytest.approx(1_000.0)
    assert model.predict({"age": [10, 1_000]}) == pytest.approx([1_200.0, 3_000.0])


def test_intervals_have_the_same_units(fit):
    intervals = LinearModel.of(fit, [AGE], PAY).intervals()
    low, high = intervals["age"]
    assert low < 20.0 < high < 25.0
    low, high = intervals["intercept"]
    assert low < 1_000 < high
    wide = LinearModel.of(fit, [AGE], PAY).intervals(together=True)
    assert wide["age"][1] > intervals["age"][1]
