"""What the usual tests say that take noisy numbers for exact ones: the classic mistake.

Each returns, for every simulated release, whether it rejects at 5 %.
"""

import numpy as np
from scipy.stats import chi2, f, norm

LEVEL = 0.05


def shares_differ(groups):
    """Pearson's chi-square: do all groups have the same share?"""
    above, rows = (np.array([getattr(g, name) for g in groups]) for name in ("above", "below"))
    rows = np.maximum(rows, 1.0)
    above = np.clip(above, 0, rows)
    pooled = np.clip(above.sum(0) / rows.sum(0), 1e-9, 1 - 1e-9)
    far = ((above - pooled * rows) ** 2 / (rows * pooled * (1 - pooled))).sum(0)
    return chi2.sf(far, len(groups) - 1) <= LEVEL


def shares_missed(group, share):
    """Whether the usual interval of a share does not hold it."""
    rows = np.maximum(group.below, 1.0)
    noisy = np.clip(group.above / rows, 0, 1)
    return np.abs(noisy - share) > 1.96 * np.sqrt(noisy * (1 - noisy) / rows)


def means_differ(groups):
    """The analysis of variance, with the released variances; of two groups it is a t test."""
    above, rows = (np.array([getattr(g, name) for g in groups]) for name in ("above", "below"))
    rows = np.maximum(rows, 2.0)
    means = np.clip(above / rows, groups[0].low, groups[0].high)
    spread = np.maximum(np.array([g.variance.values for g in groups]), 1e-6)
    within = ((rows - 1) * spread).sum(0) / (rows.sum(0) - len(groups))
    grand = (rows * means).sum(0) / rows.sum(0)
    between = (rows * (means - grand) ** 2).sum(0) / (len(groups) - 1)
    return f.sf(between / within, len(groups) - 1, rows.sum(0) - len(groups)) <= LEVEL


def slopes(groups, weights):
    """Whether a weighted sum of shares is not 0."""
    rows = np.array([np.maximum(group.below, 1.0) for group in groups])
    shares = np.array([group.values for group in groups])
    w = np.asarray(weights)[:, None]
    error = np.sqrt((w**2 * np.clip(shares * (1 - shares), 1e-9, 1) / rows).sum(0))
    return 2 * norm.sf(np.abs((w * shares).sum(0)) / error) <= LEVEL


def dependent(tables):
    """Pearson's chi-square of tables of shape (releases, rows, columns)."""
    tables = np.maximum(tables, 1.0)
    rows, columns = tables.sum(2), tables.sum(1)
    expected = rows[:, :, None] * columns[:, None, :] / rows.sum(1)[:, None, None]
    far = ((tables - expected) ** 2 / expected).sum((1, 2))
    return chi2.sf(far, (rows.shape[1] - 1) * (columns.shape[1] - 1)) <= LEVEL


def fit_badly(counts, shares):
    """Pearson's chi-square of counts of shape (releases, groups)."""
    counts = np.maximum(counts, 0.0)
    expected = np.maximum(counts.sum(1, keepdims=True), 1.0) * shares
    return chi2.sf(((counts - expected) ** 2 / expected).sum(1), len(shares) - 1) <= LEVEL


def ranks_differ(tables):
    """Wilcoxon's test of tables of shape (releases, 2, bins), with its correction for ties."""
    tables = np.maximum(tables, 0.0)
    both, sizes = tables.sum(1), np.maximum(tables.sum(2), 1.0)
    total = sizes.sum(1)
    scores = np.cumsum(both, axis=1) - both / 2
    scores = scores - ((both * scores).sum(1) / total)[:, None]
    spread = sizes.prod(1) / (total * (total - 1)) * (both * scores**2).sum(1)
    return 2 * norm.sf(np.abs((tables[:, 0] * scores).sum(1)) / np.sqrt(spread + 1e-9)) <= LEVEL
