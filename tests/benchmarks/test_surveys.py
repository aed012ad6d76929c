"""Verdicts of the survey benchmark: only the slower peer sets the target."""

import pytest

from benchmarks import surveys


def test_the_slower_peer_sets_the_target(monkeypatch):
    times = iter([{"ours": 1.0, "multi-freq-ldpy": 15.0, "pure-ldp": 25.0}])
    monkeypatch.setattr(surveys, "medians", lambda contestants: next(times))
    peers = {"multi-freq-ldpy": len, "pure-ldp": len}
    rows = list(surveys.contest("OUE", len, peers))
    assert [row.target for row in rows] == ["≥ 1", "≥ 20"]
    assert [row.reached for row in rows] == [True, True]
    assert [row.ratio for row in rows] == pytest.approx([15, 25])


@pytest.mark.parametrize(("theirs", "reached"), [(20.0, True), (19.9, False)])
def test_a_target_that_is_missed_says_so(monkeypatch, theirs, reached):
    monkeypatch.setattr(surveys, "medians", lambda _: {"ours": 1.0, "pure-ldp": theirs})
    peers = {"multi-freq-ldpy": "is not installed (extra: bench)", "pure-ldp": len}
    missing, measured = surveys.contest("OUE", len, peers)
    assert missing.note == "is not installed (extra: bench)"
    assert measured.reached is reached
