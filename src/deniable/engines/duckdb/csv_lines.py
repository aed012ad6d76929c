"""The lines of a CSV file: each is judged by itself, and each is one record.

A line is well-formed if it is UTF-8 without NUL, is not too long, ends like the header, and
has one value per column. A value has no quote in it, or it is quoted as a whole, with each
quote inside written twice. A malformed line can be left out: it changes no other.

Line breaks inside quotes are not read: the quote of one line could then turn the lines after it
into a part of its value, and one record would hide others. If a file was written with them, the
parts of one record may look like records of other people. The first part has an odd number of
quotes: such a line is `unclosed`, and a file with one cannot be used.

Arrow reads whole blocks, not single lines. What it reads from a block is used only if it has
found as many rows as there are line ends. Without carriage returns, Arrow begins a row only
after a line end, so each line then was a row. Otherwise the block is halved, until what is left
is small enough to be read line by line.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from deniable.errors import InvalidPolicy

LONGEST = 1 << 22  # bytes of a line
_PIECE = 1 << 16  # bytes that are read line by line
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class LineFormat:
    """How the lines of a file must look."""

    columns: int
    delimiter: str
    crlf: bool  # whether lines end with \\r\\n

    @property
    def end(self) -> bytes:
        """What ends a line."""
        return b"\r\n" if self.crlf else b"\n"

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """What matches the bytes of a well-formed line, without its end."""
        value, mark = value_pattern(self.delimiter), re.escape(self.delimiter.encode())
        return re.compile(value + b"(?:%s%s){%d}" % (mark, value, self.columns - 1))

    @cached_property
    def _around_quotes(self) -> Any:
        """For each byte, whether it may be before an opening or after a closing quote."""
        allowed = np.zeros(256, dtype=bool)
        allowed[list(b'\n"' + self.delimiter.encode())] = True
        return allowed

    def is_well_formed(self, line: bytes | bytearray) -> bool:
        """Whether a line, with its end, is well-formed.

        >>> visits = LineFormat(columns=2, delimiter=",", crlf=False)
        >>> [visits.is_well_formed(line) for line in (b'A,"10"\\n', b'A,"10\\n', b"A\\n")]
        [True, False, False]
        """
        content = line.removesuffix(self.end)
        too_long = len(content) > LONGEST or len(content) == len(line)
        if too_long or not self.pattern.fullmatch(content):
            return False
        try:
            content.decode()
        except UnicodeDecodeError:
            return False
        return True

    def has_quotes_in_place(self, block: bytes | bytearray) -> bool:
        """Whether quotes open and close where values begin and end.

        Quotes open and close by turns. A quote that is written twice closes and opens again.
        """
        if b'"' not in block:
            return True
        content = np.frombuffer(block, np.uint8)
        places = np.flatnonzero(content == ord('"'))
        opening, closing = places[0::2], places[1::2]
        # Before the first byte is the last one, a line end, which is right there too.
        return len(opening) == len(closing) and bool(
            self._around_quotes[content[opening - 1]].all()
            and self._around_quotes[content[closing + 1]].all()
        )


def value_pattern(delimiter: str) -> bytes:
    """A regular expression for one value of a line."""
    plain = rb'[^"\r\n\0' + re.escape(delimiter.encode()) + rb"]*+"
    return rb'(?:"[^"\r\n\0]*+(?:""[^"\r\n\0]*+)*+"|' + plain + rb")"


@dataclass(frozen=True, slots=True)
class Lines:
    """What was read from some lines."""

    count: int  # of line ends
    rows: "tuple[pa.Table, ...]" = field(repr=False)
    malformed: tuple[int, ...] = ()  # which lines, from 0
    unclosed: tuple[int, ...] = ()  # those with an odd number of quotes

    def __add__(self, later: "Lines") -> "Lines":
        return Lines(
            self.count + later.count,
            self.rows + later.rows,
            (*self.malformed, *(self.count + line for line in later.malformed)),
            (*self.unclosed, *(self.count + line for line in later.unclosed)),
        )


def read_lines(block: bytes | bytearray, form: LineFormat) -> Lines:
    """Reads a block of whole lines; every value is text, and NULL if it is empty.

    Only the last line may be longer than LONGEST.

    >>> lines = read_lines(b"A,10\\nsecret\\nB,\\n", LineFormat(2, ",", crlf=False))
    >>> lines.malformed, [table.to_pylist() for table in lines.rows]
    ((1,), [[{'0': 'A', '1': '10'}, {'0': 'B', '1': None}]])
    """
    table = _read_well_formed(block, form)
    if table is not None:
        return Lines(table.num_rows, (table,))
    middle = block.find(b"\n", len(block) // 2) + 1
    if len(block) <= _PIECE or middle == len(block):
        return _read_one_by_one(block, form)
    return read_lines(block[:middle], form) + read_lines(block[middle:], form)


def _read_one_by_one(block: bytes | bytearray, form: LineFormat) -> Lines:
    """Reads the well-formed lines. Empty lines are ignored, unless there is one column."""
    lines = [line + b"\n" for line in block.split(b"\n")[:-1]]
    well_formed = [form.is_well_formed(line) for line in lines]
    fine_lines = b"".join(line for line, fine in zip(lines, well_formed, strict=True) if fine)
    malformed = tuple(
        place
        for place, (line, fine) in enumerate(zip(lines, well_formed, strict=True))
        if not fine and (line != form.end or form.columns == 1)
    )
    unclosed = tuple(place for place in malformed if lines[place].count(b'"') % 2)
    if not fine_lines:
        return Lines(len(lines), (), malformed, unclosed)
    table = _read_well_formed(fine_lines, form)
    if table is None:
        raise InvalidPolicy("A CSV file cannot be read: its lines cannot be told apart.")
    return Lines(len(lines), (table,), malformed, unclosed)


def _read_well_formed(block: bytes | bytearray, form: LineFormat) -> "pa.Table | None":
    """The rows of a block, one for each line; None unless every line is well-formed."""
    if form.crlf:
        lines = block.replace(b"\r\n", b"\n")
        if len(block) - len(lines) != _count_ends(lines):
            return None
        block = lines
    last = len(block) - 2 - block.rfind(b"\n", 0, -1)
    if last > LONGEST or b"\0" in block or b"\r" in block:
        return None
    if not form.has_quotes_in_place(block):
        return None
    try:
        table = _read_table(block, form)
    except pa.ArrowException:
        return None
    return table if table.num_rows == _count_ends(block) else None


def _count_ends(block: bytes | bytearray) -> int:
    """The number of line ends; faster than `bytes.count`, by pieces that fit into caches."""
    content = np.frombuffer(block, np.uint8)
    pieces = (content[start : start + _PIECE] for start in range(0, len(content), _PIECE))
    return sum(int(np.count_nonzero(piece == ord("\n"))) for piece in pieces)


def _read_table(block: bytes | bytearray, form: LineFormat) -> "pa.Table":
    if block.startswith(_BYTE_ORDER_MARK):
        block = _BYTE_ORDER_MARK + block  # Arrow drops the first one
    names = [str(place) for place in range(form.columns)]
    return pyarrow.csv.read_csv(
        pa.py_buffer(block),
        pyarrow.csv.ReadOptions(
            column_names=names, block_size=len(block) + 1, use_threads=False
        ),
        pyarrow.csv.ParseOptions(
            delimiter=form.delimiter,
            quote_char='"' if b'"' in block else False,  # without it Arrow is faster
            ignore_empty_lines=form.columns > 1,
        ),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            check_utf8=not block.isascii(),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
