"""Verdicts of the quantile benchmark."""

import numpy as np
import pytest

from benchmarks import quantiles


@pytest.mark.parametrize(("ours", "reached"), [(50.0, True), (50.1, False)])
def test_a_target_that_is_missed_says_so(ours, reached):
    row = quantiles.verdict("recursive", ours, 10.0, 5)
    assert row.reached is reached
    assert row.ratio == pytest.approx(ours / 10)


def test_every_method_has_its_turn(monkeypatch):
    monkeypatch.setattr(quantiles, "VALUES", 1000)
    monkeypatch.setattr(quantiles, "CELLS", 1000)
    rows = list(quantiles.rows())
    assert len(rows) == len(quantiles.MOST) + 1
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)


def test_memory_is_seen():
    assert quantiles.peak_memory(lambda: np.zeros(2**20)) == pytest.approx(8, rel=0.1)
