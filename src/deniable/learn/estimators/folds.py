"""Cross-validation that is charged: folds by a keyed hash, one sum of all that it costs.

scikit-learn's own splitters assign rows by their position or label, so that one row moves
others. A hash of the unit's id (or of a row's content, where rows are units) assigns each unit
by itself. A unit is then in all fits but one, and in one score.
"""

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.exact.rationals import decimal_text, positive
from deniable.learn.estimators.private_estimator import PrivateEstimator
from deniable.learn.estimators.scoring import ChargedScore, read_price
from deniable.learn.measure.array_columns import (
    declared_kinds,
    named_values,
    python_values,
    read_columns,
    written_alike,
)
from deniable.learn.measure.holding_out import split_folds
from deniable.learn.measure.training_data import take, take_target
from deniable.ledger.accounts import PartPath
from deniable.ledger.ledger import Remaining
from deniable.release.asking.builder_steps import BuiltQuestion

Rows = NDArray[np.int64]


class Folds:
    """Splits rows into folds by a keyed hash of the unit's id, or of the row's content.

    >>> folds = Folds(3, key="k")
    >>> parts = [test.tolist() for _, test in folds.split([[1.0], [2.0], [3.0], [4.0]])]
    >>> sorted(sum(parts, [])), folds.get_n_splits()
    ([0, 1, 2, 3], 3)
    """

    def __init__(self, n_splits: int = 5, *, key: str | None = None) -> None:
        if not isinstance(n_splits, int) or n_splits < 2:
            raise InvalidParameter(f"`n_splits` must be 2 or more. Found {n_splits!r}.")
        self.n_splits = n_splits
        self.key = secrets.token_hex(16) if key is None else key

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return self.n_splits

    def assign(self, X: Any, y: Any = None, groups: Any = None) -> Rows:
        """The fold of each row: a function of its unit's id alone, or of its content."""
        if groups is not None:
            ids = [repr(written_alike(identity)) for identity in python_values(groups)]
        else:
            columns = [python_values(column) for column in named_values(X).values()]
            if y is not None:
                columns.append(python_values(y))
            if len({len(column) for column in columns}) > 1:
                raise InvalidParameter("X and y have different numbers of rows.")
            ids = [repr(tuple(map(written_alike, row))) for row in zip(*columns, strict=True)]
        secret = hashlib.sha256(self.key.encode()).digest()
        return np.array([_hash(identity, secret) % self.n_splits for identity in ids], np.int64)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """For each fold, the rows to train on and the rows to be tested on."""
        fold = self.assign(X, y, groups)
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def __repr__(self) -> str:
        return f"Folds({self.n_splits})"


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The scores of all folds, and what they cost together."""

    scores: tuple[ChargedScore, ...]
    estimators: tuple[PrivateEstimator, ...]
    epsilon: Fraction
    about: str
    delta: Fraction = Fraction(0)

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores))

    def __str__(self) -> str:
        shown = ", ".join(f"{float(score):.3f}" for score in self.scores)
        return f"{self.mean:.3f} ({shown})\n{self.about}"

    __repr__ = __str__


def cross_validate(
    estimator: PrivateEstimator,
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    cv: Any = None,
    groups: Any = None,
    score_epsilon: Any = None,
) -> CrossValidation:
    """Fits and scores once for each fold, charged to the estimator's ledger; or to a session's,
    on `session.table(...)` with the name of a `target`.

    With K folds each unit is in K - 1 fits and one score, and that is the charge. Under replace
    K fits and two scores are charged. `cv` is a `Folds`, or under replace, where rows are the
    units of arrays, a plain KFold.

    >>> import deniable as dp
    >>> X = np.array([[0.0], [1.0]] * 500)
    >>> ledger = dp.MemoryLedger(epsilon=3)
    >>> model = dp.learn.NaiveBayes(epsilon=0.5, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    >>> score = cross_validate(model, X, X[:, 0].astype(int), cv=dp.learn.Folds(4))
    >>> print(score.about)
    4 folds: 3 fits at epsilon 0.5 and 1 score at epsilon 0.05, together epsilon 1.55.
    """
    splitter = Folds() if cv is None else cv
    if isinstance(X, BuiltQuestion):
        _check_table_request(estimator, splitter, y, target, groups)
        return _validate_on_table(estimator, X, target, splitter, score_epsilon)
    _check_request(estimator, target, groups)
    _check_splitter(splitter, estimator)
    return _validate_on_arrays(estimator, X, y, (splitter, groups), score_epsilon)


def _validate_on_arrays(
    estimator: PrivateEstimator, X: Any, y: Any, how: tuple[Any, Any], score_epsilon: Any
) -> CrossValidation:
    """The folds of arrays or a frame, by a splitter and maybe by given groups."""
    splitter, groups = how
    if estimator.unit is not None:
        groups = _units(X, estimator)
    price = read_price(score_epsilon, estimator.epsilon)
    splits = list(splitter.split(X, y, groups))
    facts = estimator.neighbors, estimator.given_delta()
    total, about = _add_up(estimator, len(splits), price, *facts)
    assert estimator.ledger is not None
    _check_budget(estimator.ledger.remaining, total, about)
    replaced, word = estimator.neighbors == "replace", secrets.token_hex(8)
    scores: list[ChargedScore] = []
    fitted: list[PrivateEstimator] = []
    for place, (train, test) in enumerate(splits):
        model: Any = estimator.__sklearn_clone__()
        others = tuple(other for other in range(len(splits)) if other != place)
        model.charged_parts = () if replaced else _paths(word, others)
        model.fit(*_rows(estimator, X, y, train))
        model.charged_parts = _paths(word, (place,))
        scores.append(model.score(*_rows(estimator, X, y, test), epsilon=price))
        model.charged_parts = ()
        fitted.append(model)
    return CrossValidation(tuple(scores), tuple(fitted), total[0], about, total[1])


def _validate_on_table(
    estimator: PrivateEstimator,
    table: BuiltQuestion,
    target: str | None,
    folds: Folds,
    score_epsilon: Any,
) -> CrossValidation:
    """The folds of a protected table, as parts that its ledger knows."""
    price = read_price(score_epsilon, estimator.epsilon)
    parts, paths = split_folds(table, folds.n_splits, folds.key)
    data = estimator.open(table, None, target)
    replaced = data.table.neighbors == "replace"
    facts = data.table.neighbors, estimator.read_delta(data)
    total, about = _add_up(estimator, len(parts), price, *facts)
    _check_budget(data.session.remaining, total, about)
    scores: list[ChargedScore] = []
    fitted: list[PrivateEstimator] = []
    for place, (train, test) in enumerate(parts):
        model: Any = estimator.__sklearn_clone__()
        others = tuple(path for path in paths if path != paths[place])
        model.charged_parts = () if replaced else others
        model.fit(train, target=target)
        model.charged_parts = (paths[place],)
        scores.append(model.score(test, target=target, epsilon=price))
        model.charged_parts = ()
        fitted.append(model)
    return CrossValidation(tuple(scores), tuple(fitted), total[0], about, total[1])


def _rows(estimator: PrivateEstimator, X: Any, y: Any, rows: Rows) -> tuple[Any, Any]:
    """Some rows, read as the estimator reads them."""
    features = take(X, rows, estimator.keys, estimator.unit)
    return features, take_target(y, rows, estimator.classes)


def _units(X: Any, estimator: PrivateEstimator) -> list[Any]:
    """The unit of each row, as the engine will read it."""
    columns = read_columns(X, declared_kinds(estimator.keys), estimator.unit)
    unit = str(estimator.unit)
    matches = [values for name, values in columns.items() if name.lower() == unit.lower()]
    if len(matches) != 1:
        raise InvalidParameter(
            f"X has no column {unit!r}, which is the unit. Nothing was spent."
        )
    return list(matches[0].to_pylist())


def _add_up(
    estimator: PrivateEstimator, count: int, price: Fraction, neighbors: str, delta: Fraction
) -> tuple[tuple[Fraction, Fraction], str]:
    """What all folds cost together, in epsilon and delta, and the same in words."""
    own = positive(estimator.epsilon, "epsilon")
    fits, times = (count, 2) if neighbors == "replace" else (count - 1, 1)
    total = fits * own + times * price, fits * delta
    each, whole = (
        f" and delta {decimal_text(amount)}" if amount else "" for amount in (delta, total[1])
    )
    return total, (
        f"{count} folds: {fits} fits at epsilon {decimal_text(own)}{each} and {times} "
        f"score{'s' * (times > 1)} at epsilon {decimal_text(price)}, together epsilon "
        f"{decimal_text(total[0])}{whole}."
    )


def _paths(word: str, folds: tuple[int, ...]) -> tuple[PartPath, ...]:
    """The folds as parts that the ledger knows. A row that is replaced may be in two of them:
    the ledger then adds up the two dearest."""
    return tuple(((f"folds#{word}", str(fold)),) for fold in folds)


def _check_budget(left: Remaining, total: tuple[Fraction, Fraction], about: str) -> None:
    if left.epsilon < total[0] or left.delta < total[1]:
        raise BudgetExhausted(
            f"{about} Left: {left}. Take fewer folds, or a smaller epsilon and delta. Nothing "
            "was spent."
        )


def _check_table_request(
    estimator: PrivateEstimator, splitter: Any, y: Any, target: str | None, groups: Any
) -> None:
    _check_scored(estimator)
    if y is not None or target is None or groups is not None or type(splitter) is not Folds:
        raise InvalidParameter(
            "A protected table takes the name of a `target`, and folds by its own units: "
            "cross_validate(model, session.table(...), target=..., cv=dp.learn.Folds(5)), "
            "without y and `groups`. Nothing was spent."
        )


def _check_scored(estimator: PrivateEstimator) -> None:
    if not hasattr(estimator, "score"):
        raise InvalidParameter(
            f"{type(estimator).__name__} has no score, so it cannot be cross-validated. "
            "Nothing was spent."
        )


def _check_request(estimator: PrivateEstimator, target: str | None, groups: Any) -> None:
    _check_scored(estimator)
    if target is not None:
        raise InvalidParameter(
            "Arrays and frames take y; a `target` is of a protected table. Nothing was spent."
        )
    if groups is not None and estimator.unit is not None:
        raise InvalidParameter(
            f"The unit {estimator.unit} decides the fold of each row: other `groups` would put "
            "the rows of one unit into several folds. Leave them out. Nothing was spent."
        )
    if estimator.ledger is None:
        raise InvalidParameter(
            "Cross-validation fits several clones, which pay from one ledger: give it one, for "
            "example ledger=dp.MemoryLedger(epsilon=3, delta=1e-5). Nothing was spent."
        )


def _check_splitter(splitter: Any, estimator: PrivateEstimator) -> None:
    if type(splitter) is Folds:
        return
    rows = estimator.neighbors == "replace" and estimator.unit is None
    if rows and _is_plain(splitter):
        return
    raise InvalidParameter(
        f"{type(splitter).__name__} assigns rows by their position or label, so that one row "
        "moves others from fold to fold. Use dp.learn.Folds, which hashes the unit's id; plain "
        'KFold is accepted with neighbors="replace" only, where rows are the units. Nothing '
        "was spent."
    )


def _is_plain(splitter: Any) -> bool:
    """Whether a splitter is scikit-learn's KFold itself, which then looks at no value."""
    try:
        from sklearn.model_selection import KFold
    except ImportError:
        return False
    return type(splitter) is KFold and not splitter.shuffle


def _hash(text: str, secret: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), key=secret, digest_size=8).digest())
