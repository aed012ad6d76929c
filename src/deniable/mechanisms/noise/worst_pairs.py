"""The two output distributions that are easiest to distinguish, for mechanisms that have them.

`LossDistribution.of(mechanism)` reads them through the mechanism's `worst_pair`. They show how
rare the outputs are that lose the whole epsilon, which the pure loss does not show.
"""

import math
from fractions import Fraction

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import DiscretePair
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon

_LISTED = 1 << 16
_TRIED = 2048


def laplace(scale: Fraction, steps: int) -> DiscretePair | None:
    """Discrete Laplace noise at two inputs `steps` apart; None if there are too many to list.

    The distribution is log-concave, so a larger shift is never harder to see. Between the two
    centres the loss falls by 2 / scale per step; outside it is constant.

    >>> laplace(Fraction(2), steps=2).losses
    (-1.0, 0.0, 1.0)
    """
    if not 1 <= steps <= _LISTED:
        return None
    rate = 1 / scale
    a, fall = math.exp(-rate), -math.expm1(-rate)
    between = [fall / (1 + a) * math.exp(-z * rate) for z in range(1, steps)]
    weights = (1 / (1 + a), *between, math.exp(-steps * rate) / (1 + a))
    losses = tuple(float((steps - 2 * z) * rate) for z in range(steps + 1))
    return DiscretePair(losses[::-1], weights[::-1], unit=ExactEpsilon(rate))


def staircase(epsilon: Fraction, stair: int, flat: int) -> DiscretePair | None:
    """Staircase noise at the shift that is easiest to see; None for long stairs.

    Losses are -epsilon, 0 or epsilon, so the pair that loses epsilon most often dominates.
    This tries all shifts up to one stair.

    >>> pair = staircase(Fraction(2), stair=10, flat=3)
    >>> pair.losses, f"{pair.weights[1]:.4f}"
    ((-2.0, 0.0, 2.0), '0.0832')
    """
    if stair > _TRIED:
        return None
    exact, nats = float(epsilon), ExactEpsilon(epsilon)
    b = math.exp(-exact)
    place = np.arange(2 * stair + 1)
    level = place // stair + (place % stair >= flat)
    weight = np.exp(-exact * level)
    whole = 2 * float(weight[:stair].sum()) / (1 - b) - 1  # zero counts once
    most = 0.0
    for shift in range(1, stair + 1):
        falls = level[shift : shift + stair] > level[:stair]
        behind = float((weight[:stair] * falls).sum()) / (1 - b)
        z = place[1:shift]  # between the two centres
        ahead = float((weight[z] * (level[shift - z] > level[z])).sum())
        most = max(most, (behind + ahead) / whole)
    rest = max(1 - most * (1 + b), 0.0)
    return DiscretePair((-exact, 0.0, exact), (most * b, rest, most), unit=nats)
