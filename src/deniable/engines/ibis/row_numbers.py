"""Numbers of rows within a group: by windows, or by sorted lists where Ibis has no windows.

Polars has none through Ibis. There the rows of a group are collected into a list, in order,
and taken out of it again beside the numbers 1, 2, ...; for DENSE_RANK rows of equal order
become one row first. NULL is a group like any other.

Where rows are units they must keep their numbers however often a statement reads them, and a
backend may number a table anew each time. So a row is told by what it holds: a hash of its
columns, and its place among the rows of that hash in the order of those columns. Rows that
share a place there are equal, so it makes no difference which of them is which.
"""

from collections.abc import Callable, Sequence

import ibis

from deniable.engines.ibis.wide_integers import Value

FreshName = Callable[[], str]  # names of columns that nobody has


def number_rows(
    table: Value,
    within: Sequence[str],
    order: Sequence[Value],
    name: str,
    *,
    fresh: FreshName | None,
    dense: bool = False,
) -> Value:
    """The table with the place of each row in its group, from 1; of equal rows one, if dense.

    `fresh` makes names for the lists of backends without windows, and is None for others.
    """
    if fresh is None:
        count = (ibis.dense_rank if dense else ibis.row_number)()
        return table.mutate(**{name: count.over(group_by=within, order_by=order) + 1})
    sorted_by = {fresh(): one for one in order}
    kept = list(table.columns)
    told = table.mutate(**sorted_by) if sorted_by else table
    if not dense:
        return _number_by_list(told, within, list(sorted_by), name, fresh).select(*kept, name)
    own = [*within, *sorted_by]
    rest = [one for one in kept if one not in within]
    rows, row = fresh(), fresh()
    held = told.group_by(own).aggregate(
        **{rows: _struct(told, rest).collect(include_null=True)}
    )
    numbered = _number_by_list(held, within, list(sorted_by), name, fresh)
    opened = numbered.select(*within, name, **{row: numbered[rows].unnest()})
    taken = opened.select(*within, name, **{one: opened[row][one] for one in rest})
    return taken.select(*kept, name)


def _number_by_list(
    table: Value, within: Sequence[str], order: Sequence[str], name: str, fresh: FreshName
) -> Value:
    rest = [one for one in table.columns if one not in within]
    rows, row, count = fresh(), fresh(), fresh()
    made = {count: table.count()}
    if rest:
        by = [table[one] for one in order]
        made[rows] = _struct(table, rest).collect(order_by=by or None, include_null=True)
    held = table.group_by(list(within)).aggregate(**made)
    opened = {name: ibis.range(0, held[count]).unnest()}
    if rest:
        opened[row] = held[rows].unnest()
    taken = held.select(*within, **opened)
    return taken.select(
        *within, **{one: taken[row][one] for one in rest}, **{name: taken[name] + 1}
    )


def _struct(table: Value, names: Sequence[str]) -> Value:
    return ibis.struct({one: table[one] for one in names})


def identify_rows(
    table: Value,
    columns: Sequence[str],
    name: str,
    which: int,
    fresh: FreshName,
    *,
    lists: bool,
) -> Value:
    """The table with a name for each row, as text, that is the same whenever it is read."""
    hashed, place = fresh(), fresh()
    own = text_to_hash([table[one] for one in columns], which)
    told = table.mutate(**{hashed: own.hash()})
    order = [told[one] for one in columns]
    found = number_rows(told, [hashed], order, place, fresh=fresh if lists else None)
    number = found[hashed].cast("string") + f"/{which}/" + found[place].cast("string")
    return found.mutate(**{name: number})


def text_to_hash(values: Sequence[Value], first: int) -> Value:
    """Values as one text, to be hashed; what is not short and plain text is hashed before."""
    told: Value = ibis.literal(str(first))
    for one in values:
        kind = one.type()
        plain = kind.is_integer() or kind.is_string() or kind.is_boolean()
        text = (one if plain else one.hash()).cast("string")
        told = told + "|" + text.fill_null("")
    return told
