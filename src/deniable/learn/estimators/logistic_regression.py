"""Logistic regression on cells, by a few full steps."""

from fractions import Fraction
from math import sqrt

import numpy as np

from deniable.learn.estimators.classifier import CellClassifier
from deniable.learn.estimators.naive_bayes import count_by_class
from deniable.learn.fit.cell_model import Link
from deniable.learn.fit.score_tables import ScoreTables, first_scores, newton_steps
from deniable.learn.measure.residual_programs import SCALE, class_residuals, step_at_cells
from deniable.learn.measure.training import Training, TrainingRun
from deniable.privacy import GaussianLoss, Loss

COUNTS = Fraction(1, 5)  # of mu squared, for the counts of cells by class
_MOMENTUM, _RATE, _DAMPING = 0.9, 0.7, 1.5


def count_steps(mu: float, rows: int) -> int:
    """How many steps: few where the noise is large against the rows.

    >>> count_steps(0.2367, 40_000), count_steps(0.0275, 40_000)
    (10, 5)
    """
    return 10 if mu * sqrt(rows) >= 15 else 5


class LogisticRegression(CellClassifier):
    """Logistic regression on cells: each cell of each feature has a coefficient.

    A fifth of the budget counts cells by class, as `NaiveBayes` does; from there full gradient
    steps with momentum lead on, and the mean of the later half is the model. With D features
    and m rows a unit, one unit moves a step by 2**15 m sqrt(D + 1) if it comes or goes, and by
    2**16 m sqrt(D + 1) if it is replaced (residuals are in units of 2**-15). Several classes
    are learnt one against the rest, which makes it sqrt(classes) as much.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]] * 5000)
    >>> model = LogisticRegression(epsilon=1, delta=1e-6, bounds=(0, 1), classes=[0, 1])
    >>> model.fit(X, X[:, 0].astype(int)).predict([[0.0], [1.0]]).tolist()
    [0, 1]
    """

    def describe(self, training: Training) -> list[str]:
        loss = self.loss_for(training.data)
        assert isinstance(loss, GaussianLoss)
        steps = count_steps(sqrt(loss.mu_squared), self.rows_for(training.data))
        return [f"a fifth counts cells by class, the rest pays for {steps} steps"]

    def train(self, run: TrainingRun, loss: Loss) -> None:
        assert isinstance(loss, GaussianLoss)
        features, target = self.roles_of(run.training)
        columns, classes = run.training.sizes, target.size
        price = loss.mu_squared
        counted = count_by_class([role.size for role in features], classes)
        counts = run.step(counted, "cells of features by class", mu_squared=price * COUNTS)
        scores = first_scores(counts, columns[:-1], classes)
        steps = count_steps(sqrt(price), self.rows_for(run.training.data))
        share = price * (1 - COUNTS) / steps
        descent = _Descent(scores, len(features))
        for step in range(steps):
            levels = class_residuals(scores.whole_tables(), f"c{len(features)}", classes)
            program = step_at_cells(columns, len(features), levels)
            sums = run.step(program, f"residuals, step {step + 1}", mu_squared=share)
            descent.move(sums.values / SCALE, sums.deviation / SCALE)
            run.tell((step + 1) / steps)
        link: Link = "sigmoid" if classes == 2 else "one-against-rest"
        cells = [role.cells for role in features]
        self.adopt(descent.mean().to_model(cells, link, target.cells.labels))


class _Descent:
    """Gradient steps with momentum, damped by the noise."""

    def __init__(self, scores: ScoreTables, features: int) -> None:
        self.scores, self.rate = scores, _RATE / features
        self.speed = np.zeros((len(scores.tables) + 1, scores.tables.shape[1]))
        self.path: list[tuple[np.ndarray, np.ndarray]] = []

    def move(self, residuals: np.ndarray, deviation: float) -> None:
        """One step; the last place holds the residuals of all rows."""
        scores = self.scores
        weights = np.append(scores.weights, scores.total)
        noise = _DAMPING * deviation
        self.speed = _MOMENTUM * self.speed + newton_steps(
            residuals, weights, rate=self.rate, noise=noise
        )
        scores.tables = scores.tables + self.speed[:-1]
        scores.intercept = scores.intercept + self.speed[-1]
        self.path.append((scores.tables, scores.intercept))

    def mean(self) -> ScoreTables:
        """The mean of the later half of the path."""
        later = self.path[len(self.path) // 2 :]
        scores = self.scores
        scores.tables = np.mean([tables for tables, _ in later], axis=0)
        scores.intercept = np.mean([intercept for _, intercept in later], axis=0)
        return scores
