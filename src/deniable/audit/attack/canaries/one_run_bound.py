"""What guesses about canaries prove about epsilon (Steinke, Nasr & Jagielski 2023).

Each of m canaries is in the data by a fair coin of its own. After one run an auditor guesses r
of the m coins, and v guesses are right. If the run is (epsilon, delta)-private, then

    P(v or more right) <= P(B >= v) + 2 m delta max_i P(v - i <= B < v) / i

with B binomial: r tries, each right with probability 1 / (1 + e^-epsilon). The largest epsilon
at which this is below the error is a lower bound on the true one.
"""

import math
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability, whole
from deniable.privacy.losses.loss import delta_of

_LARGEST = 64.0  # no number of guesses that fits into memory shows more
_STEP = 0.25
_HALVINGS = 50


def epsilon_at_least(
    canaries: int, guesses: int, right: int, *, delta: Number = 0, confidence: Number = 0.95
) -> float:
    """The epsilon (at `delta`) that this number of right guesses proves, at this confidence.

    >>> round(epsilon_at_least(1000, 100, 75, delta=1e-4), 3)
    0.673
    >>> round(epsilon_at_least(100_000, 1510, 1439, delta=1e-5), 3)
    2.676
    """
    m, r, v = whole(canaries, "canaries", least=1), guesses, right
    if not 0 <= v <= r <= m:
        raise InvalidParameter(
            "`right` must not exceed `guesses`, nor these `canaries`. Found "
            f"{right}, {guesses}, {canaries}."
        )
    chance, slack = float(1 - probability(confidence, "confidence")), float(delta_of(delta))
    if r == 0 or chance_of_guesses(m, r, v, 0.0, slack) >= chance:
        return 0.0
    low = 0.0
    while low < _LARGEST and chance_of_guesses(m, r, v, low + _STEP, slack) < chance:
        low += _STEP
    high = low + _STEP
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if chance_of_guesses(m, r, v, middle, slack) < chance:
            low = middle
        else:
            high = middle
    return low


def most_shown(
    guesses: int, *, canaries: int | None = None, delta: Number = 0, confidence: Number = 0.95
) -> float:
    """The power of an audit: what it shows if every guess is right, and no more.

    >>> [round(most_shown(guesses), 3) for guesses in (4, 10, 20, 50, 100)]
    [0.0, 1.052, 1.823, 2.785, 3.493]
    """
    m = guesses if canaries is None else canaries
    return epsilon_at_least(m, guesses, guesses, delta=delta, confidence=confidence)


def chance_of_guesses(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """The most probable that v or more of r guesses are right, under (epsilon, delta).

    >>> import math
    >>> round(chance_of_guesses(100, 100, 75, math.log(3), 0.0), 4)
    0.5535
    """
    from scipy.special import betainc, gammaln  # slow to import

    if v == 0:
        return 1.0
    q = 1 / (1 + math.exp(-epsilon))
    chance = float(betainc(v, r - v + 1, q))
    if delta == 0:
        return chance
    k: Any = np.arange(v - 1, -1, -1, dtype=np.float64)  # from v - 1 down to 0
    log_choose = gammaln(r + 1) - gammaln(k + 1) - gammaln(r - k + 1)
    log_wrong = -math.log1p(math.exp(epsilon))
    below = np.cumsum(np.exp(log_choose + k * math.log(q) + (r - k) * log_wrong))
    worst = float(np.max(below / np.arange(1, v + 1)))
    return min(1.0, chance + 2 * m * delta * worst)
