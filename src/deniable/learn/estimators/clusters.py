"""k-means by steps of noisy counts and sums."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole
from deniable.learn.estimators.moment_estimator import MomentEstimator
from deniable.learn.fit.cluster_steps import count_weight, public_start
from deniable.learn.fit.place_models import CentreModel
from deniable.learn.measure.cluster_program import cluster_program, read_step
from deniable.learn.measure.moment_step import SCALE, code_terms
from deniable.learn.measure.training import Training, TrainingRun
from deniable.learn.measure.training_data import TrainingData
from deniable.privacy import GaussianLoss, Loss

Matrix = NDArray[np.float64]
_MOST_CLUSTERS, _MOST_STEPS = 50, 20


class KMeans(MomentEstimator):
    """k-means of numbers with declared bounds, in a fixed number of steps from a public start.

    Numbers are scaled to [-1, 1]. In a step a row adds a weight w and its d scaled numbers, in
    whole steps of at most B² together, to its nearest centre. With m rows a unit, one unit
    moves a step by m sqrt(w² + B²) if it comes or goes, and by
    m sqrt(max(2 (w² + B²), 4 B²)) if it is replaced. Each of the `steps` gets the same share of
    the price. The start is spread evenly over the box, so it does not depend on a row.

    >>> chance = np.random.default_rng(1)
    >>> X = np.concatenate([chance.normal(own, 0.3, (3_000, 2)) for own in (2, 8)])
    >>> model = KMeans(2, epsilon=1, bounds=(0, 10)).fit(X)
    >>> sorted(model.cluster_centers_[:, 0].round().tolist())
    [2.0, 8.0]
    """

    _has_target = False

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        steps: int | None = None,
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
        self.n_clusters, self.steps = n_clusters, steps

    model_: CentreModel

    def numbers_only(self) -> bool:
        """Texts have no distances."""
        return True

    def prepare(self, data: TrainingData) -> Training:
        count = whole(self.n_clusters, "n_clusters")
        steps = 1 if self.steps is None else whole(self.steps, "steps")
        if not (1 <= count <= _MOST_CLUSTERS and 1 <= steps <= _MOST_STEPS):
            raise InvalidParameter(
                f"`n_clusters` must be between 1 and {_MOST_CLUSTERS}, and `steps` between 1 "
                f"and {_MOST_STEPS}. Found {self.n_clusters} and {self.steps}. Nothing was "
                "spent."
            )
        return Training(data, self.feature_roles(data.table, data.target))

    def describe(self, training: Training) -> list[str]:
        """The steps, and the noise of each."""
        loss = self.loss_for(training.data)
        assert isinstance(loss, GaussianLoss)
        coded = code_terms(training.roles)
        reaches = [SCALE] * len(coded)
        weight, steps = count_weight(reaches), self._count_steps(training, loss)
        start = public_start(int(self.n_clusters), reaches)
        program = cluster_program(training.sizes, coded, start, weight)
        far = training.deviation(program, Fraction(loss.mu_squared) / steps) / weight
        return [
            f"{steps} steps from a public start, {self.n_clusters} centres",
            f"standard deviation {far:,.1f} rows in the count of a centre",
        ]

    def _count_steps(self, training: Training, loss: GaussianLoss) -> int:
        """5 steps, or 7 where noise is far below the rows of a cluster."""
        if self.steps is not None:
            return int(self.steps)
        rows = self.rows_for(training.data) / int(self.n_clusters)
        return 7 if float(loss.mu_squared) ** 0.5 * rows > 500 else 5

    def train(self, run: TrainingRun, loss: Loss) -> None:
        assert isinstance(loss, GaussianLoss)
        coded = code_terms(run.training.roles)
        reaches = [SCALE] * len(coded)
        weight = count_weight(reaches)
        centres = public_start(int(self.n_clusters), reaches)
        steps = self._count_steps(run.training, loss)
        price = Fraction(loss.mu_squared) / steps
        for number in range(steps):
            program = cluster_program(run.training.sizes, coded, centres, weight)
            sums = run.step(program, f"step {number + 1} of k-means", mu_squared=price)
            centres = read_step(sums, weight).move(np.rint(centres), reaches)
            run.tell((number + 1) / steps)
        terms = tuple(own.term for own in coded)
        self.adopt(CentreModel(terms, centres / SCALE))
        self.n_iter_ = steps

    def adopt(self, model: CentreModel) -> None:
        """Sets what was learnt."""
        self.model_, self.cluster_centers_ = model, model.centres_in_units
        self.set_terms(model.terms)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The number of the nearest centre of each row, in scaled units."""
        columns = self.columns_of(X)
        return self.model_.nearest(columns)

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Trains on arrays or a frame, and returns the cluster of each of these rows. That is
        exact: keep it where the raw rows are."""
        return self.fit(X).predict(X)

    def fit_transform(self, X: Any, y: Any = None) -> Matrix:
        """Trains on arrays or a frame, and returns the same rows transformed. These are exact
        rows: keep them where the raw ones are."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Matrix:
        """The distance of each row to each centre, in scaled units."""
        columns = self.columns_of(X)
        return self.model_.distances(columns)
