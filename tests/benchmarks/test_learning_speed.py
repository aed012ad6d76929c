"""Fits against scans: the file has what both read, and a fit is counted in scans a step."""

import duckdb
import pytest

from benchmarks.learning_speed import Measured, make_file, measure, scan_text


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("rows") / "rows.parquet"
    make_file(file, 500)
    return file


def test_a_scan_counts_every_row_once_for_each_feature(path):
    rows = duckdb.execute(scan_text(path)).fetchall()
    assert sum(row[-2] for row in rows) == 14 * 500
    assert 0 < sum(row[-1] for row in rows) < 14 * 250


def test_a_fit_is_measured_in_scans(path):
    timing = measure(path, 500, "NaiveBayes")
    assert (timing.steps, timing.model) == (1, "NaiveBayes")
    assert timing.fit > 0 < timing.scan
    assert Measured("", 2, 3.0, 0.5).scans == 3.0
