"""A robust line through one feature, by medians with inverse sensitivity.

A median is drawn with probability proportional to exp(-epsilon D / 2), where D is how many rows
must change for a value to be the median: the inverse sensitivity mechanism (Asi & Duchi,
"Instance-optimality in differential privacy via approximate inverse sensitivity mechanisms",
2020). Each row has one slope, that of the line through it and a released middle point. So one
row touches one slope. (All pairs of rows, as Theil and Sen take them, would be moved by one row
as often as there are rows.)
"""

from fractions import Fraction
from math import floor, log10
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import decimal_text, positive, rational
from deniable.learn.estimators.moment_estimator import MomentEstimator
from deniable.learn.estimators.scoring import ChargedScore, read_price, score_numbers
from deniable.learn.fit.linear_model import LineModel
from deniable.learn.measure.column_roles import GridRole, grid_role
from deniable.learn.measure.moment_step import code_terms
from deniable.learn.measure.training import Training, TrainingRun
from deniable.learn.measure.training_data import TrainingData
from deniable.privacy import Loss
from deniable.query.language import builder
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Named
from deniable.query.plan.quoting import quote_name

_MIDDLE = Fraction(1, 8)  # of epsilon: each of the two medians of the middle point
_ROUNDS = (Fraction(1, 8), Fraction(1, 4))  # of epsilon: each of the two medians of a round
_STEEPEST = 8  # times the target's range over the feature's
_LARGEST = Fraction(10**12)  # bound of a number, and the reciprocal of the least range
_DIGITS = 6  # of a released middle or slope, which is then written into the next question


class RobustSlope(MomentEstimator):
    """A line through one feature that a few wild rows cannot turn; pure epsilon.

    Six private medians: of the feature and of the target, then of the slopes of all rows from
    that middle point and of what the slope leaves over, and these two again from the point of
    the first line (the last two for a quarter of epsilon each, the others for an eighth). One
    of m rows a unit moves each rank by at most m, whether it is added, removed or replaced:
    that is the sensitivity of D. Slopes beyond `steepest` (in target units per feature unit)
    are clipped.

    >>> chance = np.random.default_rng(1)
    >>> X = chance.uniform(0, 10, size=(3_000, 1))
    >>> y = np.where(chance.random(3_000) < 0.1, 40.0, 3 * X[:, 0] + 5)
    >>> model = RobustSlope(epsilon=2, bounds=(0, 10), target_bounds=(0, 40)).fit(X, y)
    >>> bool(abs(model.coef_[0] - 3) < 0.2)
    True
    """

    _delta: ClassVar[Fraction] = Fraction(0)
    _estimator_type = "regressor"
    model_: LineModel

    def __init__(
        self,
        *,
        steepest: Any = None,
        epsilon: Any = 1.0,
        bounds: Any = None,
        target_bounds: Any = None,
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
            bounds=bounds,
            target_bounds=target_bounds,
            features=features,
            unit=unit,
            max_rows_per_unit=max_rows_per_unit,
            neighbors=neighbors,
            expected_rows=expected_rows,
            ledger=ledger,
            progress=progress,
        )
        self.steepest = steepest

    def numbers_only(self) -> bool:
        """A text has no slope."""
        return True

    def prepare(self, data: TrainingData) -> Training:
        if data.target is None:
            raise InvalidParameter(
                "RobustSlope requires y to be passed, but the target y is None. Give y, or the "
                "name of a `target` column. Nothing was spent."
            )
        target = grid_role(data.table, data.target)
        features = self.feature_roles(data.table, target.name)
        if len(features) != 1:
            raise InvalidParameter(
                f"RobustSlope takes one feature, and there are {len(features)}: name it with "
                "`features`, or use Ridge. Nothing was spent."
            )
        feature = features[0]
        assert isinstance(feature, GridRole)
        for role in (feature, target):
            _check_range(role)
        self._limit(feature, target)
        return Training(data, (feature, target))

    def describe(self, training: Training) -> list[str]:
        """The medians."""
        return ["six medians by inverse sensitivity: two for a quarter, four for an eighth"]

    def _limit(self, feature: GridRole, target: GridRole) -> Fraction:
        """The steepest slope."""
        if self.steepest is not None:
            given = positive(self.steepest, "steepest")
            if not 1 / _LARGEST**2 <= given <= _LARGEST**2:
                raise InvalidParameter(
                    f"`steepest` must be between 1e-24 and 1e24. Found {self.steepest}. "
                    "Nothing was spent."
                )
            return given
        rise, run = (role.step * (role.size - 1) for role in (target, feature))
        return _short(_STEEPEST * rise / run)

    def train(self, run: TrainingRun, loss: Loss) -> None:
        feature, target = run.training.roles
        assert isinstance(feature, GridRole)
        assert isinstance(target, GridRole)
        x, y = quote_name(feature.name), quote_name(target.name)
        price = positive(self.epsilon, "epsilon")
        wide, high = _width(feature), _width(target)
        middle_x = _short(self._median(run, x, price * _MIDDLE), wide)
        middle_y = _short(self._median(run, y, price * _MIDDLE), high)
        run.tell(1 / 3)
        most = decimal_text(self._limit(feature, target))
        for share in _ROUNDS:
            above = f"({y} - ({decimal_text(middle_y)}))"
            beside = f"({x} - ({decimal_text(middle_x)}))"
            steep = f"CLAMP({above} / NULLIF({beside}, 0), -{most}, {most})"
            slope = _short(self._median(run, steep, price * share))
            reach = decimal_text(_short(abs(slope) * wide + high) * 2)
            rest = f"CLAMP({above} - ({decimal_text(slope)}) * {beside}, -{reach}, {reach})"
            middle_y = _short(middle_y + self._median(run, rest, price * share), high)
        run.tell(1.0)
        terms = [own.term for own in code_terms(run.training.roles)]
        start = float(middle_y - slope * middle_x)
        self.adopt(LineModel((terms[0],), terms[1], np.array([float(slope)]), start))

    def _median(self, run: TrainingRun, expression: str, epsilon: Fraction) -> Fraction:
        """A private median; 0 if no row has a value."""
        data = run.training.data
        middle = Named("middle", builder.median(expression))
        question = Question(data.source, None, (), (middle,), nan_is_null=True)
        plan = data.session.plan(question, epsilon=epsilon, delta=0, brackets=False)
        release = run.run.release(data.session.rows.restrict(plan, data.session.policy))
        run.releases.append(release)
        return rational(release.to_arrow().to_pylist()[0]["middle"] or 0.0)

    def adopt(self, model: LineModel) -> None:
        """Sets what was learnt."""
        self.model_ = model
        self.set_terms(model.terms)
        self.coef_, self.intercept_ = model.coefficients, model.intercept

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The predicted number of each row, within the target's bounds."""
        return self.model_.predict(self.columns_of(X))

    def score(
        self, X: Any, y: Any = None, *, target: str | None = None, epsilon: Any = None
    ) -> ChargedScore:
        """R squared. It is charged: `epsilon`, or a tenth of the model's, and says so.

        The feature is cut into 32 intervals for it, and errors are clipped to half of the
        target's range. Wild rows count in it as all others do.
        """
        self.kinds_needed()
        price = read_price(epsilon, self.epsilon)
        data = self.open(X, y, target, price=price)
        return score_numbers(self.model_.as_cells(), data, price)


def _check_range(role: GridRole) -> None:
    """Refuses bounds with which a later step could not be written, after the charge."""
    ends = abs(role.low), abs(role.low + _width(role))
    if not (_width(role) >= 1 / _LARGEST and max(ends) <= 2 * _LARGEST):  # of the grid
        raise InvalidParameter(
            f"The bounds of {role.name} must be at least 1e-12 apart, and within -1e12 and "
            "1e12: a line is drawn between them. Give it in another unit. Nothing was spent."
        )


def _width(role: GridRole) -> Fraction:
    """How far apart the bounds are."""
    return role.step * (role.size - 1)


def _short(value: Fraction, width: Fraction | None = None) -> Fraction:
    """The number with few digits, so that it can be written into the next question: six that
    count, or as many as tell a millionth of `width` apart, however far from 0 it lies.

    >>> float(_short(Fraction(10_000_012_345_678, 10**7), Fraction(10)))
    1000001.23457
    """
    if width is None:
        return Fraction(f"{float(value):.{_DIGITS}g}")
    unit = Fraction(10) ** (floor(log10(width)) - _DIGITS)
    return round(value / unit) * unit
