"""How much reward any private bandit misses.

A bandit that does well whatever the means are must tell each bad arm from an arm that would be
the best. Without privacy this takes ln(T) / kl pulls of it (Lai & Robbins 1985). With epsilon,
each pull tells at most 6 epsilon times the distance of the two coins, however large its
divergence is: Azize & Basu, "When privacy meets partial information", 2022. Both hold in the
limit of many steps.
"""

import math
from collections.abc import Sequence

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, probability, whole
from deniable.price.lower_bounds import Bound

_SOURCE = "Lai & Robbins 1985; Azize & Basu 2022"


def bandit_regret(
    means: Sequence[Number], *, horizon: int, epsilon: Number | None = None
) -> Bound:
    """The least regret after many steps, for arms with rewards of 0 and 1 and these means.

    It is for every bandit that does well for all means; without an epsilon, for any that need
    not be private.

    >>> print(bandit_regret([0.75, 0.7], horizon=10**6, epsilon=0.1))
    regret >= 107.909 (Lai & Robbins 1985; Azize & Basu 2022; at 1 change)
    """
    shares = [float(probability(mean, "means")) for mean in means]
    if len(shares) < 2:
        raise InvalidParameter("`means` are those of two arms or more.")
    rate = math.inf if epsilon is None else float(positive(epsilon, "epsilon"))
    best, log = max(shares), math.log(whole(horizon, "horizon"))
    regret = 0.0
    for share in shares:
        gap = best - share
        if gap > 0:
            told = min(_divergence(share, best), 6 * rate * gap)
            regret += 0.0 if math.isinf(told) else gap * log / told
    return Bound(regret, "regret", _SOURCE)


def _divergence(p: float, q: float) -> float:
    if q >= 1:
        return math.inf
    ones = p * math.log(p / q) if p else 0.0
    return ones + (1 - p) * math.log((1 - p) / (1 - q))
