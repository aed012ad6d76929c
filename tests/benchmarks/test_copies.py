"""The errors that the benchmark of copies prints, on a small table."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks import copies

CODES = np.array([[0, 1], [0, 0], [1, 2], [1, 2]])


def test_an_exact_copy_has_no_error():
    def exact(places):
        return copies.marginal(CODES, places, [2, 3])

    assert copies.error(CODES, exact, [2, 3], 2) == 0
    assert copies.error(CODES, lambda places: np.array([0, 0, 1, 0, 0, 0]), [2, 3], 2) == 2


def test_each_try_prints_its_errors(tmp_path, monkeypatch, capsys):
    chance = np.random.default_rng(1)
    table = pa.table({"a": chance.integers(0, 2, 500), "b": chance.integers(0, 3, 500)})
    table = table.append_column("c", table["a"])
    pyarrow.csv.write_csv(table, tmp_path / "coded.csv")
    (tmp_path / "domain.json").write_text(json.dumps({"a": 2, "b": 3, "c": 2}))
    monkeypatch.setattr("sys.argv", ["copies", "--data", str(tmp_path), "--seeds", "1"])
    copies.main()
    printed = capsys.readouterr().out
    assert printed.count("mst 0.") == printed.count("aim 0.") == 1
    assert printed.count("independent 0.") == 1
    assert printed.count("crosstabs 0.") == 1
