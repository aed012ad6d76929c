"""Plans of small rational pairs, composed exactly: what the numbers are compared with."""

import math
from fractions import Fraction

from deniable.privacy.arithmetic.dominating_pairs import DiscretePair


def composed(pairs):
    """The joint laws of independent pairs ((p, q), ...): {likelihood ratio: P mass}, P(inf).

    Masses are kept as whole numbers over one common denominator, which is quick.
    """
    masses, bottom, kept = {Fraction(1): 1}, 1, Fraction(1)
    for p, q in pairs:
        common = math.lcm(*(Fraction(a).denominator for a in p))
        steps = {}
        for a, b in zip(p, q, strict=True):
            if a and b:
                steps[a / b] = steps.get(a / b, 0) + int(a * common)
        kept *= Fraction(sum(steps.values()), common)
        following = {}
        for ratio, mass in masses.items():
            for step, weight in steps.items():
                key = ratio * step
                following[key] = following.get(key, 0) + mass * weight
        masses, bottom = following, bottom * common
    return {ratio: Fraction(mass, bottom) for ratio, mass in masses.items()}, 1 - kept


def delta(masses, infinite, epsilon):
    """The hockey-stick divergence at an epsilon given as a float: enclosed by two floats'
    odds, since e**epsilon is irrational."""
    odds = [Fraction(math.exp(epsilon)) * (1 + side * Fraction(1, 2**50)) for side in (1, -1)]
    return [
        infinite + sum((m * (1 - x / r) for r, m in masses.items() if r > x), start=Fraction(0))
        for x in odds
    ]


def swapped(pairs):
    return [(q, p) for p, q in pairs]


def atoms(pairs):
    return tuple((DiscretePair.of(p, q), 1) for p, q in pairs)
