"""The queries benchmark: both sides answer the same question, and a missed target says so."""

import math
from dataclasses import replace

import duckdb
import pytest

from benchmarks import peers, queries


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(queries, "ROWS", 3_000)
    monkeypatch.setattr(queries, "PEER_PERSON_ROWS", 1_000)


@pytest.mark.parametrize(("case", "moved"), [(queries.CASES[0], 1), (queries.CASES[1], 40)])
def test_both_sides_answer_the_same_question(case, moved, tmp_path):
    """With four groups nobody is in too many; noise beyond `reach` comes once in 10^9 runs."""
    path = queries.table(tmp_path, 200_000, 4)
    few = replace(case, groups=4)
    exact = {row["g"]: row for row in queries.plain(path, few)().to_pylist()}
    answer = queries.private(path, few)().to_arrow().to_pylist()
    assert [row["g"] for row in answer] == list(range(4))
    reach = 3 * moved * math.log(2e9)  # three integers, each with noise of that scale
    for row in answer:
        true = exact[row["g"]]
        assert true["n"] > 10 * reach
        assert abs(row["n"] - float(true["n"])) < reach
        assert abs(row["mean"] - float(true["mean"])) < 100 * reach / (float(true["n"]) - reach)


def test_ten_rows_a_person_in_at_most_six_groups(tmp_path):
    path = queries.table(tmp_path, 10_000, 1_000)
    with duckdb.connect(str(path), read_only=True) as database:
        row = database.execute(
            f"SELECT MIN(c), MAX(c), MAX(k) FROM (SELECT COUNT(*) AS c, COUNT(DISTINCT g) AS k "
            f"FROM {path.stem} GROUP BY person)"
        ).fetchone()
    assert row[:2] == (10, 10)
    assert 4 < row[2] <= 6


@pytest.mark.parametrize(("ours", "reached"), [(1.99, True), (2.01, False)])
def test_a_target_that_is_missed_says_so(ours, reached):
    row = queries.verdict("a query", ours, 1.0, 2.0)
    assert row.reached is reached
    assert row.ratio == pytest.approx(ours)


def test_peers_are_beside_ours_or_say_why_not(tmp_path, monkeypatch):
    times = {"opendp-rows": 2.0, "opendp-persons": "is not installed", "diffprivlib-rows": 3.0}
    calls = []

    def seconds(kind, file, groups):
        with duckdb.connect() as database:
            (rows,) = database.execute(f"SELECT COUNT(*) FROM '{file}'").fetchone()
        calls.append((kind, rows, groups))
        return times[kind]

    monkeypatch.setattr(peers, "seconds", seconds)
    rows = list(queries.against_peers(tmp_path))
    assert calls == [
        ("opendp-rows", 3_000, 1_000),
        ("diffprivlib-rows", 3_000, 1_000),
        ("opendp-persons", 1_000, 1_000),
    ]
    assert [row.theirs for row in rows] == [2.0, 3.0, None]
    assert rows[0].ratio == pytest.approx(rows[0].ours / 2.0)
    assert rows[2].note == "is not installed"


def test_sizes_are_in_the_title():
    assert queries.sized("COUNT", 10_000_000, 1000) == "COUNT, 1e7 rows, 1,000 groups"
