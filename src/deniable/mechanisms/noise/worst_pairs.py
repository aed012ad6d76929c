"""The two laws of an output that are easiest to tell apart, for mechanisms that have such.

`LossDistribution.of(mechanism)` reads them through the mechanism's `worst_pair`. What they
know that the pure loss does not: how rare the outputs are that lose the whole epsilon.
"""

import math
from fractions import Fraction

import numpy as np

from deniable.privacy.arithmetic.dominating_pairs import Atoms
from deniable.privacy.arithmetic.nats import Nats

_LISTED = 1 << 16
_TRIED = 2048


def laplace(scale: Fraction, steps: int) -> Atoms | None:
    """Discrete Laplace noise so many steps apart; None where those are too many to list.

    Its law is log-concave, so a larger shift is never harder to see. Between the two centres
    the loss falls by 2 / scale a step; beyond them it is constant.

    >>> laplace(Fraction(2), steps=2).losses
    (-1.0, 0.0, 1.0)
    """
    if not 1 <= steps <= _LISTED:
        return None
    rate = 1 / scale
    a, one = math.exp(-rate), -math.expm1(-rate)
    between = [one / (1 + a) * math.exp(-z * rate) for z in range(1, steps)]
    weights = (1 / (1 + a), *between, math.exp(-steps * rate) / (1 + a))
    losses = tuple(float((steps - 2 * z) * rate) for z in range(steps + 1))
    return Atoms(losses[::-1], weights[::-1], unit=Nats(rate))


def staircase(epsilon: Fraction, stair: int, flat: int) -> Atoms | None:
    """Staircase noise at the shift that is easiest to see; None for long stairs.

    Losses are -epsilon, 0 or epsilon, so the pair that loses epsilon most often dominates.
    All shifts up to a stair are tried.

    >>> pair = staircase(Fraction(2), stair=10, flat=3)
    >>> pair.losses, f"{pair.weights[1]:.4f}"
    ((-2.0, 0.0, 2.0), '0.0832')
    """
    if stair > _TRIED:
        return None
    exact, nats = float(epsilon), Nats(epsilon)
    b = math.exp(-exact)
    place = np.arange(2 * stair + 1)
    level = place // stair + (place % stair >= flat)
    weight = np.exp(-exact * level)
    whole = 2 * float(weight[:stair].sum()) / (1 - b) - 1  # zero is there once
    most = 0.0
    for shift in range(1, stair + 1):
        falls = level[shift : shift + stair] > level[:stair]
        behind = float((weight[:stair] * falls).sum()) / (1 - b)
        z = place[1:shift]  # between the two centres
        ahead = float((weight[z] * (level[shift - z] > level[z])).sum())
        most = max(most, (behind + ahead) / whole)
    rest = max(1 - most * (1 + b), 0.0)
    return Atoms((-exact, 0.0, exact), (most * b, rest, most), unit=nats)
