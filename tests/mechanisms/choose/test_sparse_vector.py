"""Sparse vectors: private transcripts, classic mistakes caught, and a firm end."""

import math
import threading
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.errors import InvalidData, InvalidParameter, UsedUp
from deniable.mechanisms import SparseVector
from deniable.mechanisms.choose.laplace_probabilities import LaplaceProbabilities
from deniable.privacy import PureLoss
from tests.mechanisms.enumeration import check
from tests.mechanisms.tables import BITS, counts, neighbors

F = Fraction


def transcripts(length, hits):
    """All possible outputs for this many numbers."""
    for told in product([False, True], repeat=length):
        ends = [i for i, answer in enumerate(told) if answer]
        if len(ends) < hits:
            yield told
        elif len(ends) == hits:
            yield told[: ends[-1] + 1]


class Watched:
    """A sparse vector that is given numbers: those of a table, or any."""

    def __init__(self, mechanism, numbers=tuple, threshold=1):
        self.loss = mechanism.loss
        self._numbers = numbers

        @cache
        def bounds(output, scores):
            return mechanism.pmf_bounds(output, list(scores), BITS, threshold=threshold)

        self._bounds = bounds

    def pmf_bounds(self, output, value, bits=256):
        lo, hi = self._bounds(output, tuple(self._numbers(value)))
        return lo << bits - BITS, hi << bits - BITS


OUTPUTS = {hits: sorted(set(transcripts(3, hits))) for hits in (1, 2)}


@pytest.mark.parametrize("hits", [1, 2])
@pytest.mark.parametrize(
    ("relation", "monotone"), [("add-remove", True), ("add-remove", False), ("replace", False)]
)
def test_all_small_tables_keep_the_loss(hits, relation, monotone, size):
    values = size(small=3, full=4, what="values, all tables of 4 records of a sparse vector")
    mechanism = SparseVector(epsilon=2, count=hits, monotone=monotone)
    pairs = neighbors(relation, 4, values)
    told = sorted(set(transcripts(values, hits)))
    verdict = check(Watched(mechanism, lambda table: counts(table)[:values]), pairs, told)
    assert verdict.private, verdict.event
    assert verdict.missing < 1e-12


@pytest.mark.parametrize("threshold", [0, 3])
def test_numbers_that_all_move_at_once_keep_the_loss(threshold, size):
    """Any numbers of sensitivity one: all ways to move some of them by one, or none."""
    n = size(small=3, full=5, what="numbers of a sparse vector, moved in all ways")
    mechanism = Watched(SparseVector(epsilon=1, count=2), threshold=threshold)
    pairs = [((0,) * n, moved) for moved in product([-1, 0, 1], repeat=n)]
    verdict = check(mechanism, pairs, sorted(set(transcripts(n, 2))))
    assert verdict.private, verdict.event


class LacksTheCount(SparseVector):
    """A mutant: the noise of the numbers does not grow with the number of hits."""

    def _scales(self, real):
        first, second = super()._scales(real)
        return first, second / (self.count * 2)


class PrintsItsNoisyValue:
    """A mutant: the hit comes with the noisy number that reached the threshold."""

    def __init__(self, mechanism, threshold=1):
        self.loss = mechanism.loss
        self._scales = mechanism._scales(False)
        self._threshold = threshold

    def pmf_bounds(self, output, numbers, bits=256):
        misses, printed = output
        first, second = (LaplaceProbabilities(scale, bits) for scale in self._scales)
        low = high = 0
        for noise in range(-first.reach, first.reach + 1):
            line = self._threshold + noise
            if printed < line:
                continue
            lo, hi = first.at(noise)
            sides = [second.below(line - number) for number in numbers[:misses]]
            for side in [*sides, second.at(printed - numbers[misses])]:
                lo, hi = lo * side[0] >> second.work, -(-hi * side[1] >> second.work)
            low, high = low + lo, high + hi
        return first._cut(low, high)


def test_noise_without_the_count_is_caught():
    """The numbers' noise must grow with the hits."""
    strong = Watched(LacksTheCount(epsilon=1, count=3))
    pairs = [((0,) * 5, (1, 1, -1, -1, -1))]
    assert check(strong, pairs, sorted(set(transcripts(5, 3)))).violated


def test_a_printed_noisy_value_is_caught():
    broken = PrintsItsNoisyValue(SparseVector(epsilon=1, count=1))
    outputs = [(5, printed) for printed in (-30, -20, -10)]
    assert check(broken, [((0,) * 6, (1,) * 5 + (-1,))], outputs).violated


def test_transcripts_add_up():
    mechanism = SparseVector(epsilon=1, count=2)
    total = sum(mechanism.pmf(told, [3, 1, 4], threshold=2) for told in OUTPUTS[2])
    assert total == pytest.approx(1, abs=1e-12)
    for impossible in ([True], [True, True, False], [True, True, True], [False] * 4):
        assert mechanism.pmf(impossible, [3, 1, 4], threshold=2) == 0


@pytest.mark.parametrize("monotone", [False, True])
def test_the_sampler_follows_the_law_and_nothing_near_it(monotone, size):
    mechanism = SparseVector(epsilon=2, count=2, monotone=monotone)
    values, draws = [3, 1, 4], size(small=4_000, full=100_000, what="draws of a sparse vector")
    seen = Counter(tuple(mechanism.release(values, threshold=2)) for _ in range(draws))

    def fit(variant):
        law = np.array([variant.pmf(told, values, threshold=2) for told in OUTPUTS[2]])
        return chisquare([seen[told] for told in OUTPUTS[2]], law * draws / law.sum()).pvalue

    assert fit(mechanism) > 1e-9
    assert fit(replace(mechanism, epsilon=3)) < 1e-9


def test_a_session_ends_with_its_last_hit():
    session = SparseVector(epsilon=1, count=2).start(threshold=1000)
    assert not session.above(-9000)
    assert session.above(9000)
    assert session.left == 1
    assert session.above(9000)
    assert session.left == 0
    for value in (9000, -9000):
        with pytest.raises(UsedUp, match="Start another session"):
            session.above(value)


def test_the_threshold_is_noisy_once_and_stays_secret():
    session = SparseVector(epsilon=1).start(threshold=1000)
    assert "1000" not in repr(session)
    lines = {
        SparseVector(epsilon=F(1, 10)).start(threshold=0)._noisy_threshold for _ in range(40)
    }
    assert len(lines) > 5


def test_floats_need_a_session_for_floats():
    session = SparseVector(epsilon=1).start(threshold=0)
    with pytest.raises(InvalidData, match="real=True"):
        session.above(0.5)
    mechanism = SparseVector(epsilon=1, step=F(1, 100))
    assert mechanism.start(threshold=0, real=True).above(9000.5)
    exact, real = mechanism._scales(False), mechanism._scales(True)
    assert real[0] / exact[0] == real[1] / exact[1] == F(101, 100)


def test_monotone_floats_are_covered_a_step_against_their_direction():
    plain = SparseVector(epsilon=1, monotone=True, step=F(1, 10))
    exact, real = plain._scales(False), plain._scales(True)
    assert 11 / real[0] + 12 / real[1] == 1
    assert 10 / exact[0] + 10 / exact[1] == 1


@pytest.mark.parametrize("count", [1, 3, 10])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_split_is_the_best_one(count, monotone):
    """The variance of the comparison, threshold plus number, is least at this split."""
    mechanism = SparseVector(epsilon=1, count=count, monotone=monotone)
    first, second = mechanism._scales(False)
    shifts = count if monotone else 2 * count
    assert 1 / first + shifts / second == 1

    def variance(share):
        return (1 / share) ** 2 + (shifts / (1 - share)) ** 2

    best = float(1 / first)
    assert variance(best) <= min(variance(best * 1.01), variance(best * 0.99))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("queries", [1, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_margin_holds_for_all_answers_at_once(queries, confidence, size):
    draws = size(small=500, full=200_000, what="sparse vectors against their margin")
    mechanism = SparseVector(epsilon=1)
    margin = mechanism.margin(confidence, queries=queries)
    below = [-margin - 1] * queries
    right = sum(not any(mechanism.release(below, threshold=0)) for _ in range(draws))
    assert right / draws >= confidence - 4 / np.sqrt(draws)
    assert mechanism.margin(confidence, queries=queries, real=True) > margin


def test_losses_and_values():
    mechanism = SparseVector(epsilon=1, count=5)
    assert mechanism.loss == PureLoss(1)
    assert SparseVector(odds=3).loss == PureLoss(odds=3)
    assert replace(mechanism) == mechanism


@pytest.mark.parametrize(
    "change",
    [{"count": 0}, {"sensitivity": 0}, {"monotone": "no"}, {"step": -1}, {"epsilon": 0}],
    ids=str,
)
def test_bad_parameters_are_refused_by_name(change):
    with pytest.raises(InvalidParameter, match=next(iter(change))):
        replace(SparseVector(epsilon=1), **change)


def test_bad_data_is_refused():
    with pytest.raises(InvalidData):
        SparseVector(epsilon=1).start(threshold=0).above([1, 2])
    with pytest.raises(InvalidParameter, match="confidence"):
        SparseVector(epsilon=1).margin(1, queries=3)


def test_threads_share_a_session_without_taking_the_last_hit_twice():
    """Every number is far above: exactly `count` are told, all others refused."""
    session = SparseVector(epsilon=1, count=5).start(threshold=0)
    told, refused, begin = [], [], threading.Barrier(8)

    def ask():
        begin.wait(timeout=60)
        for _ in range(20):
            try:
                told.append(session.above(10**6))
            except UsedUp:
                refused.append(1)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert told == [True] * 5
    assert len(refused) == 155
    assert session.left == 0


def test_floats_that_err_by_half_a_step_are_covered():
    """Also where the sensitivity is not a whole number of steps."""
    for sensitivity, step in ((F(1), F(1)), (F(3, 2), F(1)), (F(7, 3), F(1, 2))):
        mechanism = SparseVector(epsilon=1, sensitivity=sensitivity, step=step)
        first, _ = mechanism._scales(real=True)
        whole_numbers, _ = mechanism._scales(real=False)
        total = first / whole_numbers
        assert total >= (sensitivity / step + 1) / math.ceil(sensitivity / step)
