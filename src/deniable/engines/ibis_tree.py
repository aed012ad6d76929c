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
        for one in ranked:
            relation = self._placed(relation, one)
        if ranked:
            return relation
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
            parts = list(on.flatten()) if isinstance(on, exp.And) else [on]
            equal = [one for one in parts if isinstance(one.unnest(), exp.EQ)]
            if not equal or (side == "LEFT" and len(equal) < len(parts)):
                raise unknown(join)
            tests = [self._values(values).plain(one) for one in equal]
            left = left.join(right, tests, how="left" if side == "LEFT" else "inner")
            values = {key: left[one] for key, one in (names | more).items()}
            for one in parts:
                if one not in equal:  # not every backend joins by what is not equal
                    left = left.filter(self._values(values).plain(one))
                    values = {key: left[held] for key, held in (names | more).items()}
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
        """Aggregates over each group; what is made of keys alone is reckoned afterwards."""
        made: dict[str, Value] = {}
        columns: Columns = {}
        keys = [_held(relation, one) for one in _group(node)]
        for one in node.expressions:
            inner = one.unalias()
            if isinstance(inner, exp.Column):
                columns[one.alias_or_name] = _held(relation, inner)
            elif _adds_up(inner) or not keys:
                self._name(one, self._values(values).say(inner), made, columns)
            else:
                columns[one.alias_or_name] = ""  # its place in the order
        if not keys:
            return Relation(relation.table.aggregate(**made), columns)
        if made:
            table = relation.table.group_by(keys).aggregate(**made)
        else:
            table = relation.table.select(*keys).distinct()
        found: Columns = {one: held for one, held in relation.columns.items() if held in keys}
        later: dict[str, Value] = {}
        for one in node.expressions:
            if columns[one.alias_or_name] == "":
                told = self._values(Relation(table, found).values()).say(one.unalias())
                self._name(one, told, later, columns)
        return Relation(table.mutate(**later) if later else table, columns)

    def _placed(self, relation: Relation, node: exp.Expr) -> Relation:
        """A window's number; without windows: how many of a unit's groups are not later.

        Of two groups with one hash both are later, so no unit keeps more than its limit, and
        one within its limit keeps all."""
        window = node.unalias()
        if not window.args.get("partition_by"):
            raise unknown(window)
        values = self._values(relation.values())
        within = [values.plain(one) for one in window.args["partition_by"]]
        sorted_ = window.args.get("order")
        order = [values.plain(one.this) for one in sorted_.expressions] if sorted_ else []
        columns = relation.columns | {node.alias: node.alias}
        if self._ranks:
            ranks = {exp.RowNumber: ibis.row_number, exp.DenseRank: ibis.dense_rank}
            if type(window.this) not in ranks:
                raise unknown(window)
            place = ranks[type(window.this)]().over(group_by=within, order_by=order) + 1
            return Relation(relation.table.mutate(**{node.alias: place}), columns)
        units = window.args["partition_by"]
        by_hash = sorted_ and isinstance(sorted_.expressions[0].this, exp.Anonymous)
        if not by_hash or len(units) > 1 or not isinstance(window.this, exp.RowNumber):
            raise unknown(window)
        return self._counted(relation, units[0].name, order[0], node.alias, columns)

    def _counted(
        self, relation: Relation, unit: str, drawn: Value, name: str, columns: Columns
    ) -> Relation:
        hashed, who, theirs = self._fresh(), self._fresh(), self._fresh()
        table = relation.table.mutate(**{hashed: drawn})
        beside = table.select(**{who: table[unit], theirs: table[hashed]})
        both = table.join(beside, table[unit] == beside[who])
        both = both.filter(both[theirs] <= both[hashed])
        counted = both.group_by(list(table.columns)).aggregate(**{name: both.count()})
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


def _adds_up(node: exp.Expr) -> bool:
    return node.find(exp.Count, exp.Sum) is not None


def _aggregates(node: exp.Select) -> bool:
    return any(map(_adds_up, node.expressions))
