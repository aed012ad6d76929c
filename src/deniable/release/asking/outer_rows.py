"""Tables for SQL over released rows: made-up ones before the charge, and the answer's types."""

import datetime
from itertools import islice, product
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deniable.errors import InvalidQuery
from deniable.query.margins.linear_forms import LinearForm, form
from deniable.query.plan.node_kinds import released_kind
from deniable.query.plan.plan import GroupKey, KeyColumn, Plan
from deniable.release.answer.answer_table import column_names

_MOST_ROWS = 200
_DAY = datetime.datetime(2026, 1, 1)
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_FIRST_DAY, _LAST_DAY = (
    day.toordinal() - _EPOCH for day in (datetime.date.min, datetime.date.max)
)


def make_up_rows(plan: Plan, *, fitted: bool = False) -> "pa.Table":
    """Rows as the answer to a plan may have them, with the declared keys and made-up numbers.

    SQL is tried on them before anything is charged, so that faults of types cost nothing.
    Numbers that are `fitted` to several levels are not whole.
    """
    lists = [_made_up_keys(key) for key in plan.keys]
    rows = list(islice(product(*lists), _MOST_ROWS))
    columns: dict[str, Any] = {}
    for output, (name, *_) in zip(plan.outputs, column_names(plan), strict=True):
        if isinstance(output.node, KeyColumn):
            place = output.node.place
            columns[name] = key_array(plan.keys[place], [row[place] for row in rows])
            continue
        kind = output.kind
        if kind == "number":
            shape = form(output.node)
            whole = output.count or (isinstance(shape, LinearForm) and shape.whole)
            whole = whole and not fitted
            values: list[Any] = [
                5 + i % 97 if whole else 5.5 + i % 97 for i in range(len(rows))
            ]
            columns[name] = pa.array(values, pa.int64() if whole else pa.float64())
        else:
            example = {"text": "a", "boolean": True, "date": _DAY}[
                released_kind(plan, output.node)
            ]
            columns[name] = pa.array([example] * len(rows))
    return pa.table(columns)


def _made_up_keys(key: GroupKey) -> list[Any]:
    if key.values is not None:
        return list(key.values)
    days = [_DAY + datetime.timedelta(days=31 * i) for i in range(12)]
    examples: dict[str, list[Any]] = {
        "text": [chr(97 + i) for i in range(12)],
        "number": list(range(1, 13)),
        "boolean": [True, False],
        "date": [day.date() for day in days],
        "moment": list(days),
    }
    return examples[key.kind]


def key_array(key: GroupKey, values: list[Any]) -> "pa.Array[Any]":
    """Values of a key as a column of the answer."""
    if key.kind == "date":
        texts = [v if isinstance(v, datetime.date) else str(v)[:10] for v in values]
        days = [datetime.date.fromisoformat(v) if isinstance(v, str) else v for v in texts]
        return pa.array(days, pa.date32())
    if key.kind == "moment":
        return pa.array(values, pa.timestamp("s"))
    return pa.array(values)


def shown_table(table: "pa.Table") -> "pa.Table":
    """The rows in the types of a release: whole numbers, doubles, text, truth values, dates.

    >>> from decimal import Decimal
    >>> shown_table(pa.table({"s": pa.array([Decimal(3)], pa.decimal128(38, 0))}))["s"].type
    DataType(int64)
    """
    names: list[str] = []
    for written in table.column_names:
        name = written
        while name in names:
            name += "_"
        names.append(name)
    columns = [_shown_column(table.column(i), name) for i, name in enumerate(names)]
    return pa.table(dict(zip(names, columns, strict=True)))


def _shown_column(column: "pa.ChunkedArray[Any]", name: str) -> "pa.ChunkedArray[Any]":
    kind, types = column.type, pa.types
    if types.is_integer(kind) and kind != pa.uint64():
        return column.cast(pa.int64())
    if types.is_decimal(kind) or kind == pa.uint64():
        most = pc.max(pc.abs(column.cast(pa.float64(), safe=False))).as_py() or 0
        whole = (kind == pa.uint64() or kind.scale == 0) and most < 2.0**62
        return column.cast(pa.int64() if whole else pa.float64(), safe=False)
    if types.is_floating(kind):
        return column.cast(pa.float64())
    if types.is_timestamp(kind):
        moments = column.cast(pa.timestamp("s"), safe=False)
        return _within_years(moments, moments.cast(pa.int64()), 86_400, name)
    if types.is_date(kind):
        days = column.cast(pa.date32())
        return _within_years(days, days.cast(pa.int32()), 1, name)
    if types.is_boolean(kind) or types.is_string(kind):
        return column
    if types.is_null(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return column.cast(pa.string())
    raise InvalidQuery(
        f"The column {name} of the answer is neither a number nor text, a truth value, a date "
        "or a timestamp. CAST it to one of these."
    )


def _within_years(
    column: "pa.ChunkedArray[Any]", numbers: "pa.ChunkedArray[Any]", day: int, name: str
) -> "pa.ChunkedArray[Any]":
    """The dates, if all of them are in years that can be shown. DuckDB has others, too."""
    ends = pc.min_max(numbers).as_py()
    if ends["min"] is not None and not (
        _FIRST_DAY * day <= ends["min"] and ends["max"] < (_LAST_DAY + 1) * day
    ):
        raise InvalidQuery(f"The column {name} has dates outside of the years 1 to 9999.")
    return column
