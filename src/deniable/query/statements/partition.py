"""A plan restricted to one part of a table: the rows in which a column has one value.

No privacy unit may be in two parts of a partition. When the unit is the row, none is. A unit
with rows in several parts is assigned to one of them, the least of its values, and its rows in
other parts do not count. The part depends only on that unit's own rows, so a unit that appears,
vanishes or changes affects one part (or two, if it moves).

That holds while no unit moves. In another version of the data, or with other bounds, a unit may
be in another part. That is another partition with another name, and the costs of the two add
up.

The restriction is put around the table itself, in every statement of the plan, so it holds
whatever the question is. Sensitivities stay as they are: a unit only has fewer rows.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from sqlglot import exp

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.policy import Table
from deniable.query.language.parse import check_encodable
from deniable.query.language.syntax_tree import Literal
from deniable.query.plan.plan import STORED, Distances, KeyValue, Plan
from deniable.query.plan.statement_text import StatementText, tree_of
from deniable.query.plan.tables_read import tables_read
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import Sql, case, relation, try_cast

Part: TypeAlias = tuple[tuple[str, KeyValue], ...]  # (column, value), each narrowing further

_LARGEST_EXACT = 1 << 53
_HASHED = " hashed by "  # between a column, or *, and the key of the hash
_DIGITS = 8  # of the hash, in hexadecimal
KEPT, HELD = "train", "test"  # the two parts


def restrict_to_part(plan: Plan, table: Table, part: Part) -> Plan:
    """The plan restricted to the rows of one part of its table."""
    if plan.part:
        raise InvalidParameter("This plan is already restricted to a part.")

    def restrict(sql: str) -> str:
        try:
            return _restrict_sql(sql, table, part) if sql else sql
        except RecursionError:
            raise InvalidQuery("The question nests too deeply: split it.") from None

    return replace(
        plan,
        engine_sql=restrict(plan.engine_sql),
        stored=restrict(plan.stored),
        blocks=tuple(replace(block, sql=restrict(block.sql)) for block in plan.blocks),
        choices=tuple(replace(choice, sql=restrict(choice.sql)) for choice in plan.choices),
        distances=_restrict_distances(plan.distances, restrict),
        notes=(*plan.notes, *_notes(table, part)),
        part=part,
    )


def _restrict_distances(
    distances: Distances | None, restrict: Callable[[str], str]
) -> Distances | None:
    return None if distances is None else replace(distances, sql=restrict(distances.sql))


def check_part_keys(
    table: Table, column: str, keys: Sequence[KeyValue]
) -> tuple[str, tuple[KeyValue, ...]]:
    """The column as the table spells it, and the keys of its parts.

    Each key has one spelling, because a ledger distinguishes parts by their spelling: if 1 and
    1.0 were two parts, the same units would be charged in only one of them.
    """
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise InvalidParameter(
            "`keys` must be a list of values, one for each part, such as "
            f'["A", "B"]. Found {keys!r}.'
        )
    declared = Scope(table).column(column)
    parts = tuple(_normalize_key(declared.name, declared.kind, key) for key in keys)
    if not parts or len(set(parts)) < len(parts):
        raise InvalidParameter("`keys` must be one or more different values.")
    return declared.name, parts


def partition_name(table: Table, column: str) -> str:
    """A partition's name in a ledger: table, column, and a digest of what assigns the units.

    This is all that the owner wrote about it: in another source or version of the table, a unit
    may be in another part.

    >>> from deniable.policy import Column
    >>> old, new = (
    ...     Table(
    ...         "visits",
    ...         "/visits.csv",
    ...         columns={"ward": Column("ward", kind="text")},
    ...         version=v,
    ...     )
    ...     for v in ("2026-03", "2026-04")
    ... )
    >>> (
    ...     partition_name(old, "ward").partition("#")[0],
    ...     partition_name(old, "ward") == partition_name(new, "ward"),
    ... )
    ('visits.ward', False)
    """
    unit = None if table.unit is None else table.unit.lower()
    facts = json.dumps(
        [table.name, column, table.version, table.address, unit, part_reading(table, column)]
    )
    return f"{table.name}.{column}#{hashlib.sha256(facts.encode()).hexdigest()[:16]}"


def hashed_column(
    table: Table, share: Fraction, key: str, *, start: Fraction = Fraction(0)
) -> str:
    """The name of a division into two parts by a keyed hash: of the unit's id, so that a unit
    is in one part with all its rows; or, where rows are units, of the row's content. About
    `share` of the units are held out, those whose hashes follow the first `start` of all.

    >>> hashed_column(Table("visits", unit="patient"), Fraction(1, 4), "k1")
    'patient hashed by 40000000k1'
    >>> hashed_column(Table("visits"), Fraction(1, 4), "k1", start=Fraction(3, 4))
    '* hashed by c0000000-g0000000k1'
    """
    first, last = (round(edge * 16**_DIGITS) for edge in (start, start + share))
    if not 0 <= first < last <= 16**_DIGITS or last - first == 16**_DIGITS:
        raise InvalidParameter(
            f"`share` is too near 0 or 1: one part would be empty. Found {share}."
        )
    edges = f"{_edge(first)}-{_edge(last)}" if first else _edge(last)
    return f"{table.unit or '*'}{_HASHED}{edges}{key}"


def _edge(place: int) -> str:
    """A place among all hashes, as text that is compared with them; their end is above all."""
    return format(place, f"0{_DIGITS}x") if place < 16**_DIGITS else f"g{'0' * (_DIGITS - 1)}"


def _hashed_value(scope: Scope, column: str) -> Sql:
    """The part of a row, by a hash of its unit or of all its columns. NULL is not a text, so it
    counts as one that no value has."""
    hash_name = column.partition(_HASHED)[2]
    edges, key = [hash_name[:_DIGITS]], hash_name[_DIGITS:]
    if key.startswith("-"):  # no key does
        edges, key = [*edges, key[1 : _DIGITS + 1]], key[_DIGITS + 1 :]
    unit = scope.table.unit
    names = [unit] if unit is not None else sorted(scope.table.columns)
    text: Sql = exp.Literal.string(key)
    for name in names:
        value = exp.func("COALESCE", try_cast(_column(name), "text"), exp.Literal.string("\\N"))
        for part in (exp.Literal.string("|"), value):
            text = exp.DPipe(this=text, expression=part, safe=True)
    start, length = (exp.Literal.number(place) for place in (1, _DIGITS))
    digits = exp.Substring(this=exp.MD5(this=text), start=start, length=length)
    side: Sql = exp.Literal.string(KEPT)
    for edge, name in zip(reversed(edges), (HELD, KEPT), strict=False):
        below = exp.LT(this=digits.copy(), expression=exp.Literal.string(edge))
        side = case(below, exp.Literal.string(name), side)
    return side


def part_reading(table: Table, column: str) -> str:
    """The expression that tells the part of a row, in DuckDB's SQL."""
    return _value(Scope(table), column).sql(dialect="duckdb")


def _normalize_key(name: str, kind: str | None, key: KeyValue) -> KeyValue:
    kinds = {"text": str, "date": str, "boolean": bool}
    expected = kinds.get(kind or "", int | float)
    if isinstance(key, expected) and isinstance(key, bool) == (expected is bool):
        if kind == "date":
            with suppress(ValueError):
                return date.fromisoformat(str(key)).isoformat()
        elif isinstance(key, str):
            check_encodable(key, f"The key {key!r}")
            return key
        elif isinstance(key, bool):
            return key
        elif abs(key) <= _LARGEST_EXACT:  # engines compare doubles, which are exact up to here
            return int(key) if key == int(key) else key
    raise InvalidParameter(
        f"{name} is of kind {kind or 'unknown'}, so {key!r} is not one of its values."
    )


def _restrict_sql(sql: str, table: Table, part: Part) -> str:
    tree = tree_of(sql).copy()
    scope = Scope(table)
    sources = [source for source in tree.find_all(exp.Table) if source.name == table.name]
    for source in sources:
        rows = _rows(scope, part)
        alias = source.args.get("alias") or exp.TableAlias(this=relation(table.name).this)
        source.replace(exp.Subquery(this=rows, alias=alias.copy()))
    return StatementText(tree)


def reads_only_part(plan: Plan, table: Table, part: Part) -> bool:
    """Whether every statement of a plan reads this table, and of it only rows of this part. It
    may read the rows that another one of its statements stores."""
    rows = StatementText(_rows(Scope(table), part))

    def is_part(tree: exp.Query, query: exp.Select) -> bool:
        """By its text, and by its nodes: DuckDB's text leaves out some that others read."""
        return query == tree and query.sql(dialect="duckdb") == rows

    for statement in plan.statements:
        parsed = type(statement.sql) is not StatementText
        own = tree_of(str(rows) if parsed else rows)
        read = list(tables_read(tree_of(statement.sql), partial(is_part, own)))
        if not all(restricted for name, restricted in read if name == table.name):
            return False
        if table.name not in dict(read) and STORED not in dict(read):
            return False
    return True


def _rows(scope: Scope, part: Part) -> exp.Select:
    return (
        exp.Select(expressions=[exp.Star()])
        .from_(relation(scope.table.name))
        .where(*_conditions(scope, part))
    )


def _conditions(scope: Scope, part: Part) -> list[Sql]:
    """That a row belongs to the part, and that its unit does."""
    unit = scope.table.unit
    conditions: list[Sql] = []
    for column, key in part:
        conditions.append(
            exp.EQ(this=_value(scope, column), expression=_literal(scope, column, key))
        )
        if unit is None:
            continue
        least = exp.Min(this=_value(scope, column))
        units = (
            exp.select(_column(unit)).from_(relation(scope.table.name)).group_by(_column(unit))
        )
        units = units.having(exp.EQ(this=least, expression=_literal(scope, column, key)))
        conditions.append(exp.In(this=_column(unit), query=exp.Subquery(this=units)))
    return conditions


def _value(scope: Scope, column: str) -> Sql:
    """The column as questions see it: cast, and clipped to its bounds."""
    if _HASHED in column:
        return _hashed_value(scope, column)
    leaf = scope.clean_column(column)
    return try_cast(leaf, "date") if scope.column(column).kind == "date" else leaf


def _literal(scope: Scope, column: str, key: KeyValue) -> Sql:
    if _HASHED in column:
        return exp.Literal.string(str(key))
    if scope.column(column).kind == "date":
        return try_cast(exp.Literal.string(str(key)), "date")
    exact = key if isinstance(key, str | bool) else Fraction(str(key))
    return scope.sql(Literal(exact))


def _column(name: str) -> Sql:
    return exp.column(name, quoted=True)


def _notes(table: Table, part: Part) -> list[str]:
    if any(_HASHED in column for column, _ in part):
        return [f"Only rows of the part {part[-1][1]}, by a keyed hash."]
    condition = " and ".join(f"{column} is {key}" for column, key in part)
    notes = [f"Only rows where {condition}."]
    if table.unit is not None:
        columns = " and ".join(column for column, _ in part)
        notes.append(
            f"A {table.unit} with several values of {columns} counts with the least of them."
        )
    return notes
