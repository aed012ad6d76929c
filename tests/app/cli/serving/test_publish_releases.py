import pyarrow as pa
import pytest
from pyarrow import parquet

import deniable as dp
from deniable.app.cli import main


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = dp.protect(pa.table({"x": [1] * 100}), epsilon=1)
    data.sql("SELECT COUNT(*) AS n FROM data", epsilon=1).save("people.json")
    (tmp_path / "owner.pub").write_text(data.ledger.public_key)
    return tmp_path


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(words)
    out, err = capsys.readouterr()
    return end.value.code, out, err


@pytest.mark.parametrize("target", ["released", "released.duckdb"])
def test_releases_are_published(capsys, place, target):
    status, out, _ = run(capsys, "publish", target, "people.json", "--key", "owner.pub")
    assert (status, out) == (0, f"Published 1 table to {target}.\n")
    if target == "released":
        names = parquet.read_table("released/people.parquet").column_names
        assert names == ["n", "n_low", "n_high", "certificate_id"]


def test_what_somebody_else_signed_is_not_published(capsys, place):
    status, _, err = run(capsys, "publish", "out", "people.json", "--key", "ab" * 32)
    assert (status, "another key" in err) == (2, True)
    assert not (place / "out").exists()
    assert "--key" in run(capsys, "publish", "out", "people.json")[2]
