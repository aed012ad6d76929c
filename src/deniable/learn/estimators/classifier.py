"""Predictions of classes, from the tables of a fitted model on cells."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.learn.estimators.new_rows import check_width, matrix_width, read_rows
from deniable.learn.estimators.private_estimator import PrivateEstimator
from deniable.learn.estimators.scoring import (
    ChargedScore,
    cost_of,
    evaluate_classes,
    read_price,
)
from deniable.learn.evaluation.class_table import ClassTable
from deniable.learn.evaluation.score_histogram import ScoreHistogram
from deniable.learn.fit.cell_model import CellModel, Floats
from deniable.learn.measure.column_roles import CellRole, class_role, read_features
from deniable.learn.measure.training import Training
from deniable.learn.measure.training_data import TrainingData
from deniable.release.asking.builder_steps import BuiltQuestion


class CellEstimator(PrivateEstimator):
    """An estimator that ends as a `CellModel`, in `model_`."""

    model_: CellModel
    n_features_in_: int

    def kinds_needed(self) -> dict[str, str]:
        """The model's features and their kinds. Refuses a model that is not fitted."""
        if not hasattr(self, "model_"):
            raise not_fitted(self)
        return {feature.name: feature.kind for feature in self.model_.features}

    def columns_of(self, X: Any) -> list[Any]:
        """The values of the model's features, in its order."""
        return list(read_rows(X, self.kinds_needed(), self).values())

    def adopt(self, model: CellModel) -> None:
        """Sets what was learnt."""
        super().adopt(model)
        self.n_features_in_ = matrix_width(list(self.kinds_needed()))


class CellClassifier(CellEstimator):
    """A classifier on cells."""

    _estimator_type = "classifier"

    def prepare(self, data: TrainingData) -> Training:
        if data.target is None:
            raise InvalidParameter(
                f"{type(self).__name__} requires y to be passed, but the target y is None: "
                "give y, or the name of a `target` column. Nothing was spent."
            )
        target = class_role(data.table, data.target, self.classes)
        features = read_features(data.table, target.name, self.features, self.cuts)
        if target.size < 2:
            raise InvalidParameter(
                f"{target.name} has one class. A classifier needs two or more: declare all "
                "classes that can occur. Nothing was spent."
            )
        return Training(data, (*features, target))

    def adopt(self, model: CellModel) -> None:
        """Sets what was learnt."""
        super().adopt(model)
        self.classes_ = np.array(model.classes)

    @staticmethod
    def roles_of(training: Training) -> tuple[tuple[CellRole, ...], CellRole]:
        """The features and the target of a training."""
        roles = [role for role in training.roles if isinstance(role, CellRole)]
        return tuple(roles[:-1]), roles[-1]

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class of `classes_`, for each row."""
        columns = self.columns_of(X)
        return self.model_.probabilities(columns)

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of each probability."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Any) -> Floats:
        """The score of the second of two classes, or of each class."""
        columns = self.columns_of(X)
        scores = self.model_.scores(columns)
        if len(self.classes_) > 2:
            return scores
        return scores[:, -1] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        epsilon: Any = None,
        group: str | None = None,
    ) -> ScoreHistogram | ClassTable:
        """One noisy histogram of scores by class, and by the cells of a `group` column: from it
        follow accuracy, confusion, ROC, calibration and gaps between groups, with intervals.

        It is charged: `epsilon`, or a tenth of the model's. One unit of m rows moves it by m,
        and by 2 m if it is replaced.
        """
        self.kinds_needed()
        if not isinstance(X, BuiltQuestion):
            check_width(X, self)
        price = read_price(epsilon, self.epsilon)
        data = self.open(X, y, target, price=price)
        try:
            return evaluate_classes(self.model_, data, price, group=group)
        finally:
            data.close()

    def score(
        self, X: Any, y: Any = None, *, target: str | None = None, epsilon: Any = None
    ) -> ChargedScore:
        """The accuracy. It is charged, as `evaluate` is, and says so."""
        price = read_price(epsilon, self.epsilon)
        accuracy = self.evaluate(X, y, target=target, epsilon=price).accuracy()
        return ChargedScore(accuracy.value, str(accuracy), cost_of(price))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        columns = self.columns_of(X)
        return np.asarray(self.classes_[self.model_.probabilities(columns).argmax(axis=1)])


def not_fitted(estimator: PrivateEstimator) -> Exception:
    """The error of scikit-learn, if it is there, and ours otherwise."""
    message = f"This {type(estimator).__name__} is not fitted yet. Call fit() first."
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return InvalidParameter(message)
    error: Exception = NotFittedError(message)
    return error
