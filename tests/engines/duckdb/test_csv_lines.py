"""Blocks are read as their lines would be, one by one."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.engines.duckdb import csv_lines
from deniable.engines.duckdb.csv_lines import LineFormat, read_lines

FINE = {
    b"A,10": ["A", "10"],
    b",": [None, None],
    b'"",""': [None, None],
    b'"a, ""b""",c': ['a, "b"', "c"],
    b'"""",x': ['"', "x"],
    b'","",""",z': [',","', "z"],
    b" a , b ": [" a ", " b "],
    "Zürich,\N{GRINNING FACE}".encode(): ["Zürich", "\N{GRINNING FACE}"],
    b"NULL,nan": ["NULL", "nan"],
    b"\xef\xbb\xbfA,1": ["\ufeffA", "1"],
    b"A,'b": ["A", "'b"],
    b"A,\\n": ["A", "\\n"],
}
MALFORMED = {
    "too few values": b"A",
    "too many values": b"A,1,2",
    "no text": b"\xff\xfe,1",
    "half a character": b"A,\xc3",
    "a surrogate": b"A,\xed\xa0\x80",
    "zeros": b"A,\0",
    "an open quote": b'A,"1',
    "a quote that opens the line": b'"A,1',
    "a quote inside": b'A,5" pipe',
    "two quotes inside": b'A,5" and 6"',
    "text after a quote": b'A,"1"x',
    "a space after a quote": b'"A" ,1',
    "a space before a quote": b'A, "1"',
    "an empty value and more": b'A,""x""',
    "a carriage return": b"A,1\r",
    "two lines for some": b'A,1\rB,"2',
    "a carriage return in quotes": b'A,"1\r2"',
}


def form(crlf=False, columns=2):
    return LineFormat(columns, ",", crlf)


def rows(lines):
    return [list(row.values()) for table in lines.rows for row in table.to_pylist()]


@pytest.mark.parametrize("crlf", [False, True])
@pytest.mark.parametrize("line", FINE, ids=range(len(FINE)))
def test_a_well_formed_line_has_its_values(line, crlf):
    end = form(crlf).end
    assert form(crlf).is_well_formed(line + end)
    for count in (1, 3):
        lines = read_lines((line + end) * count, form(crlf))
        assert rows(lines) == [FINE[line]] * count
        assert (lines.count, lines.malformed) == (count, ())


@pytest.mark.parametrize("crlf", [False, True])
@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_line_is_left_out_and_no_other(case, crlf):
    end = form(crlf).end
    before, after = b"B,2" + end, b'"C",3' + end
    lines = read_lines(before + MALFORMED[case] + end + after + after, form(crlf))
    assert rows(lines) == [["B", "2"], ["C", "3"], ["C", "3"]]
    assert (lines.count, lines.malformed) == (4, (1,))
    assert lines.unclosed == ((1,) if MALFORMED[case].count(b'"') % 2 else ())


@pytest.mark.parametrize("crlf", [False, True])
def test_other_line_ends_are_malformed(crlf):
    own, other = form(crlf).end, form(not crlf).end
    lines = read_lines(b"A,1" + own + b"B,2" + other + b"C,3" + own, form(crlf))
    assert rows(lines) == [["A", "1"], ["C", "3"]]
    assert lines.malformed == (1,)


@pytest.mark.parametrize("last", [b'"\n', b'",1\n'])
def test_two_lines_cannot_hide_what_is_between(last):
    """Each is malformed by itself, though together they are one quoted value."""
    lines = read_lines(b'A,"\n' + b"B,2\n" * 9 + last, form())
    assert rows(lines) == [["B", "2"]] * 9
    assert lines.malformed == lines.unclosed == (0, 10)


def test_an_empty_line_is_a_row_only_of_one_column():
    assert rows(read_lines(b"A,1\n\n\nB,2\n", form())) == [["A", "1"], ["B", "2"]]
    assert read_lines(b"\n\n", form()) == csv_lines.Lines(2, ())
    assert rows(read_lines(b"A\n\n\nB\n", form(columns=1))) == [["A"], [None], [None], ["B"]]


@pytest.mark.parametrize("length", [csv_lines.LONGEST, csv_lines.LONGEST + 1])
@pytest.mark.parametrize("crlf", [False, True])
def test_the_longest_line(length, crlf):
    line = b"A," + b"x" * (length - 2) + form(crlf).end
    lines = read_lines(b"B,1" + form(crlf).end + line, form(crlf))
    assert lines.malformed == (() if length <= csv_lines.LONGEST else (1,))


def test_many_malformed_lines_cost_no_more_than_their_surroundings(monkeypatch):
    """A few bad lines in a large block: most of it is still read at once."""
    read, sizes = csv_lines._read_one_by_one, []
    monkeypatch.setattr(
        csv_lines,
        "_read_one_by_one",
        lambda block, form: sizes.append(len(block)) or read(block, form),
    )
    block = b"secret\n" + b"A,1\n" * 200_000 + b'A,"\n' + b"A,1\n" * 200_000
    lines = read_lines(block, form())
    assert sum(table.num_rows for table in lines.rows) == 400_000
    assert lines.malformed == (0, 200_001)
    assert sum(sizes) < 4 * csv_lines._PIECE < len(block)


BYTES = st.sampled_from(
    [b"a", b"1", b",", b'"', b'""', b',"', b'",', b"\r", b"\0", b"\xff", b"\xc3\xa9", b" "]
)
LINES = st.lists(BYTES, max_size=8).map(b"".join)
QUOTED = st.lists(st.text('a," é', max_size=3), min_size=2, max_size=2).map(
    lambda row: ",".join('"' + value.replace('"', '""') + '"' for value in row).encode()
)


@given(st.lists(LINES | QUOTED, min_size=1, max_size=6), st.booleans(), st.integers(1, 40))
def test_a_block_is_what_its_lines_are(lines, crlf, piece):
    """Any bytes, and any size of what is read line by line."""
    end = form(crlf).end
    alone = [read_lines(line + end, form(crlf)) for line in lines]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_lines, "_PIECE", piece)
        together = read_lines(b"".join(line + end for line in lines), form(crlf))
    assert rows(together) == [row for block in alone for row in rows(block)]
    bad = tuple(place for place, block in enumerate(alone) if block.malformed)
    assert (together.count, together.malformed) == (len(lines), bad)


@given(QUOTED)
def test_values_are_those_of_the_standard_library(line):
    (expected,) = csv.reader([line.decode()], strict=True)
    assert rows(read_lines(line + b"\n", form())) == [[value or None for value in expected]]
