"""The verdict on accounting: fast is not enough, the number must be right, too."""

import pytest

from benchmarks import accounting


@pytest.mark.parametrize(
    ("ours", "right"), [(1.0, True), (1.00005, True), (0.9999, False), (1.01, False)]
)
def test_a_wrong_number_is_not_reached(monkeypatch, ours, right):
    monkeypatch.setattr(
        accounting, "medians", lambda turns, rounds: {"ours": 100.0, "theirs": 1.0}
    )
    case = accounting.Case("plan", lambda: ours, lambda: 1.00001, lambda: 1.0)
    assert accounting.contest(case).reached is right


def test_a_slow_answer_is_not_reached(monkeypatch):
    monkeypatch.setattr(
        accounting, "medians", lambda turns, rounds: {"ours": 5.0, "theirs": 1.0}
    )
    case = accounting.Case("plan", lambda: 1.0, lambda: 1.0, lambda: 1.0)
    assert accounting.contest(case).reached is False
