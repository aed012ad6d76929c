"""Charged evaluation: a histogram in the engine, one charge, readings with intervals."""

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.rationals import decimal_text, positive
from deniable.learn.evaluation.class_table import ClassTable
from deniable.learn.evaluation.ratio_intervals import NoiseLaw
from deniable.learn.evaluation.score_histogram import ScoreHistogram
from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.noisy_sums import NoisySums
from deniable.learn.measure.column_roles import (
    CellRole,
    class_role,
    feature_role,
    grid_role,
    role_like,
)
from deniable.learn.measure.score_programs import (
    BINS,
    WEIGHT,
    class_table_program,
    error_program,
    score_histogram_program,
)
from deniable.learn.measure.training import Role, Training
from deniable.learn.measure.training_data import TrainingData
from deniable.privacy import PureLoss

SCORE_SHARE = Fraction(1, 10)  # of a model's epsilon, for its score


class ChargedScore(float):
    """A score, which is a float, and what it cost.

    >>> ChargedScore(0.5, "0.5", "epsilon 0.1")
    0.5 (charged: epsilon 0.1)
    """

    about: str
    cost: str

    def __new__(cls, value: float, about: str, cost: str) -> "ChargedScore":
        score = super().__new__(cls, value)
        score.about, score.cost = about, cost
        return score

    def __repr__(self) -> str:
        return f"{self.about} (charged: {self.cost})"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return ChargedScore, (float(self), self.about, self.cost)


def read_price(given: Any, own: Any) -> Fraction:
    """The epsilon of an evaluation: a tenth of the model's, unless given."""
    if given is not None:
        return positive(given, "epsilon")
    return positive(own, "epsilon") * SCORE_SHARE


def evaluate_classes(
    model: CellModel,
    data: TrainingData,
    epsilon: Fraction,
    *,
    group: str | None = None,
    bins: int = BINS,
) -> ScoreHistogram | ClassTable:
    """The histogram of scores by class, or with more than two classes the table of actual and
    predicted ones."""
    if data.target is None:
        raise InvalidParameter(
            "An evaluation needs y, or the name of a `target` column. Nothing was spent."
        )
    roles = [role_like(data.table, cells) for cells in model.features]
    roles.append(class_role(data.table, data.target, model.classes))
    groups: CellRole | None = None
    if group is not None:
        groups = feature_role(data.table, group)
        roles.append(groups)
    training = Training(data, roles)
    shown = (None,) if groups is None else groups.cells.labels
    classes = len(model.classes)
    if classes == 2:
        program = score_histogram_program(model, training.sizes, bins)
        sums = _release(training, program, "rows by class and score", epsilon)
        edges = tuple(i / bins for i in range(bins + 1))
        table = sums.column().astype(np.float64).reshape(len(shown), 2, bins)
        return ScoreHistogram(table, _law(sums), edges, shown, _pair(model.classes))
    program = class_table_program(model, training.sizes)
    sums = _release(training, program, "rows by class and prediction", epsilon)
    table = sums.column().astype(np.float64).reshape(len(shown), classes, classes)
    return ClassTable(table, _law(sums), model.classes, shown)


def explained_variance(
    model: CellModel, data: TrainingData, epsilon: Fraction
) -> tuple[float, float]:
    """R squared, and a rough margin of its noise; errors are clipped to half of the target's
    range, on a grid of 65 points. The target's spread counts as no less than the noise in it:
    divided by less, noise alone would be in the thousands. Noise may bring it above 1."""
    if data.target is None:
        raise InvalidParameter(
            "An evaluation needs y, or the name of a `target` column. Nothing was spent."
        )
    target = grid_role(data.table, data.target, 65)
    roles: list[Role] = [role_like(data.table, cells) for cells in model.features]
    roles.append(target)
    training = Training(data, roles)
    program = error_program(model, training.sizes, float(target.low), float(target.step))
    sums = _release(training, program, "errors of predictions", epsilon)
    rows, total, squares, errors = sums.values[0] / np.array([WEIGHT, 32, 1, 1])
    spread = max(squares - total**2 / max(rows, 1.0), sums.deviation, 1.0)
    return float(1 - errors / spread), 4 * sums.deviation / spread


def score_numbers(model: CellModel, data: TrainingData, price: Fraction) -> ChargedScore:
    """The charged R squared of a model, in words too. Ends a session of its own."""
    try:
        value, margin = explained_variance(model, data, price)
    finally:
        data.close()
    return ChargedScore(value, f"{value:.3f} ± {margin:.3f}", cost_of(price))


def _release(training: Training, program: Any, about: str, epsilon: Fraction) -> NoisySums:
    with training.reserve(PureLoss(epsilon), delta=Fraction(0)) as run:
        return run.step(program, about, epsilon=epsilon)


def _law(sums: NoisySums) -> NoiseLaw:
    return NoiseLaw(sqrt(sums.variance), "laplace")


def _pair(classes: tuple[Any, ...]) -> tuple[Any, Any]:
    first, second = classes
    return first, second


def cost_of(epsilon: Fraction) -> str:
    """The price in words."""
    return f"epsilon {decimal_text(epsilon)}"
