"""Verdicts of the noise benchmark."""

import pytest

from benchmarks import noise


@pytest.mark.parametrize(("ours", "reached"), [(13.0, True), (12.9, False)])
def test_a_target_that_is_missed_says_so(ours, reached):
    row = noise.verdict("noise", {"ours": ours, "numpy": 10.0}, "numpy", 1.3)
    assert row.reached is reached
    assert row.ratio == pytest.approx(ours / 10)


def test_a_missing_peer_is_named(monkeypatch):
    monkeypatch.setattr(noise, "DRAWS", 10)
    rows = list(noise.contest("noise", range, range, 1.0, "is not installed"))
    assert [row.peer for row in rows] == ["numpy", "OpenDP"]
    assert rows[1].reached is None
    assert rows[1].note == "is not installed"
