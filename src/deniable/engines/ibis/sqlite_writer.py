"""Writes our statements for SQLite, with DuckDB's functions of rows from `sqlite_functions`.

SQLite compares, groups, joins, counts and sorts; what it would compute in its own way is a
Python function of ours. Doubles and texts are parameters: SQLite does not always read a decimal
number as the nearest double. Sub-queries stand one after the other in one WITH, because the
parser of SQLite allows few levels; those that compute values are MATERIALIZED, so that none is
merged into its reader and computed several times.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from deniable.engines.dialect.constants import constant_of
from deniable.engines.dialect.date_parts import TRUNCATION_UNITS
from deniable.engines.dialect.function_writer import Side
from deniable.engines.dialect.statement_writer import StatementWriter, WrittenRelation
from deniable.engines.dialect.typed_sql import NUMBERS, Columns, Kind, TypedSQL
from deniable.engines.dialect.value_writer import ColumnKinds
from deniable.engines.ibis.sqlite_functions import NAN
from deniable.engines.ibis.sqlite_moments import DIFFERENCES

_SIGNS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}
Write = Callable[[exp.Expr], TypedSQL]


class SQLiteWriter(StatementWriter):
    """Writes SQLite's SQL; `parameters` are the values of the statement's parameters.

    >>> writer = SQLiteWriter({"visits": WrittenRelation('"v"', {"ward": "text"})})
    >>> writer.write('SELECT COUNT(*) AS n FROM "visits" WHERE "ward" = \\'A\\'')
    'SELECT COUNT(*) AS "n" FROM "v" AS "visits" WHERE ("ward" = :p0)'
    >>> writer.parameters
    {'p0': 'A'}
    """

    engine = "SQLite"
    NAN = f"'{NAN}'"
    once = apart = " MATERIALIZED"

    def __init__(self, tables: Mapping[str, WrittenRelation], salt: int = 0) -> None:
        super().__init__(tables)
        self._salt = salt
        self._parts: list[str] = []
        self.parameters: dict[str, Any] = {}

    def write_relation(self, sql: str) -> WrittenRelation:
        relation = super().write_relation(sql)
        head = f"WITH {', '.join(self._parts)} " if self._parts else ""
        return WrittenRelation(head + relation.sql, relation.columns)

    def _write_source(self, node: exp.Expr, scope: ColumnKinds) -> str:
        if not isinstance(node, exp.Subquery):
            return super()._write_source(node, scope)
        relation = self._write_query(node.this, scope.defined)
        scope.read[node.alias] = relation.columns
        name = self._define(f"({len(self._parts)})", relation.sql, self._end_of(node.this))
        return f"{name} AS {self.quote_name(node.alias)}"

    def _write_with(
        self, node: exp.Query, defined: Mapping[str, Columns]
    ) -> tuple[str, dict[str, Columns]]:
        relations = dict(defined)
        for cte in node.ctes:
            if cte.alias in relations:
                raise self._unsupported(cte)
            if cte.args.get("materialized"):
                relation, how = self._write_numbered_rows(cte, node), self.once
            else:
                relation, how = self._write_query(cte.this, relations), ""
            relations[cte.alias] = relation.columns
            self._define(cte.alias, relation.sql, how)
        return "", relations

    def _define(self, name: str, sql: str, how: str) -> str:
        """Adds a relation to WITH; returns its name, quoted."""
        quoted = self.quote_name(name)
        self._parts.append(f"{quoted} AS{how} ({sql})")
        return quoted

    def _write_union(self, node: exp.Union, defined: Mapping[str, Columns]) -> WrittenRelation:
        """SQLite has no parentheses around the parts of a UNION ALL."""
        _, defined = self._write_with(node, defined)
        if node.args.get("distinct"):
            raise self._unsupported(node)
        parts = [self._write_query(part, defined) for part in (node.this, node.expression)]
        kinds = zip(parts[0].columns.items(), parts[1].columns.values(), strict=True)
        sql = " UNION ALL ".join(f"SELECT * FROM ({part.sql})" for part in parts)
        return WrittenRelation(
            sql, {name: one if one != "null" else other for (name, one), other in kinds}
        )

    def number_rows(
        self, table: WrittenRelation, number: str, of: int, place: int
    ) -> tuple[str, Kind]:
        """A row is identified by SQLite's own number of the row, and the table's."""
        columns = [f"(\"(row)\" || ' {place}') AS {self.quote_name(number)}"]
        columns += [self.quote_name(column) for column in table.columns]
        return f"SELECT {', '.join(columns)} FROM {table.sql} AS numbered", "opaque"

    def text_literal(self, value: str) -> str:
        return self._parameter(value)

    def double_literal(self, value: float) -> str:
        return self._parameter(value)

    def _parameter(self, value: str | float) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def _call(self, name: str, *values: TypedSQL | str | int) -> str:
        """A call of one of our functions."""
        listed = (value.sql if isinstance(value, TypedSQL) else str(value) for value in values)
        return f"deniable_{name}({', '.join(listed)})"

    def write_value(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        own = _OWN.get(type(node))
        if own is None:
            return super().write_value(node, scope)
        value = own(self, node, lambda argument: self.write_value(argument, scope))
        if value is None:
            raise self._unsupported(node)
        return value

    def align(self, node: exp.Expr, *values: TypedSQL) -> list[TypedSQL]:
        """SQLite does not convert what it compares, so this does, as DuckDB would."""
        aligned = super().align(node, *values)
        kinds = {value.kind for value in aligned} - {"null"}
        if len(kinds) < 2 or not kinds <= set(NUMBERS):
            return aligned
        kind = self._common_kind(aligned)
        return [self.cast(value, kind) for value in aligned]

    def cast(self, value: TypedSQL, kind: Kind) -> TypedSQL:
        if value.kind == "boolean" and kind in NUMBERS:
            return self.cast(TypedSQL(value.sql, "int"), kind)
        if value.kind == "text" and kind == "boolean":
            return TypedSQL(self._call("boolean", value), kind)
        if value.kind == "wide" and kind == "boolean":
            return TypedSQL(f"({value.sql} <> {self._call('wide', 0)})", kind)
        return super().cast(value, kind)

    def convert(self, value: TypedSQL, kind: Kind) -> str | None:
        match value.kind, kind:
            case "int" | "bigint", "double":
                return f"CAST({value.sql} AS REAL)"
            case "wide", "double":
                return self._call("wide_double", value)
            case "text", "double":
                return self._call("double", value)
            case "double", "int" | "bigint":
                return self._call("integer", value, 32 if kind == "int" else 64)
            case "int", "bigint":
                return value.sql
            case "bigint" | "wide", "int" | "bigint":
                return self._call("narrow", value, 32 if kind == "int" else 64)
            case "int" | "bigint", "wide":
                return self._call("wide", value)
            case "int" | "bigint", "text":
                return f"CAST({value.sql} AS TEXT)"
            case "wide", "text":
                return self._call("wide_text", value)
            case "boolean", "text":
                return f"CASE {value.sql} WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END"
            case "date", "text":
                return self._call("day_text", value)
            case "date", "timestamp":
                return value.sql
            case "text", "timestamp":
                return self._call("moment", value)
            case "timestamp", "date":
                return self._call("day", value)
            case _:
                return None

    def double_arithmetic(self, sign: str, left: TypedSQL, right: TypedSQL) -> TypedSQL:
        return TypedSQL(self._call(_SIGNS[sign], left, right), "double")

    def integer_arithmetic(
        self, sign: str, left: TypedSQL, right: TypedSQL, kind: Kind
    ) -> TypedSQL:
        if kind == "wide":
            return TypedSQL(self._call(f"wide_{_SIGNS[sign]}", left, right), kind)
        return super().integer_arithmetic(sign, left, right, kind)

    def divide_wide(self, left: TypedSQL, right: TypedSQL) -> TypedSQL:
        return TypedSQL(self._call("wide_divide", left, right), "wide")

    def sum_integers(self, value: TypedSQL) -> TypedSQL:
        """SQLite's own SUM of 64 bits may overflow. Sums of 16 bits do not, below 2^47 rows;
        the first one carries the sign."""
        if value.kind == "wide":
            return TypedSQL(self._call("sum", value), "wide")
        sums = [f"SUM({value.sql} >> 48)"]
        sums += [f"SUM(({value.sql} >> {shift}) & 65535)" for shift in (32, 16, 0)]
        return TypedSQL(self._call("wide_parts", *sums), "wide")

    def keyed_hash(self, values: list[TypedSQL]) -> TypedSQL:
        return TypedSQL(self._call("hash", self._salt, *values), "bigint")

    def round_double(self, how: str, value: TypedSQL) -> TypedSQL:
        return TypedSQL(self._call(how, value), "double")

    def round_to_digits(self, node: exp.Expr, write: Write) -> TypedSQL | None:
        places = constant_of(node.args["decimals"])
        if places is None:
            return None
        power = self.double_literal(10.0 ** abs(int(places)))
        value = self.cast(write(node.this), "double")
        return TypedSQL(self._call("round_digits", value, power, int(places)), "double")

    def like(self, value: TypedSQL, pattern: TypedSQL) -> TypedSQL:
        return TypedSQL(self._call("like", value, pattern), "boolean")

    def bind(self, values: list[TypedSQL], body: Callable[..., str]) -> str:
        """Every body here uses each of its arguments once."""
        return body(*(value.sql for value in values))

    def trim(self, value: str, letters: str, side: Side) -> str:
        return self._call("trim", value, letters, f"'{side}'")

    def position(self, value: str, part: str) -> str:
        return self._call("position", value, part)

    def transcendental(self, name: str, value: str) -> str:
        return self._call(name, value)

    def power(self, base: str, exponent: str) -> str:
        return self._call("power", base, exponent)

    def remainder(self, left: str, right: str) -> str:
        return self._call("remainder", left, right)

    def is_distinct(self, left: str, right: str) -> str:
        return f"{left} IS NOT {right}"

    def date_part(self, name: str, moment: str) -> str:
        return self._call("part", f"'{name}'", moment)

    def days_between(self, end: str, start: str) -> str:
        return self._call("difference", "'DAY'", end, start)

    def _equal(self, node: exp.Expr, write: Write) -> TypedSQL:
        """Two integers are equal if their texts are; SQLite can look up only the integers."""
        sides = [node.this, node.expression]
        if all(isinstance(side, exp.Cast) and side.to.is_type("text") for side in sides):
            inner = [write(side.this) for side in sides]
            if {value.kind for value in inner} <= {"int", "bigint"}:
                return TypedSQL(f"({inner[0].sql} = {inner[1].sql})", "boolean")
        left, right = self.align(node, *(write(side) for side in sides))
        return TypedSQL(f"({left.sql} = {right.sql})", "boolean")

    def _extreme_of(self, node: exp.Expr, write: Write) -> TypedSQL:
        values = [write(value) for value in (node.this, *node.expressions)]
        kind = self._common_kind(values)
        name = type(node).__name__.lower()
        return TypedSQL(self._call(name, *(self.cast(value, kind) for value in values)), kind)

    def _negative_of(self, node: exp.Expr, write: Write) -> TypedSQL:
        value = write(node.this)
        if value.kind == "wide":
            return self.integer_arithmetic("-", TypedSQL("0", "int"), value, "wide")
        if value.kind == "double":
            return TypedSQL(self._call("negative", value), "double")
        return TypedSQL(f"(- {value.sql})", value.kind)

    def _absolute_of(self, node: exp.Expr, write: Write) -> TypedSQL:
        value = write(node.this)
        if value.kind == "wide":
            other = self._negative_of(node, write)
            return TypedSQL(self._call("greatest", value, other), "wide")
        name = "deniable_absolute" if value.kind == "double" else "ABS"
        return TypedSQL(f"{name}({value.sql})", value.kind)

    def _cut(self, node: exp.Expr, write: Write) -> TypedSQL | None:
        """SUBSTRING, LEFT and RIGHT with constant places."""
        names = ("start", "length") if isinstance(node, exp.Substring) else ("expression",)
        places = [constant_of(node.args[name]) for name in names if node.args.get(name)]
        if None in places:
            return None
        numbers = (int(place) for place in places if place is not None)
        name = type(node).__name__.lower()
        return TypedSQL(self._call(name, write(node.this), *numbers), "text")

    def _logarithm_of(self, node: exp.Expr, write: Write) -> TypedSQL | None:
        given = node.args.get("expression")
        base = 10 if given is None else constant_of(node.this)
        if base not in (2, 10):
            return None
        value = self.cast(write(node.this if given is None else given), "double")
        return TypedSQL(self._call(f"log{base}", value), "double")

    def _sign_of(self, node: exp.Expr, write: Write) -> TypedSQL:
        return TypedSQL(self._call("sign", self.cast(write(node.this), "double")), "int")

    def _truncated(self, node: exp.Expr, write: Write) -> TypedSQL | None:
        unit = node.text("unit").upper()
        if unit not in TRUNCATION_UNITS:
            return None
        return TypedSQL(self._call("truncate", f"'{unit}'", write(node.this)), "timestamp")

    def _difference(self, node: exp.Expr, write: Write) -> TypedSQL | None:
        unit = node.text("unit").upper()
        if unit not in DIFFERENCES:
            return None
        both = write(node.this), write(node.expression)
        return TypedSQL(self._call("difference", f"'{unit}'", *both), "bigint")


def _called(name: str, kind: Kind) -> Callable[[SQLiteWriter, exp.Expr, Write], TypedSQL]:
    """A function of one or two texts or doubles."""

    def call(writer: SQLiteWriter, node: exp.Expr, write: Write) -> TypedSQL:
        given = [write(node.args[key]) for key in ("this", "expression") if node.args.get(key)]
        return TypedSQL(writer._call(name, *given), kind)

    return call


_OWN: dict[type[exp.Expr], Callable[[SQLiteWriter, exp.Expr, Write], TypedSQL | None]] = {
    exp.EQ: SQLiteWriter._equal,
    exp.Least: SQLiteWriter._extreme_of,
    exp.Greatest: SQLiteWriter._extreme_of,
    exp.Neg: SQLiteWriter._negative_of,
    exp.Abs: SQLiteWriter._absolute_of,
    exp.Substring: SQLiteWriter._cut,
    exp.Left: SQLiteWriter._cut,
    exp.Right: SQLiteWriter._cut,
    exp.Log: SQLiteWriter._logarithm_of,
    exp.Sign: SQLiteWriter._sign_of,
    exp.TimestampTrunc: SQLiteWriter._truncated,
    exp.DateDiff: SQLiteWriter._difference,
    exp.Length: _called("length", "int"),
    exp.Lower: _called("lower", "text"),
    exp.Upper: _called("upper", "text"),
    exp.ILike: _called("ilike", "boolean"),
    exp.StartsWith: _called("starts_with", "boolean"),
    exp.EndsWith: _called("ends_with", "boolean"),
    exp.Sqrt: _called("sqrt", "double"),
}
