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

from deniable.engines.duckdb import paths
from deniable.engines.duckdb.paths import Files
from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.policy.suggestions import counted

log = logging.getLogger("deniable.engine")


def relation(files: Files, options: str = "strict_mode = false") -> str:
    """The files as a relation of SQL."""
    listed = ", ".join(map(_text, files.paths))
    columns = ", ".join(f"{_text(one)}: 'VARCHAR'" for one in paths.header(files))
    return (
        f"read_csv([{listed}], auto_detect = false, columns = {{{columns}}}, header = true, "
        f"delim = {_text(files.delimiter)}, quote = '\"', escape = '\"', "
        f"ignore_errors = true, {options})"
    )


def report(policy: Policy) -> None:
    """Tells the owner's log which lines of the policy's CSV files are no rows.

    A table with broken quotes is refused, and one with `malformed = "refuse"` if there are any
    such lines; one with "skip" is not looked at, which saves reading it once.
    """
    for table in policy.tables.values():
        source = table.source if isinstance(table.source, str) else ""
        if table.malformed != "skip" and source.lower().endswith(_ENDINGS):
            _report(table, paths.find(source))


_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def _report(table: Table, files: Files) -> None:
    try:
        found = _rejected(files)
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
        counted(found.lines, "line"),
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
class _Rejected:
    """What is wrong with some files; the content of their lines is not looked at."""

    lines: int = 0  # that are no rows
    first: str = ""
    broken: str | None = None  # the first line whose quotes are


def _rejected(files: Files) -> _Rejected:
    """How many lines are no rows, and which is the first; columns too many are no matter."""
    counts = ", ".join(f"COUNT(c{i})" for i in range(len(paths.header(files))))
    names = ", ".join(f"c{i}" for i in range(len(paths.header(files))))
    read = relation(files, "strict_mode = true, store_rejects = true, rejects_limit = 0")
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
        return _Rejected()
    places = [f"line {line} of {path}" for _, line, path in found]
    broken = next((place for place, one in zip(places, found, strict=True) if one[0]), None)
    return _Rejected(len(found), places[0], broken)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
