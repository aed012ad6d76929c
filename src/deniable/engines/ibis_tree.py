"""Our statements as expressions of Ibis: SELECT by SELECT, each a table made of another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ibis
import sqlglot
from sqlglot import exp

from deniable.engines.ibis_values import Values, unknown
from deniable.engines.ibis_wide import Value, Wide

# Of a wide integer: the columns that hold its parts, and their weights.
Parts = tuple[tuple[int, str], ...]
Columns = dict[str, str | Parts]
_READ = {"with_", "expressions", "from_", "joins", "where", "group", "distinct"}


@dataclass(frozen=True, slots=True)
class Relation:
    """A table of Ibis, and which of its columns hold ours."""

    table: Any
    columns: Columns

    def values(self, alias: str = "") -> dict[str, Value | Wide]:
        """Our columns, by name and by alias.name."""
        found: dict[str, Value | Wide] = {"*": self.table}
        for name, held in self.columns.items():
            if isinstance(held, str):
                value: Value | Wide = self.table[held]
            else:
                value = Wide(tuple((weight, self.table[one]) for weight, one in held))
            found[name] = value
            if alias:
                found[f"{alias}.{name}"] = value
        return found


class Tree:
    """Makes tables of statements about these tables.

    >>> import pyarrow as pa
    >>> visits = ibis.memtable(pa.table({"ward": ["A", "B"]}))
    >>> tree = Tree({"visits": visits}, salt=1, ranks=True)
    >>> list(tree.statement('SELECT COUNT(*) AS n FROM "visits"').columns)
    ['n']
    """

    def __init__(self, tables: Mapping[str, Any], *, salt: int, ranks: bool) -> None:
        self._tables = {name.lower(): table for name, table in tables.items()}
        self._salt, self._ranks = salt, ranks
        self._made = 0

    def statement(self, sql: str) -> Relation:
        """The table that a statement finds; raises Unsupported on what Ibis cannot say."""
        return self._query(sqlglot.parse_one(sql, dialect="duckdb"), {})

    def _query(self, node: exp.Expr, defined: Mapping[str, Relation]) -> Relation:
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
            raise unknown(node)
        if {key for key, value in node.args.items() if value} - _READ:
            raise unknown(node)
        return self._select(node, known)

    def _union(self, first: Relation, second: Relation) -> Relation:
        pairs = list(zip(first.columns.values(), second.columns.values(), strict=True))
        chosen = {left: right for left, right in pairs if isinstance(left, str)}
        if len(chosen) < len(pairs):
            raise unknown(exp.Union())
        other = second.table.select(**{one: second.table[held] for one, held in chosen.items()})
        other = other.cast({one: first.table[one].type() for one in chosen})
        return Relation(ibis.union(first.table.select(*chosen), other), first.columns)

    def _select(self, node: exp.Select, defined: Mapping[str, Relation]) -> Relation:
        relation, values = self._from(node, defined)
        if node.args.get("where"):
            test = self._values(values).plain(node.args["where"].this)
            relation = Relation(relation.table.filter(test), relation.columns)
            values = self._again(relation, values)
        ranked = [one for one in node.expressions if isinstance(one.unalias(), exp.Window)]
        if ranked:
            return self._placed(relation, ranked[0])
        if node.args.get("group") or _aggregates(node):
            return self._grouped(node, relation, values)
        made: dict[str, Value] = {}
        columns: Columns = {}
        for one in node.expressions:
            if isinstance(one, exp.Star):
                for name, held in relation.columns.items():
                    columns[name] = held
                    kept = [held] if isinstance(held, str) else [part for _, part in held]
                    made |= {part: relation.table[part] for part in kept}
                continue
            self._name(one, self._values(values).say(one.unalias()), made, columns)
        table = relation.table.select(**made)
        return Relation(table.distinct() if node.args.get("distinct") else table, columns)

    def _again(self, relation: Relation, values: Mapping[str, Any]) -> dict[str, Value | Wide]:
        """The same names, over a table that was filtered."""
        fresh = relation.values()
        aliases = {one for one in values if "." in one}
        return fresh | {one: fresh[one.rpartition(".")[2]] for one in aliases}

    def _from(
        self, node: exp.Select, defined: Mapping[str, Relation]
    ) -> tuple[Relation, dict[str, Value | Wide]]:
        if not node.args.get("from_"):
            raise unknown(node)
        alias, relation = self._source(node.args["from_"].this, defined)
        if not node.args.get("joins"):
            return relation, relation.values(alias)
        return self._joined(alias, relation, node.args["joins"], defined)

    def _joined(
        self,
        alias: str,
        relation: Relation,
        joins: list[exp.Join],
        defined: Mapping[str, Relation],
    ) -> tuple[Relation, dict[str, Value | Wide]]:
        """Tables side by side; every column gets a name of its own first."""
        left, names = self._apart(alias, relation)
        for join in joins:
            side = " ".join(filter(None, (join.side, join.kind))).upper()
            on = join.args.get("on")
            if side not in ("", "INNER", "LEFT") or on is None:
                raise unknown(join)
            other, theirs = self._source(join.this, defined)
            right, more = self._apart(other, theirs)
            values = {key: left[one] for key, one in names.items()}
            values |= {key: right[one] for key, one in more.items()}
            parts = on.flatten() if isinstance(on, exp.And) else [on]
            tests = [self._values(values).plain(one) for one in parts]
            left = left.join(right, tests, how="left" if side == "LEFT" else "inner")
            left, names = left.select(*names.values(), *more.values()), names | more
        columns: Columns = {}
        for key, one in names.items():
            columns.setdefault(key.rpartition(".")[2], one)
        made = Relation(left, columns)
        return made, made.values() | {key: left[one] for key, one in names.items()}

    def _apart(self, alias: str, relation: Relation) -> tuple[Any, dict[str, str]]:
        names, chosen = {}, {}
        for name, held in relation.columns.items():
            if not isinstance(held, str):
                raise unknown(exp.Join())
            names[f"{alias}.{name}"] = self._fresh()
            chosen[names[f"{alias}.{name}"]] = relation.table[held]
        return relation.table.select(**chosen), names

    def _source(self, node: exp.Expr, defined: Mapping[str, Relation]) -> tuple[str, Relation]:
        if isinstance(node, exp.Subquery):
            return node.alias, self._query(node.this, defined)
        if isinstance(node, exp.Table):
            if node.name in defined:
                return node.alias or node.name, defined[node.name]
            table = self._tables.get(node.name.lower())
            if table is not None:
                columns: Columns = {name: name for name in table.columns}
                return node.alias or node.name, Relation(table, columns)
        raise unknown(node)

    def _grouped(self, node: exp.Select, relation: Relation, values: Any) -> Relation:
        made: dict[str, Value] = {}
        columns: Columns = {}
        keys = [_held(relation, one) for one in _group(node)]
        for one in node.expressions:
            inner = one.unalias()
            if isinstance(inner, exp.Column):
                columns[one.alias_or_name] = _held(relation, inner)
            else:
                self._name(one, self._values(values).say(inner), made, columns)
        if not keys:
            return Relation(relation.table.aggregate(**made), columns)
        if not made:
            return Relation(relation.table.select(*keys).distinct(), columns)
        return Relation(relation.table.group_by(keys).aggregate(**made), columns)

    def _placed(self, relation: Relation, node: exp.Expr) -> Relation:
        """ROW_NUMBER() over a unit's groups, by hash; without windows: how many are not later.

        Of two groups with one hash both are later, so no unit keeps more than its limit, and
        one within its limit keeps all."""
        window = node.unalias()
        if not isinstance(window.this, exp.RowNumber):
            raise unknown(window)
        (unit,) = window.args["partition_by"]
        drawn = window.args["order"].expressions[0].this
        columns = relation.columns | {node.alias: node.alias}
        hashed = self._fresh()
        table = relation.table.mutate(**{hashed: self._values(relation.values()).plain(drawn)})
        if self._ranks:
            rank = ibis.row_number().over(group_by=table[unit.name], order_by=[table[hashed]])
            return Relation(table.mutate(**{node.alias: rank + 1}), columns)
        who, theirs = self._fresh(), self._fresh()
        beside = table.select(**{who: table[unit.name], theirs: table[hashed]})
        both = table.join(beside, table[unit.name] == beside[who])
        both = both.filter(both[theirs] <= both[hashed])
        counted = both.group_by(list(table.columns)).aggregate(**{node.alias: both.count()})
        return Relation(counted, columns)

    def _values(self, columns: dict[str, Value | Wide]) -> Values:
        return Values(columns, self._salt)

    def _name(
        self, node: exp.Expr, value: Any, made: dict[str, Value], columns: Columns
    ) -> None:
        name = node.alias_or_name or self._fresh()
        if isinstance(value, Wide):
            parts = [(weight, self._fresh(), one) for weight, one in value.parts]
            made |= {held: one for _, held, one in parts}
            columns[name] = tuple((weight, held) for weight, held, _ in parts)
        else:
            made[name] = value
            columns[name] = name

    def _fresh(self) -> str:
        self._made += 1
        return f"p{self._made}"


def _group(node: exp.Select) -> list[exp.Expr]:
    group = node.args.get("group")
    return list(group.expressions) if group else []


def _held(relation: Relation, node: exp.Expr) -> str:
    """The column that holds a key, which is never a wide integer."""
    held = relation.columns.get(node.name)
    if not isinstance(node, exp.Column) or not isinstance(held, str):
        raise unknown(node)
    return held


def _aggregates(node: exp.Select) -> bool:
    return any(one.find(exp.Count, exp.Sum) for one in node.expressions)
