"""Reads how a table of a DuckDB database is defined, and refuses one whose rows could fail.

A view can raise an error for one row, read other files, or make one row depend on others; a
generated column can raise an error. So definitions are read when a table is opened. A view may
hold what `dialect.view_definitions` lists, over tables and views of its own database. DuckDB
converts operands whose types differ, and a value that cannot be converted is an error: so the
operands of each part must have one type. It fails to write some timestamps, those around the
year 290,309 before Christ, so a cast to text is for simple types only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from deniable.engines.dialect.view_definitions import describe_risk
from deniable.errors import InvalidPolicy

_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL.*|DOUBLE|FLOAT")
_WRITABLE = re.compile(rf"{_NUMBER.pattern}|VARCHAR|BOOLEAN|DATE|UUID|ENUM\(.*\)", re.DOTALL)
_CONSTANTS = (exp.Literal, exp.Null, exp.Boolean, exp.Neg)

# Operands, and the type that they must have, if any. Types that can be written as text count
# as one.
Operands = tuple[list[exp.Expr], str | None]
_ANY_WRITABLE = "any that is always written"


def check_definition(
    connection: duckdb.DuckDBPyConnection, database: str, table: str, schema: str = "main"
) -> None:
    """Refuses a table or view of an attached database by which one row could fail or change
    other rows. A table that does not exist is not refused here."""
    _Definitions(connection, database).check(schema, table)


@dataclass(frozen=True, slots=True)
class _Definitions:
    """The definitions in one attached database."""

    connection: duckdb.DuckDBPyConnection
    database: str

    def check(self, schema: str, table: str) -> None:
        """Refuses a table or a view, or what it reads."""
        if any(self._read("columns", schema, table, "is_generated")):
            raise InvalidPolicy(
                f"{table!r} has a generated column. It is computed when a row is read, and a "
                "row for which this fails would make every question fail. Store it in a table: "
                f"  CREATE TABLE ... AS SELECT * FROM {table}"
            )
        view = self._read("views", schema, table, "sql")
        if not view:
            return
        try:
            tree = sqlglot.parse_one(view[0], dialect="duckdb").expression
            risk = self._describe_risk(schema, tree)
        except (sqlglot.ParseError, duckdb.Error):
            risk = "a part that cannot be read"
        if risk is not None:
            raise InvalidPolicy(
                f"{table!r} is a view with {risk}. One row could make it fail, or change other "
                "rows. A view may choose columns and rows of one table by comparisons of equal "
                "types, CASE and COALESCE. For anything else make a table, in which each row "
                f"is about one privacy unit:   CREATE TABLE ... AS SELECT * FROM {table}"
            )
        (source,) = tree.find_all(exp.Table)
        self.check(source.db or schema, source.name)

    def _describe_risk(self, schema: str, tree: exp.Expr) -> str | None:
        return (
            describe_risk(tree.sql(dialect="duckdb"), "duckdb")
            or self._describe_macros()
            or self._describe_sources(schema, tree)
            or self._describe_mixed_types(schema, tree)
        )

    def _read(self, kind: str, schema: str, name: str, value: str) -> list[Any]:
        """A fact about each column of a table, about a table, or about a view."""
        column = "view_name" if kind == "views" else "table_name"
        rows = self.connection.execute(
            f"SELECT {value} FROM duckdb_{kind}() WHERE database_name = $1 AND "
            f"lower(schema_name) = lower($2) AND lower({column}) = lower($3)",
            [self.database, schema, name],
        ).fetchall()
        return [row[0] for row in rows]

    def _describe_macros(self) -> str | None:
        """Macros of the database. Even an operator can be one, so a view may call any."""
        row = self.connection.execute(
            "SELECT function_name FROM duckdb_functions() "
            "WHERE NOT internal AND database_name = $1",
            [self.database],
        ).fetchone()
        return None if row is None else f"macros beside it in the database ({row[0]})"

    def _describe_sources(self, schema: str, tree: exp.Expr) -> str | None:
        """What a view reads, unless it is exactly one table or view of its own database."""
        sources = list(tree.find_all(exp.Table))
        if len(sources) != 1 or not isinstance(tree, exp.Select):
            return "more or fewer than one table"
        (source,) = sources
        known = any(
            self._read(kind, source.db or schema, source.name, "sql")
            for kind in ("tables", "views")
        )
        if source.catalog or not known:
            return f"a source outside of its database ({source.sql(dialect='duckdb')[:60]})"
        return None

    def _describe_mixed_types(self, schema: str, tree: exp.Expr) -> str | None:
        """A part whose operands DuckDB converts to a common type."""
        (source,) = tree.find_all(exp.Table)
        relation = exp.alias_(
            exp.table_(source.name, source.db or schema, self.database, quoted=True),
            source.alias or source.name,
            table=True,
            quoted=True,
        )
        for node in tree.walk():
            for operands, required in _list_operands(node):
                aliased = (
                    exp.alias_(operand.copy(), f"c{place}")
                    for place, operand in enumerate(operands)
                )
                query = exp.select(*aliased).from_(relation).sql(dialect="duckdb")
                rows = self.connection.execute(f"DESCRIBE {query}").fetchall()
                types = [type_ for _, type_, *_ in rows]
                if not self._agree(operands, types, required):
                    return f"different types ({node.sql(dialect='duckdb')[:60]})"
        return None

    def _agree(self, operands: list[exp.Expr], types: list[str], required: str | None) -> bool:
        """Whether no operand but a constant is converted, and no constant without need."""
        if required == _ANY_WRITABLE:
            return all(map(_WRITABLE.fullmatch, types))
        pairs = list(zip((operand.unnest() for operand in operands), types, strict=True))
        constants = [pair for pair in pairs if isinstance(pair[0], _CONSTANTS)]
        columns = {type_ for pair in pairs if pair not in constants for type_ in pair[1:]}
        common = {required} if required else columns
        if not common:
            return len({type_ for node, type_ in pairs if not isinstance(node, exp.Null)}) < 2
        if len(common | columns) != 1:
            return False
        (type_,) = common
        return all(self._fits(constant, own, type_) for constant, own in constants)

    def _fits(self, constant: exp.Expr, own: str, type_: str) -> bool:
        """Whether a constant is converted to the type of a column, and not the column."""
        if isinstance(constant, exp.Null) or own == type_:
            return True
        if constant.is_number:
            digits = constant.sql().partition(".")[2]
            scale = type_.partition(",")[2].strip(") ") if type_.startswith("DECIMAL") else "0"
            exact = type_ not in ("DOUBLE", "FLOAT")
            return bool(_NUMBER.fullmatch(type_)) and not (exact and len(digits) > int(scale))
        if not constant.is_string:
            return False
        cast = f"SELECT TRY_CAST({constant.sql(dialect='duckdb')} AS {type_}) IS NOT NULL"
        return self.connection.execute(cast).fetchall() == [(True,)]


def _list_operands(node: exp.Expr) -> Iterator[Operands]:
    """The operands of a part that must have one type."""
    if isinstance(node, _COMPARED):
        yield [node.this, node.expression], None
    elif isinstance(node, exp.Between):
        yield [node.this, node.args["low"], node.args["high"]], None
    elif isinstance(node, exp.In | exp.Coalesce | exp.Least | exp.Greatest):
        yield [node.this, *node.expressions], None
    elif isinstance(node, exp.Nullif):
        yield [node.this, node.expression], None
    elif isinstance(node, exp.And | exp.Or):
        yield [node.this, node.expression], "BOOLEAN"
    elif isinstance(node, exp.Not | exp.Where):
        yield [node.this], "BOOLEAN"
    elif isinstance(node, exp.Like):
        yield [node.this], "VARCHAR"
    elif isinstance(node, exp.Case):
        branches, default = node.args["ifs"], node.args.get("default")
        yield [branch.args["true"] for branch in branches] + [default or exp.null()], None
        tested = [branch.this for branch in branches]
        yield (tested, "BOOLEAN") if node.this is None else ([node.this, *tested], None)
    elif isinstance(node, exp.Cast):
        constant = isinstance(node.this.unnest(), _CONSTANTS)
        yield [node.this], node.to.sql(dialect="duckdb") if constant else _ANY_WRITABLE
    elif isinstance(node, exp.Any | exp.Array):
        yield [node], "nothing"
