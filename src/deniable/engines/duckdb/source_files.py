"""Files as sources: which they are, without a look at a value.

A source is a path or a pattern with a known ending, taken literally: no addresses, and no
folder that lists more than the pattern says. In a CSV file only the first line is read here.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deniable.errors import InvalidPolicy

Format = Literal["csv", "parquet", "duckdb"]

_ENDINGS: dict[str, tuple[Format, str]] = {
    ".csv": ("csv", ","),
    ".csv.gz": ("csv", ","),
    ".tsv": ("csv", "\t"),
    ".tsv.gz": ("csv", "\t"),
    ".parquet": ("parquet", ""),
    ".duckdb": ("duckdb", ""),
    ".db": ("duckdb", ""),
}


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The files of one source, in an order that is theirs and not the data's."""

    format: Format
    paths: tuple[str, ...]  # absolute
    delimiter: str = ","  # of CSV
    inner: str | None = None  # the table inside a DuckDB file, after "#"


def find_files(source: str) -> SourceFiles:
    """The files that a source names.

    >>> find_files("https://example.org/visits.csv")
    Traceback (most recent call last):
    deniable.errors.InvalidPolicy: Source 'https://example.org/visits.csv' is an address...
    """
    if "://" in source or "\0" in source:
        raise InvalidPolicy(
            f"Source {source!r} is an address; sources are files on this machine. Fetch it "
            "first and name the file."
        )
    path, mark, inner = source, "", ""
    if "#" in source and not source.lower().endswith(tuple(_ENDINGS)):
        path, mark, inner = source.rpartition("#")
    format_, delimiter = _format_of(path)
    found = [Path(path)] if Path(path).is_file() else _match_pattern(path)
    if not found:
        raise InvalidPolicy(
            f"Source {source!r} is not there. Paths are taken from the policy's folder."
        )
    if format_ == "duckdb" and len(found) > 1:
        raise InvalidPolicy(f"Source {source!r} names several databases.")
    absolute = tuple(str(one.resolve()) for one in found)
    return SourceFiles(format_, absolute, delimiter, inner if mark else None)


def read_header(files: SourceFiles) -> list[str]:
    """The names in the first line of a CSV file, the only line that is read."""
    path = files.paths[0]
    opened: Callable[[str, str], io.BufferedIOBase] = (
        gzip.open if path.endswith(".gz") else open  # type: ignore[assignment]
    )
    try:
        with opened(path, "rb") as file:
            line = file.readline(1 << 20).decode("utf-8-sig", errors="replace")
    except (OSError, EOFError, zlib.error):
        raise InvalidPolicy(
            f"{path!r} cannot be opened: it is not what its ending says, or not all of it is "
            "there, or it may not be read."
        ) from None
    names = next(csv.reader([line], delimiter=files.delimiter), [])
    distinct = {name.lower() for name in names}
    if not names or "" in distinct or len(distinct) < len(names):
        raise InvalidPolicy(
            f"The first line of {path!r} must name its columns, each with a name of its own "
            "(upper and lower case are one)."
        )
    return names


def _match_pattern(pattern: str) -> list[Path]:
    if not any(mark in pattern for mark in "*?["):
        return []
    anchor = Path(pattern).anchor
    below = Path(pattern).relative_to(anchor) if anchor else Path(pattern)
    return sorted(path for path in Path(anchor).glob(str(below)) if path.is_file())


def _format_of(path: str) -> tuple[Format, str]:
    for ending, found in sorted(_ENDINGS.items(), key=lambda one: -len(one[0])):
        if path.lower().endswith(ending):
            return found
    raise InvalidPolicy(
        f"Source {path!r} is of no known kind. Known endings are {', '.join(_ENDINGS)}."
    )
