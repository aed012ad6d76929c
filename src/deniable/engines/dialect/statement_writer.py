"""Writes our statements in another engine's dialect, node by node, with the kind of each value.

A Plan's SQL is in DuckDB's dialect, and DuckDB defines its meaning: a cast that fails is NULL,
a double is rounded to the nearest even integer, NaN is the greatest number, 128-bit integers
do not overflow. Other engines differ in each of these, so no text is passed on unchanged. A
writer knows for every value whether it is a double, an integer, text, a day or a moment, and
looks up in its engine's `Dialect` how to write it with the same meaning. It refuses what it
does not know, before anything is spent.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from deniable.engines.dialect.engine_dialect import (
    ColumnKinds,
    Dialect,
    StatementState,
    ValueWriter,
    unsupported,
)
from deniable.engines.dialect.typed_sql import ELEMENTS, Columns, Kind, WrittenRelation
from deniable.engines.dialect.value_writer import write_list
from deniable.engines.handover.declared_keys import keys_beside
from deniable.engines.handover.written_plan import WrittenStatement
from deniable.errors import Unsupported
from deniable.query.plan.plan import STORED, Plan, Statement
from deniable.query.plan.statement_text import tree_of

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


def write_statement(
    dialect: Dialect,
    tables: Mapping[str, WrittenRelation],
    plan: Plan,
    statement: Statement,
    salt: int,
    *,
    utf8: bool = True,
    prefix: str = "",
) -> WrittenStatement:
    """A statement of a plan in another engine's dialect. Declared keys that are beside the
    plan's statement are beside this one, too."""
    state = StatementState(salt, utf8, keys_beside(plan.keys), prefix)
    writer = StatementWriter(dialect, tables, state, stored=plan.stored)
    written = writer.write(statement.sql)
    return WrittenStatement(
        statement.kind, statement.name, written.sql, writer.parameters, written.columns
    )


class StatementWriter:
    """Writes statements about these tables in the dialect of one engine.

    `parameters` are the values of the parameters of the statement that was written last.
    """

    def __init__(
        self,
        dialect: Dialect,
        tables: Mapping[str, WrittenRelation],
        state: StatementState | None = None,
        stored: str = "",
    ) -> None:
        """`stored` defines the stored rows: a sub-query, unless they are among the tables."""
        self._dialect, self._stored = dialect, stored
        self._tables = {name.lower(): relation for name, relation in tables.items()}
        self._state = state or StatementState(salt=0, utf8=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of the statement's parameters, by their names."""
        return self._state.parameters

    def write(self, sql: str) -> WrittenRelation:
        """The statement in the engine's dialect, with the columns of its result; raises
        Unsupported if it cannot be written."""
        relation = self._write_query(tree_of(sql), {})
        parts = self._state.parts
        head = f"WITH {', '.join(parts)} " if parts else ""
        return WrittenRelation(head + relation.sql, relation.columns)

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
                f"{self._dialect.engine} does not support these clauses in a statement: "
                f"{', '.join(sorted(unsupported))}. Nothing was spent."
            )
        return self._write_select(node, defined)

    def _write_union(self, node: exp.Union, defined: Mapping[str, Columns]) -> WrittenRelation:
        head, defined = self._write_with(node, defined)
        if node.args.get("distinct"):
            raise self._unsupported(node)
        parts = [self._write_query(part, defined) for part in (node.this, node.expression)]
        for left, right in zip(*(part.columns.values() for part in parts), strict=True):
            if left != right and {left, right} & ELEMENTS.keys():
                raise Unsupported(
                    f"{self._dialect.engine} cannot put lists of different types together by "
                    "UNION ALL. Write UNNEST into each part. Nothing was spent."
                )
        sql = " UNION ALL ".join(self._dialect.union_part.format(part.sql) for part in parts)
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
        relations: dict[str, Columns] = dict(defined)
        parts: list[str] = self._state.parts if self._dialect.flat else []
        for cte in node.ctes:
            if self._dialect.flat and cte.alias in relations:
                raise self._unsupported(cte)
            if cte.args.get("materialized"):
                relation, how = self._write_numbered_rows(cte, node), self._dialect.once
            else:
                relation, how = self._write_query(cte.this, relations), ""
            relations[cte.alias] = relation.columns
            parts.append(f"{self._dialect.quote_name(cte.alias)} AS{how} ({relation.sql})")
        if self._dialect.flat or not parts:
            return "", relations
        return f"WITH {', '.join(parts)} ", relations

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
        sql, kind = self._dialect.number_rows(
            replace(table, columns=columns), number.alias, of, place
        )
        return WrittenRelation(sql, {number.alias: kind, **columns})

    def _write_select(
        self, node: exp.Select, defined: Mapping[str, Columns]
    ) -> WrittenRelation:
        head, relations = self._write_with(node, defined)
        to = ValueWriter(
            self._dialect,
            self._state,
            ColumnKinds(relations),
            lambda query: self._write_query(query, relations),
        )
        source = self._write_from(node, to)
        columns: dict[str, Kind] = {}
        selected = [_write_selected(column, to, columns) for column in node.expressions]
        sql = head + ("SELECT DISTINCT " if node.args.get("distinct") else "SELECT ")
        sql += ", ".join(selected) + source
        for key, word in (("where", "WHERE"), ("having", "HAVING")):
            if key == "having" and node.args.get("group"):
                sql += f" GROUP BY {_write_group(to, node.args['group'])}"
            if node.args.get(key):
                sql += f" {word} {to.write(node.args[key].this).sql}"
        if node.args.get("order"):
            sql += f" ORDER BY {write_list(to, node.args['order'])}"
        if node.args.get("limit"):
            sql += f" LIMIT {int(node.args['limit'].expression.this)}"
        return WrittenRelation(sql, columns)

    def _write_from(self, node: exp.Select, to: ValueWriter) -> str:
        if not node.args.get("from_"):
            return ""
        sql = f" FROM {self._write_source(node.args['from_'].this, to.scope)}"
        for join in node.args.get("joins") or []:
            side = " ".join(filter(None, (join.side, join.kind))).upper()
            if side not in _JOINS or join.args.get("using"):
                raise self._unsupported(join)
            on = join.args.get("on")
            word = side or ("INNER" if on is not None else "CROSS")
            sql += f" {word} JOIN {self._write_source(join.this, to.scope)}"
            sql += f" ON {to.write(on).sql}" if on is not None else ""
        return sql

    def _write_source(self, node: exp.Expr, scope: ColumnKinds) -> str:
        is_table = isinstance(node, exp.Table) and node.name.lower() in self._tables
        if (
            isinstance(node, exp.Table)
            and node.name == STORED
            and self._stored
            and not is_table
        ):
            node = tree_of(self._stored).subquery("stored")
        if isinstance(node, exp.Subquery):
            relation = self._write_query(node.this, scope.defined)
            sql, alias = self._write_inner(relation.sql, self._end_of(node.this)), node.alias
        elif isinstance(node, exp.Table) and node.name in scope.defined:
            relation = WrittenRelation("", scope.defined[node.name])
            sql, alias = self._dialect.quote_name(node.name), node.alias or node.name
        elif isinstance(node, exp.Table) and node.name.lower() in self._tables:
            relation = self._tables[node.name.lower()]
            sql, alias = relation.sql, node.alias or node.name
        else:
            raise self._unsupported(node)
        scope.read[alias] = relation.columns
        return f"{sql} AS {self._dialect.quote_name(alias)}"

    def _write_inner(self, sql: str, end: str) -> str:
        """A sub-query: where it stands, or by its name in a flat WITH."""
        if not self._dialect.flat:
            return f"({sql}{end})"
        name = self._dialect.quote_name(f"({len(self._state.parts)})")
        self._state.parts.append(f"{name} AS{end} ({sql})")
        return name

    def _end_of(self, query: exp.Query) -> str:
        """What ends a sub-query. One that computes values is kept apart: merged, each use of a
        value would repeat its whole expression, and grow with every level."""
        computes = any(
            not isinstance(column.unalias(), exp.Column | exp.Star) for column in query.selects
        )
        return self._dialect.apart if computes else ""

    def _unsupported(self, node: exp.Expr) -> Unsupported:
        return unsupported(self._dialect, node)


def _write_selected(node: exp.Expr, to: ValueWriter, columns: dict[str, Kind]) -> str:
    if isinstance(node, exp.Star):
        for read in to.scope.read.values():
            columns.update(read)
        return "*"
    value = to.write(node.unalias())
    name = node.alias_or_name or f"_{len(columns)}"
    columns[name] = value.kind
    return f"{value.sql} AS {to.dialect.quote_name(name)}"


def _write_group(to: ValueWriter, group: exp.Group) -> str:
    """The columns of GROUP BY, or grouping sets of one column each."""
    if not isinstance(group.expressions[0], exp.GroupingSets):
        return write_list(to, group)
    (sets,) = group.expressions
    if not to.dialect.grouping_sets:
        raise to.unsupported(sets)
    written = ", ".join(f"({to.write(grouping.this).sql})" for grouping in sets.expressions)
    return f"GROUPING SETS ({written})"


def read_numbering(node: exp.Expr) -> tuple[int | None, int]:
    """How many tables are numbered, and which one this is; None if this numbers no rows.

    >>> import sqlglot
    >>> read_numbering(sqlglot.parse_one("ROW_NUMBER() OVER () * 3 + 1"))
    (3, 1)
    """
    if isinstance(node, exp.Add) and isinstance(node.this, exp.Mul):
        of, place = (int(number.name) for number in (node.this.expression, node.expression))
        return (of if read_numbering(node.this.this)[0] else None), place
    whole = isinstance(node, exp.Window) and isinstance(node.this, exp.RowNumber)
    return (1 if whole and not node.args.get("partition_by") else None), 0
