"""Sources that are files: found literally, refused with the reason, never sniffed."""

import gzip

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
    found = source_files.find_files("*.csv")
    assert found.paths == (str(folder / "a.csv"), str(folder / "b.csv"))
    assert source_files.find_files(str(folder / "[ab].csv")).paths == found.paths


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


def test_only_the_first_line_is_read(folder):
    (folder / "c.csv").write_bytes(b'\xef\xbb\xbfid,"a, b"\r\n\xff\xfe broken')
    assert source_files.read_header(source_files.find_files("c.csv")) == ["id", "a, b"]
    with gzip.open(folder / "z.csv.gz", "wt") as file:
        file.write("x,y\n1,2\n")
    assert source_files.read_header(source_files.find_files("z.csv.gz")) == ["x", "y"]


@pytest.mark.parametrize("line", ["", "a,A\n", "a,,b\n"])
def test_a_header_that_names_nothing_is_refused(folder, line):
    (folder / "c.csv").write_text(line)
    with pytest.raises(InvalidPolicy, match="first line"):
        source_files.read_header(source_files.find_files("c.csv"))


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_not_packed_as_its_ending_says_is_refused(folder, packed):
    content = b"one,two\n" * 99
    (folder / "v.csv.gz").write_bytes(gzip.compress(content)[:15] if packed else content)
    with pytest.raises(InvalidPolicy, match="does not match its file extension"):
        source_files.read_header(source_files.find_files("v.csv.gz"))
