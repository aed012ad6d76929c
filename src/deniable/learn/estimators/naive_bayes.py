"""Naive Bayes on cells, from one release of counts."""

from fractions import Fraction
from typing import ClassVar

from deniable.exact.rationals import positive
from deniable.learn.estimators.classifier import CellClassifier
from deniable.learn.fit.class_counts import bayes_model
from deniable.learn.fit.feature_cells import offsets_of
from deniable.learn.measure.training import TrainingRun
from deniable.privacy import GaussianLoss, Loss
from deniable.query.statements.row_integers import Plus, Ref, RowInteger, Times, Whole
from deniable.query.statements.step_statement import StepProgram


class NaiveBayes(CellClassifier):
    """Naive Bayes on cells: counts of each feature's cells in each class, released once.

    With D features and m rows a unit, one unit moves the counts by m sqrt(D) in L2 and m D in
    L1 if it comes or goes, and by m sqrt(2 D) and 2 m D if it is replaced. Without a delta (the
    default) the noise is Laplace and the guarantee is pure epsilon: the best choice for little
    budget.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]] * 500)
    >>> model = NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])
    >>> model.fit(X, X[:, 0].astype(int)).predict([[0.0], [1.0]]).tolist()
    [0, 1]
    """

    _delta: ClassVar[Fraction] = Fraction(0)

    def train(self, run: TrainingRun, loss: Loss) -> None:
        features, target = self.roles_of(run.training)
        program = count_by_class([role.size for role in features], target.size)
        price: dict[str, Fraction] = {"epsilon": positive(self.epsilon, "epsilon")}
        if isinstance(loss, GaussianLoss):
            price = {"mu_squared": loss.mu_squared}
        counts = run.step(program, "cells of features by class", **price)
        cells = tuple(role.cells for role in features)
        self.adopt(bayes_model(counts, cells, target.cells.labels))


def count_by_class(sizes: list[int], classes: int) -> StepProgram:
    """A row counts 1 at the place (cell, class) of each feature."""
    target = f"c{len(sizes)}"
    places: list[RowInteger] = []
    for i, first in enumerate(offsets_of([size * classes for size in sizes])):
        place: tuple[RowInteger, ...] = (Times(Ref(f"c{i}"), Whole(classes)), Ref(target))
        places.append(Plus((*place, Whole(first)) if first else place))
    return StepProgram((*sizes, classes), (), tuple(places), (Whole(1),))
