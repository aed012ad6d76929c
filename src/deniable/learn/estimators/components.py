"""Principal component analysis from one release of z z'."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole
from deniable.learn.estimators.moment_estimator import MomentEstimator
from deniable.learn.fit.place_models import AxesModel
from deniable.learn.fit.principal_axes import PrincipalAxes, eigenvalue_margin
from deniable.learn.measure.training import Training, TrainingRun
from deniable.learn.measure.training_data import TrainingData
from deniable.privacy import Loss

Matrix = NDArray[np.float64]


class PCA(MomentEstimator):
    """Principal components of numbers with declared bounds, from one release of all products.

    With d numbers scaled to [-1, 1] and the constant 1, K² is d + 1. With m rows a unit, one
    unit moves the release by K² m if it comes or goes, and by sqrt(2) K² m if it is replaced.
    Components are found in the columns' own units; with `scaled`, in units of half the declared
    range, so that no column counts more because of its unit.

    >>> chance = np.random.default_rng(1)
    >>> line = chance.uniform(-1, 1, size=(4_000, 1))
    >>> X = np.hstack([line, line]) * 10
    >>> model = PCA(1, epsilon=1, bounds=(-10, 10)).fit(X)
    >>> bool(np.abs(model.components_[0] @ [0.7071, 0.7071]) > 0.99)
    True
    """

    _has_target = False

    def __init__(
        self,
        n_components: int | None = None,
        *,
        scaled: bool = False,
        epsilon: Any = 1.0,
        delta: Any = None,
        bounds: Any = None,
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
            features=features,
            unit=unit,
            max_rows_per_unit=max_rows_per_unit,
            neighbors=neighbors,
            expected_rows=expected_rows,
            ledger=ledger,
            progress=progress,
        )
        self.n_components, self.scaled = n_components, scaled

    model_: AxesModel

    def numbers_only(self) -> bool:
        """Texts have no variance."""
        return True

    def prepare(self, data: TrainingData) -> Training:
        features = self.feature_roles(data.table, data.target)
        count = len(features) if self.n_components is None else self.n_components
        if not 1 <= whole(count, "n_components") <= len(features):
            raise InvalidParameter(
                "`n_components` must be between 1 and the number of features, "
                f"{len(features)}. Found {count}. Nothing was spent."
            )
        return self.check_terms(Training(data, features))

    def train(self, run: TrainingRun, loss: Loss) -> None:
        moments, terms = self.measure(run, loss)
        count = len(terms) if self.n_components is None else int(self.n_components)
        units = [1.0 if self.scaled else term.half for term in terms]
        axes = PrincipalAxes.fit(moments, count, units)
        margin = eigenvalue_margin(moments) / axes.rows
        self.adopt(AxesModel(tuple(terms), axes, bool(self.scaled), margin))

    def adopt(self, model: AxesModel) -> None:
        """Sets what was learnt."""
        self.model_, axes = model, model.axes
        self.set_terms(model.terms)
        self.components_, self.explained_variance_ = axes.axes, axes.variances
        self.explained_variance_ratio_, self.mean_ = axes.shares, model.mean
        self.n_components_, self.scaled_margin_ = len(axes.axes), model.margin

    def fit_transform(self, X: Any, y: Any = None) -> Matrix:
        """Trains on arrays or a frame, and returns the same rows transformed. These are exact
        rows: keep them where the raw ones are."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Matrix:
        """The coordinates of each row along the components."""
        columns = self.columns_of(X)
        return self.model_.coordinates(columns)

    def inverse_transform(self, X: Any) -> Matrix:
        """Rows from coordinates along the components."""
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_)
