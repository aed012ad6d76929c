"""Deleting the bytes of one record changes that record's rows and no others.

A file is made of records, each of which ends with a line end. A few of them are mutated: by
carriage returns, line ends, quotes, delimiters, zeros, byte order marks, other encodings and
very long values. What is read from a file must be what is read from each record by itself.
"""

import csv
import gzip
import io
import random
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
import pytest

from deniable.engines.duckdb import csv_files, csv_lines
from deniable.engines.duckdb.source_files import find_files
from deniable.errors import InvalidPolicy

HOSTILE = (
    b"\r", b"\n", b"\r\n", b"\n\r", b'"', b'""', b'"""', b'",', b',"', b'"\n', b'\r"', b'\r\n"',
    b'x\r5,7.5,"y', b",", b"\t", b",,,,,", b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf",
    b"\xc3", b"\xed\xa0\x80",
    b"\\", b'\\"', b"'", b"#", b" ", b"\x1a", b"\x85", b"\x0b", b"\x0c",
    "\N{LINE SEPARATOR}".encode(), b"x" * 70, b'"' + b"y" * 90 + b'"', b"z" * 400,
)  # fmt: skip
VALUES = ("", "a", "B c", "x, y", 'say "hi"', '"', '""', ",", "1.5", "é", "\ufeff", "NULL", "'")


@dataclass(frozen=True)
class File:
    """A CSV file: its header, and its records with their line ends."""

    ending: str
    header: bytes
    records: tuple[bytes, ...]

    def without(self, place):
        return self.of(self.records[:place] + self.records[place + 1 :])

    def of(self, records):
        return File(self.ending, self.header, tuple(records))

    def write(self, folder):
        content = self.header + b"".join(self.records)
        path = folder / f"visits{self.ending}"
        path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
        return str(path)


def make_file(chance):
    delimiter = chance.choice(",,,\t")
    end = chance.choice(("\n", "\n", "\r\n"))
    columns = chance.randint(1, 4)

    def write(row):
        out = io.StringIO()
        rule = csv.QUOTE_ALL if chance.random() < 0.2 else csv.QUOTE_MINIMAL
        csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=rule).writerow(row)
        return out.getvalue().encode()

    records = [
        write([chance.choice(VALUES) for _ in range(columns)])
        for _ in range(chance.randint(1, 9))
    ]
    for place in chance.sample(range(len(records)), chance.randint(0, min(3, len(records)))):
        records[place] = mutate(chance, records[place], end.encode())
    if chance.random() < 0.1 and records[-1].removesuffix(end.encode()):
        records[-1] = records[-1].removesuffix(end.encode())
    header = write([f"c{place}" for place in range(columns)])
    mark = b"\xef\xbb\xbf" if chance.random() < 0.1 else b""
    ending = (".tsv" if delimiter == "\t" else ".csv") + chance.choice(("", "", ".gz"))
    return File(ending, mark + header, tuple(records))


def mutate(chance, record, end):
    content = bytearray(record.removesuffix(end))
    for _ in range(chance.randint(1, 3)):
        place = chance.randint(0, len(content))
        match chance.randrange(5):
            case 0:
                del content[place : place + chance.randint(1, 3)]
            case 1:
                content[:] = content.decode(errors="replace").encode(
                    chance.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32"))
                )
            case _:
                content[place:place] = chance.choice(HOSTILE)
    return bytes(content) + (end if chance.random() < 0.8 else b"\n")


def read_strictly(path, malformed="skip"):
    files, copy = find_files(path), Path(path).with_suffix(".arrow")
    rows = csv_files.copy_csv_files("visits", files, malformed, copy)
    return Counter(tuple(row.values()) for row in rows.to_pylist())


def read_leniently(path):
    """As DuckDB reads a file without its strict mode."""
    files = find_files(path)
    header = csv_files.read_header(path, files.delimiter).names
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in header)
    with duckdb.connect() as database:
        return Counter(
            database.execute(
                f"FROM read_csv(?, columns = {{{columns}}}, auto_detect = false, "
                "header = true, delim = ?, quote = '\"', escape = '\"', "
                "strict_mode = false, ignore_errors = true)",
                [path, files.delimiter],
            ).fetchall()
        )


def changes_others(read, file, place, folder):
    """Whether a record, when it is deleted, takes other rows than its own."""
    rest = read(file.without(place).write(folder))
    own = read(file.of([file.records[place]]).write(folder))
    return read(file.write(folder)) != rest + own


@pytest.fixture
def narrow(monkeypatch):
    """Sets how much is read at a time, so that a few bytes fill many blocks."""

    def choose(block, piece):
        for module in (csv_files, csv_lines):
            monkeypatch.setattr(module, "LONGEST", 130)
        monkeypatch.setattr(csv_files, "_BLOCK", block)
        monkeypatch.setattr(csv_lines, "_PIECE", piece)

    return choose


def test_a_deleted_record_takes_its_own_rows_only(size, tmp_path, narrow):
    files = size(small=80, full=10_000, what="mutated CSV files")
    chance = random.Random(14)
    accepted = Counter()
    for _ in range(files):
        file, malformed = make_file(chance), chance.choice(("refuse", "skip"))
        read = partial(read_strictly, malformed=malformed)
        narrow(chance.choice((1, 7, 30, 130)), chance.choice((1, 40, 1 << 16)))
        try:
            read(file.write(tmp_path))
        except InvalidPolicy:
            continue
        accepted[malformed] += 1
        for place in chance.sample(range(len(file.records)), min(3, len(file.records))):
            assert not changes_others(read, file, place, tmp_path), (file, place)
    # All ways were tried.
    assert files / 20 < accepted["refuse"] < accepted["skip"] < files * 0.45


@pytest.mark.parametrize("record", [b'5,x\r"a\n', b'x\r\n"\n', b'x\r5,7.5,"y\n'])
def test_a_lenient_reader_is_found_out(tmp_path, record):
    """What is compared here shows that a reader which guesses lets one record hide others."""
    file = File(".csv", b"c0,c1\n", (b"1,x\n",) * 9 + (record,) + (b"2,x\n",) * 9)
    assert changes_others(read_leniently, file, 9, tmp_path)
    with pytest.raises(InvalidPolicy, match="odd number of quotes"):
        read_strictly(file.write(tmp_path))
