"""Logistic regression when the outcome is a randomized answer.

With P(yes | x) = m(x) = 1 / (1 + exp(-x b)) a report is yes with probability
q + (p - q) m(x). The likelihood of the reports is maximised by Fisher scoring with halved
steps, and the errors come from the observed information: Scheers & Dayton, "Covariate
randomized response models", 1988. The covariates are not protected here. The outcome costs what
its design costs, and the fit costs nothing more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.html_tables import html_text
from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms.local.answers import read_answers
from deniable.surveys.estimate.among_respondents import YesNo

Vector = NDArray[Any]

_ROUNDS = 200
_STILL = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Coefficients of a logistic model, the constant first, with their errors.

    `converged` is false if the reports do not determine the coefficients. Then use more people
    or fewer covariates.
    """

    names: tuple[str, ...]
    coefficients: Vector
    covariance: Vector
    log_likelihood: float
    respondents: int
    converged: bool

    @property
    def standard_error(self) -> Vector:
        """The standard errors of the coefficients."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def p_value(self) -> Vector:
        """The p-value of each coefficient being 0, by the normal approximation."""
        from scipy.special import ndtr

        return np.asarray(2 * ndtr(-np.abs(self.coefficients / self.standard_error)))

    def interval(self, confidence: Number = 0.95) -> Vector:
        """One row (low, high) for each coefficient."""
        from scipy.special import ndtri

        z = float(ndtri((1 + float(confidence_level(confidence))) / 2))
        spread = np.outer(z * self.standard_error, (-1, 1))
        return np.asarray(self.coefficients[:, None] + spread)

    def predict(self, covariates: Any) -> Vector:
        """The share of true yeses at given covariates."""
        return _logistic(_with_constant(covariates) @ self.coefficients)

    def _repr_html_(self) -> str:
        return html_text(self)

    def __str__(self) -> str:
        return "\n".join(
            f"{name:>12}  {b:8.4f}  (standard error {e:.4f}, p-value {p:.2g})"
            for name, b, e, p in zip(
                self.names, self.coefficients, self.standard_error, self.p_value, strict=True
            )
        )


def logistic(
    design: YesNo, reports: Any, covariates: Any, *, names: Sequence[str] | None = None
) -> Regression:
    """Fits P(true answer is yes) to covariates: one row per person, one column per covariate.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> coins = RandomizedResponse(odds=3)
    >>> age = np.repeat([-1.0, 0.0, 1.0], 1000)
    >>> reports = np.concatenate([np.arange(1000) < yes for yes in (350, 450, 550)])
    >>> fit = logistic(coins, reports, age, names=["age"])
    >>> fit.names, fit.predict([[0.0]]).round(2).tolist()
    (('constant', 'age'), [0.39])
    """
    yes = read_answers(reports, 2).numbers.astype(float)
    x = _with_constant(covariates)
    if x.shape[0] != yes.size:
        raise InvalidData(
            f"There must be one row of covariates per report. Found {x.shape[0]} rows and "
            f"{yes.size} reports."
        )
    labels = ["constant", *(names or [f"x{i}" for i in range(1, x.shape[1])])]
    if len(labels) != x.shape[1]:
        raise InvalidParameter(
            f"`names` must name {x.shape[1] - 1} covariates. Found {len(labels) - 1}."
        )
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise InvalidData(
            "The covariates are linearly dependent (perhaps with the constant). Leave out the "
            "columns that follow from the others."
        )
    p, q = float(design.p), float(design.q)
    coefficients, converged = _climb(x, yes, p, q)
    covariance = np.linalg.pinv(_observed(x, yes, p, q, coefficients))
    converged = bool(converged and (np.diag(covariance) > 0).all())
    return Regression(
        names=tuple(labels),
        coefficients=coefficients,
        covariance=covariance,
        log_likelihood=_likelihood(x, yes, p, q, coefficients),
        respondents=yes.size,
        converged=converged,
    )


def _climb(x: Vector, yes: Vector, p: float, q: float) -> tuple[Vector, bool]:
    """Fisher scoring: a step is halved while it makes the likelihood smaller."""
    b = np.zeros(x.shape[1])
    likelihood = _likelihood(x, yes, p, q, b)
    for _ in range(_ROUNDS):
        m = _logistic(x @ b)
        rate, slope = q + (p - q) * m, (p - q) * m * (1 - m)
        score = x.T @ (slope * (yes - rate) / (rate * (1 - rate)))
        information = (x * (slope**2 / (rate * (1 - rate)))[:, None]).T @ x
        step = np.linalg.lstsq(information, score, rcond=None)[0]
        step *= min(1.0, 5.0 / max(1e-300, float(np.abs(step).max())))
        for _halving in range(40):
            next_likelihood = _likelihood(x, yes, p, q, b + step)
            if next_likelihood >= likelihood:
                break
            step /= 2
        b, gain, likelihood = b + step, next_likelihood - likelihood, next_likelihood
        if float(np.abs(step).max()) < _STILL or gain < _STILL * abs(likelihood) * 1e-3:
            return b, True
    return b, False


def _observed(x: Vector, yes: Vector, p: float, q: float, b: Vector) -> Vector:
    """The observed information: minus the second derivative of the log-likelihood."""
    m = _logistic(x @ b)
    rate, slope = q + (p - q) * m, (p - q) * m * (1 - m)
    bend = slope * (1 - 2 * m)
    pull = (yes - rate) / (rate * (1 - rate))
    curve = yes / rate**2 + (1 - yes) / (1 - rate) ** 2
    return np.asarray((x * (curve * slope**2 - pull * bend)[:, None]).T @ x)


def _likelihood(x: Vector, yes: Vector, p: float, q: float, b: Vector) -> float:
    rate = q + (p - q) * _logistic(x @ b)
    return float((yes * np.log(rate) + (1 - yes) * np.log1p(-rate)).sum())


def _logistic(score: Vector) -> Vector:
    from scipy.special import expit

    return np.asarray(expit(score))


def _with_constant(covariates: Any) -> Vector:
    x = np.asarray(covariates, dtype=float)
    if x.ndim == 1:
        x = x[:, None]
    if x.ndim != 2 or not np.isfinite(x).all():
        raise InvalidData(
            "Covariates must be finite numbers: one row per person, one column each."
        )
    return np.column_stack([np.ones(x.shape[0]), x])
