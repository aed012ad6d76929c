"""The first line alone says what the columns are and how lines end."""

import gzip

import pytest

from deniable.engines.duckdb.csv_header import open_csv, read_header
from deniable.errors import InvalidPolicy


@pytest.fixture
def header(tmp_path):
    def read(content, name="visits.csv"):
        (tmp_path / name).write_bytes(content)
        return read_header(str(tmp_path / name), ",")

    return read


@pytest.mark.parametrize(
    ("content", "names", "crlf"),
    [
        (b'\xef\xbb\xbfid,"a, b"\r\n\xff\xfe broken', ("id", "a, b"), True),
        (b'id,"say ""x"""\n1,2\r\n', ("id", 'say "x"'), False),
        (b"id", ("id",), False),
    ],
)
def test_names_and_line_ends(header, content, names, crlf):
    actual = header(content)
    assert actual.names == names
    assert (actual.lines.columns, actual.lines.crlf) == (len(names), crlf)


def test_packed_files_are_unpacked(header, tmp_path):
    assert header(gzip.compress(b"x,y\n1,2\n"), "V.CSV.GZ").names == ("x", "y")
    with open_csv(str(tmp_path / "V.CSV.GZ"), ",") as (_, file):
        assert file.read() == b"1,2\n"


NAMELESS = [
    b"",
    b"a,A\n",
    b"a,,b\n",
    b"a\rb,c\n",
    b'"a\nb",c\n',
    b'a"b,c\n',
    b'"a"b,c\n',
    b"a\r",
]
TOO_LONG = [b"a," * 600_000, b"a" * 200_000 + b"\n"]


@pytest.mark.parametrize("line", [*NAMELESS, *TOO_LONG], ids=range(10))
def test_a_line_that_does_not_name_columns_is_refused(header, line):
    with pytest.raises(InvalidPolicy, match="first line"):
        header(line)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"\n", "It is empty"),
        (b"cost,day,Cost\n", "The name 'Cost' occurs twice"),
        (b"cost,,day\n", "Column 2 has no name"),
        (b'cost,"day\n', "a quote or a line end is wrong"),
    ],
)
def test_the_fault_of_a_first_line_is_named(header, line, fault):
    with pytest.raises(InvalidPolicy, match=fault):
        header(line)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("word", ["ward", "Zürich"])
def test_other_encodings_are_refused(header, encoding, word):
    with pytest.raises(InvalidPolicy, match="not UTF-8"):
        header(f"{word},cost\nA,10\n".encode(encoding))
    with pytest.raises(InvalidPolicy, match="not UTF-8"):
        header("Zürich,cost\n".encode("latin-1"))


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_not_packed_as_its_ending_says_is_refused(header, packed):
    content = b"one,two\n" * 99
    with pytest.raises(InvalidPolicy, match="does not match its file extension"):
        header(gzip.compress(content)[:15] if packed else content, "v.csv.gz")
