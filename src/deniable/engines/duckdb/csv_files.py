"""CSV files are read once, when they are opened, into a private copy that questions read.

Every column is text, and no line can change how another is read: see `csv_lines`. A file with
malformed lines is refused, unless the policy says that they are left out; one whose quotes are
not closed always is. This depends on the data, so it is decided before any question, and only
the owner's log says how many such lines there are and where the first one is.

The copy is an Arrow file in the engine's private folder, mapped into memory, and goes with it.
So what happens to the CSV file while a session is open changes no answer.
"""

import logging
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path

import pyarrow as pa

from deniable.engines.duckdb.csv_header import open_csv, read_header
from deniable.engines.duckdb.csv_lines import LONGEST, LineFormat, Lines, read_lines
from deniable.engines.duckdb.source_files import SourceFiles
from deniable.errors import InvalidPolicy
from deniable.exact.suggestions import pluralize
from deniable.policy.table import Malformed

log = logging.getLogger("deniable.engine")

_BLOCK = LONGEST // 2  # bytes that are read at a time, so only the last line may be too long
_THREADS = min(4, os.cpu_count() or 1)


def copy_csv_files(
    table: str, files: SourceFiles, malformed: Malformed, copy: Path
) -> "pa.Table":
    """Copies a table's CSV files to an Arrow file; returns its rows, mapped into memory.

    Refuses malformed lines, or leaves them out ("skip"), and tells the owner's log.
    """
    names = read_header(files.paths[0], files.delimiter).names
    schema = pa.schema([(name, pa.string()) for name in names])
    malformed_lines = MalformedLines()
    try:
        with pa.OSFile(str(copy), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for rows in _read_rows(files, names, malformed_lines):
                writer.write_table(rows.rename_columns(names))
    except OSError as problem:
        raise InvalidPolicy(
            f"The CSV files of table {table!r} cannot be copied to {str(copy.parent)!r}: "
            f"{problem.strerror}. The copy is about as large as the files. Choose a folder "
            "with enough space in the environment variable TMPDIR."
        ) from None
    _judge(table, malformed_lines, malformed)
    return pa.ipc.open_file(pa.memory_map(str(copy))).read_all()


@dataclass(slots=True)
class MalformedLines:
    """The malformed lines of some files: how many and where, never their content."""

    count: int = 0
    first: str = ""
    first_unclosed: str = ""

    def add(self, lines: Lines, number: int, path: str) -> None:
        """Adds those of a block that begins with the line of this number."""
        if lines.malformed and not self.count:
            self.first = f"line {number + lines.malformed[0]} of {path}"
        if lines.unclosed and not self.first_unclosed:
            self.first_unclosed = f"line {number + lines.unclosed[0]} of {path}"
        self.count += len(lines.malformed)

    def __str__(self) -> str:
        lines = pluralize(self.count, "line")
        verb = "is" if self.count == 1 else "are"
        text = f"{lines} of its CSV files {verb} malformed; the first is {self.first}"
        if self.first_unclosed:
            text += f"; the first with an odd number of quotes is {self.first_unclosed}"
        return f"{text}."


def _judge(table: str, malformed_lines: MalformedLines, malformed: Malformed) -> None:
    """Tells the owner's log of malformed lines, and refuses them if it must."""
    if not malformed_lines.count:
        return
    log.warning("table %s: %s", table, malformed_lines)
    where = ("tables", table, "malformed")
    if malformed_lines.first_unclosed:
        raise InvalidPolicy(
            f"Table {table!r} has a line in its CSV files with an odd number of quotes; the "
            "owner's log says where. Either a quote inside a value is not written twice, or a "
            "value has a line break: one record could then hide others, or look like many. "
            "Write such values without line breaks, or store the table as Parquet.",
            where=where,
        )
    if malformed == "refuse":
        raise InvalidPolicy(
            f"Table {table!r} has malformed lines in its CSV files; the owner's log says "
            "where. Each line must be one record in UTF-8, with a value for each column; a "
            "value with a quote must be in quotes, with the quotes inside written twice. "
            'Correct them, or leave them out with   malformed = "skip"',
            where=where,
        )


def find_malformed_lines(files: SourceFiles) -> MalformedLines:
    """Reads CSV files only to find their malformed lines."""
    malformed_lines = MalformedLines()
    names = read_header(files.paths[0], files.delimiter).names
    for _ in _read_rows(files, names, malformed_lines):
        pass
    return malformed_lines


def _read_rows(
    files: SourceFiles, names: tuple[str, ...], malformed_lines: MalformedLines
) -> "Iterator[pa.Table]":
    """The rows of all files, in order; adds malformed lines to those that are found."""
    with ThreadPoolExecutor(_THREADS) as pool:
        for path in files.paths:
            with open_csv(path, files.delimiter) as (header, file):
                if header.names != names:
                    raise InvalidPolicy(
                        f"The first lines of {files.paths[0]!r} and {path!r} differ. Files "
                        "that are read together must have the same columns in the same order."
                    )
                number = 2  # of the next line
                for lines in _read_blocks(pool, file, header.lines):
                    malformed_lines.add(lines, number, path)
                    number += lines.count
                    yield from lines.rows


def _read_blocks(
    pool: ThreadPoolExecutor, file: BufferedIOBase, form: LineFormat
) -> Iterator[Lines]:
    """Reads blocks in parallel, a few ahead, and gives what was read in order.

    The memory of a block that was read is used again: fresh memory is slow to get.
    """
    ahead: deque[tuple[Future[Lines], bytearray]] = deque()
    spare = [bytearray() for _ in range(2 * _THREADS + 1)]
    try:
        while block := _next_block(file, form, spare.pop()):
            ahead.append((pool.submit(read_lines, block, form), block))
            if not spare:
                future, block = ahead.popleft()
                yield future.result()
                spare.append(block)
        while ahead:
            yield ahead.popleft()[0].result()
    finally:
        for future, _ in ahead:
            future.cancel()


def _next_block(file: BufferedIOBase, form: LineFormat, block: bytearray) -> bytearray:
    """Fills the block with the next whole lines.

    A line that is too long is cut, and stays too long. If an odd number of quotes is cut off,
    one is put back.
    """
    del block[_BLOCK:]
    block.extend(bytes(_BLOCK - len(block)))
    del block[file.readinto(block) :]
    if not block or block.endswith(b"\n"):
        return block
    block += file.readline(LONGEST + 1)
    if block.endswith(b"\n"):
        return block
    quotes, rest = 0, bytes(block)
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(_BLOCK)
        quotes += rest.count(b'"')
    block += b'"' * (quotes % 2) + form.end
    return block
