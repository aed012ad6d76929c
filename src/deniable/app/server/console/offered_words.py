"""What the Ask page offers: tables, columns and keys of a policy, and words of SQL.

All of it is public: it is what the owner declared.
"""

import re
from dataclasses import dataclass

from deniable.exact.rationals import decimal_text
from deniable.exact.suggestions import pluralize
from deniable.policy import Policy, Table
from deniable.policy.column import Column, KeyValue
from deniable.query.plan.quoting import quote_name, quote_text

_MOST_KEYS = 60  # that a page lists of one column
SQL_WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "AS", "AND", "OR", "NOT"),
    *("BETWEEN", "IN", "JOIN", "USING", "CASE", "WHEN", "THEN", "ELSE", "END", "COUNT(*)"),
    *("COUNT(DISTINCT ", "SUM(", "AVG(", "MEDIAN(", "MIN(", "MAX(", "STDDEV(", "VARIANCE("),
    *("QUANTILE_CONT(", "HISTOGRAM(", "MODE(", "TOP_K(", "DATE_TRUNC(", "EXTRACT(", "ROUND("),
    *("FLOOR(", "COALESCE("),
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class OfferedColumn:
    """A column that questions may name."""

    place: str  # "0.3": the places of its table and of itself
    name: str
    written: str  # as SQL names it
    facts: str
    keys: tuple[str, ...]  # as SQL writes them; the first ones
    more: int  # keys that are not listed
    number: bool


@dataclass(frozen=True, slots=True)
class OfferedTable:
    """A table that questions may name."""

    place: str
    name: str
    written: str
    facts: str
    unit: str  # as SQL names it; empty: each row is a unit
    columns: tuple[OfferedColumn, ...]
    expected_rows: int | None


def offered_tables(policy: Policy) -> list[OfferedTable]:
    """The tables of a policy.

    >>> table = Table("visits", columns={"ward": Column("ward", keys=["A", "B"])})
    >>> [offered] = offered_tables(Policy([table], epsilon=1))
    >>> offered.facts, offered.columns[0].facts, offered.columns[0].keys
    ('one unit is one row', 'text, 2 keys', ("'A'", "'B'"))
    """
    return [
        OfferedTable(
            str(place),
            table.name,
            write_name(table.name),
            _table_facts(table),
            write_name(table.unit) if table.unit else "",
            tuple(
                _offer(f"{place}.{own}", column)
                for own, column in enumerate(table.columns.values())
            ),
            table.expected_rows,
        )
        for place, table in enumerate(policy.tables.values())
    ]


def write_name(name: str) -> str:
    """A name as SQL needs it.

    >>> write_name("ward"), write_name("the ward")
    ('ward', '"the ward"')
    """
    return name if _PLAIN.fullmatch(name) else quote_name(name)


def _table_facts(table: Table) -> str:
    if table.public:
        return "public: questions about it cost nothing"
    if table.unit is None:
        return "one unit is one row"
    return (
        f"one unit is all rows of one {table.unit}: at most "
        f"{pluralize(table.max_groups_per_unit, 'group')}, "
        f"{pluralize(table.max_rows_per_unit_per_group, 'row')} in each"
    )


def _offer(place: str, column: Column) -> OfferedColumn:
    keys = column.keys if isinstance(column.keys, tuple) else ()
    facts: list[str] = [column.kind or "any kind"]
    if column.bounds is not None:
        low, high = map(decimal_text, column.bounds)
        facts.append(f"{low} to {high}")
    if column.keys == "private":
        facts.append("private keys")
    elif keys:
        facts.append(pluralize(len(keys), "key"))
    return OfferedColumn(
        place,
        column.name,
        write_name(column.name),
        ", ".join(facts),
        tuple(map(_write_key, keys[:_MOST_KEYS])),
        max(0, len(keys) - _MOST_KEYS),
        column.kind == "number",
    )


def _write_key(key: KeyValue) -> str:
    if isinstance(key, bool):
        return str(key).upper()
    return quote_text(key) if isinstance(key, str) else str(key)
