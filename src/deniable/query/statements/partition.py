"""A plan restricted to one part of a table: the rows in which a column has one value.

The parts of a partition must hold different people. Where a row is somebody, they do. Where a
unit may have rows in several parts it is taken into one of them, the least of its values, and
its rows in other parts count for nothing. Which part that is depends on that unit's own rows
alone, so a unit that appears, vanishes or changes touches one part (or two, if it moves).

That holds while everybody stays where they are. In another version of the data, or read by
other bounds, a person may be in another part, so that is another partition, by its name: what
the two cost adds up.

The restriction is put around the table itself, in every statement of the plan, so it holds
whatever the question says. Sensitivities stay as they are: a unit only has fewer rows.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import TypeAlias

import sqlglot
from sqlglot import exp

from deniable.errors import InvalidParameter, InvalidQuery
from deniable.policy import Table
from deniable.query.language.parse import check_encodable
from deniable.query.language.syntax_tree import Literal
from deniable.query.plan.plan import KeyValue, Plan
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import Sql, try_cast

Part: TypeAlias = tuple[tuple[str, KeyValue], ...]  # (column, value), each narrowing further

_LARGEST = 1 << 53


def restricted(plan: Plan, table: Table, part: Part) -> Plan:
    """The plan about the rows of one part of its table only."""
    if plan.part:
        raise InvalidParameter("This plan is about a part already.")

    def within(sql: str) -> str:
        try:
            return _within(sql, table, part) if sql else sql
        except RecursionError:
            raise InvalidQuery("The question nests too deeply: split it.") from None

    return replace(
        plan,
        engine_sql=within(plan.engine_sql),
        blocks=tuple(replace(one, sql=within(one.sql)) for one in plan.blocks),
        choices=tuple(replace(one, sql=within(one.sql)) for one in plan.choices),
        notes=(*plan.notes, *_notes(table, part)),
        part=part,
    )


def checked(
    table: Table, column: str, keys: Sequence[KeyValue]
) -> tuple[str, tuple[KeyValue, ...]]:
    """The column as the table spells it, and keys that can be parts by it.

    Each comes in its one spelling, since a ledger tells parts apart by theirs: were 1 and 1.0
    two parts, the same people would pay in only one of them.
    """
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise InvalidParameter(
            "`keys` must be a list of the values that make a part each, such as "
            f'["A", "B"]. Found {keys!r}.'
        )
    found = Scope(table).column(column)
    known = tuple(_key(found.name, found.kind, key) for key in keys)
    if not known or len(set(known)) < len(known):
        raise InvalidParameter("`keys` must be different values, at least one.")
    return found.name, known


def named(table: Table, column: str) -> str:
    """A partition's name in a ledger: table and column, and a digest of who is where in it.

    >>> from deniable.policy import Column
    >>> old, new = (
    ...     Table("visits", columns={"ward": Column("ward", kind="text")}, version=version)
    ...     for version in ("2026-03", "2026-04")
    ... )
    >>> named(old, "ward").partition("#")[0], named(old, "ward") == named(new, "ward")
    ('visits.ward', False)
    """
    read = _value(Scope(table), column).sql(dialect="duckdb")
    unit = None if table.unit is None else table.unit.lower()
    facts = json.dumps([table.name, column, table.version, unit, read])
    return f"{table.name}.{column}#{hashlib.sha256(facts.encode()).hexdigest()[:16]}"


def _key(name: str, kind: str | None, key: KeyValue) -> KeyValue:
    kinds = {"text": str, "date": str, "boolean": bool}
    wanted = kinds.get(kind or "", int | float)
    if isinstance(key, wanted) and isinstance(key, bool) == (wanted is bool):
        if kind == "date":
            with suppress(ValueError):
                return date.fromisoformat(str(key)).isoformat()
        elif isinstance(key, str):
            check_encodable(key, f"The key {key!r}")
            return key
        elif isinstance(key, bool):
            return key
        elif abs(key) <= _LARGEST:  # engines compare doubles, which are exact this far
            return int(key) if key == int(key) else key
    raise InvalidParameter(
        f"{name} is of the kind {kind or 'unknown'}, so {key!r} is none of its values."
    )


def _within(sql: str, table: Table, part: Part) -> str:
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    scope = Scope(table)
    places = [one for one in tree.find_all(exp.Table) if one.name == table.name]
    for place in places:
        rows = _rows(scope, part)
        alias = place.args.get("alias") or exp.TableAlias(this=_name(table.name))
        place.replace(exp.Subquery(this=rows, alias=alias.copy()))
    return tree.sql(dialect="duckdb")


def is_within(plan: Plan, table: Table, part: Part) -> bool:
    """Whether every statement of a plan reads the rows of this part, and no others."""
    rows = _rows(Scope(table), part).sql(dialect="duckdb")
    rows = sqlglot.parse_one(rows, dialect="duckdb").sql(dialect="duckdb")

    def narrowed(place: Sql | None) -> bool:
        while place is not None:
            if isinstance(place, exp.Select) and place.sql(dialect="duckdb") == rows:
                return True
            place = place.parent
        return False

    trees = [sqlglot.parse_one(one.sql, dialect="duckdb") for one in plan.statements]
    places = [place for tree in trees for place in tree.find_all(exp.Table)]
    return all(narrowed(one) for one in places if one.name.lower() == table.name.lower())


def _rows(scope: Scope, part: Part) -> exp.Select:
    return exp.select("*").from_(_source(scope.table)).where(*_conditions(scope, part))


def _conditions(scope: Scope, part: Part) -> list[Sql]:
    """That a row is of the part, and that its unit is."""
    unit = scope.table.unit
    found: list[Sql] = []
    for column, key in part:
        found.append(
            exp.EQ(this=_value(scope, column), expression=_literal(scope, column, key))
        )
        if unit is None:
            continue
        least = exp.Min(this=_value(scope, column))
        units = exp.select(_column(unit)).from_(_source(scope.table)).group_by(_column(unit))
        units = units.having(exp.EQ(this=least, expression=_literal(scope, column, key)))
        found.append(exp.In(this=_column(unit), query=exp.Subquery(this=units)))
    return found


def _value(scope: Scope, column: str) -> Sql:
    """The column as questions see it: cast, and clipped to its bounds."""
    leaf = scope.clean_column(column)
    return try_cast(leaf, "date") if scope.column(column).kind == "date" else leaf


def _literal(scope: Scope, column: str, key: KeyValue) -> Sql:
    if scope.column(column).kind == "date":
        return try_cast(exp.Literal.string(str(key)), "date")
    exact = key if isinstance(key, str | bool) else Fraction(str(key))
    return scope.sql(Literal(exact))


def _source(table: Table) -> exp.Table:
    return exp.Table(this=_name(table.name))


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _column(name: str) -> Sql:
    return exp.column(name, quoted=True)


def _notes(table: Table, part: Part) -> list[str]:
    said = " and ".join(f"{column} is {key}" for column, key in part)
    notes = [f"Only rows where {said}."]
    if table.unit is not None:
        columns = " and ".join(column for column, _ in part)
        notes.append(
            f"A {table.unit} with several values of {columns} counts with the least of them."
        )
    return notes
