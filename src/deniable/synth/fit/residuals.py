"""Marginals that add up: the best unbiased estimates from noisy marginals, in closed form.

A marginal of the columns B is a sum of residuals, one for each subset A of B: what A says that
no smaller set says. Residuals of different sets are orthogonal, and noise that is independent
and equal in all cells of a table falls on them independently. So the least-squares estimate of
every residual is a weighted mean over the measured tables that contain it, and all marginals
that are put together from the same residuals add up to each other. (Xiao, He, Zhang & Kifer,
"An optimal and scalable matrix mechanism for noisy marginals", 2023.)

A table of B, measured with variance v in each cell, tells the residual of A with precision
1 / (v * product of the sizes of B without A).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = tuple[int, ...]  # places of columns, in ascending order
Table: TypeAlias = NDArray[np.float64]

_ROUNDS = 400
_LEAST_WEIGHT = 0.02  # of an equal share: a table with less is not measured


def subsets(columns: Columns) -> list[Columns]:
    """All subsets, the empty one first.

    >>> subsets((0, 2))
    [(), (0,), (2,), (0, 2)]
    """
    return [part for size in range(len(columns) + 1) for part in combinations(columns, size)]


def closure(sets: Iterable[Columns]) -> list[Columns]:
    """The sets and all their subsets, the smallest first."""
    parts = {part for columns in sets for part in subsets(columns)}
    return sorted(parts, key=lambda part: (len(part), part))


@dataclass(frozen=True, slots=True)
class Design:
    """Which marginals are wanted, how much each matters, and what is measured for them."""

    sizes: tuple[int, ...]  # of all columns
    wanted: Mapping[Columns, float]

    def weights(self) -> dict[Columns, float]:
        """The share of the budget for each table that is measured: they add up to 1.

        They minimize the sum of the wanted marginals' variances, each times how much it
        matters. The multiplicative steps of optimal design keep every share positive and never
        make the sum larger.
        """
        sets = closure(self.wanted)
        told = np.array([[self._precision(a, b) for b in sets] for a in sets])
        spread = np.array([self._spread(part) for part in sets])
        share = np.full(len(sets), 1 / len(sets))
        for _ in range(_ROUNDS):
            gain = told.T @ (spread / (told @ share) ** 2)
            share *= np.sqrt(gain)
            share /= share.sum()
        share[share < _LEAST_WEIGHT / len(sets)] = 0.0
        share /= share.sum()
        return {part: float(own) for part, own in zip(sets, share, strict=True) if own > 0}

    def variance(self, weights: Mapping[Columns, float]) -> float:
        """The sum of variances that some shares give, at one unit of budget."""
        sets = closure(self.wanted)
        told = [
            sum(self._precision(part, table) * own for table, own in weights.items())
            for part in sets
        ]
        return sum(
            self._spread(part) / precision for part, precision in zip(sets, told, strict=True)
        )

    def least_variance(self) -> float:
        """The least sum of variances of any measurement with Gaussian noise: a lower bound."""
        sets = closure(self.wanted)
        return sum(sqrt(self._alone(part) * self._spread(part)) for part in sets) ** 2

    def _precision(self, part: Columns, table: Columns) -> float:
        if not set(part) <= set(table):
            return 0.0
        return 1 / prod(self.sizes[i] for i in table if i not in part)

    def _alone(self, part: Columns) -> float:
        """The share of a cell's square that lies in a residual."""
        return prod((self.sizes[i] - 1) / self.sizes[i] for i in part)

    def _spread(self, part: Columns) -> float:
        """How much a residual's variance adds to the wanted marginals."""
        return sum(
            weight * _variance_share(part, table, self.sizes)
            for table, weight in self.wanted.items()
            if set(part) <= set(table)
        )


def _variance_share(part: Columns, table: Columns, sizes: Sequence[int]) -> float:
    """How much a residual's variance adds to each cell of a marginal."""
    own = prod((sizes[i] - 1) / sizes[i] for i in part)
    return own / prod(sizes[i] ** 2 for i in table if i not in part)


@dataclass(frozen=True, slots=True)
class Residuals:
    """The estimated residuals of all sets of columns that some measured table contains."""

    sizes: tuple[int, ...]
    values: Mapping[Columns, Table]
    variances: Mapping[Columns, float]

    @classmethod
    def fit(
        cls, sizes: tuple[int, ...], measured: Mapping[Columns, tuple[Table, float]]
    ) -> "Residuals":
        """From noisy tables, each with the variance of its cells.

        >>> noisy = {(0,): (np.array([4.0, 6.0]), 1.0), (): (np.array(12.0), 2.0)}
        >>> fitted = Residuals.fit((2,), noisy)
        >>> fitted.table((0,)).tolist(), fitted.table(()).tolist()
        ([4.5, 6.5], 11.0)
        """
        spread = {columns: variance for columns, (_, variance) in measured.items()}
        values = {}
        for part in closure(measured):
            told = _told_by(part, spread, sizes)
            sums = [_residual(measured[own][0], own, part) * by for own, by in told.items()]
            values[part] = np.asarray(sum(sums[1:], sums[0]) / sum(told.values()))
        return replace(cls.without_values(sizes, spread), values=values)

    @classmethod
    def without_values(
        cls, sizes: tuple[int, ...], measured: Mapping[Columns, float]
    ) -> "Residuals":
        """Only the variances, which do not depend on what is measured."""
        told = {part: _told_by(part, measured, sizes) for part in closure(measured)}
        return cls(sizes, {}, {part: 1 / sum(own.values()) for part, own in told.items()})

    def table(self, columns: Columns) -> Table:
        """The estimated marginal of some columns. It is unbiased, so it may be below 0."""
        shape = [self.sizes[i] for i in columns]
        total = np.zeros(shape)
        for part in subsets(columns):
            spread = [self.sizes[i] if i in part else 1 for i in columns]
            others = prod(self.sizes[i] for i in columns if i not in part)
            total += self.values[part].reshape(spread) / others
        return total

    def variance(self, columns: Columns) -> float:
        """The variance of each cell of an estimated marginal: it is the same for all cells."""
        return sum(
            self.variances[part] * _variance_share(part, columns, self.sizes)
            for part in subsets(columns)
        )


def _told_by(
    part: Columns, variances: Mapping[Columns, float], sizes: Sequence[int]
) -> dict[Columns, float]:
    """How precisely each measured table tells a residual."""
    return {
        columns: 1 / (variance * prod(sizes[i] for i in columns if i not in part))
        for columns, variance in variances.items()
        if set(part) <= set(columns)
    }


def _residual(table: Table, columns: Columns, part: Columns) -> Table:
    """What a table says about some of its columns and about no fewer."""
    summed = table.sum(axis=tuple(i for i, name in enumerate(columns) if name not in part))
    for axis in range(len(part)):
        summed = summed - summed.mean(axis=axis, keepdims=True)
    return np.asarray(summed)
