"""Writes our statements in another engine's dialect, node by node, with the kind of each value.

A Plan's SQL is in DuckDB's dialect, and DuckDB defines its meaning: a cast that fails is NULL,
a double is rounded to the nearest even integer, NaN is the greatest number, 128-bit integers
do not overflow. Other engines differ in each of these, so no text is passed on unchanged. A
writer parses the statement, knows for every value whether it is a double, an integer, text, a
day or a moment, and asks its engine's subclass for SQL with the same meaning. It refuses what
it does not know, before anything is spent.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import sqlglot
from sqlglot import exp

from deniable.engines.dialect.typed_sql import Columns, Kind
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
    """What can follow FROM: its SQL, and its columns."""

    sql: str
    columns: Columns
    deterministic: bool = True  # has the same rows each time that it is read


class StatementWriter(ValueWriter):
    """Writes statements about these tables in the dialect of one engine."""

    once: ClassVar[str] = ""  # the keyword that makes a WITH run only once
    apart: ClassVar[str] = ""  # what keeps a sub-query from being merged into its reader

    def __init__(self, tables: Mapping[str, WrittenRelation]) -> None:
        self._tables = {name.lower(): relation for name, relation in tables.items()}

    def write(self, sql: str) -> str:
        """The statement in the engine's dialect; raises Unsupported if it cannot be written."""
        return self.write_relation(sql).sql

    def write_relation(self, sql: str) -> WrittenRelation:
        """The same, with the columns of its result."""
        return self._write_query(sqlglot.parse_one(sql, dialect="duckdb"), {})

    def _write_query(self, node: exp.Expr, defined: Mapping[str, Columns]) -> WrittenRelation:
        if isinstance(node, exp.Subquery):
            return self._write_query(node.this, defined)
        if isinstance(node, exp.Union):
            return self._write_union(node, defined)
        if not isinstance(node, exp.Select):
            raise self._unsupported(node)
        unsupported = {key for key, value in node.args.items() if value} - _SUPPORTED_CLAUSES
        if unsupported:
            raise Unsupported(
                f"{self.engine} does not support these clauses in a statement: "
                f"{', '.join(sorted(unsupported))}. Nothing was spent."
            )
        return self._write_select(node, defined)

    def _write_union(self, node: exp.Union, defined: Mapping[str, Columns]) -> WrittenRelation:
        head, defined = self._write_with(node, defined)
        if node.args.get("distinct"):
            raise self._unsupported(node)
        parts = [self._write_query(part, defined) for part in (node.this, node.expression)]
        sql = " UNION ALL ".join(f"({part.sql})" for part in parts)
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
        relations, parts = dict(defined), []
        for cte in node.ctes:
            materialized = bool(cte.args.get("materialized"))
            relation = (
                self._write_numbered_rows(cte, node)
                if materialized
                else self._write_query(cte.this, relations)
            )
            relations[cte.alias] = relation.columns
            word = f"AS{self.once}" if materialized else "AS"
            parts.append(f"{self.quote_name(cte.alias)} {word} ({relation.sql})")
        return (f"WITH {', '.join(parts)} " if parts else ""), relations

    def _write_numbered_rows(self, numbered: exp.Expr, reader: exp.Query) -> WrittenRelation:
        """The rows of a table whose privacy unit is the row, each with an identifier; only
        the columns that are read."""
        number, source = numbered.this.expressions[0], numbered.this.args["from_"].this
        table = self._tables.get(source.name.lower())
        of, place = read_numbering(number.this)
        if table is None or len(numbered.this.expressions) != 2 or of is None:
            raise self._unsupported(numbered.this)
        read = {column.name for column in reader.find_all(exp.Column)}
        columns = {name: kind for name, kind in table.columns.items() if name in read}
        sql, kind = self.number_rows(replace(table, columns=columns), number.alias, of, place)
        return WrittenRelation(sql, {number.alias: kind, **columns})

    @abstractmethod
    def number_rows(
        self, table: WrittenRelation, number: str, of: int, place: int
    ) -> tuple[str, Kind]:
        """The columns of a table, and an identifier that no other row has, in this table or
        in the other numbered tables: this one is number `place` of `of`. Wherever the
        statement reads these rows, each has the same identifier."""

    def _write_select(
        self, node: exp.Select, defined: Mapping[str, Columns]
    ) -> WrittenRelation:
        head, relations = self._write_with(node, defined)
        scope = ColumnKinds(relations)
        source = self._write_from(node, scope)
        columns: dict[str, Kind] = {}
        selected = [self._write_selected(column, scope, columns) for column in node.expressions]
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
            sql, alias = f"({relation.sql}{self._end_of(node.this)})", node.alias
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

    def _end_of(self, query: exp.Query) -> str:
        """What ends a sub-query. One that computes values is kept apart: merged, each use of a
        value would repeat its whole expression, and grow with every level."""
        computes = any(
            not isinstance(column.unalias(), exp.Column | exp.Star) for column in query.selects
        )
        return self.apart if computes else ""

    def _write_selected(
        self, node: exp.Expr, scope: ColumnKinds, columns: dict[str, Kind]
    ) -> str:
        if isinstance(node, exp.Star):
            for read in scope.read.values():
                columns.update(read)
            return "*"
        value = self.write_value(node.unalias(), scope)
        name = node.alias_or_name or f"_{len(columns)}"
        columns[name] = value.kind
        return f"{value.sql} AS {self.quote_name(name)}"


def read_numbering(node: exp.Expr) -> tuple[int | None, int]:
    """How many tables are numbered, and which one this is; None if this numbers no rows.

    >>> read_numbering(sqlglot.parse_one("ROW_NUMBER() OVER () * 3 + 1"))
    (3, 1)
    """
    if isinstance(node, exp.Add) and isinstance(node.this, exp.Mul):
        of, place = (int(number.name) for number in (node.this.expression, node.expression))
        return (of if read_numbering(node.this.this)[0] else None), place
    whole = isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber)
    return (1 if whole and not node.args.get("partition_by") else None), 0
