"""The benchmark of joins: both sides answer the same question, and a missed target says so."""

import pytest

from benchmarks import joins


@pytest.mark.parametrize("case", joins.CASES, ids=lambda case: case.what)
def test_both_sides_answer_the_same_question(case, tmp_path):
    """Noise beyond 20 scales comes once in 10^8 runs; few people exceed their limits."""
    path = joins.create_tables(tmp_path, 40_000)
    exact = joins.plain(path, case)().to_pylist()
    answer = joins.private(path, case)().to_arrow().to_pylist()
    assert len(answer) == len(exact) or "ward" not in answer[0]
    total, noisy = (sum(row["n"] for row in rows) for rows in (exact, answer))
    assert float(noisy) == pytest.approx(float(total), rel=0.5)


@pytest.mark.parametrize(("ours", "reached"), [(4.99, True), (5.01, False)])
def test_a_target_that_is_missed_says_so(ours, reached):
    row = joins.verdict(joins.CASES[0], ours, 1.0)
    assert row.reached is reached
