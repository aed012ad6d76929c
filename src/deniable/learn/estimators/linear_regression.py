"""Linear and ridge regression from one release of z z'."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import rational
from deniable.learn.estimators.moment_estimator import MomentEstimator
from deniable.learn.estimators.scoring import ChargedScore, read_price, score_numbers
from deniable.learn.fit.linear_fit import LinearFit, default_penalty
from deniable.learn.fit.linear_model import LinearModel
from deniable.learn.measure.column_roles import grid_role
from deniable.learn.measure.training import Training, TrainingRun
from deniable.learn.measure.training_data import TrainingData
from deniable.privacy import Loss


class _LinearEstimator(MomentEstimator):
    """Predicts a number with declared bounds as a sum of terms."""

    _estimator_type = "regressor"
    model_: LinearModel

    def prepare(self, data: TrainingData) -> Training:
        if data.target is None:
            raise InvalidParameter(
                f"{type(self).__name__} requires y to be passed, but the target y is None. "
                "Give y, or the name of a `target` column. Nothing was spent."
            )
        self._penalty(0.0)
        target = grid_role(data.table, data.target)
        features = self.feature_roles(data.table, target.name)
        return self.check_terms(Training(data, (*features, target)))

    def _penalty(self, usual: float) -> float:
        raise NotImplementedError

    def train(self, run: TrainingRun, loss: Loss) -> None:
        moments, terms = self.measure(run, loss)
        penalty = self._penalty(default_penalty(moments))
        least = 0.0 if penalty else default_penalty(moments)
        fit = LinearFit(moments, (0.0, *[penalty] * (len(terms) - 1)), least)
        self.adopt(LinearModel.of(fit, terms[:-1], terms[-1]))

    def adopt(self, model: LinearModel) -> None:
        """Sets what was learnt."""
        self.model_ = model
        self.set_terms(model.terms)
        self.coef_, self.intercept_ = model.coefficients, model.intercept
        self.alpha_ = max(model.fit.penalties)
        self.feature_names_ = tuple(term.name for term in model.terms)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row, within the target's bounds."""
        columns = self.columns_of(X)
        return self.model_.predict(columns)

    def score(
        self, X: Any, y: Any = None, *, target: str | None = None, epsilon: Any = None
    ) -> ChargedScore:
        """R squared. It is charged: `epsilon`, or a tenth of the model's, and says so.

        Numbers are cut into 32 intervals for it, and errors are clipped to half of the
        target's range.
        """
        self.kinds_needed()
        price = read_price(epsilon, self.epsilon)
        data = self.open(X, y, target, price=price)
        return score_numbers(self.model_.as_cells(), data, price)

    def intervals(
        self, confidence: float = 0.95, *, together: bool = False
    ) -> dict[str, tuple[float, float]]:
        """An interval for each coefficient and the intercept, by the name of its term.

        It contains the coefficient that the same regression, with the same penalty, has on the
        exact table (clipped and rounded to the grid). With `together`, all coefficients'
        intervals hold at once. Where noise is as large as the data, an interval may be
        unbounded. How sure one may be about people outside of the table is another question.
        """
        if not 0 < confidence < 1:
            raise InvalidParameter(f"`confidence` must be between 0 and 1. Found {confidence}.")
        self.kinds_needed()
        return self.model_.intervals(confidence, together=together)


class Ridge(_LinearEstimator):
    """Ridge regression: penalized least squares, from one release of all products of two terms.

    Terms are numbers scaled to [-1, 1] by their declared bounds, and one for each key of a text
    but the first. K² is the number of terms, with the constant and the target: the sum of their
    largest squares. With m rows a unit, one unit moves the release by K² m if it comes or goes,
    and by sqrt(2) K² m if it is replaced. `alpha` is the penalty on scaled
    coefficients, in rows; without it, it follows from the noise alone.

    >>> chance = np.random.default_rng(1)
    >>> X = chance.uniform(0, 10, size=(5_000, 1))
    >>> model = Ridge(epsilon=1, bounds=(0, 10), target_bounds=(0, 40))
    >>> slope = model.fit(X, 3 * X[:, 0] + 5).coef_[0]
    >>> low, high = model.intervals()["x0"]
    >>> bool(low <= slope <= high)
    True
    """

    def __init__(
        self,
        *,
        alpha: Any = None,
        epsilon: Any = 1.0,
        delta: Any = None,
        bounds: Any = None,
        target_bounds: Any = None,
        keys: Any = None,
        features: Any = None,
        unit: str | None = None,
        max_rows_per_unit: int = 1,
        neighbors: str = "add-remove",
        expected_rows: int | None = None,
        ledger: Any = None,
        progress: Any = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            bounds=bounds,
            target_bounds=target_bounds,
            keys=keys,
            features=features,
            unit=unit,
            max_rows_per_unit=max_rows_per_unit,
            neighbors=neighbors,
            expected_rows=expected_rows,
            ledger=ledger,
            progress=progress,
        )
        self.alpha = alpha

    def _penalty(self, usual: float) -> float:
        if self.alpha is None:
            return usual
        if (given := rational(self.alpha, "alpha")) < 0:
            raise InvalidParameter(f"`alpha` must be zero or more. Found {self.alpha}.")
        return float(given)


class LinearRegression(_LinearEstimator):
    """Least squares without a penalty, from one release of all products of two terms.

    The release is that of `Ridge`: one unit moves it by K² m, or by sqrt(2) K² m if it is
    replaced. Eigenvalues below the noise are raised to it, so that a solution exists. With few
    rows or many terms, `Ridge` is better, and its intervals are bounded.

    >>> chance = np.random.default_rng(1)
    >>> X = chance.uniform(0, 10, size=(5_000, 1))
    >>> model = LinearRegression(epsilon=1, bounds=(0, 10), target_bounds=(0, 40))
    >>> bool(abs(model.fit(X, 3 * X[:, 0] + 5).coef_[0] - 3) < 0.5)
    True
    """

    def _penalty(self, usual: float) -> float:
        return 0.0
