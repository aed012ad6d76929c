"""Belief propagation on a junction tree: the rows in the cells of every clique of a model.

A model is a product of factors, given in logarithms. Each factor is added to the smallest one
that holds its columns, or to a clique, so that large cliques are passed over few times. Cliques
tell their parents what they know of the columns that both have, from the leaves to the root;
then the other way round. In the same way, each wanted table is summed up from the smallest one
that holds it. What depends on the columns alone is worked out once (`Propagation.of`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.synth.fit.junction_tree import Columns, JunctionTree

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Propagation:
    """The order of all sums and products for factors over some sets of columns."""

    tree: JunctionTree
    folds: tuple[tuple[Columns, Columns | None, int], ...]  # smaller ones first
    separators: tuple[Columns, ...]

    @classmethod
    def of(cls, tree: JunctionTree, factors: Iterable[Columns]) -> "Propagation":
        """For a tree with a clique for each factor."""
        held = sorted(factors, key=lambda own: (len(own), own))
        shared = (tree.separator(child) for child in range(1, len(tree.cliques)))
        folds = [(own, _smallest_host(tree, own, held), tree.home(own)) for own in held]
        return cls(tree, tuple(folds), ((), *shared))

    def count(self, factors: Mapping[Columns, Array], total: float) -> list[Array]:
        """The rows in the cells of every clique, `total` in each.

        >>> tree = JunctionTree.of([(0, 1)], (2, 2))
        >>> factors = {(0,): np.log([1.0, 3.0]), (0, 1): np.zeros((2, 2))}
        >>> np.round(Propagation.of(tree, factors).count(factors, 80.0)[0]).tolist()
        [[10.0, 10.0], [30.0, 30.0]]
        """
        tree, logs = self.tree, self._weigh(factors)
        rows, told = [np.ones(()) for _ in logs], [np.ones(()) for _ in logs]
        for child in range(len(logs) - 1, 0, -1):
            clique, shared = tree.cliques[child], self.separators[child]
            # For each cell of what both have, the largest is 1 and the sum at least 1: factors
            # that cancel each other, of e**1000 and e**-1000, leave no clique without rows.
            top = _largest(logs[child], clique, shared)
            rows[child] = np.exp(logs[child] - top)
            told[child] = add_up(rows[child], clique, shared)
            known = top.reshape(told[child].shape) + np.log(told[child])
            parent = tree.parents[child]
            logs[parent] += spread(known, shared, tree.cliques[parent])
        rows[0] = np.exp(logs[0] - logs[0].max())
        rows[0] *= total / rows[0].sum()
        for child in range(1, len(rows)):
            parent, shared = tree.parents[child], self.separators[child]
            change = add_up(rows[parent], tree.cliques[parent], shared) / told[child]
            rows[child] *= spread(change, shared, tree.cliques[child])
        return rows

    def _weigh(self, factors: Mapping[Columns, Array]) -> list[Array]:
        """The logarithms of the product of each clique's factors."""
        tree, sums = self.tree, dict(factors)
        logs = [np.zeros(tree.shape(clique)) for clique in tree.cliques]
        for own, host, home in self.folds:
            if host is None:
                logs[home] += spread(sums[own], own, tree.cliques[home])
            else:
                sums[host] = sums[host] + spread(sums[own], own, host)
        return logs

    def tables(self, rows: list[Array]) -> dict[Columns, Array]:
        """The table of every factor's columns."""
        tables: dict[Columns, Array] = {}
        for own, host, home in reversed(self.folds):
            source = rows[home] if host is None else tables[host]
            columns = self.tree.cliques[home] if host is None else host
            tables[own] = add_up(source, columns, own)
        return tables


def _smallest_host(tree: JunctionTree, own: Columns, others: list[Columns]) -> Columns | None:
    """The smallest of the larger sets that hold these columns; None if none does."""
    holds = [other for other in others if len(other) > len(own) and {*own} <= {*other}]
    return min(holds, key=tree.count, default=None)


def spread(table: Array, columns: Columns, clique: Columns) -> Array:
    """The table in the shape of a clique that holds its columns, for broadcasting."""
    order = sorted(range(len(columns)), key=lambda i: clique.index(columns[i]))
    moved = np.transpose(table, order)
    ordered = [columns[i] for i in order]
    sizes = dict(zip(ordered, moved.shape, strict=True))
    return moved.reshape([sizes.get(place, 1) for place in clique])


def _largest(logs: Array, columns: Columns, kept: Columns) -> Array:
    """The largest over all columns but those that are kept; the others have one cell."""
    axes = tuple(i for i, place in enumerate(columns) if place not in kept)
    return np.asarray(logs.max(axis=axes, keepdims=True))


def add_up(table: Array, columns: Columns, kept: Columns) -> Array:
    """The sums over all columns but those that are kept, in their order."""
    if columns == kept:
        return table
    parts: list[Any] = [table, [*columns], [*kept]]
    return np.asarray(np.einsum(*parts))
