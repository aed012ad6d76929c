"""A race spends its calls on what looks broken, and keeps to its calls."""

import math

import numpy as np

from deniable import Laplace, PureLoss
from deniable.audit.test.comparisons import list_comparisons
from deniable.audit.test.mechanism_calls import Caller, CallMeter
from deniable.audit.test.races import count_heats, race

BROKEN = 13


class OneBroken:
    """Keeps its claim on all pairs but one, where the noise is half as wide."""

    def many(self, data, n):
        pair, value = data
        noise = Laplace(epsilon=2 if pair == BROKEN else 1)
        return value + noise.release(np.zeros(n, dtype=np.int64))


def comparisons_of(pairs):
    meter = CallMeter(10**9, None, lambda used: None)
    caller = Caller(OneBroken(), meter)
    listed = [
        comparison
        for i in range(pairs)
        for comparison in list_comparisons(caller, PureLoss(1), (i, 0), (i, 1))
    ]
    return listed, meter


def test_the_broken_pair_wins():
    listed, meter = comparisons_of(21)
    found = race(listed, 60_000)
    assert meter.used <= 60_000
    best = max(found, key=lambda each: found[each].evidence[0].value)
    assert best.inputs[0][0] == BROKEN
    assert found[best].evidence[0].value > 10
    assert len(found) <= 6  # the finalists, and the one with the largest epsilon


def test_a_few_comparisons_are_all_searched():
    listed, meter = comparisons_of(1)
    assert len(race(listed, 4_000)) == 4
    assert meter.used <= 4_000


def test_heats_drop_three_of_four_if_the_first_samples_are_large_enough():
    listed, _ = comparisons_of(21)
    assert count_heats(listed, 60_000) == 1 + math.ceil(math.log(84 / 4, 4))
    assert count_heats(listed, 10_000) == 1
    assert race(listed, 1_000) == {}
