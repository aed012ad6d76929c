"""How much reward any private bandit misses.

A bandit that does well whatever the means are must tell each bad arm from an arm that would be
the best. So the courses of its choices in both worlds must differ by a divergence of about
ln(T) (Lai & Robbins 1985). Let p and q be the arm's rewards in the two worlds, and w any third
law. With epsilon, a pull of the arm adds at most epsilon TV(p, w) + KL(w, q) to it:

    Let P(a | r) be the probability of the choices a if their rewards are r. If a bandit is
    private, P(a | r) <= exp(epsilon H) P(a | r'), with H the number of rewards that differ.
    Draw each r_t by p, and r'_t by w, so that they differ as rarely as possible. Then the
    log-sum inequality bounds the divergence of the choices by the mean, over the bandit's run
    in the first world, of epsilon H + the sum of ln(w(r'_t) / q(r'_t)).

The least of this over w lies between KL(p, q) and epsilon TV(p, q): Azize, Wu, Honda, Orabona,
Ito & Basu, "Optimal regret of Bernoulli bandits under global differential privacy", 2025. All
this holds in the limit of many steps.
"""

import math
from collections.abc import Sequence

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, probability, whole
from deniable.price.lower_bounds import Bound

_SOURCE = "Lai & Robbins 1985; Azize et al. 2025"


def bandit_regret(
    means: Sequence[Number], *, horizon: int, epsilon: Number | None = None
) -> Bound:
    """The least regret after many steps, for arms with rewards of 0 and 1 and these means.

    It is for every bandit that does well for all means; without an epsilon, for any that need
    not be private.

    >>> print(bandit_regret([0.75, 0.7], horizon=10**6, epsilon=0.1))
    regret >= 170.689 (Lai & Robbins 1985; Azize et al. 2025; at 1 change)
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
            told = _told(share, best, rate)
            regret += 0.0 if math.isinf(told) else gap * log / told
    return Bound(regret, "regret", _SOURCE)


def _told(p: float, q: float, epsilon: float) -> float:
    """The least epsilon |w - p| + KL(w, q): at odds of w that are exp(-epsilon) times q's, or
    at w = p if these are below p's.

    >>> round(_told(0.7, 0.75, 0.1), 5), round(_told(0.7, 0.75, 9), 5), _told(0.5, 1, 2)
    (0.00405, 0.0064, 1.0)
    """
    if math.isinf(epsilon) or epsilon > 700:
        return _divergence(p, q)
    w = max(p, q / (q + (1 - q) * math.exp(epsilon)))
    return epsilon * (w - p) + _divergence(w, q)


def _divergence(p: float, q: float) -> float:
    if p == q:
        return 0.0
    if q >= 1:
        return math.inf
    ones = p * math.log(p / q) if p else 0.0
    return ones + (1 - p) * math.log((1 - p) / (1 - q))
