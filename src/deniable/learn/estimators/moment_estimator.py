"""What estimators share that are fitted from z z': numbers with bounds, texts with keys."""

from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.learn.estimators.classifier import not_fitted
from deniable.learn.estimators.new_rows import matrix_width, read_rows
from deniable.learn.estimators.private_estimator import PrivateEstimator
from deniable.learn.fit.noisy_moments import NoisyMoments
from deniable.learn.fit.scaled_terms import ScaledTerm
from deniable.learn.measure.column_roles import (
    CellRole,
    GridRole,
    feature_role,
    grid_role,
    read_features,
)
from deniable.learn.measure.moment_step import (
    SCALE,
    code_terms,
    moment_program,
    read_moments,
)
from deniable.learn.measure.training import Training, TrainingRun
from deniable.learn.measure.training_data import TrainingData
from deniable.policy import Table
from deniable.privacy import GaussianLoss, Loss


class MomentEstimator(PrivateEstimator):
    """An estimator on scaled terms. Numbers are rounded to a grid within their bounds; a text
    is one term for each declared key but the first. Rows in which a number is NULL do not
    count."""

    terms_: tuple[ScaledTerm, ...]
    n_features_in_: int

    def open(
        self, X: Any, y: Any, target: str | None, *, price: Fraction | None = None
    ) -> TrainingData:
        """The data; the target of arrays gets its bounds from `target_bounds`."""
        if self._has_target and y is not None and self.target_bounds is None:
            raise InvalidParameter(
                "The target has no bounds: one person could change a sum by any amount. Give "
                "them, for example target_bounds=(0, 100). Nothing was spent."
            )
        return super().open(X, y, target, price=price)

    def numbers_only(self) -> bool:
        """Whether texts are refused."""
        return False

    def feature_roles(self, table: Table, target: str | None) -> list[CellRole | GridRole]:
        """A grid for each number, cells for each other column."""
        names = self.features
        if names is None:
            taken = {
                column_name.lower()
                for column_name in (table.unit, target)
                if column_name is not None
            }
            names = [name for name in table.columns if name.lower() not in taken]
        numbers = {
            name.lower()
            for name, column in table.columns.items()
            if column.kind == "number" and not isinstance(column.keys, tuple)
        }
        texts = [name for name in names if name.lower() not in numbers]
        if texts and self.numbers_only():
            raise InvalidParameter(
                f"{type(self).__name__} takes numbers with declared bounds, and {texts[0]} is "
                "none. Name the numbers with `features`. Nothing was spent."
            )
        if len(texts) == len(names):
            return list(read_features(table, target, names))
        roles: list[CellRole | GridRole] = [
            grid_role(table, name) if name.lower() in numbers else feature_role(table, name)
            for name in names
        ]
        known = [role.name for role in roles]
        if len(set(known)) < len(known) or target in known:
            raise InvalidParameter(
                f"`features` names different columns, without the target. Found {names!r}. "
                "Nothing was spent."
            )
        return roles

    def measure(self, run: TrainingRun, loss: Loss) -> tuple[NoisyMoments, list[ScaledTerm]]:
        """The noisy moments of (1, terms), for the whole price."""
        assert isinstance(loss, GaussianLoss)
        coded = code_terms(run.training.roles)
        program = moment_program(run.training.sizes, coded)
        sums = run.step(program, "sums of products of terms", mu_squared=loss.mu_squared)
        return read_moments(sums), [own.term for own in coded]

    def describe(self, training: Training) -> list[str]:
        """The one release, and its noise."""
        loss = self.loss_for(training.data)
        assert isinstance(loss, GaussianLoss)
        program = moment_program(training.sizes, code_terms(training.roles))
        far = training.deviation(program, loss.mu_squared) / SCALE**2
        count = len(program.values)
        return [f"one release of {count} products, standard deviation {far:,.1f} rows each"]

    def check_terms(self, training: Training) -> Training:
        """The training, if its terms are not too many."""
        moment_program(training.sizes, code_terms(training.roles))
        return training

    def set_terms(self, terms: tuple[ScaledTerm, ...]) -> None:
        """Sets the terms of what was learnt, and how wide a matrix with them is."""
        self.terms_ = terms
        self.n_features_in_ = matrix_width(list(self.kinds_needed()))

    def kinds_needed(self) -> dict[str, str]:
        """The columns of the terms and their kinds. Refuses a model that is not fitted."""
        if not hasattr(self, "terms_"):
            raise not_fitted(self)
        return {
            term.column: "number" if term.cells is None else term.cells.kind
            for term in self.terms_
        }

    def columns_of(self, X: Any) -> dict[str, list[Any]]:
        """The values of each column that the terms need."""
        return read_rows(X, self.kinds_needed(), self)
