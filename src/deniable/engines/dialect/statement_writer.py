"""Our statements in another engine's words, node by node, with the kind of every value.

A Plan's SQL is in DuckDB's dialect, and what it means is what DuckDB does with it: a cast
that fails is NULL, rounding a double to an integer goes to the even neighbour, NaN is the
greatest number, integers of 128 bits do not overflow. Other engines differ in each of these,
so nothing is handed over as it is. A writer reads the statement, knows of every value
whether it is a double, an integer, text, a day or a moment, and asks its engine's subclass
for words that mean the same. What it does not know it refuses, before anything is spent.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import sqlglot
from sqlglot import exp

from deniable.engines.dialect.engine_dialect import Columns, Kind
from deniable.engines.dialect.value_writer import ColumnKinds, ValueWriter
from deniable.errors import Unsupported

_SUPPORTED_CLAUSES = {
    "with_",
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "order",
}
_SUPPORTED_CLAUSES |= {"limit", "distinct"}
_JOINS = {"", "INNER", "LEFT", "CROSS", "LEFT OUTER", "FULL", "FULL OUTER"}


@dataclass(frozen=True, slots=True)
class WrittenRelation:
    """What can stand behind FROM: its SQL, and its columns."""

    sql: str
    columns: Columns
    steady: bool = True  # holds the same rows each time that it is read


class StatementWriter(ValueWriter):
    """Writes statements about these tables in the words of one engine."""

    once: ClassVar[str] = ""  # how a WITH is told to be run once

    def __init__(self, tables: Mapping[str, WrittenRelation]) -> None:
        self._tables = {name.lower(): relation for name, relation in tables.items()}

    def write(self, sql: str) -> str:
        """The statement, written anew; raises Unsupported on what has no words here."""
        return self.write_relation(sql).sql

    def write_relation(self, sql: str) -> WrittenRelation:
        """The same, with the columns that it finds."""
        return self._write_query(sqlglot.parse_one(sql, dialect="duckdb"), {})

    def _write_query(self, node: exp.Expr, defined: Mapping[str, Columns]) -> WrittenRelation:
        if isinstance(node, exp.Subquery):
            return self._write_query(node.this, defined)
        if isinstance(node, exp.Union):
            return self._write_union(node, defined)
        if not isinstance(node, exp.Select):
            raise self._unsupported(node)
        unread = {key for key, value in node.args.items() if value} - _SUPPORTED_CLAUSES
        if unread:
            raise Unsupported(f"{self.engine} has no words for {', '.join(sorted(unread))}.")
        return self._write_select(node, defined)

    def _write_union(self, node: exp.Union, defined: Mapping[str, Columns]) -> WrittenRelation:
        head, defined = self._write_with(node, defined)
        if node.args.get("distinct"):
            raise self._unsupported(node)
        parts = [self._write_query(one, defined) for one in (node.this, node.expression)]
        sql = " UNION ALL ".join(f"({one.sql})" for one in parts)
        columns = {
            name: left if left != "null" else right
            for (name, left), right in zip(
                parts[0].columns.items(), parts[1].columns.values(), strict=True
            )
        }
        return WrittenRelation(head + sql, columns)

    def _write_with(
        self, node: exp.Query, defined: Mapping[str, Columns]
    ) -> tuple[str, dict[str, Columns]]:
        known, parts = dict(defined), []
        for one in node.ctes:
            kept = bool(one.args.get("materialized"))
            relation = (
                self._write_numbered_rows(one, node)
                if kept
                else self._write_query(one.this, known)
            )
            known[one.alias] = relation.columns
            word = f"AS{self.once}" if kept else "AS"
            parts.append(f"{self.quote_name(one.alias)} {word} ({relation.sql})")
        return (f"WITH {', '.join(parts)} " if parts else ""), known

    def _write_numbered_rows(self, numbered: exp.Expr, reader: exp.Query) -> WrittenRelation:
        """The rows of a table in which each is somebody, with what tells them apart: of the
        columns that are read, and no others."""
        number, source = numbered.this.expressions[0], numbered.this.args["from_"].this
        table = self._tables.get(source.name.lower())
        of, place = read_numbering(number.this)
        if table is None or len(numbered.this.expressions) != 2 or of is None:
            raise self._unsupported(numbered.this)
        read = {column.name for column in reader.find_all(exp.Column)}
        columns = {name: kind for name, kind in table.columns.items() if name in read}
        apart, kind = self.number_rows(replace(table, columns=columns), number.alias, of, place)
        return WrittenRelation(apart, {number.alias: kind, **columns})

    @abstractmethod
    def number_rows(
        self, table: WrittenRelation, number: str, of: int, place: int
    ) -> tuple[str, Kind]:
        """The columns of a table, and beside them a value that no other row has: neither one
        of this table, nor of the others, which have other places of so many. Wherever the
        statement reads these rows, each has the same value again."""

    def _write_select(
        self, node: exp.Select, defined: Mapping[str, Columns]
    ) -> WrittenRelation:
        head, known = self._write_with(node, defined)
        scope = ColumnKinds(known)
        source = self._write_from(node, scope)
        columns: dict[str, Kind] = {}
        selected = [self._write_selected(one, scope, columns) for one in node.expressions]
        sql = head + ("SELECT DISTINCT " if node.args.get("distinct") else "SELECT ")
        sql += ", ".join(selected) + source
        for key, word in (("where", "WHERE"), ("having", "HAVING")):
            if key == "having" and node.args.get("group"):
                sql += f" GROUP BY {self._write_list(node.args['group'], scope)}"
            if node.args.get(key):
                sql += f" {word} {self.write_value(node.args[key].this, scope).sql}"
        if node.args.get("order"):
            sql += f" ORDER BY {self._write_list(node.args['order'], scope)}"
        if node.args.get("limit"):
            sql += f" LIMIT {int(node.args['limit'].expression.this)}"
        return WrittenRelation(sql, columns)

    def _write_from(self, node: exp.Select, scope: ColumnKinds) -> str:
        if not node.args.get("from_"):
            return ""
        sql = f" FROM {self._write_source(node.args['from_'].this, scope)}"
        for join in node.args.get("joins") or []:
            side = " ".join(filter(None, (join.side, join.kind))).upper()
            if side not in _JOINS or join.args.get("using"):
                raise self._unsupported(join)
            on = join.args.get("on")
            word = side or ("INNER" if on is not None else "CROSS")
            sql += f" {word} JOIN {self._write_source(join.this, scope)}"
            sql += f" ON {self.write_value(on, scope).sql}" if on is not None else ""
        return sql

    def _write_source(self, node: exp.Expr, scope: ColumnKinds) -> str:
        if isinstance(node, exp.Subquery):
            relation = self._write_query(node.this, scope.defined)
            sql, alias = f"({relation.sql})", node.alias
        elif isinstance(node, exp.Table) and node.name in scope.defined:
            relation = WrittenRelation("", scope.defined[node.name])
            sql, alias = self.quote_name(node.name), node.alias or node.name
        elif isinstance(node, exp.Table) and node.name.lower() in self._tables:
            relation = self._tables[node.name.lower()]
            sql, alias = relation.sql, node.alias or node.name
        else:
            raise self._unsupported(node)
        scope.read[alias] = relation.columns
        return f"{sql} AS {self.quote_name(alias)}"

    def _write_selected(
        self, node: exp.Expr, scope: ColumnKinds, columns: dict[str, Kind]
    ) -> str:
        if isinstance(node, exp.Star):
            for held in scope.read.values():
                columns.update(held)
            return "*"
        said = self.write_value(node.unalias(), scope)
        name = node.alias_or_name or f"_{len(columns)}"
        columns[name] = said.kind
        return f"{said.sql} AS {self.quote_name(name)}"


def read_numbering(node: exp.Expr) -> tuple[int | None, int]:
    """How many tables are numbered, and which of them this one is; None where nothing is.

    >>> read_numbering(sqlglot.parse_one("ROW_NUMBER() OVER () * 3 + 1"))
    (3, 1)
    """
    if isinstance(node, exp.Add) and isinstance(node.this, exp.Mul):
        of, place = (int(one.name) for one in (node.this.expression, node.expression))
        return (of if read_numbering(node.this.this)[0] else None), place
    whole = isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber)
    return (1 if whole and not node.args.get("partition_by") else None), 0
