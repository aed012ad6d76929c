"""CSV files as DuckDB reads them: every column as text, and what is no row left out.

A line with too few columns, broken quotes or bytes that are no text cannot be an error, for
then one row could silence all questions. Nor should it vanish without a word: the owner's log
says, when a table is opened, how many such lines there are and where the first of them is. How
many there are depends on the data, so it is said nowhere else.
"""

import logging

import duckdb

from deniable.engines import paths
from deniable.engines.paths import Files
from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table

log = logging.getLogger("deniable.engine")


def relation(files: Files, options: str = "") -> str:
    """The files as a relation of SQL."""
    listed = ", ".join(map(_text, files.paths))
    columns = ", ".join(f"{_text(one)}: 'VARCHAR'" for one in paths.header(files))
    return (
        f"read_csv([{listed}], auto_detect = false, columns = {{{columns}}}, header = true, "
        f"delim = {_text(files.delimiter)}, quote = '\"', escape = '\"', "
        f"strict_mode = false, ignore_errors = true{options})"
    )


def report(policy: Policy) -> None:
    """Tells the owner's log which lines of the policy's CSV files are no rows.

    A table with `malformed = "refuse"` is refused if there are any; one with "skip" is not
    looked at, which saves reading it once.
    """
    for table in policy.tables.values():
        source = table.source if isinstance(table.source, str) else ""
        if table.malformed != "skip" and source.lower().endswith(_ENDINGS):
            _report(table, paths.find(source))


_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def _report(table: Table, files: Files) -> None:
    try:
        count, first = _rejected(files)
    except duckdb.Error:
        return  # what cannot be opened at all is said by whoever opens it
    if not count:
        return
    log.warning(
        "table %s: %s of its CSV files %s and left out of every answer; the first is %s. "
        "An open quote there may have swallowed lines that follow.",
        table.name,
        "1 line" if count == 1 else f"{count:,} lines",
        "is no row" if count == 1 else "are no rows",
        first,
    )
    if table.malformed == "refuse":
        raise InvalidPolicy(
            f"Table {table.name!r} has lines in its CSV files that are no rows; the owner's "
            "log says which. Mend them, or leave them out with   "
            'malformed = "report"',
            where=("tables", table.name, "malformed"),
        )


def _rejected(files: Files) -> tuple[int, str]:
    """How many lines are no rows, and which is the first; their content is not looked at."""
    counted = ", ".join(f"COUNT(c{i})" for i in range(len(paths.header(files))))
    names = ", ".join(f"c{i}" for i in range(len(paths.header(files))))
    read = relation(files, ", store_rejects = true, rejects_limit = 0")
    with duckdb.connect(":memory:") as database:
        database.execute("SET enable_progress_bar = false")
        database.execute(f"SELECT {counted} FROM {read} AS read({names})").fetchall()
        found = database.execute(
            "SELECT COUNT(*) OVER (), line, file_path FROM "
            "(SELECT DISTINCT scan_id, file_id, line FROM reject_errors) "
            "JOIN reject_scans USING (scan_id, file_id) ORDER BY file_id, line LIMIT 1"
        ).fetchone()
    return (0, "") if found is None else (found[0], f"line {found[1]} of {found[2]}")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
