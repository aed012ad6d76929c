"""The scale benchmark: real measurements of small tables, and limits that can be missed."""

import json
import resource
from dataclasses import replace

import pyarrow.dataset
import pytest

from benchmarks import scale
from benchmarks.scale import Point


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.setattr(scale, "ROWS", (2_000, 20_000, 40_000))
    monkeypatch.setattr(scale, "MANY", 20_000)
    monkeypatch.setattr(scale, "missing_spark", lambda: "is not installed")
    monkeypatch.setattr(scale, "BY_GROUPS", (10,))
    monkeypatch.setattr(scale, "PRIVATE", (100,))
    monkeypatch.setattr(scale, "PICTURE", tmp_path / "scale.svg")
    monkeypatch.setattr(scale, "POINTS", tmp_path / "scale.json")
    monkeypatch.setattr(scale, "measure_in_process", in_process)


def in_process(point, folder):
    """Without a process of its own, and its repeats."""
    path = scale.table(folder, point.rows, point.groups)
    answer, exact = scale.private(point, path)(), scale.plain(point, path)()
    if point.policy != "private":
        assert len(answer) == point.groups
        assert exact.num_rows <= point.groups
    return replace(point, ours=point.rows * 2e-6, plain=point.rows * 1e-6, beyond=2.0**29)


def test_every_point_is_measured_told_and_drawn(small, tmp_path):
    rows = list(scale.rows())
    assert sum(row.peer == "DuckDB, not private" for row in rows) == 6
    assert [row.note for row in rows if row.ratio is None] == ["is not installed"] * 4
    assert all(row.ratio == pytest.approx(2) for row in rows[:6])
    assert [row.reached for row in rows[-3:]] == [True, True, True]
    assert rows[-1].ours == pytest.approx(0.5)
    assert "exponent 1.00" in (tmp_path / "scale.svg").read_text()
    assert len(json.loads((tmp_path / "scale.json").read_text())) == 6


def test_a_process_of_its_own_says_what_it_took(tmp_path):
    point = scale.measure_in_process(Point("DuckDB", "rows", 5_000, 10), tmp_path)
    assert point.ours > 0
    assert point.plain > 0
    assert point.beyond < 2**30


def test_limits_that_are_missed_say_so():
    fast = [Point("DuckDB", "rows", n, scale.GROUPS, n**1.2, 1.0, 2.0**31) for n in (10, 100)]
    assert [row.reached for row in scale.verdicts(fast)] == [False, False, False]


def test_the_peak_is_what_the_system_says():
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert scale.peak() == pytest.approx(used, rel=0.05)


def test_tables_are_as_large_as_their_rows(tmp_path):
    assert scale.MADE != scale.MAKE
    path = scale.table(tmp_path, 200_000, 10)
    assert path.stat().st_size > 9 * 200_000
    assert max(scale.ROWS) * 9 > scale.MEMORY


def test_the_same_rows_go_to_spark(tmp_path):
    folder = scale.parquet(scale.table(tmp_path, 3_000, 10))
    assert pyarrow.dataset.dataset(folder).count_rows() == 3_000
    slow = [Point("Spark", "rows", n, scale.GROUPS, 1.6 * n, 1.0 * n, 0.0) for n in (10, 100)]
    tax = next(row for row in scale.verdicts(slow) if "tax" in row.what)
    assert (tax.reached, tax.ours) == (False, pytest.approx(1.6))
