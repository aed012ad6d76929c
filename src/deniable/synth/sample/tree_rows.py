"""Rows from a tree model: counts are rounded instead of drawn, so that they add little error.

The root's cells get their shares of the rows, rounded; then each child's cells get their shares
of the rows of each parent's cell. What rounding leaves over goes to random cells. All of this
is post-processing of released numbers, so ordinary random numbers will do.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.synth.fit.tree_model import TreeModel

Codes = NDArray[np.int64]


def sample_rows(model: TreeModel, count: int, chance: Generator) -> Codes:
    """The cells of `count` rows: a row for each, a column for each column of the model."""
    rows = np.zeros((count, len(model.one_ways)), dtype=np.int64)
    rows[:, 0] = deal(model.one_ways[0], count, chance)
    for parent, child in model.edges_from(0):
        table = model.pair(parent, child)
        order = np.argsort(rows[:, parent], kind="stable")
        ends = np.searchsorted(rows[order, parent], np.arange(table.shape[0] + 1))
        for cell in range(table.shape[0]):
            own = order[ends[cell] : ends[cell + 1]]
            if own.size:
                rows[own, child] = deal(table[cell], own.size, chance)
    return rows


def deal(weights: NDArray[np.float64], count: int, chance: Generator) -> Codes:
    """`count` cells in random order, each about as often as its weight says.

    >>> deal(np.array([1.0, 3.0]), 8, np.random.default_rng(0)).tolist().count(1)
    6
    """
    positive = np.maximum(weights, 0.0)
    whole = positive.sum()
    shares = positive / whole if whole > 0 else np.full(weights.size, 1 / weights.size)
    exact = shares * count
    dealt = np.floor(exact).astype(np.int64)
    left = int(count - dealt.sum())
    if left > 0:
        rest = exact - dealt
        # Systematic sampling: each cell gets one more with the probability of its rest.
        marks = (np.arange(left) + chance.random()) * (rest.sum() / left)
        order = chance.permutation(rest.size)
        places = np.searchsorted(np.cumsum(rest[order]), marks, side="right")
        np.add.at(dealt, order[np.minimum(places, rest.size - 1)], 1)
    cells = np.repeat(np.arange(weights.size), dealt)
    chance.shuffle(cells)
    return cells


def count_rows(rows: Codes, columns: tuple[int, ...], sizes: tuple[int, ...]) -> Codes:
    """The marginal of some columns of the rows."""
    shape = [sizes[i] for i in columns]
    places = np.ravel_multi_index([rows[:, i] for i in columns], shape)
    return np.bincount(places, minlength=int(np.prod(shape)))
