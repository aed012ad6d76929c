"""Naive Bayes from noisy counts of cells by class."""

from collections.abc import Sequence

import numpy as np

from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.feature_cells import FeatureCells, Label, offsets_of
from deniable.learn.fit.noisy_sums import NoisySums


def bayes_model(
    counts: NoisySums, features: Sequence[FeatureCells], classes: tuple[Label, ...]
) -> CellModel:
    """The model whose log probabilities come from the counts. Noise may make them negative, so
    they are clamped at 0 and one row is added to each.

    >>> from fractions import Fraction
    >>> noisy = NoisySums(np.array([[30], [0], [-2], [30]]), Fraction(1), gaussian=True)
    >>> sex = FeatureCells("sex", "text", ("f", "m"))
    >>> bayes_model(noisy, [sex], ("a", "b")).probabilities([["f"]]).round(2).tolist()
    [[0.97, 0.03]]
    """
    width = len(classes)
    sizes = [feature.size for feature in features]
    tables, totals = [], []
    for first, size in zip(offsets_of([size * width for size in sizes]), sizes, strict=True):
        table = counts.part(first, size * width)[:, 0].reshape(size, width).astype(float)
        totals.append(table.sum(axis=0))
        grown = np.maximum(table, 0) + 1
        tables.append(np.log(grown / grown.sum(axis=0)))
    share = np.maximum(np.mean(totals, axis=0), 0) + 1
    return CellModel(
        tuple(features), tuple(tables), np.log(share / share.sum()), "softmax", classes
    )
