"""The additive model: private explainable boosting (after Nori et al. 2021)."""

from collections.abc import Callable
from fractions import Fraction
from math import sqrt

import numpy as np

from deniable.learn.estimators.classifier import CellClassifier
from deniable.learn.estimators.naive_bayes import count_by_class
from deniable.learn.fit.cell_model import Link
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.score_tables import (
    ScoreTables,
    draw_leaves,
    first_scores,
    newton_steps,
)
from deniable.learn.measure.residual_programs import (
    SCALE,
    Levels,
    class_residuals,
    step_at_leaves,
)
from deniable.learn.measure.training import Training, TrainingRun
from deniable.privacy import GaussianLoss, Loss

COUNTS = Fraction(1, 5)  # of mu squared, for the first counts
ROUNDS, LEAVES, DAMPING = 5, 8, 2.0
_SEED = 20210613  # leaves are public: the same for everybody


class AdditiveModel(CellClassifier):
    """A sum of one function for each feature, which can be drawn, compared and edited.

    A fifth of the budget counts cells by class. Then each feature in turn gets a step, five
    times: its cells are put into at most eight leaves, which are drawn without data, and the
    residuals of each leaf are added up. With m rows a unit, one unit moves a step by 2**15 m if
    it comes or goes, and by 2**16 m if it is replaced: in the same leaf, with the sign flipped.
    Several classes are learnt one against the rest: sqrt(classes) as much.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]] * 5000)
    >>> model = AdditiveModel(epsilon=1, delta=1e-6, bounds=(0, 1), classes=[0, 1])
    >>> model.fit(X, X[:, 0].astype(int)).predict([[0.0], [1.0]]).tolist()
    [0, 1]
    """

    def describe(self, training: Training) -> list[str]:
        steps = ROUNDS * (len(training.roles) - 1)
        return [f"a fifth counts cells by class, the rest pays for {steps} steps"]

    def train(self, run: TrainingRun, loss: Loss) -> None:
        assert isinstance(loss, GaussianLoss)
        features, target = self.roles_of(run.training)
        classes, price = target.size, loss.mu_squared
        counted = count_by_class([role.size for role in features], classes)
        counts = run.step(counted, "cells of features by class", mu_squared=price * COUNTS)
        scores = first_scores(counts, run.training.sizes[:-1], classes)
        cells = [role.cells for role in features]

        def residuals() -> Levels:
            return class_residuals(scores.whole_tables(), f"c{len(features)}", classes)

        boost(run, cells, scores, residuals, price * (1 - COUNTS), 1 / SCALE, 0.2)
        link: Link = "sigmoid" if classes == 2 else "one-against-rest"
        self.adopt(scores.to_model(cells, link, target.cells.labels))


def step_rate(features: int) -> float:
    """How far a step goes towards the minimum: less with many features, which share what they
    explain.

    >>> step_rate(2), round(step_rate(14), 2)
    (0.5, 0.2)
    """
    return min(0.5, 0.75 / sqrt(features))


def boost(
    run: TrainingRun,
    features: list[FeatureCells],
    scores: ScoreTables,
    residuals: Callable[[], Levels],
    price: Fraction,
    unit: float,
    curve: float,
) -> None:
    """All rounds over all features. `unit` is what a whole number of a residual stands for, and
    `curve` how fast residuals fall as a score grows."""
    chance = np.random.default_rng(_SEED)
    share, rate = price / (ROUNDS * len(features)), step_rate(len(features))
    done = 0
    for _ in range(ROUNDS):
        for i, feature in enumerate(features):
            leaves = draw_leaves(feature.size, LEAVES, bool(feature.cuts), chance)
            program = step_at_leaves(run.training.sizes, i, tuple(leaves.tolist()), residuals())
            sums = run.step(program, f"residuals by {feature.name}", mu_squared=share)
            weights = np.bincount(leaves, weights=scores.weights[scores.part(i)]).astype(
                np.float64
            )
            steps = newton_steps(
                (sums.values * unit).astype(np.float64),
                weights,
                rate=rate,
                noise=DAMPING * sums.deviation * unit,
                curve=curve,
            )
            scores.tables[scores.part(i)] += steps[leaves]
            done += 1
            run.tell(done / (ROUNDS * len(features)))
