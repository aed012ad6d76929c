"""The additive model for numbers: residuals are clipped to a public range."""

from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.learn.estimators.additive_model import COUNTS, boost
from deniable.learn.estimators.classifier import CellEstimator
from deniable.learn.estimators.scoring import ChargedScore, read_price, score_numbers
from deniable.learn.fit.cell_model import CellModel, Floats
from deniable.learn.fit.feature_cells import offsets_of
from deniable.learn.fit.number_scores import first_numbers
from deniable.learn.measure.column_roles import CellRole, GridRole, grid_role, read_features
from deniable.learn.measure.residual_programs import Levels, number_residual
from deniable.learn.measure.training import Training, TrainingRun
from deniable.learn.measure.training_data import TrainingData
from deniable.privacy import GaussianLoss, Loss
from deniable.query.statements.row_integers import Plus, Ref, RowInteger, Whole
from deniable.query.statements.step_statement import StepProgram

_POINTS = 1024  # of the target's grid
_CLIP = 4  # residuals are clipped to this part of the target's range


class AdditiveRegressor(CellEstimator):
    """A number as a sum of one function for each feature.

    The target is put on a grid of about 1,024 points within its bounds. A fifth of the budget
    counts rows and adds up the target in each cell, so that residuals start from private means
    and not from the target itself. Then residuals, clipped to R, a quarter of the range, are
    added up as `AdditiveModel` does. With m rows a unit, one unit moves a step by R m if it
    comes or goes, and by 2 R m if it is replaced.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]] * 5000)
    >>> model = AdditiveRegressor(
    ...     epsilon=1, delta=1e-6, bounds=(0, 1), target_bounds=(100, 110)
    ... )
    >>> [round(number) for number in model.fit(X, 102 + 5 * X[:, 0]).predict([[0.0], [1.0]])]
    [102, 107]
    """

    _estimator_type = "regressor"

    def prepare(self, data: TrainingData) -> Training:
        if data.target is None:
            raise InvalidParameter(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "give y, or the name of a `target` column. Nothing was spent."
            )
        target = grid_role(data.table, data.target, _POINTS)
        features = read_features(data.table, target.name, self.features, self.cuts)
        return Training(data, (*features, target))

    def train(self, run: TrainingRun, loss: Loss) -> None:
        assert isinstance(loss, GaussianLoss)
        features = [role for role in run.training.roles if isinstance(role, CellRole)]
        target = run.training.roles[-1]
        assert isinstance(target, GridRole)
        highest, name = target.size - 1, f"c{len(features)}"
        middle, clip = max(1, highest // 2), max(1, highest // _CLIP)
        counted = sum_by_cell(run.training.sizes, middle)
        price = loss.mu_squared
        sums = run.step(counted, "rows and sums of the target", mu_squared=price * COUNTS)
        scores = first_numbers(sums, run.training.sizes[:-1], weight=middle, middle=middle)

        def residuals() -> Levels:
            whole = scores.whole_tables(unit=1, most=2 * highest)
            return number_residual(whole, name, highest, clip)

        cells = [role.cells for role in features]
        boost(run, cells, scores, residuals, price * (1 - COUNTS), 1.0, 1.0)
        self.adopt(_in_target_units(scores.to_model(cells, "identity"), target))

    def score(
        self, X: Any, y: Any = None, *, target: str | None = None, epsilon: Any = None
    ) -> ChargedScore:
        """R squared. It is charged: `epsilon`, or a tenth of the model's, and says so. Errors
        are clipped to half of the target's range."""
        self.kinds_needed()
        price = read_price(epsilon, self.epsilon)
        return score_numbers(self.model_, self.open(X, y, target, price=price), price)

    def predict(self, X: Any) -> Floats:
        """The expected number of each row."""
        columns = self.columns_of(X)
        return self.model_.scores(columns)[:, 0]


def sum_by_cell(columns: tuple[int, ...], middle: int) -> StepProgram:
    """At each cell of each feature: `middle` for each row, and the target less `middle`. A row
    adds a vector of at most sqrt(2) middle."""
    features = len(columns) - 1
    places: list[RowInteger] = [
        Plus((Ref(f"c{i}"), Whole(first))) if first else Ref(f"c{i}")
        for i, first in enumerate(offsets_of(columns[:-1]))
    ]
    above = Plus((Ref(f"c{features}"), Whole(-middle)))
    return StepProgram(columns, (), tuple(places), (Whole(middle), above))


def _in_target_units(model: CellModel, target: GridRole) -> CellModel:
    step, low = float(target.step), float(target.low)
    tables = tuple(table * step for table in model.tables)
    return CellModel(
        model.features, tables, np.asarray(model.intercept * step + low), "identity"
    )
