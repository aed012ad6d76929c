"""The benchmark of power: verdicts, and peers that do what their papers say."""

import numpy as np
import pytest

from benchmarks import inference


def test_a_verdict_compares_powers():
    assert inference.verdict("x", 0.8, 0.8, "them", 0.9, 0.999).reached
    assert not inference.verdict("x", 0.5, 0.8, "them", 0.9, 0.9).reached
    assert inference.verdict("x", 0.5, 0.8, "them", 0.9, 0.9).note == "without noise 0.90"


def test_one_share_reaches_the_optimum():
    for row in inference.proportions():
        assert row.ratio == pytest.approx(1, abs=1e-6)
        assert row.reached


def test_the_projected_statistic_holds_its_level():
    rng = np.random.default_rng(1)
    null = np.full(4, 0.25)
    wrong = 0
    for _ in range(2_000):
        noisy = rng.multinomial(2_000, null) + rng.normal(0, 20, 4)
        wrong += inference.projected_p(noisy, null, 2_000, 400) <= 0.05
    assert 0.03 < wrong / 2_000 < 0.07
