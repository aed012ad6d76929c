"""Our statements as expressions of Ibis: SELECT by SELECT, each a table made of another."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.operations as ops
import sqlglot
from sqlglot import exp

from deniable.engines.ibis.casts import unsupported
from deniable.engines.ibis.joins import JoinSide, join_sides
from deniable.engines.ibis.repeated_values import find_repeated
from deniable.engines.ibis.row_numbers import identify_rows, number_rows
from deniable.engines.ibis.values import IbisValues
from deniable.engines.ibis.wide_division import divide_by_rows
from deniable.engines.ibis.wide_integers import Value, WideInteger
from deniable.errors import Unsupported

# Of a wide integer: the columns that hold its parts, and their weights.
Parts = tuple[tuple[int, str], ...]
Columns = dict[str, str | Parts]
_AGGREGATES = (exp.Count, exp.Sum, exp.Min, exp.Max)
_SUPPORTED_CLAUSES = {"with_", "expressions", "from_", "joins", "where", "group", "distinct"}


@dataclass(frozen=True, slots=True)
class IbisRelation:
    """A table of Ibis, and which of its columns hold ours."""

    table: Any
    columns: Columns

    def values(self, alias: str = "") -> dict[str, Value | WideInteger]:
        """Our columns, by name and by alias.name."""
        found: dict[str, Value | WideInteger] = {"*": self.table}
        for name, held in self.columns.items():
            if isinstance(held, str):
                value: Value | WideInteger = self.table[held]
            else:
                value = WideInteger(tuple((weight, self.table[one]) for weight, one in held))
            found[name] = value
            if alias:
                found[f"{alias}.{name}"] = value
        return found


class IbisStatements:
    """Makes tables of statements about these tables.

    >>> import pyarrow as pa
    >>> visits = ibis.memtable(pa.table({"ward": ["A", "B"]}))
    >>> tree = IbisStatements({"visits": visits}, salt=1, backend="duckdb")
    >>> list(tree.statement('SELECT COUNT(*) AS n FROM "visits"').columns)
    ['n']
    """

    def __init__(self, tables: Mapping[str, Any], *, salt: int, backend: str) -> None:
        self._tables = {name.lower(): table for name, table in tables.items()}
        self._salt, self._backend = salt, backend
        self._lists = backend == "polars"  # which has no windows through Ibis
        self._used: set[str] = set()
        self._made = 0

    def statement(self, sql: str) -> IbisRelation:
        """The table that a statement finds; raises Unsupported on what Ibis cannot say."""
        whole = sqlglot.parse_one(sql, dialect="duckdb")
        self._used = {one.name for one in whole.find_all(exp.Column)}
        return self._query(whole, {})

    def _query(self, node: exp.Expr, defined: Mapping[str, IbisRelation]) -> IbisRelation:
        known = dict(defined)
        if isinstance(node, exp.Query):
            for one in node.ctes:
                known[one.alias] = self._query(one.this, known)
        if isinstance(node, exp.Subquery):
            return self._query(node.this, known)
        if isinstance(node, exp.Union) and not node.args.get("distinct"):
            both = (self._query(one, known) for one in (node.this, node.expression))
            return self._union(*both)
        if not isinstance(node, exp.Select):
            raise unsupported(node)
        if {key for key, value in node.args.items() if value} - _SUPPORTED_CLAUSES:
            raise unsupported(node)
        return self._select(node, known)

    def _union(self, first: IbisRelation, second: IbisRelation) -> IbisRelation:
        pairs = list(zip(first.columns.values(), second.columns.values(), strict=True))
        chosen = {left: right for left, right in pairs if isinstance(left, str)}
        if len(chosen) < len(pairs):
            raise unsupported(exp.Union())
        other = second.table.select(**{one: second.table[held] for one, held in chosen.items()})
        other = other.cast({one: first.table[one].type() for one in chosen})
        return IbisRelation(ibis.union(first.table.select(*chosen), other), first.columns)

    def _select(self, node: exp.Select, defined: Mapping[str, IbisRelation]) -> IbisRelation:
        relation, values = self._from(node, defined)
        if node.args.get("where"):
            test = self._values(values).plain(node.args["where"].this)
            relation = IbisRelation(relation.table.filter(test), relation.columns)
            values = self._again(relation, values)
        if node.expressions and _numbers_all_rows(node.expressions[0]):
            return self._numbered(node, relation)
        ranked = [one for one in node.expressions if isinstance(one.unalias(), exp.Window)]
        for one in ranked:
            relation = self._placed(relation, one)
        if ranked:
            return relation
        if node.args.get("group") or _has_aggregates(node):
            return self._grouped(node, relation, values)
        made = self._made_of(node, relation, values)
        return (
            IbisRelation(made.table.distinct(), made.columns)
            if node.args.get("distinct")
            else made
        )

    def _made_of(
        self, node: exp.Select, relation: IbisRelation, values: dict[str, Value | WideInteger]
    ) -> IbisRelation:
        """What a SELECT makes of each row."""
        if not any(isinstance(one, exp.Star) for one in node.expressions):
            node, relation, values = self._shared(node, relation, values)
        made: dict[str, Value] = {}
        columns: Columns = {}
        for one in node.expressions:
            if isinstance(one, exp.Star):
                for name, held in relation.columns.items():
                    columns[name] = held
                    kept = [held] if isinstance(held, str) else [part for _, part in held]
                    made |= {part: relation.table[part] for part in kept}
                continue
            name = one.alias_or_name or self._fresh()
            self._name(name, self._values(values).say(one.unalias()), made, columns)
        return IbisRelation(relation.table.select(**made), columns)

    def _shared(
        self, node: exp.Select, relation: IbisRelation, values: dict[str, Value | WideInteger]
    ) -> tuple[exp.Select, IbisRelation, dict[str, Value | WideInteger]]:
        """The same SELECT, of a table that has what it says more than once as columns."""
        said = [one.unalias() for one in node.expressions]
        over = dict.fromkeys(part for value in said for part in value.find_all(exp.IntDiv))
        if over:
            table, found = divide_by_rows(
                relation.table, self._asked(over, values), self._fresh
            )
            relation = IbisRelation(table, relation.columns | {name: name for name in found})
            values = self._again(relation, values)
            node = _replace_values(node, dict(zip(over, found, strict=True)))
        while parts := find_repeated([one.unalias() for one in node.expressions]):
            names = {one: self._fresh() for one in parts}
            made: dict[str, Value] = {}
            columns = dict(relation.columns)
            for one, name in names.items():
                self._name(name, self._values(values).say(one), made, columns)
            relation = IbisRelation(relation.table.mutate(**made), columns)
            values = self._again(relation, values)
            node = _replace_values(node, names)
        return node, relation, values

    def _asked(
        self, divisions: Iterable[exp.Expr], values: dict[str, Value | WideInteger]
    ) -> list[tuple[WideInteger, Value]]:
        read, asked = self._values(values), []
        for one in divisions:
            over = read.say(one.this)
            if not isinstance(over, WideInteger):
                raise unsupported(one)
            asked.append((over, read.plain(one.expression)))
        return asked

    def _again(
        self, relation: IbisRelation, values: Mapping[str, Any]
    ) -> dict[str, Value | WideInteger]:
        """The same names, over a table that was filtered."""
        fresh = relation.values()
        aliases = {one for one in values if "." in one}
        return fresh | {one: fresh[one.rpartition(".")[2]] for one in aliases}

    def _from(
        self, node: exp.Select, defined: Mapping[str, IbisRelation]
    ) -> tuple[IbisRelation, dict[str, Value | WideInteger]]:
        if not node.args.get("from_"):
            raise unsupported(node)
        alias, relation = self._source(node.args["from_"].this, defined)
        if not node.args.get("joins"):
            return relation, relation.values(alias)
        return self._joined(alias, relation, node.args["joins"], defined)

    def _joined(
        self,
        alias: str,
        relation: IbisRelation,
        joins: list[exp.Join],
        defined: Mapping[str, IbisRelation],
    ) -> tuple[IbisRelation, dict[str, Value | WideInteger]]:
        """Tables side by side; every column gets a name of its own first."""
        side = self._apart(alias, relation)
        for join in joins:
            right = self._apart(*self._source(join.this, defined))
            side = join_sides(side, right, join, self._read, by_equals=self._lists)
        columns: Columns = {}
        for key, one in side.names.items():
            columns.setdefault(key.rpartition(".")[2], one)
        made = IbisRelation(side.table, columns)
        return made, made.values() | side.values()

    def _read(self, values: dict[str, Value], node: exp.Expr) -> Value:
        return self._values(dict(values)).plain(node)

    def _apart(self, alias: str, relation: IbisRelation) -> JoinSide:
        names, chosen = {}, {}
        for name, held in relation.columns.items():
            if not isinstance(held, str):
                raise unsupported(exp.Join())
            names[f"{alias}.{name}"] = self._fresh()
            chosen[names[f"{alias}.{name}"]] = relation.table[held]
        return JoinSide(relation.table.select(**chosen), names)

    def _source(
        self, node: exp.Expr, defined: Mapping[str, IbisRelation]
    ) -> tuple[str, IbisRelation]:
        if isinstance(node, exp.Subquery):
            return node.alias, self._query(node.this, defined)
        if isinstance(node, exp.Table):
            if node.name in defined:
                return node.alias or node.name, defined[node.name]
            table = self._tables.get(node.name.lower())
            if table is not None:
                columns: Columns = {name: name for name in table.columns}
                return node.alias or node.name, IbisRelation(table, columns)
        raise unsupported(node)

    def _grouped(
        self, node: exp.Select, relation: IbisRelation, values: dict[str, Value | WideInteger]
    ) -> IbisRelation:
        """Aggregates over each group, then what the SELECT makes of them and of keys."""
        keys = [_key_column(relation, one) for one in _group_keys(node)]
        made: dict[str, Value] = {}
        columns: Columns = {one: held for one, held in relation.columns.items() if held in keys}
        asked = (part for one in node.expressions for part in one.find_all(*_AGGREGATES))
        names = {one: self._fresh() for one in dict.fromkeys(asked)}
        for one, name in names.items():
            self._name(name, self._values(values).say(one), made, columns)
        if not keys:
            table = relation.table.aggregate(**made)
        elif made:
            table = relation.table.group_by(keys).aggregate(**made)
        else:
            table = relation.table.select(*keys).distinct()
        found = IbisRelation(table, columns)
        return self._made_of(_replace_values(node, names), found, found.values())

    def _placed(self, relation: IbisRelation, node: exp.Expr) -> IbisRelation:
        """A row's number, or its group's, among those of a unit."""
        window = node.unalias()
        kinds = {exp.RowNumber: False, exp.DenseRank: True}
        if not window.args.get("partition_by") or type(window.this) not in kinds:
            raise unsupported(window)
        values = self._values(relation.values())
        sorted_ = window.args.get("order")
        table = number_rows(
            relation.table,
            [_key_column(relation, one) for one in window.args["partition_by"]],
            [values.plain(one.this) for one in sorted_.expressions] if sorted_ else [],
            node.alias,
            fresh=self._fresh if self._lists else None,
            dense=kinds[type(window.this)],
        )
        return IbisRelation(table, relation.columns | {node.alias: node.alias})

    def _numbered(self, node: exp.Select, relation: IbisRelation) -> IbisRelation:
        """Rows told apart, by those of their columns that the statement reads."""
        number = node.expressions[0]
        if relation.table.op().find((ops.Impure, ops.Sample, ops.Limit)):
            raise Unsupported(
                "Each row is somebody here, and this table draws its rows anew whenever it is "
                "read, so nobody could tell them apart. Write it to a table first. Nothing was "
                "spent."
            )
        held = {name: one for name, one in relation.columns.items() if name in self._used}
        columns = [one for one in held.values() if isinstance(one, str)]
        which = number.unalias().expression.name if number.find(exp.Add) else "0"
        named = self._fresh()
        table = identify_rows(
            relation.table, columns, named, int(which), self._fresh, lists=self._lists
        )
        return IbisRelation(table, {number.alias: named, **relation.columns})

    def _values(self, columns: dict[str, Value | WideInteger]) -> IbisValues:
        return IbisValues(columns, self._salt, self._backend)

    def _name(self, name: str, value: Any, made: dict[str, Value], columns: Columns) -> None:
        """Puts a value among what is made, under names of its own if it is a wide integer."""
        if isinstance(value, WideInteger):
            parts = [(weight, self._fresh(), one) for weight, one in value.parts]
            made |= {held: one for _, held, one in parts}
            columns[name] = tuple((weight, held) for weight, held, _ in parts)
        else:
            made[name] = value
            columns[name] = name

    def _fresh(self) -> str:
        self._made += 1
        return f"p{self._made}"


def _replace_values(node: exp.Select, names: Mapping[exp.Expr, str]) -> exp.Select:
    """A SELECT that reads columns instead of values."""

    def held(one: exp.Expr) -> exp.Expr:
        return exp.column(names[one]) if one in names else one

    return exp.select(*(one.transform(held) for one in node.expressions))


def _group_keys(node: exp.Select) -> list[exp.Expr]:
    group = node.args.get("group")
    return list(group.expressions) if group else []


def _key_column(relation: IbisRelation, node: exp.Expr) -> str:
    """The column that holds a key, which is never a wide integer."""
    held = relation.columns.get(node.name)
    if not isinstance(node, exp.Column) or not isinstance(held, str):
        raise unsupported(node)
    return held


def _numbers_all_rows(node: exp.Expr) -> bool:
    """Whether a column numbers all rows of a table."""
    window = node.find(exp.Window)
    return window is not None and not window.args.get("partition_by")


def _has_aggregates(node: exp.Select) -> bool:
    return any(one.find(*_AGGREGATES) for one in node.expressions)
