"""Questions to tables that were released before. They cost nothing, and read no private row."""

from collections.abc import Mapping

from deniable.engines.duckdb.rows_process import RowsRefused
from deniable.errors import InvalidQuery
from deniable.exact.foreign_text import printable
from deniable.query.outer.released_sql import read_released_sql
from deniable.release.answer.answer_table import Answer
from deniable.release.asking.outer_margins import compute_outer
from deniable.release.session.release import Release

_LONGEST_REASON = 300


def ask_released(text: str, releases: Mapping[str, Release]) -> tuple[Answer, tuple[str, ...]]:
    """The rows that SQL makes of releases, each under its name, with margins, and notes.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1, 2] * 50}), keys={"x": [1, 2]}, epsilon=1)
    >>> release = data.sql("SELECT x, COUNT(*) AS n FROM data GROUP BY x", epsilon=0.5)
    >>> answer, notes = ask_released("SELECT SUM(n) AS n FROM answer", {"answer": release})
    >>> answer.table.column_names
    ['n', 'n_margin']
    """
    try:
        question = read_released_sql(text, releases.keys())
    except RecursionError:
        raise InvalidQuery("This SQL is nested too deeply. Write it in fewer steps.") from None
    try:
        return compute_outer(question, releases)
    except RowsRefused as problem:
        first = str(problem).strip().split("\n")[0][:_LONGEST_REASON]
        raise InvalidQuery(
            f"This SQL cannot run over what was released: {printable(first).rstrip('.')}."
        ) from None
