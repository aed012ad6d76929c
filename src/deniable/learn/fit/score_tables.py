"""Tables of scores that are learnt in steps from noisy sums.

Everything here is arithmetic with released numbers, so floats are harmless: whatever they are
rounded to, the guarantee is that of the sums. The tables are rounded to whole numbers before
the next step is asked (`whole_tables`), and clipped to a public range.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.learn.fit.cell_model import CellModel, Floats, Link
from deniable.learn.fit.feature_cells import FeatureCells, Label, offsets_of
from deniable.learn.fit.noisy_sums import NoisySums

UNIT = 32  # whole numbers of a score are in 32nds
MOST = 8  # scores are clipped to [-8, 8]
FIRST_SHARE = 0.75  # of a first step, with one feature; divided by the root of their number


@dataclass(slots=True)
class ScoreTables:
    """The tables of all features, one after the other, with `scores` columns; and how many
    rows each cell has, as far as that is known."""

    sizes: tuple[int, ...]
    tables: Floats  # (all cells, scores)
    intercept: Floats  # (scores,)
    weights: Floats  # (all cells,): noisy numbers of rows, not below 0
    total: float  # noisy number of all rows

    def part(self, feature: int) -> slice:
        """The places of a feature's cells."""
        first = offsets_of(self.sizes)[feature]
        return slice(first, first + self.sizes[feature])

    def whole_tables(self, unit: int = UNIT, most: int | None = None) -> "WholeTables":
        """The tables in whole units, clipped."""
        limit = MOST * unit if most is None else most
        whole = np.clip(np.rint(self.tables * unit), -limit, limit).astype(np.int64)
        start = np.clip(np.rint(self.intercept * unit), -limit, limit).astype(np.int64)
        parts = [whole[self.part(i)] for i in range(len(self.sizes))]
        tables = tuple(tuple(map(tuple, part.T.tolist())) for part in parts)
        return WholeTables(tables, tuple(start.tolist()))

    def to_model(
        self, features: Sequence[FeatureCells], link: Link, classes: tuple[Label, ...] = ()
    ) -> CellModel:
        """The model of these tables. Each feature's scores are centred, and what that takes
        away is in the intercept; so a table shows what a feature adds."""
        tables, intercept = [], self.intercept.copy()
        for i in range(len(self.sizes)):
            own, weight = self.tables[self.part(i)], self.weights[self.part(i)]
            centre = (own * weight[:, None]).sum(axis=0) / max(weight.sum(), 1.0)
            tables.append(own - centre)
            intercept = intercept + centre
        return CellModel(tuple(features), tuple(tables), intercept, link, classes)


@dataclass(frozen=True, slots=True)
class WholeTables:
    """Scores as whole numbers: tables[feature][score][cell], and an intercept of each."""

    tables: tuple[tuple[tuple[int, ...], ...], ...]
    intercept: tuple[int, ...]


def first_scores(counts: NoisySums, sizes: tuple[int, ...], classes: int) -> ScoreTables:
    """The scores after a first step, from noisy counts of cells by class.

    At a score that is the same for all rows, the residuals of a cell add up to its rows of the
    class, less the class's share of its rows. So the counts by class hold the first step of a
    logistic regression. It is shrunk where the noise is large.
    """
    scored = range(1, 2) if classes == 2 else range(classes)
    table = counts.column().reshape(-1, classes).astype(float)
    rows = np.maximum(table.sum(axis=1), 0)
    by_feature = [
        table[first : first + n] for first, n in zip(offsets_of(sizes), sizes, strict=True)
    ]
    mean = np.mean([part.sum(axis=0) for part in by_feature], axis=0)
    total = max(float(mean.sum()), 1.0)
    share = np.clip(mean / total, 0.01, 0.99)
    noise = 2 * counts.deviation
    first = []
    for own in scored:
        residual = table[:, own] - share[own] * table.sum(axis=1)
        curve = rows * share[own] * (1 - share[own]) + noise
        first.append(np.clip(residual / curve, -4, 4))
    scale = FIRST_SHARE / sqrt(len(sizes))
    logit = np.log(share / (1 - share))[list(scored)]
    return ScoreTables(sizes, scale * np.stack(first, axis=1), logit, rows, total)


def newton_steps(
    residuals: Floats, weights: Floats, *, rate: float, noise: float, curve: float = 0.2
) -> Floats:
    """Steps towards the minimum: residuals over how fast they fall, damped where the noise is
    large against the weights."""
    return np.asarray(rate * residuals / (np.maximum(weights, 0) * curve + noise)[:, None])


def draw_leaves(
    size: int, most: int, ordered: bool, chance: np.random.Generator
) -> NDArray[np.int64]:
    """A leaf for each cell, drawn without data: neighbouring cells share one if they have an
    order, else random ones do.

    >>> draw_leaves(4, 8, True, np.random.default_rng(0)).tolist()
    [0, 1, 2, 3]
    """
    count = min(size, most)
    if not ordered:
        return np.asarray(chance.permutation(np.arange(size) % count), np.int64)
    ends = np.sort(chance.choice(max(size - 1, 1), count - 1, replace=False))
    return np.searchsorted(ends, np.arange(size), side="left").astype(np.int64)
