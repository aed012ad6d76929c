"""SQL from a form: a table, a group, what to measure and a filter, each chosen from a list."""

import re
from collections.abc import Mapping, Sequence

from deniable.app.server.console.offered_words import OfferedColumn, OfferedTable
from deniable.errors import InvalidParameter
from deniable.query.plan.quoting import quote_text

MEASURES = {
    "count": "how many rows",
    "units": "how many units",
    "avg": "the average of",
    "sum": "the sum of",
    "median": "the median of",
}
COMPARISONS = {"=": "is", "<>": "is not", ">=": "is at least", "<=": "is at most"}
# Without an exponent: reading 1e99999999 exactly would keep the whole server busy.
_NUMBER = re.compile(r"[+-]?\d{1,30}(\.\d{1,30})?", re.ASCII)


def example_question(tables: Sequence[OfferedTable]) -> str:
    """A question to begin with.

    >>> example_question([])
    ''
    """
    return f"SELECT COUNT(*) AS n\nFROM {tables[0].written}" if tables else ""


def example_margin(tables: Sequence[OfferedTable]) -> str:
    """A margin to begin with: about a fiftieth of the rows that the owner expects.

    >>> example_margin([])
    '100'
    """
    rows = next((table.expected_rows for table in tables if table.expected_rows), None)
    if rows is None:
        return "100"
    about = max(10, rows // 50)
    power = 10 ** (len(str(about)) - 1)
    return str(about // power * power)


def write_question(tables: Sequence[OfferedTable], fields: Mapping[str, str]) -> str:
    """The SQL of the filled-in form."""
    chosen = [table for table in tables if table.place == fields.get("table", "0")]
    if not chosen:
        raise InvalidParameter("Choose a table of the list.")
    table = chosen[0]
    grouped = [_column(table, fields["group"])] if fields.get("group") else []
    measured = _measure(table, fields.get("measure", "count"), fields.get("column", ""))
    names = [column.written for column in grouped]
    text = f"SELECT {', '.join([*names, measured])}\nFROM {table.written}"
    if fields.get("where"):
        text += f"\nWHERE {_condition(_column(table, fields['where']), fields)}"
    return text + (f"\nGROUP BY {', '.join(names)}" if names else "")


def _measure(table: OfferedTable, measure: str, column: str) -> str:
    if measure == "units" and table.unit:
        return f"COUNT(DISTINCT {table.unit}) AS n"
    if measure in ("avg", "sum", "median"):
        if not column:
            raise InvalidParameter(
                f"Choose a column for {MEASURES[measure].removesuffix(' of')}."
            )
        return f"{measure.upper()}({_column(table, column).written}) AS {measure}"
    return "COUNT(*) AS n"


def _condition(column: OfferedColumn, fields: Mapping[str, str]) -> str:
    sign, value = fields.get("sign", "="), fields.get("value", "").strip()
    if sign not in COMPARISONS:
        raise InvalidParameter("Choose how the column is compared.")
    if not column.number:
        return f"{column.written} {sign} {quote_text(value)}"
    if not _NUMBER.fullmatch(value):
        raise InvalidParameter(
            f"{column.name} holds numbers: compare it with a number, such as 20 or 0.5."
        )
    return f"{column.written} {sign} {value}"


def _column(table: OfferedTable, place: str) -> OfferedColumn:
    for column in table.columns:
        if column.place == place:
            return column
    raise InvalidParameter(f"Choose columns of the table {table.name} only.")
