"""A race spends its calls on what looks broken, and keeps to its calls."""

import math

import numpy as np

from deniable import Laplace, PureLoss
from deniable.audit.test.comparisons import list_comparisons
from deniable.audit.test.event_search import EventTest, EventTests
from deniable.audit.test.mechanism_calls import Caller, CallMeter
from deniable.audit.test.races import count_heats, keep_best, race

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
    results = race(listed, 60_000)
    assert meter.used <= 60_000
    best = max(results, key=lambda each: results[each].evidence[0].value)
    assert best.inputs[0][0] == BROKEN
    assert results[best].evidence[0].value > 10
    assert len(results) <= 6  # the finalists, and the one with the largest epsilon


def test_a_few_comparisons_are_all_searched():
    listed, meter = comparisons_of(1)
    assert len(race(listed, 4_000)) == 4
    assert meter.used <= 4_000


def test_heats_drop_three_of_four_if_the_first_samples_are_large_enough():
    listed, _ = comparisons_of(21)
    assert count_heats(listed, 60_000) == 1 + math.ceil(math.log(84 / 4, 4))
    assert count_heats(listed, 10_000) == 1


def test_with_few_calls_single_calls_are_compared_and_then_fewer_pairs():
    listed, meter = comparisons_of(21)
    results = race(listed, 5_000)
    assert 2_500 < meter.used <= 5_000
    assert len(results) == 21
    assert all(each.single for each in results)
    results = race(listed, 1_000)
    assert [each.inputs[0][0] for each in results] == list(range(7))
    assert race(listed, 100) == {}


def found_with(evidence, *, low_digits=None):
    """What a search found: one event with that evidence, of low digits or not."""

    def event_test(value):
        return EventTest(None, False, False, value, 0.1)

    floats = [] if low_digits is None else [event_test(low_digits)]
    return EventTests([event_test(0.0)], [event_test(evidence)], floats)


def test_floating_point_noise_stays_in_the_race_without_evidence():
    """It often shows only in larger samples; until then all such pairs look alike."""
    listed, _ = comparisons_of(24)
    singles = [each for each in listed if each.single]
    results = {each: found_with(3.0) for each in singles}
    floats = singles[20:]
    results |= {
        each: found_with(-1.0, low_digits=-1.0 + i / 10) for i, each in enumerate(floats)
    }
    assert set(floats) <= set(keep_best(results))
    results[floats[-1]] = found_with(2.0, low_digits=2.0)  # now one stands out
    assert set(keep_best(results)) & set(floats) == {floats[-1]}
