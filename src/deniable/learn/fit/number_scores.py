"""First scores of a regression on cells, from noisy counts and sums of a number."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from deniable.learn.fit.feature_cells import offsets_of
from deniable.learn.fit.noisy_sums import NoisySums
from deniable.learn.fit.score_tables import FIRST_SHARE, ScoreTables


def first_numbers(
    sums: NoisySums, sizes: Sequence[int], *, weight: int, middle: int
) -> ScoreTables:
    """The scores after a first step: in each cell the mean of the number, less the mean of all,
    shrunk where the noise is large.

    The first column of the sums holds `weight` for each row, the second its number less
    `middle`.
    """
    rows = np.maximum(sums.column(0) / weight, 0)
    above = sums.column(1).astype(float)
    parts = [slice(first, first + n) for first, n in zip(offsets_of(sizes), sizes, strict=True)]
    total = max(float(np.mean([rows[part].sum() for part in parts])), 1.0)
    mean = float(np.mean([above[part].sum() for part in parts])) / total
    mean = min(max(mean, -middle), middle)
    residual = above - mean * rows
    first = residual / (rows + 2 * sums.deviation / weight)
    scale = FIRST_SHARE / sqrt(len(sizes))
    tables = scale * np.clip(first, -middle, middle)[:, None]
    return ScoreTables(tuple(sizes), tables, np.array([mean + middle]), rows, total)
