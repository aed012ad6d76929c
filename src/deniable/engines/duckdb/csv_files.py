"""CSV files as DuckDB reads them: every column as text, and what is no row left out.

A line with too few columns or bytes that are no text cannot be an error, for then one row could
silence all questions. Nor should it vanish without a word: the owner's log says, when a table
is opened, how many such lines there are and where the first of them is. How many there are
depends on the data, so it is said nowhere else.

A quote that does not close as it should is another matter: the lines behind it are taken for
more of the same value, so that one row hides any number of others, and no sensitivity holds.
Such a file is not opened.
"""

import logging
from dataclasses import dataclass

import duckdb

from deniable.engines.duckdb.source_files import SourceFiles, find_files, read_header
from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.policy.plurals import pluralize

log = logging.getLogger("deniable.engine")


def csv_relation(files: SourceFiles, options: str = "strict_mode = false") -> str:
    """The files as a relation of SQL."""
    listed = ", ".join(map(_quote_text, files.paths))
    columns = ", ".join(f"{_quote_text(one)}: 'VARCHAR'" for one in read_header(files))
    return (
        f"read_csv([{listed}], auto_detect = false, columns = {{{columns}}}, header = true, "
        f"delim = {_quote_text(files.delimiter)}, quote = '\"', escape = '\"', "
        f"ignore_errors = true, {options})"
    )


def check_csv_files(policy: Policy) -> None:
    """Tells the owner's log which lines of the policy's CSV files are no rows.

    A table with broken quotes is refused, and one with `malformed = "refuse"` if there are any
    such lines; one with "skip" is not looked at, which saves reading it once.
    """
    for table in policy.tables.values():
        source = table.source if isinstance(table.source, str) else ""
        if table.malformed != "skip" and source.lower().endswith(_ENDINGS):
            _check_table(table, find_files(source))


_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def _check_table(table: Table, files: SourceFiles) -> None:
    try:
        found = _find_malformed_lines(files)
    except duckdb.Error:
        return  # what cannot be opened at all is said by whoever opens it
    where = ("tables", table.name, "malformed")
    if found.broken is not None:
        log.warning("table %s: quotes are broken in %s.", table.name, found.broken)
        raise InvalidPolicy(
            f"Table {table.name!r} has a line in its CSV files whose quotes do not close as "
            "they should: lines that follow are taken for a part of it, so one row may hide "
            "many. The owner's log says where. Mend it: a quote inside of a value is written "
            'twice. If you vouch for the file,   malformed = "skip"   does not look.',
            where=where,
        )
    if not found.lines:
        return
    log.warning(
        "table %s: %s of its CSV files %s and left out of every answer; the first is %s.",
        table.name,
        pluralize(found.lines, "line"),
        "is no row" if found.lines == 1 else "are no rows",
        found.first,
    )
    if table.malformed == "refuse":
        raise InvalidPolicy(
            f"Table {table.name!r} has lines in its CSV files that are no rows; the owner's "
            "log says which. Mend them, or leave them out with   "
            'malformed = "report"',
            where=where,
        )


@dataclass(frozen=True, slots=True)
class _MalformedLines:
    """What is wrong with some files; the content of their lines is not looked at."""

    lines: int = 0  # that are no rows
    first: str = ""
    broken: str | None = None  # the first line whose quotes are


def _find_malformed_lines(files: SourceFiles) -> _MalformedLines:
    """How many lines are no rows, and which is the first; columns too many are no matter."""
    counts = ", ".join(f"COUNT(c{i})" for i in range(len(read_header(files))))
    names = ", ".join(f"c{i}" for i in range(len(read_header(files))))
    read = csv_relation(files, "strict_mode = true, store_rejects = true, rejects_limit = 0")
    with duckdb.connect(":memory:") as database:
        database.execute("SET enable_progress_bar = false")
        database.execute(f"SELECT {counts} FROM {read} AS read({names})").fetchall()
        found = database.execute(
            "SELECT bool_or(error_type IN ('UNQUOTED VALUE', 'LINE SIZE OVER MAXIMUM')), "
            "line, file_path FROM reject_errors JOIN reject_scans USING (scan_id, file_id) "
            "WHERE error_type <> 'TOO MANY COLUMNS' "
            "GROUP BY file_id, line, file_path ORDER BY file_id, line"
        ).fetchall()
    if not found:
        return _MalformedLines()
    places = [f"line {line} of {path}" for _, line, path in found]
    broken = next((place for place, one in zip(places, found, strict=True) if one[0]), None)
    return _MalformedLines(len(found), places[0], broken)


def _quote_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
