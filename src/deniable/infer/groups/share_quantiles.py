"""How far the number of rows with a rare outcome may be from its mean, by sampling."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]

_NEAR = 1e-9  # of a whole number of rows


def share_quantiles(rows: Floats, p: Floats, tail: float, sampled: float) -> Ends:
    """How far the number of rows with a share p may be below and above its mean.

    Without a known population it is binomial. Of a sample without replacement it is
    hypergeometric, which is near the binomial law of equal mean and variance (Sandiford 1960)
    if the rarer outcome is counted, in the sample or in the rest, whichever is smaller. A
    binomial quantile times sqrt(1 - sampled) would be too short: if half of a population is
    sampled, none of its 3 sick persons is found with a chance of an eighth.
    """
    if sampled >= 1:
        return np.zeros_like(p), np.zeros_like(p)
    if sampled > 0.5:  # what was not drawn is a sample too, and off by as much the other way
        down, up = share_quantiles(rows * (1 - sampled) / sampled, p, tail, 1 - sampled)
        return up, down
    rarer = np.minimum(p, 1 - p)
    chance = rarer + sampled - rarer * sampled
    inside = (p > 0) & (p < 1)
    many = np.where(inside, rows * rarer / np.where(inside, chance, 1.0), rows)
    most = np.minimum(rows, rows * rarer / sampled) if sampled > 0 else rows
    down, up = _binomial_quantiles(many, np.where(inside, chance, 0.5), tail, most)
    lower, upper = np.where(p > 0.5, up, down), np.where(p > 0.5, down, up)
    return np.where(inside, lower, 0), np.where(inside, upper, 0)


def _binomial_quantiles(many: Floats, chance: Floats, tail: float, most: Floats) -> Ends:
    """How far a binomial number, which is no larger than `most`, may be below and above its
    mean; without noise the interval is that of Clopper and Pearson. It is smooth between whole
    numbers, so that ends exist."""
    from scipy.special import bdtrik

    down = chance * many - bdtrik(tail, many, chance)
    up = np.minimum(bdtrik(1 - tail, many, chance) + 1, most) - chance * many
    return np.maximum(down, 0), np.maximum(up, 0)


def share_tails(rows: Floats, p: Floats, off: Floats, sampled: float) -> Ends:
    """The chances that the number of rows with a share p is at most, and at least, so far `off`
    its mean: by the laws of `share_quantiles`, and without its limits. Of a sample it holds no
    fewer than none.

    >>> ten, half = np.array([10.0]), np.array([0.5])
    >>> [end.round(4).tolist() for end in share_tails(ten, half, np.array([3.0]), 0.0)]
    [[0.9893], [0.0547]]
    """
    from scipy.special import betainc

    if sampled >= 1:
        return np.where(off >= 0, 1.0, 0.0), np.where(off <= 0, 1.0, 0.0)
    if sampled > 0.5:
        return share_tails(rows * (1 - sampled) / sampled, p, -off, 1 - sampled)[::-1]
    rarer = np.minimum(p, 1 - p)
    inside = rarer > 0
    chance = np.where(inside, rarer + sampled - rarer * sampled, 0.5)
    many = np.where(inside, rows * rarer / chance, rows)
    most = np.minimum(rows, rows * rarer / sampled) if sampled > 0 else rows
    off = np.where(p > 0.5, -off, off)
    count = rows * rarer + off
    within = np.clip(count, 0, many)
    below = betainc(np.maximum(many - within, 1e-12), within + 1, 1 - chance)
    above = betainc(np.maximum(within, 1e-12), many - within + 1, chance)
    below = np.where(count < -_NEAR, 0.0, np.where(count >= many, 1.0, below))
    above = np.where(count > most + _NEAR, 0.0, np.where(count <= 0, 1.0, above))
    below = np.where(inside, below, off >= 0)
    above = np.where(inside, above, off <= 0)
    return np.where(p > 0.5, above, below), np.where(p > 0.5, below, above)
