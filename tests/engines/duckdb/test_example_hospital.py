"""The made-up hospital: the same every time, and shaped as its pages say."""

import duckdb
import pytest

from deniable.engines.duckdb.example_hospital import WARDS, exact_answer, write_hospital

VISITS = 30_000


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = str(tmp_path_factory.mktemp("hospital") / "hospital.duckdb")
    write_hospital(file, VISITS)
    return file


def test_it_is_the_same_every_time(path, tmp_path):
    again = str(tmp_path / "again.duckdb")
    write_hospital(again, VISITS)
    whole = "SELECT COUNT(*) AS n, bit_xor(hash(visits)) AS all_of_it FROM visits"
    assert exact_answer(path, whole) == exact_answer(again, whole)


def test_its_shape(path):
    (row,) = exact_answer(
        path,
        "SELECT COUNT(*) AS n, COUNT(DISTINCT patient) AS patients, MIN(cost) AS low, "
        "MAX(cost) AS high, MIN(age) AS young, MAX(age) AS old, COUNT(DISTINCT day) AS days, "
        "list_sort(list(DISTINCT ward)) AS wards FROM visits",
    )
    assert row["n"] == VISITS
    assert 0.4 * VISITS < row["patients"] < 0.5 * VISITS
    assert row["low"] >= 0
    assert row["high"] <= 3000
    assert (row["young"] >= 0, row["old"] <= 110, row["days"]) == (True, True, 365)
    assert row["wards"] == sorted(WARDS)


def test_some_diagnoses_are_rare(path):
    counts = exact_answer(
        path, "SELECT COUNT(DISTINCT patient) AS n FROM visits GROUP BY diagnosis ORDER BY n"
    )
    assert counts[0]["n"] < 5
    assert counts[-8]["n"] > 500


def test_the_truth_changes_nothing(path):
    with pytest.raises(duckdb.Error):
        exact_answer(path, "DROP TABLE visits")
