"""Strategies: which batches follow from noisy means."""

import math

import pytest

from deniable.streams.bandits.strategies import (
    Elimination,
    Episodes,
    PullBatch,
    bernoulli_divergence,
    largest_mean,
)


def test_arms_fall_at_the_end_of_an_epoch():
    strategy = Elimination(3, rate=1.0, mistake=1e-3)
    pulls = strategy.next().pulls
    for arm, mean in enumerate((0.9, 0.1, 0.85)):
        assert strategy.next() == PullBatch(arm, pulls)
        strategy.record(mean)
    assert strategy.left == [0, 2]
    assert strategy.next().pulls == strategy.epoch_pulls(2, 2)
    strategy.record(2.0)
    strategy.record(0.0)
    assert strategy.next() == PullBatch(0, None)


@pytest.mark.parametrize("rate", [None, 0.01, 1.0])
def test_epochs_are_long_enough_for_their_width(rate):
    """Both parts of the error are at most an eighth of 2**-e."""
    strategy = Elimination(5, rate=rate, mistake=1e-6)
    for epoch in range(1, 12):
        pulls = strategy.epoch_pulls(epoch, 5)
        wide, narrow = strategy._logs(epoch, 5)
        assert math.sqrt(wide / (2 * pulls)) <= 2.0**-epoch / 8
        assert rate is None or narrow / (pulls * rate) <= 2.0**-epoch / 8
    assert strategy.most_pulls(0.3) == sum(strategy.epoch_pulls(e, 5) for e in (1, 2))


def test_episodes_double_and_forget():
    strategy = Episodes(2, rate=1.0)
    seen = []
    for _ in range(12):
        batch = strategy.next()
        seen.append(batch)
        strategy.record(1.0 if batch.arm == 0 else 0.0)
    own = [batch.pulls for batch in seen if batch.arm == 0]
    assert own[:4] == [1, 1, 2, 4]
    assert sum(own) > sum(batch.pulls for batch in seen if batch.arm == 1)


def test_the_largest_credible_mean():
    for mean in (0.0, 0.2, 0.5, 0.99):
        for divergence in (0.0, 0.01, 1.0, 100.0):
            largest = largest_mean(mean, divergence)
            assert mean <= largest <= 1.0
            if divergence < 1:
                assert bernoulli_divergence(mean, largest) <= divergence + 1e-9
    assert largest_mean(-3.0, 0.1) < 0.1
    assert largest_mean(5.0, 0.1) == 1.0
    assert bernoulli_divergence(0.5, 1.0) == math.inf
