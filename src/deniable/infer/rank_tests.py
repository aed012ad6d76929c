"""A rank test from two released histograms: is one group's value larger than the other's?

A bin's rank is how often a value of both groups together lies below it, less how often above
it. The statistic is the difference of both groups' mean ranks (Wilcoxon's, ties counted as
half) over its standard error, in which the noise of every bin has its part. All bins have equal
noise, whether they hold many rows or few, so the rank of a bin counts by the part of the
difference's variance there that is sampling: without noise that is Wilcoxon's test, and with
much noise nearly empty bins hardly count. How many rows each bin holds is itself noisy; it is
taken from the bin and its neighbours.

The bins' common shares are open: the p-value is the largest over the likely shares, each share
at either end of its interval, and shapes between even and sharp ones; and over the limits of
both groups' sizes (`worst_case`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.infer.drawn_means import target_of
from deniable.infer.groups.group_means import Key, find_pair
from deniable.infer.groups.readings import GroupAmounts, refuse_noisy_order
from deniable.infer.significance import Significance
from deniable.infer.table_tests import draw_counts, read_table, share_points
from deniable.infer.worst_case import SET_CHANCE, worst_p
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.release.session.release import Release

Floats: TypeAlias = NDArray[np.float64]


def rank_test(
    release: Release | Mapping[Key, Any],
    first: Key = None,
    second: Key = None,
    *,
    value: str | None = None,
) -> Significance:
    """Tests whether two groups have the same distribution over ordered bins.

    The release is grouped by two keys: first the one with the two groups, then the bins, in
    their order. Or it is grouped by the first alone, and HISTOGRAM(x, k) has the bins. If there
    are more than two groups, name the `first` and the `second`. Groups of a survey are compared
    by the answers' order.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> rows = pa.table({"ward": ["A", "B"] * 600, "pain": [0, 1, 1, 2, 2, 2] * 200})
    >>> visits = dp.protect(rows, keys={"ward": ["A", "B"], "pain": [0, 1, 2]}, epsilon=1)
    >>> question = "SELECT ward, pain, COUNT(*) AS n FROM data GROUP BY ward, pain"
    >>> dp.infer.rank_test(visits.sql(question, epsilon=1)).rejects()
    True
    """
    if isinstance(release, Release):
        refuse_noisy_order(release.plan)
    counts, table, _ = read_table(release, value)
    groups = tuple(dict.fromkeys(key[0] for key in counts.groups))
    if first is not None and second is not None:
        table = table[list(find_pair(groups, first, second))]
    if len(table) != 2:
        raise InvalidParameter(
            f"A rank test compares two groups. The first key has {len(groups)} values: name "
            "two of them."
        )
    statistic, p = ranks_p(table, counts)
    target = target_of(release, counts.groups[0])
    return Significance("both groups have the same distribution", statistic, p, target)


def ranks_p(
    table: Floats, counts: GroupAmounts, *, level: float | None = None
) -> tuple[float, float]:
    """The statistic, and the largest p-value over the common shares and the groups' sizes."""
    variance = counts.variance
    observed = float(_statistic(table[None], variance)[0])

    def simulate(point: tuple[Floats, Floats], rng: np.random.Generator, many: int) -> Floats:
        shares, sizes = point
        sides = [
            draw_counts(counts, shares, int(size), rng, many, side)
            for side, size in enumerate(sizes)
        ]
        return _statistic(np.stack(sides, axis=1), variance)

    return observed, worst_p(observed, simulate, _unknowns(table, counts), level=level)


def _unknowns(table: Floats, counts: GroupAmounts) -> Iterator[tuple[Floats, Floats]]:
    """Common shares and both groups' sizes; the likeliest ones first."""
    bins, sizes = table.shape[1], table.sum(1)
    weights = {f"{i} {name}": w for i in range(bins) for name, w in counts.weights.items()}
    noises = {
        f"{i} {name}": counts.noises[name] for i in range(bins) for name in counts.weights
    }
    half = fixed_margin(weights, noises, 1 - SET_CHANCE / 4) if weights else 0.0
    ends = [np.maximum(np.rint(sizes + off), 1.0) for off in (0.0, -half, half)]
    shapes = _common_shares(table)
    yield from ((shares, size) for shares in shapes for size in ends)
    each = SET_CHANCE / (2 * bins)
    own = share_points(table.sum(0), table.size, counts, each)
    yield from ((shares, ends[0]) for shares in own[1:])


def _common_shares(table: Floats) -> list[Floats]:
    pooled = np.maximum(table.sum(0), 0.0) + 0.5
    pooled = pooled / pooled.sum()
    even = np.full(pooled.size, 1 / pooled.size)
    sharp = pooled**2 / (pooled**2).sum()
    return [pooled, (pooled + even) / 2, even, (pooled + sharp) / 2, sharp]


def _statistic(tables: Floats, variance: float) -> Floats:
    """The difference over its standard error, for tables of shape (many, 2, bins)."""
    sizes = np.maximum(tables.sum(2), 1.0)
    both = np.clip(tables.sum(1), 0.0, None)
    shares = both / np.maximum(both.sum(1, keepdims=True), 1.0)
    sampling = (1 / sizes).sum(1)[:, None]
    noise = variance * (1 / sizes**2).sum(1)[:, None] + 1e-12
    around = _smooth(shares)
    scores = _ranks(shares) * around / (around * sampling + noise)
    scores = scores - (shares * scores).sum(1, keepdims=True)
    difference = tables[:, 0] / sizes[:, :1] - tables[:, 1] / sizes[:, 1:]
    spread = ((shares * sampling + noise) * scores**2).sum(1)
    return np.asarray(np.abs((scores * difference).sum(1)) / np.sqrt(spread + 1e-12))


def _ranks(shares: Floats) -> Floats:
    """For each bin, the share below it less the share above it."""
    below = np.cumsum(shares, axis=1) - shares
    return np.asarray(2 * below + shares - shares.sum(1, keepdims=True))


def _smooth(shares: Floats) -> Floats:
    """Each bin's share, half of it from both neighbours."""
    padded = np.pad(shares, ((0, 0), (1, 1)), mode="edge")
    return np.asarray((padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]) / 4)
