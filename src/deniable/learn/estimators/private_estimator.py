"""What all private estimators share: parameters, data, one charge, scikit-learn's manner."""

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from deniable.errors import InvalidParameter, SplitterWarning
from deniable.exact.rationals import decimal_text, positive, rational
from deniable.exact.suggestions import suggest
from deniable.learn.estimators.model_seals import SealedModel
from deniable.learn.estimators.pipelines import warn_of_steps_ahead
from deniable.learn.measure.training import Progress, Training, TrainingRun
from deniable.learn.measure.training_data import TrainingData, from_arrays, protected
from deniable.ledger.accounts import PartPath
from deniable.ledger.ledger import Ledger
from deniable.ledger.run_requests import RunRequest
from deniable.privacy import GaussianLoss, Loss, PureLoss
from deniable.query.planner.explain import Branch
from deniable.release.asking.builder_steps import BuiltQuestion
from deniable.release.session.release import Release

_ROWS = 10_000  # that are expected, if nothing is declared


def gaussian_loss(epsilon: Fraction, delta: Fraction) -> GaussianLoss:
    """The Gaussian loss for which a ledger charges a run at most (epsilon, delta). A ledger
    rounds up, so that a loss which is worth epsilon may be charged a little more.

    >>> float(gaussian_loss(Fraction(1), Fraction(1, 10**6)).epsilon(1e-6)) <= 1
    True
    """
    loss = GaussianLoss.calibrated(epsilon=epsilon, delta=delta)
    shrink = Fraction(1, 1 << 50)
    while RunRequest.of_loss(loss, tables=("*",), delta=delta).epsilon > epsilon:
        loss = GaussianLoss(mu_squared=loss.mu_squared * (1 - shrink))
        shrink *= 2
    return loss


class PrivateEstimator(ABC):
    """A model that is trained with differential privacy, in one charge.

    `epsilon` and `delta` are its price. `bounds` (one pair for all numbers, or one for each
    column), `keys` and `classes` declare what is public about arrays and frames; a protected
    table has its own declarations. `cuts` says where the cells of numbers begin. `unit` names
    the column that identifies the privacy unit, of which at most `max_rows_per_unit` rows
    count. With a `ledger`, each fit is charged to it, and so are the fits of all clones.
    """

    _delta: ClassVar[Fraction] = Fraction(1, 10**6)  # unless given
    _has_target: ClassVar[bool] = True  # if not, y is ignored, as in scikit-learn
    charged_parts: tuple[PartPath, ...] = ()  # of the ledger, in a cross-validation
    signed_: tuple[Any, ...]  # certificates that were read from a file
    seal_: str | None  # the signature over the model's numbers; None without certificates

    def __init__(
        self,
        *,
        epsilon: Any = 1.0,
        delta: Any = None,
        bounds: Any = None,
        keys: Mapping[str, Sequence[Any]] | None = None,
        classes: Sequence[Any] | None = None,
        target_bounds: tuple[Any, Any] | None = None,
        features: Sequence[str] | None = None,
        cuts: Mapping[str, Sequence[Any]] | None = None,
        unit: str | None = None,
        max_rows_per_unit: int = 1,
        neighbors: str = "add-remove",
        expected_rows: int | None = None,
        ledger: Ledger | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.bounds, self.keys, self.classes = bounds, keys, classes
        self.target_bounds, self.features, self.cuts = target_bounds, features, cuts
        self.unit, self.max_rows_per_unit = unit, max_rows_per_unit
        self.neighbors, self.expected_rows = neighbors, expected_rows
        self.ledger, self.progress = ledger, progress

    # What a subclass defines.

    @abstractmethod
    def prepare(self, data: TrainingData) -> Training:
        """The columns of the training as whole numbers. Every fault of the request is found
        here, before anything is charged."""

    def adopt(self, model: Any) -> None:
        """Sets what was learnt, from a fitted model: after training, or from a file."""
        self.model_ = model

    @abstractmethod
    def train(self, run: TrainingRun, loss: Loss) -> None:
        """Asks for the steps of the training, and sets what was learnt."""

    # What it gets.

    def fit(self, X: Any, y: Any = None, *, target: str | None = None) -> Self:
        """Trains on arrays or a frame, or on `session.table(...)` with the name of a `target`.

        The whole price is charged once, before a row is read.
        """
        data = self.open(X, y, target)
        try:
            self._warn_of_splitters(data)
            if data.own:
                warn_of_steps_ahead(self)
            training = self.prepare(data)
            loss = self.loss_for(data)
            with training.reserve(
                loss, delta=self.read_delta(data), progress=self.progress
            ) as run:
                self.train(run, loss)
            self.loss_, self.releases_ = loss, tuple(run.releases)
            self.price_ = positive(self.epsilon, "epsilon"), self.read_delta(data)
            self.neighbors_: str = data.table.neighbors
            if data.own:  # a matrix to predict is as wide, whatever its features are
                self.n_features_in_ = len(data.table.columns) - (data.target is not None)
            signed = self.certificates_
            self.seal_ = SealedModel.of(self).sign(data.session.ledger) if signed else None
        finally:
            data.close()
        return self

    def explain(self, X: Any, y: Any = None, *, target: str | None = None) -> Branch:
        """What a fit would measure and cost. Nothing is spent, and no row is read.

        >>> import deniable as dp
        >>> model = dp.learn.NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])
        >>> print(model.explain([[0.0], [1.0]], [0, 1]))
        NaiveBayes on data at epsilon 1, delta 0, in one charge
        ├── x0: 35 cells
        ├── target: 2 cells
        └── one row counts with at most 1 row (add-remove)
        """
        data = self.open(X, y, target)
        try:
            training, _ = self.prepare(data), self.loss_for(data)
            delta = self.read_delta(data)
        finally:
            data.close()
        price = f"epsilon {decimal_text(rational(self.epsilon))}, delta {decimal_text(delta)}"
        title = f"{type(self).__name__} on {data.table.name} at {price}, in one charge"
        rows = training.planner.max_rows_per_unit
        lines = [f"{role.name}: {role.size} cells" for role in training.roles]
        lines += self.describe(training)
        who = data.table.unit or "row"
        several = f"{rows} row{'s' * (rows > 1)}"
        lines.append(f"one {who} counts with at most {several} ({data.table.neighbors})")
        return Branch(title, tuple(map(Branch, lines)))

    def describe(self, training: Training) -> list[str]:
        """What else is known before a training, such as its steps."""
        return []

    def open(
        self, X: Any, y: Any, target: str | None, *, price: Fraction | None = None
    ) -> TrainingData:
        """The data: a protected table, or a session about arrays, whose whole budget is the
        model's price, or the pure `price` of a score."""
        if isinstance(X, BuiltQuestion):
            if y is not None:
                raise InvalidParameter("A protected table takes the name of a `target`, no y.")
            data = protected(X, target)
            self._check_declared(data)
            return replace(data, paths=self.charged_parts)
        if getattr(self, "_is_clone", False) and self.ledger is None:
            raise InvalidParameter(
                "This estimator is a clone, and has no ledger: each would pay for itself, and "
                "nothing would add up. Give the original a ledger, for example "
                "ledger=dp.MemoryLedger(epsilon=3, delta=1e-5). Nothing was spent."
            )
        declared = {
            "bounds": self.bounds,
            "keys": self.keys,
            "unit": self.unit,
            "neighbors": self.neighbors,
            "expected_rows": self.expected_rows,
        }
        if self.unit is not None:
            declared["max_rows_per_unit_per_group"] = self.max_rows_per_unit
        given = {name: fact for name, fact in declared.items() if fact is not None}
        budget = (price, Fraction(0))
        if price is None:
            budget = (positive(self.epsilon, "epsilon"), self.given_delta())
        return from_arrays(
            X,
            y if self._has_target else None,
            budget=budget,
            ledger=self.ledger,
            declared=given,
            bounds=self.target_bounds,
            classes=self.classes,
            paths=self.charged_parts,
        )

    def _check_declared(self, data: TrainingData) -> None:
        """Refuses what contradicts a protected table, which has its own declarations."""
        unit, other = self.unit, data.table.unit
        if unit is not None and (other is None or unit.lower() != other.lower()):
            declaration, why = (
                f"unit={unit!r}",
                f"{data.table.name} has {other or 'rows as units'}",
            )
        elif self.neighbors not in ("add-remove", data.table.neighbors) and not hasattr(
            self, "signed_"
        ):
            declaration, why = (
                f"neighbors={self.neighbors!r}",
                f"here it is {data.table.neighbors}",
            )
        elif self.ledger is not None and self.ledger is not data.session.ledger:
            declaration, why = "`ledger`", "the session charges its own"
        else:
            return
        raise InvalidParameter(
            f"The estimator declares {declaration}, but {why}: a protected table has its own "
            "declarations. Leave it out of the estimator. Nothing was spent."
        )

    def _warn_of_splitters(self, data: TrainingData) -> None:
        """Says that loops of other libraries may choose rows by those of other units."""
        clone = getattr(self, "_is_clone", False) and not self.charged_parts
        if clone and data.own and self.neighbors == "add-remove":
            warnings.warn(
                "This is a clone. If a loop such as cross_val_score fits it, its splitter must "
                "be dp.learn.Folds: any other lets one row move others from fold to fold, and "
                "under add-remove the guarantee does not hold. dp.learn.cross_validate checks "
                "it. With `scoring`, such a loop computes exact scores of raw rows, uncharged.",
                SplitterWarning,
                stacklevel=3,
            )

    def given_delta(self) -> Fraction:
        """The delta of a fit on arrays."""
        return self._delta if self.delta is None else rational(self.delta, "delta")

    def read_delta(self, data: TrainingData) -> Fraction:
        """The delta of the price."""
        if self.delta is None and not data.own and self._delta:
            return data.session.policy.delta / 100
        return self.given_delta()

    def loss_for(self, data: TrainingData) -> Loss:
        """The loss that is reserved: Gaussian with a delta, else pure."""
        epsilon, delta = positive(self.epsilon, "epsilon"), self.read_delta(data)
        if delta == 0 and self._delta:
            raise InvalidParameter(
                "Steps of a training get Gaussian noise, which needs a delta above 0. Give the "
                "budget a delta, such as 1e-6, or name one with `delta`. Nothing was spent."
            )
        if delta == 0:
            return PureLoss(epsilon)
        return gaussian_loss(epsilon, delta)

    def rows_for(self, data: TrainingData) -> int:
        """How many rows are expected, which is public."""
        declared = self.expected_rows or data.table.expected_rows
        return int(declared or _ROWS)

    # The manner of scikit-learn.

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Self:
        """Changes parameters of the constructor."""
        for name, value in params.items():
            if name not in self._parameters():
                hint = suggest(name, self._parameters(), "They are")
                raise InvalidParameter(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. {hint}"
                )
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        """A copy that is not fitted, with the same ledger: all clones pay from one budget."""
        clone = type(self)(**self.get_params())
        clone._is_clone = True  # type: ignore[attr-defined]
        return clone

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks about an estimator: its kind, and that fits differ."""
        from sklearn.utils import (
            ClassifierTags,
            InputTags,
            RegressorTags,
            Tags,
            TargetTags,
            TransformerTags,
        )

        kind = getattr(self, "_estimator_type", None)
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=kind in ("classifier", "regressor")),
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(allow_nan=True, string=True, categorical=True),
            non_deterministic=True,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = {
            name: value
            for name, value in self.get_params().items()
            if value is not defaults[name].default and value != defaults[name].default
        }
        inside = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return f"{type(self).__name__}({inside})"

    @property
    def certificates_(self) -> tuple[Any, ...]:
        """The certificates of all steps; none of a rehearsal."""
        releases: tuple[Release, ...] | None = getattr(self, "releases_", None)
        if releases is None:  # it was read from a file, and not trained since
            return tuple(self.signed_)
        return tuple(
            release.certificate for release in releases if release.certificate is not None
        )
