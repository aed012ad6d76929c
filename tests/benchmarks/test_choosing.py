"""The benchmark of choices: verdicts, and contestants that do the same job."""

import numpy as np

from benchmarks import choosing


def test_a_verdict_says_whether_the_target_was_reached():
    assert choosing.verdict("exponential", 90.0, 10.0).reached
    assert not choosing.verdict("exponential", 110.0, 10.0).reached
    assert choosing.verdict("exponential", 110.0, 10.0).ratio == 11


def test_contestants_choose_from_the_same_scores():
    scores = np.array([0, 0, 10_000, 0])
    assert choosing.gumbel(np.random.default_rng(1), scores) == 2
    for mechanism in choosing.MECHANISMS.values():
        assert mechanism.release(scores) == 2
