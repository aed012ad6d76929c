import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import uniform_below
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import logistic
from deniable.surveys.estimate.regression import _likelihood, _observed

COINS = RandomizedResponse(odds=3)
TRUTH = np.array([-0.8, 0.9, -0.5])
SPREAD = 1 << 40


def people(n):
    """Covariates and true answers that follow the model."""
    x = np.column_stack([uniform_below(SPREAD, n) / SPREAD * 4 - 2, uniform_below(2, n)])
    chance = 1 / (1 + np.exp(-(TRUTH[0] + x @ TRUTH[1:])))
    return x, uniform_below(SPREAD, n) < chance * SPREAD


@pytest.mark.parametrize("design", [COINS, RandomizedResponse.channel(0.2, 0.7)])
def test_coefficients_are_recovered(design):
    x, answers = people(200_000)
    fit = logistic(design, design.randomize(answers), x, names=["age", "club"])
    assert fit.converged
    assert fit.names == ("constant", "age", "club")
    assert (np.abs(fit.coefficients - TRUTH) < 7 * fit.standard_error).all()
    assert fit.standard_error.max() < 0.05
    low, high = fit.interval(1 - 1e-9).T
    assert ((low < TRUTH) & (high > TRUTH)).all()
    assert (fit.p_value < 1e-9).all()
    assert "age" in str(fit)


def test_errors_are_as_stated_and_as_theory_has_them(size):
    fits = size(small=200, full=5000, what="regressions of 2,000 people")
    design = RandomizedResponse(odds=19)
    errors, stated = [], []
    for _ in range(fits):
        x, answers = people(2000)
        fit = logistic(design, design.randomize(answers), x)
        errors.append((fit.coefficients - TRUTH) ** 2)
        stated.append(fit.standard_error**2)
    # The standard deviation of the ratio is 10 % at 200 fits, 2 % at 5,000.
    within = 0.1 if fits >= 5000 else 0.6
    mse = np.mean(errors, axis=0)
    assert mse / np.mean(stated, axis=0) == pytest.approx(np.ones(3), abs=within)
    assert mse / fisher(design, 2000) == pytest.approx(np.ones(3), abs=within)


def fisher(design, n):
    """What theory says the squared errors of n people are: the inverse of the information."""
    p, q = float(design.p), float(design.q)
    line = np.linspace(-2, 2, 4001)
    x = np.column_stack([np.ones(8002), np.tile(line, 2), np.repeat([0.0, 1.0], 4001)])
    share = 1 / (1 + np.exp(-(x @ TRUTH)))
    rate = q + (p - q) * share
    weight = ((p - q) * share * (1 - share)) ** 2 / (rate * (1 - rate))
    return np.diag(np.linalg.inv((x * weight[:, None]).T @ x / len(x))) / n


def test_plain_answers_would_be_attenuated():
    x, answers = people(50_000)
    reports = COINS.randomize(answers)
    naive = logistic(RandomizedResponse(odds=10**9), reports, x)
    assert abs(naive.coefficients[1]) < 0.7 * TRUTH[1]


def test_the_information_is_the_curvature():
    x, answers = people(500)
    x, yes, b = (
        np.column_stack([np.ones(500), x]),
        answers.astype(float),
        np.array([0.1, 0.2, -0.3]),
    )
    step = 1e-4
    for i in range(3):
        for j in range(3):
            e, f = np.eye(3)[i] * step, np.eye(3)[j] * step
            bend = sum(
                sign * _likelihood(x, yes, 0.75, 0.25, b + move)
                for sign, move in ((1, e + f), (-1, e - f), (-1, f - e), (1, -e - f))
            ) / (4 * step**2)
            assert _observed(x, yes, 0.75, 0.25, b)[i, j] == pytest.approx(
                -bend, rel=1e-3, abs=1e-2
            )


def test_bad_data_is_refused():
    with pytest.raises(InvalidData, match="one row"):
        logistic(COINS, [1, 0, 1], [[1.0], [2.0]])
    with pytest.raises(InvalidData, match="linearly dependent"):
        logistic(COINS, [1, 0, 1], [[1.0], [1.0], [1.0]])
    with pytest.raises(InvalidData, match="finite"):
        logistic(COINS, [1, 0], [[1.0], [float("nan")]])
    with pytest.raises(InvalidParameter, match="names"):
        logistic(COINS, [1, 0, 1], [1.0, 2.0, 4.0], names=["a", "b"])
