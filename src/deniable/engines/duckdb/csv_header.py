"""The first line of a CSV file: the names of its columns, and how its lines end.

Both are public. The other lines decide nothing about how the file is read.
"""

import contextlib
import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

from deniable.engines.duckdb.csv_lines import LineFormat, value_pattern
from deniable.errors import InvalidPolicy

_LONGEST = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """What the first line of a CSV file says."""

    names: tuple[str, ...]
    lines: LineFormat


@contextlib.contextmanager
def open_csv(path: str, delimiter: str) -> Iterator[tuple[CsvHeader, BufferedIOBase]]:
    """Opens a CSV file; gives its header, and the file at the line after it."""
    try:
        packed = path.lower().endswith(".gz")
        with gzip.open(path) if packed else Path(path).open("rb") as file:
            yield _parse_header(path, file.readline(_LONGEST), delimiter), file
    except (OSError, EOFError, zlib.error):
        raise InvalidPolicy(
            f"{path!r} cannot be opened: its content does not match its file extension, it is "
            "incomplete, or reading it is not permitted."
        ) from None


def read_header(path: str, delimiter: str) -> CsvHeader:
    """What the first line of a CSV file says; reads no other line."""
    with open_csv(path, delimiter) as (header, _):
        return header


def _parse_header(path: str, line: bytes, delimiter: str) -> CsvHeader:
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidPolicy(
            f"{path!r} is not UTF-8 text; it may be UTF-16, as some spreadsheets write it. "
            "Save it as UTF-8."
        )
    crlf = text.endswith("\r\n")
    content = text.removesuffix("\n").removesuffix("\r" if crlf else "")
    value = value_pattern(delimiter)
    shape = value + b"(?:%s%s)*+" % (re.escape(delimiter.encode()), value)
    names: list[str] = []
    if re.fullmatch(shape, content.encode()):
        with contextlib.suppress(csv.Error):  # a name that is too long
            names = next(csv.reader([content], delimiter=delimiter, strict=True), [])
    distinct = {name.lower() for name in names}
    if not names or "" in distinct or len(distinct) < len(names) or len(line) == _LONGEST:
        raise InvalidPolicy(
            f"The first line of {path!r} must name its columns, all differently (upper and "
            f"lower case are equal), and end with \\n or \\r\\n. {_fault(content, names)}"
        )
    return CsvHeader(tuple(names), LineFormat(len(names), delimiter, crlf))


def _fault(content: str, names: list[str]) -> str:
    """What is wrong with the first line.

    >>> _fault("cost,Cost", ["cost", "Cost"])
    "The name 'Cost' occurs twice."
    """
    if not content:
        return "It is empty."
    if not names:
        return "It is too long, or a quote or a line end is wrong."
    if "" in names:
        return f"Column {names.index('') + 1} has no name."
    lower = [name.lower() for name in names]
    twice = [name for i, name in enumerate(names) if name.lower() in lower[:i]]
    return f"The name {twice[0]!r} occurs twice." if twice else "It is too long."
