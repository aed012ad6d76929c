"""Lopsided pairs: releases that stand opposite ways are covered too."""

import itertools
import math
import random
from fractions import Fraction

from deniable.mechanisms import RandomizedResponse
from deniable.privacy import LossDistribution
from deniable.privacy.arithmetic.dominating_pairs import DiscretePair
from deniable.privacy.arithmetic.symmetric_pairs import symmetric_pair
from tests.privacy import exactly


def _law(draw, k):
    weights = [draw.choice([0, 1, 2, 3, 5, 8, 20]) for _ in range(k)]
    weights[draw.randrange(k)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def _curve(p, q, a):
    return sum(max(x - a * y, Fraction(0)) for x, y in zip(p, q, strict=True))


def test_its_curve_is_the_greater_of_both():
    draw = random.Random(1)
    for _ in range(300):
        k = draw.randint(2, 5)
        p, q = _law(draw, k), _law(draw, k)
        pair = symmetric_pair(p, q)
        for a in (1, 1.25, 2, 4, 60):
            delta = pair.infinite + sum(
                w * max(0.0, 1 - a * math.exp(-y))
                for y, w in zip(pair.losses, pair.weights, strict=True)
            )
            expected = max(_curve(p, q, Fraction(a)), _curve(q, p, Fraction(a)))
            assert abs(delta - expected) < 1e-12


def test_a_symmetric_pair_is_left_alone():
    p, q = [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
    assert symmetric_pair(p, q) == DiscretePair.of(p, q)


def test_no_choice_of_directions_beats_the_bound():
    draw = random.Random(2)
    for _ in range(25):
        pairs = [(_law(draw, 3), _law(draw, 3)) for _ in range(3)]
        whole = sum(LossDistribution.from_pair(p, q) for p, q in pairs)
        for epsilon in (0.0, 0.5, 1.5, 3.0):
            claimed = whole.delta(epsilon)
            for ways in itertools.product((False, True), repeat=3):
                turned = [
                    (q, p) if way else (p, q) for way, (p, q) in zip(ways, pairs, strict=True)
                ]
                assert exactly.delta(*exactly.composed(turned), epsilon)[0] <= claimed


def test_two_answers_of_a_lopsided_design_may_change_opposite_ways():
    p, q = Fraction(1, 2), Fraction(1, 10)
    yes, no = [p, 1 - p], [q, 1 - q]
    two = LossDistribution.of(RandomizedResponse.channel(p, q)) * 2
    truth = exactly.delta(*exactly.composed([(yes, no), (no, yes)]), 1.0)[0]
    assert truth > 0.31
    assert two.delta(1.0) >= truth


def test_what_only_one_side_can_say_counts_both_ways():
    p, q = [Fraction(1, 5), Fraction(4, 5), 0], [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)]
    assert not DiscretePair.of(p, q).symmetric
    assert LossDistribution.from_pair(p, q).epsilon(0.1) == math.inf
    assert LossDistribution(((DiscretePair.of(p, q), 1),)).epsilon(0.1) == math.inf
