"""Files as sources: which files a source names, without reading a value.

A source is a path or a pattern with a known file extension. It is taken literally: addresses
are refused, and only files that match the pattern are read.
"""

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
    """The files of one source, ordered by name and not by content."""

    format: Format
    paths: tuple[str, ...]  # absolute
    delimiter: str = ","  # of CSV
    inner: str | None = None  # the table inside a DuckDB file, after "#"


def is_known_file(path: Path) -> bool:
    """Whether a path is a file that can be a source.

    >>> is_known_file(Path("no such file.csv"))
    False
    """
    return path.is_file() and path.name.lower().endswith(tuple(_ENDINGS))


def find_files(source: str) -> SourceFiles:
    """Finds the files that a source names.

    >>> find_files("https://example.org/visits.csv")
    Traceback (most recent call last):
    deniable.errors.InvalidPolicy: Source 'https://example.org/visits.csv' is an address...
    """
    if "://" in source or "\0" in source:
        raise InvalidPolicy(
            f"Source {source!r} is an address; a source must be a file on this machine. "
            "Download it first and name the file."
        )
    path, mark, inner = source, "", ""
    if "#" in source and not source.lower().endswith(tuple(_ENDINGS)):
        path, mark, inner = source.rpartition("#")
    format_, delimiter = _format_of(path)
    files = [Path(path)] if Path(path).is_file() else _match_pattern(path)
    if not files:
        raise InvalidPolicy(
            f"Source {source!r} was not found. A path in a policy is relative to the policy's "
            "folder, any other path to the current folder."
        )
    if format_ == "duckdb" and len(files) > 1:
        raise InvalidPolicy(f"Source {source!r} names several databases. Name one.")
    absolute = tuple(str(file.resolve()) for file in files)
    return SourceFiles(format_, absolute, delimiter, inner if mark else None)


def _match_pattern(pattern: str) -> list[Path]:
    if not any(mark in pattern for mark in "*?["):
        return []
    anchor = Path(pattern).anchor
    below = Path(pattern).relative_to(anchor) if anchor else Path(pattern)
    return sorted(path for path in Path(anchor).glob(str(below)) if path.is_file())


def _format_of(path: str) -> tuple[Format, str]:
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if path.lower().endswith(ending):
            return _ENDINGS[ending]
    raise InvalidPolicy(
        f"Source {path!r} has an unknown file extension. Known ones are {', '.join(_ENDINGS)}."
    )
