"""A model on cells: a table of scores for each feature, which are added up.

Every estimator on cells ends as one of these: naive Bayes, logistic regression and the additive
model differ in how the tables are found. The tables are released numbers: they can be drawn,
compared, edited and written down, at no cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.learn.fit.feature_cells import FeatureCells, Label

Link: TypeAlias = Literal["sigmoid", "one-against-rest", "softmax", "identity"]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CellModel:
    """The score of a row is `intercept` plus the entry of its cell in each feature's table.

    "sigmoid": one score, the logit of the second of two classes. "one-against-rest": one logit
    for each class. "softmax": one logarithm of a probability for each class. "identity": the
    predicted number.

    >>> sex = FeatureCells("sex", "text", ("f", "m", None))
    >>> model = CellModel(
    ...     (sex,), (np.array([[1.0], [-1.0], [0.0]]),), np.zeros(1), "sigmoid", ("no", "yes")
    ... )
    >>> model.probabilities([["f", "m"]]).round(3).tolist()
    [[0.269, 0.731], [0.731, 0.269]]
    """

    features: tuple[FeatureCells, ...]
    tables: tuple[Floats, ...] = field(compare=False)  # (cells, scores) each
    intercept: Floats = field(compare=False)
    link: Link
    classes: tuple[Label, ...] = ()

    def codes(self, columns: Sequence[Any]) -> tuple[NDArray[np.int64], ...]:
        """The cells of each feature's values."""
        pairs = zip(self.features, columns, strict=True)
        return tuple(feature.codes(values) for feature, values in pairs)

    def scores(self, columns: Sequence[Any]) -> Floats:
        """The scores of each row."""
        codes = self.codes(columns)
        total = np.repeat(self.intercept[None, :], len(codes[0]), axis=0)
        for table, code in zip(self.tables, codes, strict=True):
            total = total + table[code]
        return total

    def probabilities(self, columns: Sequence[Any]) -> Floats:
        """The probability of each class, for each row."""
        return to_probabilities(self.scores(columns), self.link)


def sigmoid(logit: Floats) -> Floats:
    """1 / (1 + exp(-logit)), without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(logit / 2)))


def to_probabilities(scores: Floats, link: Link) -> Floats:
    """Scores as probabilities of classes.

    >>> to_probabilities(np.array([[0.0]]), "sigmoid").tolist()
    [[0.5, 0.5]]
    """
    if link == "sigmoid":
        second = sigmoid(scores[:, 0])
        return np.stack([1 - second, second], axis=1)
    if link == "softmax":
        grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    else:
        grown = np.maximum(sigmoid(scores), 1e-12)
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))
