"""Sources that are files: found literally, refused with the reason, never sniffed."""

import pytest

from deniable.engines.duckdb import source_files
from deniable.errors import InvalidPolicy


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.csv", "a.csv", "t.tsv", "p.parquet", "h.duckdb"):
        (tmp_path / name).write_text("one,two\n1,2\n")
    return tmp_path


def test_a_pattern_is_expanded_in_its_own_order(folder):
    files = source_files.find_files("*.csv")
    assert files.paths == (str(folder / "a.csv"), str(folder / "b.csv"))
    assert source_files.find_files(str(folder / "[ab].csv")).paths == files.paths


def test_endings_decide(folder):
    assert source_files.find_files("t.tsv").delimiter == "\t"
    assert source_files.find_files("p.parquet").format == "parquet"
    assert source_files.find_files("h.duckdb#wards").inner == "wards"
    assert source_files.find_files("h.duckdb").inner is None


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("http://example.org/a.csv", "address"),
        ("s3://bucket/a.parquet", "address"),
        ("a\0.csv", "address"),
        ("absent.csv", "was not found"),
        ("*.parq.csv", "was not found"),
        (".", "unknown file extension"),
        ("a.xlsx", "unknown file extension"),
    ],
)
def test_what_is_not_a_file_is_refused(folder, source, told):
    with pytest.raises(InvalidPolicy, match=told):
        source_files.find_files(source)
