"""Row numbers within a group: by window functions, or by sorted lists for Polars.

Through Ibis, Polars has no window functions. There the rows of a group are collected into a
sorted list, and taken out again together with the numbers 1, 2, ...; for DENSE_RANK, rows with
equal sort keys become one row first. NULL is a group like any other.

If the privacy unit is the row, a row must keep its number however often a statement reads it,
but a backend may number a table differently each time. So a row is identified by its content:
a hash of its columns, and its place among the rows with that hash, sorted by those columns.
Rows whose order is not determined are equal, so it does not matter which gets which number.
"""

from collections.abc import Callable, Sequence

import ibis

from deniable.engines.ibis.wide_integers import Value

FreshName = Callable[[], str]  # makes unused column names


def number_rows(
    table: Value,
    within: Sequence[str],
    order: Sequence[Value],
    name: str,
    *,
    fresh: FreshName | None,
    dense: bool = False,
) -> Value:
    """The table with each row's number in its group, from 1; equal rows share one if dense.

    `fresh` makes column names for backends without window functions; None for other backends.
    """
    if fresh is None:
        count = (ibis.dense_rank if dense else ibis.row_number)()
        return table.mutate(**{name: count.over(group_by=within, order_by=order) + 1})
    sorted_by = {fresh(): column for column in order}
    columns = list(table.columns)
    with_keys = table.mutate(**sorted_by) if sorted_by else table
    if not dense:
        return _number_by_list(with_keys, within, list(sorted_by), name, fresh).select(
            *columns, name
        )
    group_keys = [*within, *sorted_by]
    rest = [column for column in columns if column not in within]
    rows, row = fresh(), fresh()
    grouped = with_keys.group_by(group_keys).aggregate(
        **{rows: _struct(with_keys, rest).collect(include_null=True)}
    )
    numbered = _number_by_list(grouped, within, list(sorted_by), name, fresh)
    unnested = numbered.select(*within, name, **{row: numbered[rows].unnest()})
    flat = unnested.select(*within, name, **{column: unnested[row][column] for column in rest})
    return flat.select(*columns, name)


def _number_by_list(
    table: Value, within: Sequence[str], order: Sequence[str], name: str, fresh: FreshName
) -> Value:
    rest = [column for column in table.columns if column not in within]
    rows, row, count = fresh(), fresh(), fresh()
    aggregates = {count: table.count()}
    if rest:
        by = [table[column] for column in order]
        aggregates[rows] = _struct(table, rest).collect(order_by=by or None, include_null=True)
    grouped = table.group_by(list(within)).aggregate(**aggregates)
    unnested = {name: ibis.range(0, grouped[count]).unnest()}
    if rest:
        unnested[row] = grouped[rows].unnest()
    flat = grouped.select(*within, **unnested)
    return flat.select(
        *within, **{column: flat[row][column] for column in rest}, **{name: flat[name] + 1}
    )


def _struct(table: Value, names: Sequence[str]) -> Value:
    return ibis.struct({name: table[name] for name in names})


def identify_rows(
    table: Value,
    columns: Sequence[str],
    name: str,
    which: int,
    fresh: FreshName,
    *,
    lists: bool,
) -> Value:
    """The table with an identifier for each row, as text, the same at every reading."""
    hashed, place = fresh(), fresh()
    content = text_to_hash([table[column] for column in columns], which)
    with_hash = table.mutate(**{hashed: content.hash()})
    order = [key for column in columns for key in _total_order(with_hash[column])]
    numbered = number_rows(with_hash, [hashed], order, place, fresh=fresh if lists else None)
    identifier = numbered[hashed].cast("string") + f"/{which}/" + numbered[place].cast("string")
    return numbered.mutate(**{name: identifier})


def _total_order(value: Value) -> list[Value]:
    """Keys that sort a column so that values with the same keys cannot be told apart: 0.0
    equals -0.0, but their powers and texts differ."""
    if not value.type().is_floating():
        return [value]
    return [value, ibis.cases((value == 0, value.cast("string").startswith("-")), else_=False)]


def text_to_hash(values: Sequence[Value], first: int) -> Value:
    """Values as one text, to be hashed; a value that is not an integer, text or boolean is
    hashed first."""
    joined: Value = ibis.literal(str(first))
    for value in values:
        kind = value.type()
        plain = kind.is_integer() or kind.is_string() or kind.is_boolean()
        text = (value if plain else value.hash()).cast("string")
        joined = joined + "|" + text.fill_null("")
    return joined
