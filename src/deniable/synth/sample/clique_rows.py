"""Rows from a model over cliques: counts are rounded instead of drawn (see `tree_rows`).

The root's combinations of cells get their shares of the rows. Then each further clique's new
columns get theirs, among the rows of each combination of the columns that it shares with its
parent.
"""

import numpy as np
from numpy.random import Generator

from deniable.synth.fit.belief_propagation import Array
from deniable.synth.fit.clique_model import CliqueModel
from deniable.synth.sample.tree_rows import Codes, deal


def sample_cliques(model: CliqueModel, count: int, chance: Generator) -> Codes:
    """The cells of `count` rows: a row for each, a column for each column of the model."""
    tree = model.tree
    rows = np.zeros((count, len(tree.sizes)), dtype=np.int64)
    for place, clique in enumerate(tree.cliques):
        shared = tree.separator(place) if place else ()
        new = tuple(column for column in clique if column not in shared)
        if not new:
            continue
        order = [clique.index(column) for column in (*shared, *new)]
        weights = np.transpose(model.beliefs[place], order).reshape(tree.count(shared), -1)
        given = np.zeros(count, dtype=np.int64)
        for column in shared:
            given = given * tree.sizes[column] + rows[:, column]
        cells = _deal_within(weights, given, chance)
        for column in reversed(new):
            cells, rows[:, column] = np.divmod(cells, tree.sizes[column])
    return rows


def _deal_within(weights: Array, given: Codes, chance: Generator) -> Codes:
    """A cell for each row, by the weights of its group."""
    dealt = np.zeros(given.size, dtype=np.int64)
    order = np.argsort(given, kind="stable")
    groups, starts = np.unique(given[order], return_index=True)
    for group, own in zip(groups, np.split(order, starts)[1:], strict=True):
        dealt[own] = deal(weights[group], own.size, chance)
    return dealt
