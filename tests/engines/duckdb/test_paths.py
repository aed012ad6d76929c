"""Sources that are files: found literally, refused with the reason, never sniffed."""

import gzip

import pytest

from deniable.engines.duckdb import paths
from deniable.errors import InvalidPolicy


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.csv", "a.csv", "t.tsv", "p.parquet", "h.duckdb"):
        (tmp_path / name).write_text("one,two\n1,2\n")
    return tmp_path


def test_a_pattern_is_expanded_in_its_own_order(folder):
    found = paths.find("*.csv")
    assert found.paths == (str(folder / "a.csv"), str(folder / "b.csv"))
    assert paths.find(str(folder / "[ab].csv")).paths == found.paths


def test_endings_decide(folder):
    assert paths.find("t.tsv").delimiter == "\t"
    assert paths.find("p.parquet").format == "parquet"
    assert paths.find("h.duckdb#wards").inner == "wards"
    assert paths.find("h.duckdb").inner is None


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("http://example.org/a.csv", "address"),
        ("s3://bucket/a.parquet", "address"),
        ("a\0.csv", "address"),
        ("absent.csv", "not there"),
        ("*.parq.csv", "not there"),
        (".", "no known kind"),
        ("a.xlsx", "no known kind"),
    ],
)
def test_what_is_not_a_file_is_refused(folder, source, told):
    with pytest.raises(InvalidPolicy, match=told):
        paths.find(source)


def test_only_the_first_line_is_read(folder):
    (folder / "c.csv").write_bytes(b'\xef\xbb\xbfid,"a, b"\r\n\xff\xfe broken')
    assert paths.header(paths.find("c.csv")) == ["id", "a, b"]
    with gzip.open(folder / "z.csv.gz", "wt") as file:
        file.write("x,y\n1,2\n")
    assert paths.header(paths.find("z.csv.gz")) == ["x", "y"]


@pytest.mark.parametrize("line", ["", "a,A\n", "a,,b\n"])
def test_a_header_that_names_nothing_is_refused(folder, line):
    (folder / "c.csv").write_text(line)
    with pytest.raises(InvalidPolicy, match="first line"):
        paths.header(paths.find("c.csv"))


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_not_packed_as_its_ending_says_is_refused(folder, packed):
    content = b"one,two\n" * 99
    (folder / "v.csv.gz").write_bytes(gzip.compress(content)[:15] if packed else content)
    with pytest.raises(InvalidPolicy, match="not what its ending says"):
        paths.header(paths.find("v.csv.gz"))
