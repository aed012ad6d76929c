"""A rank test from two released histograms: is one group's value larger than the other's?

With counts a and b of the same ordered bins, W = P(a's value is above b's) - P(it is below) is
a sum over pairs of bins (Mann and Whitney's statistic, ties counted as half). It is divided by
its standard error, in which the noise of every bin has its part. The bins' common shares are
open: the p-value is the largest over shares between the pooled ones and even ones, and sharper
ones, and over the limits of both groups' sizes (`worst_case`).
"""

from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.infer.groups.readings import GroupAmounts
from deniable.infer.significance import Significance
from deniable.infer.table_tests import as_table, draw_counts, read_counts
from deniable.infer.worst_case import SET_CHANCE, worst_p
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]


def rank_test(release: Release, *, value: str | None = None) -> Significance:
    """Tests whether two groups have the same distribution over ordered bins.

    The release is grouped by two keys: first the one with the two groups, then the bins, in
    their order.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B"] * 600, "pain": [0, 1, 1, 2, 2, 2] * 200})
    >>> visits = dp.protect(rows, keys={"ward": ["A", "B"], "pain": [0, 1, 2]}, epsilon=1)
    >>> question = "SELECT ward, pain, COUNT(*) AS n FROM data GROUP BY ward, pain"
    >>> dp.infer.rank_test(visits.sql(question, epsilon=1)).rejects()
    True
    """
    counts = read_counts(release, value)
    table = as_table(counts, release)
    if len(table) != 2:
        raise InvalidParameter(
            f"A rank test compares two groups. The first key has {len(table)} values."
        )
    statistic, p = ranks_p(table, counts)
    return Significance("the ranks of both groups do not differ", statistic, p)


def ranks_p(
    table: Floats, counts: GroupAmounts, *, enough: float | None = None
) -> tuple[float, float]:
    """The statistic, and the largest p-value over the common shares and the groups' sizes."""
    variance, bins = counts.variance, table.shape[1]
    observed = float(_statistic(table[None], variance)[0])

    def simulate(point: tuple[Floats, Floats], rng: np.random.Generator, many: int) -> Floats:
        shares, sizes = point
        sides = [draw_counts(counts, shares, int(size), rng, many) for size in sizes]
        return _statistic(np.stack(sides, axis=1), variance)

    weights = {f"{i} {name}": w for i in range(bins) for name, w in counts.weights.items()}
    noises = {
        f"{i} {name}": counts.noises[name] for i in range(bins) for name in counts.weights
    }
    half = fixed_margin(weights, noises, 1 - SET_CHANCE / Fraction(2))
    sizes = table.sum(1)
    ends = [np.maximum(np.rint(sizes + off), 1.0) for off in (0.0, -half, half)]
    points = [(shares, size) for shares in _common_shares(table) for size in ends]
    return observed, worst_p(observed, simulate, points, enough=enough)


def _common_shares(table: Floats) -> list[Floats]:
    pooled = np.maximum(table.sum(0), 0.0) + 0.5
    pooled = pooled / pooled.sum()
    even = np.full(pooled.size, 1 / pooled.size)
    sharp = pooled**2 / (pooled**2).sum()
    return [pooled, (pooled + even) / 2, even, (pooled + sharp) / 2, sharp]


def _statistic(tables: Floats, variance: float) -> Floats:
    """|W| over its standard error, for tables of shape (many, 2, bins)."""
    sizes = np.maximum(tables.sum(2), 1.0)
    bins = tables.shape[2]
    before = np.sign(np.subtract.outer(np.arange(bins), np.arange(bins))).astype(np.float64)
    shares = tables / sizes[:, :, None]
    lead = [
        shares[:, side] @ before.T for side in (0, 1)
    ]  # how far each bin is above the other
    won = (shares[:, 0] * lead[1]).sum(1)
    pooled = np.clip(tables.sum(1), 0.0, None)
    pooled = pooled / np.maximum(pooled.sum(1, keepdims=True), 1.0)
    spread = (pooled * (pooled @ before.T) ** 2).sum(1)
    sampled = spread * (1 / sizes).sum(1)
    noisy = sum(variance * (lead[1 - i] ** 2).sum(1) / sizes[:, i] ** 2 for i in (0, 1))
    both = bins * variance**2 / (sizes[:, 0] * sizes[:, 1]) ** 2 * (bins - 1)
    return np.asarray(np.abs(won) / np.sqrt(sampled + noisy + both + 1e-12))
