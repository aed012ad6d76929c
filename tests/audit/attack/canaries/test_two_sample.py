"""The two-sample form: single numbers."""

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dp
from deniable.audit.attack import two_sample
from deniable.audit.attack.canaries.two_sample import bound_from_hits


class Sum:
    """A sum with noise for values up to 10; `clip` says whether they are clipped."""

    def __init__(self, *, clip, epsilon=1):
        self.clip, self.noise = clip, dp.Laplace(epsilon=epsilon, sensitivity=10)

    def many(self, data, runs):
        total = sum(min(value, 10) if self.clip else value for value in data)
        return self.noise.release(np.full(runs, total))


def test_the_cap():
    assert bound_from_hits(1000, 0, 1000, error=0.025, delta=0.0) == pytest.approx(
        5.60, abs=5e-3
    )


def test_a_sum_without_its_clip_is_caught():
    finding = two_sample(Sum(clip=False), [3], [3, 100], claim=dp.PureLoss(1))
    assert finding.violated
    assert finding.at_least > 3
    assert finding.at_least <= finding.power


def test_the_clipped_sum_is_bounded_from_below():
    finding = two_sample(
        Sum(clip=True), [3], [3, 100], claim=dp.PureLoss(1), runs=100_000, confidence=1 - 1e-9
    )
    assert not finding.violated
    assert finding.at_least > 0.85


def test_a_right_mechanism_is_rarely_accused(size):
    runs = size(small=60, full=1000, what="audits by two samples")
    claim, mechanism = dp.PureLoss(1), Sum(clip=True)
    above = sum(
        two_sample(mechanism, [3], [3, 100], claim=claim, runs=400).violated
        for _ in range(runs)
    )
    assert above <= (80 if runs >= 1000 else binom.isf(1e-9, runs, 0.05))


def test_the_event_is_judged_on_other_runs():
    """The runs that choose the event tell the inputs apart, and those that judge it do not."""

    class Fading:
        def many(self, data, runs):
            return np.repeat([len(data), 0], runs // 2)

    assert two_sample(Fading(), [0], [0, 0], runs=400).at_least == 0


def test_delta_is_subtracted():
    assert bound_from_hits(5, 0, 1000, error=0.025, delta=0.01) == 0
    assert bound_from_hits(900, 100, 1000, error=0.025, delta=0.1) < bound_from_hits(
        900, 100, 1000, error=0.025, delta=0.0
    )
