"""Translates our statements into Ibis expressions, one SELECT at a time."""

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

# The columns of a wide integer's parts, with their weights.
Parts = tuple[tuple[int, str], ...]
Columns = dict[str, str | Parts]
_AGGREGATES = (exp.Count, exp.Sum, exp.Min, exp.Max)
_SUPPORTED_CLAUSES = {"with_", "expressions", "from_", "joins", "where", "group", "distinct"}


@dataclass(frozen=True, slots=True)
class IbisRelation:
    """An Ibis table, and which of its columns hold the statement's columns."""

    table: Any
    columns: Columns

    def values(self, alias: str = "") -> dict[str, Value | WideInteger]:
        """The statement's columns, by name and by alias.name."""
        values: dict[str, Value | WideInteger] = {"*": self.table}
        for name, source in self.columns.items():
            if isinstance(source, str):
                value: Value | WideInteger = self.table[source]
            else:
                value = WideInteger(
                    tuple((weight, self.table[part]) for weight, part in source)
                )
            values[name] = value
            if alias:
                values[f"{alias}.{name}"] = value
        return values


class IbisStatements:
    """Translates statements about these tables into Ibis tables.

    >>> import pyarrow as pa
    >>> visits = ibis.memtable(pa.table({"ward": ["A", "B"]}))
    >>> tree = IbisStatements({"visits": visits}, salt=1, backend="duckdb")
    >>> list(tree.build('SELECT COUNT(*) AS n FROM "visits"').columns)
    ['n']
    """

    def __init__(self, tables: Mapping[str, Any], *, salt: int, backend: str) -> None:
        self._tables = {name.lower(): table for name, table in tables.items()}
        self._salt, self._backend = salt, backend
        self._lists = backend == "polars"  # which has no window functions through Ibis
        self._used: set[str] = set()
        self._name_count = 0

    def build(self, sql: str) -> IbisRelation:
        """The result of a statement; raises Unsupported if Ibis cannot reproduce it."""
        tree = sqlglot.parse_one(sql, dialect="duckdb")
        self._used = {column.name for column in tree.find_all(exp.Column)}
        return self._query(tree, {})

    def _query(self, node: exp.Expr, defined: Mapping[str, IbisRelation]) -> IbisRelation:
        relations = dict(defined)
        if isinstance(node, exp.Query):
            for cte in node.ctes:
                relations[cte.alias] = self._query(cte.this, relations)
        if isinstance(node, exp.Subquery):
            return self._query(node.this, relations)
        if isinstance(node, exp.Union) and not node.args.get("distinct"):
            both = (self._query(part, relations) for part in (node.this, node.expression))
            return self._union(*both)
        if not isinstance(node, exp.Select):
            raise unsupported(node)
        if {key for key, value in node.args.items() if value} - _SUPPORTED_CLAUSES:
            raise unsupported(node)
        return self._select(node, relations)

    def _union(self, first: IbisRelation, second: IbisRelation) -> IbisRelation:
        pairs = list(zip(first.columns.values(), second.columns.values(), strict=True))
        names = {left: right for left, right in pairs if isinstance(left, str)}
        if len(names) < len(pairs):
            raise unsupported(exp.Union())
        other = second.table.select(
            **{left: second.table[right] for left, right in names.items()}
        )
        other = other.cast({name: first.table[name].type() for name in names})
        return IbisRelation(ibis.union(first.table.select(*names), other), first.columns)

    def _select(self, node: exp.Select, defined: Mapping[str, IbisRelation]) -> IbisRelation:
        relation, values = self._from(node, defined)
        if node.args.get("where"):
            test = self._translator(values).translate_plain(node.args["where"].this)
            relation = IbisRelation(relation.table.filter(test), relation.columns)
            values = self._rebind(relation, values)
        if node.expressions and _numbers_all_rows(node.expressions[0]):
            return self._identify_rows(node, relation)
        windows = [
            column for column in node.expressions if isinstance(column.unalias(), exp.Window)
        ]
        for window in windows:
            relation = self._add_row_number(relation, window)
        if windows:
            return relation
        if node.args.get("group") or _has_aggregates(node):
            return self._aggregate(node, relation, values)
        projected = self._project(node, relation, values)
        if not node.args.get("distinct"):
            return projected
        return IbisRelation(projected.table.distinct(), projected.columns)

    def _project(
        self, node: exp.Select, relation: IbisRelation, values: dict[str, Value | WideInteger]
    ) -> IbisRelation:
        """The columns that a SELECT computes for each row."""
        if not any(isinstance(column, exp.Star) for column in node.expressions):
            node, relation, values = self._extract_repeated(node, relation, values)
        selected: dict[str, Value] = {}
        columns: Columns = {}
        for column in node.expressions:
            if isinstance(column, exp.Star):
                for name, source in relation.columns.items():
                    columns[name] = source
                    parts = (
                        [source] if isinstance(source, str) else [part for _, part in source]
                    )
                    selected |= {part: relation.table[part] for part in parts}
                continue
            name = column.alias_or_name or self._fresh_name()
            value = self._translator(values).translate(column.unalias())
            self._add_value(name, value, selected, columns)
        return IbisRelation(relation.table.select(**selected), columns)

    def _extract_repeated(
        self, node: exp.Select, relation: IbisRelation, values: dict[str, Value | WideInteger]
    ) -> tuple[exp.Select, IbisRelation, dict[str, Value | WideInteger]]:
        """The same SELECT, over a table in which divisions and repeated values are columns."""
        selected = [column.unalias() for column in node.expressions]
        divisions = dict.fromkeys(
            part for value in selected for part in value.find_all(exp.IntDiv)
        )
        if divisions:
            table, quotients = divide_by_rows(
                relation.table, self._read_divisions(divisions, values), self._fresh_name
            )
            added: Columns = {name: name for name in quotients}
            relation = IbisRelation(table, relation.columns | added)
            values = self._rebind(relation, values)
            node = _replace_values(node, dict(zip(divisions, quotients, strict=True)))
        while parts := find_repeated([column.unalias() for column in node.expressions]):
            names = {part: self._fresh_name() for part in parts}
            computed: dict[str, Value] = {}
            columns = dict(relation.columns)
            for part, name in names.items():
                value = self._translator(values).translate(part)
                self._add_value(name, value, computed, columns)
            relation = IbisRelation(relation.table.mutate(**computed), columns)
            values = self._rebind(relation, values)
            node = _replace_values(node, names)
        return node, relation, values

    def _read_divisions(
        self, divisions: Iterable[exp.Expr], values: dict[str, Value | WideInteger]
    ) -> list[tuple[WideInteger, Value]]:
        translator, pairs = self._translator(values), []
        for division in divisions:
            dividend = translator.translate(division.this)
            if not isinstance(dividend, WideInteger):
                raise unsupported(division)
            pairs.append((dividend, translator.translate_plain(division.expression)))
        return pairs

    def _rebind(
        self, relation: IbisRelation, values: Mapping[str, Any]
    ) -> dict[str, Value | WideInteger]:
        """The same names, over a changed table."""
        fresh = relation.values()
        aliases = {name for name in values if "." in name}
        return fresh | {name: fresh[name.rpartition(".")[2]] for name in aliases}

    def _from(
        self, node: exp.Select, defined: Mapping[str, IbisRelation]
    ) -> tuple[IbisRelation, dict[str, Value | WideInteger]]:
        if not node.args.get("from_"):
            raise unsupported(node)
        alias, relation = self._source(node.args["from_"].this, defined)
        if not node.args.get("joins"):
            return relation, relation.values(alias)
        return self._join(alias, relation, node.args["joins"], defined)

    def _join(
        self,
        alias: str,
        relation: IbisRelation,
        joins: list[exp.Join],
        defined: Mapping[str, IbisRelation],
    ) -> tuple[IbisRelation, dict[str, Value | WideInteger]]:
        """The tables joined; every column gets a unique name first."""
        side = self._rename_columns(alias, relation)
        for join in joins:
            right = self._rename_columns(*self._source(join.this, defined))
            side = join_sides(side, right, join, self._translate_with, by_equals=self._lists)
        columns: Columns = {}
        for key, column in side.names.items():
            columns.setdefault(key.rpartition(".")[2], column)
        joined = IbisRelation(side.table, columns)
        return joined, joined.values() | side.values()

    def _translate_with(self, values: dict[str, Value], node: exp.Expr) -> Value:
        return self._translator(dict(values)).translate_plain(node)

    def _rename_columns(self, alias: str, relation: IbisRelation) -> JoinSide:
        names, selected = {}, {}
        for name, source in relation.columns.items():
            if not isinstance(source, str):
                raise unsupported(exp.Join())
            names[f"{alias}.{name}"] = self._fresh_name()
            selected[names[f"{alias}.{name}"]] = relation.table[source]
        return JoinSide(relation.table.select(**selected), names)

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

    def _aggregate(
        self, node: exp.Select, relation: IbisRelation, values: dict[str, Value | WideInteger]
    ) -> IbisRelation:
        """Aggregates over each group, then what the SELECT computes from them and the keys."""
        keys = [_key_column(relation, key) for key in _group_keys(node)]
        totals: dict[str, Value] = {}
        columns: Columns = {
            name: source for name, source in relation.columns.items() if source in keys
        }
        aggregates = dict.fromkeys(
            part for column in node.expressions for part in column.find_all(*_AGGREGATES)
        )
        names = {aggregate: self._fresh_name() for aggregate in aggregates}
        for aggregate, name in names.items():
            value = self._translator(values).translate(aggregate)
            self._add_value(name, value, totals, columns)
        if not keys:
            table = relation.table.aggregate(**totals)
        elif totals:
            table = relation.table.group_by(keys).aggregate(**totals)
        else:
            table = relation.table.select(*keys).distinct()
        grouped = IbisRelation(table, columns)
        return self._project(_replace_values(node, names), grouped, grouped.values())

    def _add_row_number(self, relation: IbisRelation, node: exp.Expr) -> IbisRelation:
        """Adds the number of each row, or of its group, among those of a unit."""
        window = node.unalias()
        kinds = {exp.RowNumber: False, exp.DenseRank: True}
        if not window.args.get("partition_by") or type(window.this) not in kinds:
            raise unsupported(window)
        values = self._translator(relation.values())
        sorted_ = window.args.get("order")
        table = number_rows(
            relation.table,
            [_key_column(relation, key) for key in window.args["partition_by"]],
            [values.translate_plain(key.this) for key in sorted_.expressions]
            if sorted_
            else [],
            node.alias,
            fresh=self._fresh_name if self._lists else None,
            dense=kinds[type(window.this)],
        )
        return IbisRelation(table, relation.columns | {node.alias: node.alias})

    def _identify_rows(self, node: exp.Select, relation: IbisRelation) -> IbisRelation:
        """Adds an identifier to each row, from the columns that the statement reads."""
        number = node.expressions[0]
        if any(map(_may_change, relation.table.op().find((ops.Impure, ops.Sample, ops.Limit)))):
            raise Unsupported(
                "The privacy unit is the row, and this table has new rows each time that it is "
                "read, so its rows cannot be identified. Write it to a table first. Nothing "
                "was spent."
            )
        used = [source for name, source in relation.columns.items() if name in self._used]
        columns = [source for source in used if isinstance(source, str)]
        which = number.unalias().expression.name if number.find(exp.Add) else "0"
        identifier = self._fresh_name()
        table = identify_rows(
            relation.table, columns, identifier, int(which), self._fresh_name, lists=self._lists
        )
        return IbisRelation(table, {number.alias: identifier, **relation.columns})

    def _translator(self, columns: dict[str, Value | WideInteger]) -> IbisValues:
        return IbisValues(columns, self._salt, self._backend)

    def _add_value(
        self, name: str, value: Any, selected: dict[str, Value], columns: Columns
    ) -> None:
        """Adds a value to `selected`; a wide integer is added as one column per part."""
        if isinstance(value, WideInteger):
            parts = [(weight, self._fresh_name(), part) for weight, part in value.parts]
            selected |= {column: part for _, column, part in parts}
            columns[name] = tuple((weight, column) for weight, column, _ in parts)
        else:
            selected[name] = value
            columns[name] = name

    def _fresh_name(self) -> str:
        self._name_count += 1
        return f"p{self._name_count}"


def _replace_values(node: exp.Select, names: Mapping[exp.Expr, str]) -> exp.Select:
    """A SELECT that reads the named columns instead of these values."""

    def replace(part: exp.Expr) -> exp.Expr:
        return exp.column(names[part]) if part in names else part

    return exp.select(*(column.transform(replace) for column in node.expressions))


def _group_keys(node: exp.Select) -> list[exp.Expr]:
    group = node.args.get("group")
    return list(group.expressions) if group else []


def _key_column(relation: IbisRelation, node: exp.Expr) -> str:
    """The column of a key, which is never a wide integer."""
    source = relation.columns.get(node.name)
    if not isinstance(node, exp.Column) or not isinstance(source, str):
        raise unsupported(node)
    return source


def _numbers_all_rows(node: exp.Expr) -> bool:
    """Whether a column numbers all rows of a table."""
    window = node.find(exp.Window)
    return window is not None and not window.args.get("partition_by")


def _has_aggregates(node: exp.Select) -> bool:
    return any(column.find(*_AGGREGATES) for column in node.expressions)


def _may_change(node: ops.Node) -> bool:
    """Whether a node may give other rows when it is read again. Our own functions do not."""
    return not type(node).__module__.startswith("deniable.")
