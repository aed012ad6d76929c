"""CSV files as DuckDB reads them: every column as text, without malformed lines.

A line with too few columns, or with bytes that are not text, must not be an error: one row
could then block all questions. It is left out, and the owner's log says, when the table is
opened, how many such lines there are and where the first one is. That number depends on the
data, so it is reported nowhere else.

A quote that is not closed is different: the lines after it become part of the same value. One
row can then hide any number of others, and no sensitivity holds. Such a file is not opened.
"""

import logging
from dataclasses import dataclass

import duckdb

from deniable.engines.duckdb.source_files import SourceFiles, find_files, read_header
from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.policy.suggestions import pluralize

log = logging.getLogger("deniable.engine")


def csv_relation(files: SourceFiles, options: str = "strict_mode = false") -> str:
    """The files as an SQL relation."""
    listed = ", ".join(map(_quote_text, files.paths))
    columns = ", ".join(f"{_quote_text(column)}: 'VARCHAR'" for column in read_header(files))
    return (
        f"read_csv([{listed}], auto_detect = false, columns = {{{columns}}}, header = true, "
        f"delim = {_quote_text(files.delimiter)}, quote = '\"', escape = '\"', "
        f"ignore_errors = true, {options})"
    )


def check_csv_files(policy: Policy) -> None:
    """Writes to the owner's log which lines of the policy's CSV files are malformed.

    Refuses a table with broken quotes, and a table with `malformed = "refuse"` that has any
    malformed line. A table with "skip" is not checked, which saves reading it once.
    """
    for table in policy.tables.values():
        source = table.source if isinstance(table.source, str) else ""
        if table.malformed != "skip" and source.lower().endswith(_ENDINGS):
            _check_table(table, find_files(source))


_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def _check_table(table: Table, files: SourceFiles) -> None:
    try:
        malformed = _find_malformed_lines(files)
    except duckdb.Error:
        return  # opening the file raises the error
    where = ("tables", table.name, "malformed")
    if malformed.broken is not None:
        log.warning(
            "table %s: a quote is not closed correctly in %s.", table.name, malformed.broken
        )
        raise InvalidPolicy(
            f"Table {table.name!r} has a line in its CSV files whose quotes are not closed "
            "correctly: the lines after it become part of its value, so one row may hide many. "
            "The owner's log says where. Write a quote inside a value twice. If you are sure "
            'that the file is correct, turn this check off with   malformed = "skip"',
            where=where,
        )
    if not malformed.lines:
        return
    log.warning(
        "table %s: %s of its CSV files %s malformed and left out of every answer; the first "
        "is %s.",
        table.name,
        pluralize(malformed.lines, "line"),
        "is" if malformed.lines == 1 else "are",
        malformed.first,
    )
    if table.malformed == "refuse":
        raise InvalidPolicy(
            f"Table {table.name!r} has malformed lines in its CSV files; the owner's log says "
            "where. Correct them, or leave them out with   "
            'malformed = "report"',
            where=where,
        )


@dataclass(frozen=True, slots=True)
class _MalformedLines:
    """The malformed lines of some files: how many and where, never their content."""

    lines: int = 0
    first: str = ""
    broken: str | None = None  # the first line whose quotes are not closed


def _find_malformed_lines(files: SourceFiles) -> _MalformedLines:
    """Finds malformed lines; a line with too many columns is not one."""
    counts = ", ".join(f"COUNT(c{i})" for i in range(len(read_header(files))))
    names = ", ".join(f"c{i}" for i in range(len(read_header(files))))
    read = csv_relation(files, "strict_mode = true, store_rejects = true, rejects_limit = 0")
    with duckdb.connect(":memory:") as database:
        database.execute("SET enable_progress_bar = false")
        database.execute(f"SELECT {counts} FROM {read} AS read({names})").fetchall()
        lines = database.execute(
            "SELECT bool_or(error_type IN ('UNQUOTED VALUE', 'LINE SIZE OVER MAXIMUM')), "
            "line, file_path FROM reject_errors JOIN reject_scans USING (scan_id, file_id) "
            "WHERE error_type <> 'TOO MANY COLUMNS' "
            "GROUP BY file_id, line, file_path ORDER BY file_id, line"
        ).fetchall()
    if not lines:
        return _MalformedLines()
    places = [f"line {number} of {path}" for _, number, path in lines]
    broken = next((place for place, line in zip(places, lines, strict=True) if line[0]), None)
    return _MalformedLines(len(lines), places[0], broken)


def _quote_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
