"""A model in which columns depend on each other along a tree: fitted in closed form.

The noisy one-way and two-way tables are projected on tables without negative cells and of one
total. Each one-way table is the mean of its own measurement and of the sums of its pairs,
weighted by their variances. Each pair is then rescaled to its two one-way tables (iterative
proportional fitting). The model is the product of the pairs over the product of the one-way
tables where pairs meet. (After McKenna, Miklau & Sheldon, "Winning the NIST contest", 2021.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.synth.fit.nonnegative_tables import project_table

Table: TypeAlias = NDArray[np.float64]
Pair: TypeAlias = tuple[int, int]

_ROUNDS = 50  # of rescaling a pair
_TINY = 1e-9  # in every cell of a pair, so that it can be rescaled to any sums


@dataclass(frozen=True, slots=True)
class NoisyTable:
    """A noisy table, and the variance of its cells."""

    counts: Table
    variance: float


@dataclass(frozen=True, slots=True)
class TreeModel:
    """One-way tables, and a table for each pair of the tree; all of one total."""

    total: float
    one_ways: tuple[Table, ...]
    pairs: Mapping[Pair, Table]

    @classmethod
    def fit(
        cls, one_ways: Sequence[NoisyTable], pairs: Mapping[Pair, NoisyTable], total: float
    ) -> "TreeModel":
        """The model for noisy tables of all columns and of the pairs of a tree."""
        alone = [project_table(own.counts, total) for own in one_ways]
        projected = {
            (a, b): project_table(_shrink(own, alone[a], alone[b], total), total)
            for (a, b), own in pairs.items()
        }
        single = tuple(
            project_table(_combine(place, own, projected, pairs), total)
            for place, own in enumerate(one_ways)
        )
        return cls(
            total,
            single,
            {
                (a, b): _rescale(table, single[a], single[b])
                for (a, b), table in projected.items()
            },
        )

    def pair(self, parent: int, child: int) -> Table:
        """The table of a pair of the tree, with the parent's cells as rows."""
        if (parent, child) in self.pairs:
            return self.pairs[parent, child]
        return self.pairs[child, parent].T

    def edges_from(self, root: int) -> list[Pair]:
        """(parent, child) for every pair that can be reached from a root, parents first."""
        waiting, seen, edges = [root], {root}, list[Pair]()
        while waiting:
            parent = waiting.pop(0)
            for a, b in self.pairs:
                child = b if a == parent else a
                if parent in (a, b) and child not in seen:
                    seen.add(child)
                    waiting.append(child)
                    edges.append((parent, child))
        return edges


def estimate_total(one_ways: Sequence[NoisyTable]) -> float:
    """The number of rows: the mean of all one-way sums, weighted by their variances.

    >>> estimate_total([NoisyTable(np.array([4.0, 6.0]), 1.0), NoisyTable(np.array([13.0]), 1)])
    12.0
    """
    weights = [1 / (own.counts.size * own.variance) for own in one_ways]
    sums = [weight * own.counts.sum() for weight, own in zip(weights, one_ways, strict=True)]
    return float(sum(sums) / sum(weights))


def total_variance(one_ways: Sequence[NoisyTable]) -> float:
    """The variance of `estimate_total`."""
    return float(1 / sum(1 / (own.counts.size * own.variance) for own in one_ways))


def _shrink(noisy: NoisyTable, rows: Table, columns: Table, total: float) -> Table:
    """The noisy pair, moved towards the product of its columns: not at all if they clearly
    depend on each other, and all the way if noise alone would explain what is seen. (The
    positive part of James and Stein's estimator.)"""
    product = np.outer(rows, columns) / max(total, 1.0)
    apart = noisy.counts - product
    square = float((apart**2).sum())
    kept = max(0.0, 1 - apart.size * noisy.variance / square) if square > 0 else 0.0
    return product + kept * apart


def _combine(
    place: int,
    own: NoisyTable,
    projected: Mapping[Pair, Table],
    pairs: Mapping[Pair, NoisyTable],
) -> Table:
    weighted, precision = own.counts / own.variance, 1 / own.variance
    for pair, table in projected.items():
        if place in pair:
            axis = 1 - pair.index(place)
            variance = pairs[pair].variance * table.shape[axis]
            weighted = weighted + table.sum(axis=axis) / variance
            precision += 1 / variance
    return np.asarray(weighted / precision)


def _rescale(table: Table, rows: Table, columns: Table) -> Table:
    """The table whose sums are these, with the same odds ratios."""
    fitted = table + _TINY
    for _ in range(_ROUNDS):
        fitted *= (rows / np.maximum(fitted.sum(axis=1), _TINY))[:, None]
        fitted *= columns / np.maximum(fitted.sum(axis=0), _TINY)
    return fitted
