"""Writes values in another engine's dialect, each with its kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from deniable.engines.dialect.constants import digits_of
from deniable.engines.dialect.function_writer import FunctionWriter
from deniable.engines.dialect.typed_sql import INTEGERS, NUMBERS, Columns, Kind, TypedSQL
from deniable.errors import Unsupported

_TYPES: dict[str, Kind] = {
    "INT": "int",
    "SMALLINT": "int",
    "TINYINT": "int",
    "BIGINT": "bigint",
    "INT128": "wide",
    "DOUBLE": "double",
    "TEXT": "text",
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPNTZ": "timestamp",
}
_LONGEST = 1_000_000  # letters of one value: some functions repeat their argument
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
}


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """The relations that a SELECT reads, by name, and what WITH defined before it."""

    defined: Mapping[str, Columns]
    read: dict[str, Columns] = field(default_factory=dict)

    def kind(self, column: exp.Column) -> Kind:
        """The kind of a column."""
        relations = [self.read[column.table]] if column.table else list(self.read.values())
        kinds = [columns[column.name] for columns in relations if column.name in columns]
        if not kinds:
            raise Unsupported(f"The statement has no column {column.name!r} here.")
        return kinds[0]


class ValueWriter(FunctionWriter):
    """Writes values in the dialect of one engine."""

    def write_value(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        """A value in the engine's dialect; raises Unsupported if it cannot be written."""
        writes = _WRITES.get(type(node))
        if writes is not None:
            value: TypedSQL | None = writes(self, node, scope)
        else:
            value = self.write_function(
                node, lambda argument: self.write_value(argument, scope)
            )
        if value is None or len(value.sql) > _LONGEST:
            raise self._unsupported(node)
        return value

    def _unsupported(self, node: exp.Expr) -> Unsupported:
        return Unsupported(
            f"{self.engine} cannot reproduce DuckDB's {type(node).__name__.upper()} exactly. "
            "Leave it out, or copy the table into DuckDB. Nothing was spent."
        )

    def _column(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        assert isinstance(node, exp.Column)
        sql = f"{self.quote_name(node.table)}." if node.table else ""
        return TypedSQL(sql + self.quote_name(node.name), scope.kind(node), simple=True)

    def _literal(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        if node.is_string:
            return TypedSQL(self.text_literal(node.name), "text", simple=True)
        if node.name.lstrip("-").isdigit():
            large = abs(int(node.name)) >= 2**31
            return TypedSQL(node.name, "bigint" if large else "int", simple=True)
        return TypedSQL(self.double_literal(float(node.name)), "double", simple=True)

    def _null(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        return TypedSQL("NULL", "null", simple=True)

    def _boolean(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        return TypedSQL("TRUE" if node.this else "FALSE", "boolean", simple=True)

    def _paren(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        inner = self.write_value(node.this, scope)
        return inner if inner.simple else TypedSQL(f"({inner.sql})", inner.kind)

    def _cast(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        kind = _TYPES.get(node.args["to"].this.name)
        if kind is None:
            raise self._unsupported(node.args["to"])
        if kind == "double" and (number := digits_of(node.this)) is not None:
            return TypedSQL(self.double_literal(float(number)), "double", simple=True)
        value = self.write_value(node.this, scope)
        return self.cast(value, kind)

    def _arithmetic(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        left, right = (
            self.write_value(node.this, scope),
            self.write_value(node.expression, scope),
        )
        sign = _ARITHMETIC[type(node)]
        kinds = {left.kind, right.kind}
        if kinds <= set(INTEGERS) and sign != "/":
            kind: Kind = "wide" if "wide" in kinds else "bigint" if "bigint" in kinds else "int"
            return self.integer_arithmetic(sign, left, right, kind)
        if not kinds <= {*NUMBERS, "null"}:
            raise self._unsupported(node)
        doubles = [
            operand if operand.kind == "double" else self.cast(operand, "double")
            for operand in (left, right)
        ]
        return self.double_arithmetic(sign, *doubles)

    def _negative(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        inner = self.write_value(node.this, scope)
        return TypedSQL(f"(- {inner.sql})", inner.kind)

    def _divide_wide(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        left, right = (
            self.write_value(operand, scope) for operand in (node.this, node.expression)
        )
        if not {left.kind, right.kind} <= set(INTEGERS):
            raise self._unsupported(node)
        return self.divide_wide(left, right)

    def _comparison(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        left, right = self.align(
            node, self.write_value(node.this, scope), self.write_value(node.expression, scope)
        )
        return TypedSQL(f"({left.sql} {_COMPARISONS[type(node)]} {right.sql})", "boolean")

    def align(self, node: exp.Expr, *values: TypedSQL) -> list[TypedSQL]:
        """The values, so that the engine can compare them. DuckDB converts values of different
        kinds before it compares them; others fail."""
        kinds = {value.kind for value in values} - {"null"}
        alike = (set(NUMBERS), {"date", "timestamp"})
        if len(kinds) > 1 and not any(kinds <= group for group in alike):
            raise self._unsupported(node)
        return list(values)

    def _and_or(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        word = "AND" if isinstance(node, exp.And) else "OR"
        left, right = (
            self.write_value(node.this, scope),
            self.write_value(node.expression, scope),
        )
        return TypedSQL(f"({left.sql} {word} {right.sql})", "boolean")

    def _not(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        return TypedSQL(f"(NOT {self.write_value(node.this, scope).sql})", "boolean")

    def _is(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        if not isinstance(node.expression, exp.Null):
            raise self._unsupported(node)
        return TypedSQL(f"({self.write_value(node.this, scope).sql} IS NULL)", "boolean")

    def _in(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        if not node.expressions:
            raise self._unsupported(node)
        value, *items = self.align(
            node, *(self.write_value(part, scope) for part in (node.this, *node.expressions))
        )
        listed = ", ".join(item.sql for item in items)
        return TypedSQL(f"({value.sql} IN ({listed}))", "boolean")

    def _between(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        parts = (self.write_value(node.args[part], scope) for part in ("this", "low", "high"))
        value, low, high = self.align(node, *parts)
        return TypedSQL(f"({value.sql} BETWEEN {low.sql} AND {high.sql})", "boolean")

    def _case(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        conditions = [self.write_value(branch.this, scope) for branch in node.args["ifs"]]
        tests = [condition.sql for condition in conditions]
        if node.this is not None:
            subject, *aligned = self.align(
                node, self.write_value(node.this, scope), *conditions
            )
            tests = [f"({subject.sql} = {test.sql})" for test in aligned]
        values = [self.write_value(branch.args["true"], scope) for branch in node.args["ifs"]]
        default = node.args.get("default")
        last = [] if default is None else [self.write_value(default, scope)]
        kind = self._common_kind([*values, *last])
        values, last = ([self.cast(value, kind) for value in part] for part in (values, last))
        pairs = zip(tests, values, strict=True)
        sql = "CASE" + "".join(f" WHEN {test} THEN {value.sql}" for test, value in pairs)
        return TypedSQL(f"{sql} ELSE {last[0].sql} END" if last else f"{sql} END", kind)

    def _coalesce_or_extreme(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        """COALESCE, LEAST, GREATEST: of one kind; NULL if all values are NULL."""
        values = [self.write_value(value, scope) for value in (node.this, *node.expressions)]
        kind = self._common_kind(values)
        listed = ", ".join(self.cast(value, kind).sql for value in values)
        return TypedSQL(f"{type(node).__name__.upper()}({listed})", kind)

    def _nullif(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        value, out = (
            self.write_value(node.this, scope),
            self.write_value(node.expression, scope),
        )
        return TypedSQL(f"NULLIF({value.sql}, {self.cast(out, value.kind).sql})", value.kind)

    def _abs(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        value = self.write_value(node.this, scope)
        return TypedSQL(f"ABS({value.sql})", value.kind)

    def _rounding(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        if node.args.get("decimals") is not None:
            rounded = self.round_to_digits(
                node, lambda argument: self.write_value(argument, scope)
            )
            if rounded is None:
                raise self._unsupported(node)
            return rounded
        value = self.write_value(node.this, scope)
        return (
            value
            if value.kind in INTEGERS
            else self.round_double(type(node).__name__.lower(), value)
        )

    def _like(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        return self.like(
            self.write_value(node.this, scope), self.write_value(node.expression, scope)
        )

    def _count(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        if isinstance(node.this, exp.Star):
            return TypedSQL("COUNT(*)", "bigint")
        inner, word = node.this, ""
        if isinstance(inner, exp.Distinct):
            (inner,), word = inner.expressions, "DISTINCT "
        return TypedSQL(f"COUNT({word}{self.write_value(inner, scope).sql})", "bigint")

    def _sum(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        value = self.write_value(node.this, scope)
        if value.kind not in INTEGERS:
            raise self._unsupported(node)  # a sum of doubles depends on the order of rows
        return self.sum_integers(value)

    def _extreme(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        value = self.write_value(node.this, scope)
        return TypedSQL(self.extreme(type(node).__name__.upper(), value), value.kind)

    def _window(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        words = {exp.RowNumber: "ROW_NUMBER", exp.DenseRank: "DENSE_RANK"}
        word = words.get(type(node.this))
        # Row numbers over a whole table may change each time that it is read.
        if word is None or node.args.get("spec") or not node.args.get("partition_by"):
            raise self._unsupported(node)
        partition = ", ".join(
            self.write_value(key, scope).sql for key in node.args["partition_by"]
        )
        order = node.args.get("order")
        sorted_ = f" ORDER BY {self._write_list(order, scope)}" if order else ""
        return TypedSQL(f"{word}() OVER (PARTITION BY {partition}{sorted_})", "bigint")

    def _write_list(self, node: exp.Expr, scope: ColumnKinds) -> str:
        parts = []
        for item in node.expressions:
            ordered = isinstance(item, exp.Ordered)
            value = self.write_value(item.this if ordered else item, scope)
            parts.append(value.sql + (" DESC" if ordered and item.args.get("desc") else ""))
        return ", ".join(parts)

    def _keyed_hash(self, node: exp.Expr, scope: ColumnKinds) -> TypedSQL:
        if node.name.upper() != "HASH" or not isinstance(node.expressions[-1], exp.Placeholder):
            raise self._unsupported(node)
        return self.keyed_hash(
            [self.write_value(argument, scope) for argument in node.expressions[:-1]]
        )

    def _common_kind(self, values: list[TypedSQL]) -> Kind:
        """The common kind of the values of one CASE or COALESCE."""
        kinds = {value.kind for value in values} - {"null"}
        if len(kinds) < 2:
            return kinds.pop() if kinds else "null"
        if kinds <= set(NUMBERS):
            whole = kinds <= set(INTEGERS)
            return "double" if not whole else "wide" if "wide" in kinds else "bigint"
        raise Unsupported(
            f"{self.engine} cannot mix values of the kinds {', '.join(sorted(kinds))} in one "
            "CASE or COALESCE. Cast them to one kind. Nothing was spent."
        )


_WRITES: dict[type[exp.Expr], Callable[[ValueWriter, exp.Expr, ColumnKinds], TypedSQL]] = {
    exp.Column: ValueWriter._column,
    exp.Literal: ValueWriter._literal,
    exp.Null: ValueWriter._null,
    exp.Boolean: ValueWriter._boolean,
    exp.Paren: ValueWriter._paren,
    exp.Cast: ValueWriter._cast,
    exp.TryCast: ValueWriter._cast,
    exp.Neg: ValueWriter._negative,
    exp.IntDiv: ValueWriter._divide_wide,
    exp.And: ValueWriter._and_or,
    exp.Or: ValueWriter._and_or,
    exp.Not: ValueWriter._not,
    exp.Is: ValueWriter._is,
    exp.In: ValueWriter._in,
    exp.Between: ValueWriter._between,
    exp.Case: ValueWriter._case,
    exp.Coalesce: ValueWriter._coalesce_or_extreme,
    exp.Least: ValueWriter._coalesce_or_extreme,
    exp.Greatest: ValueWriter._coalesce_or_extreme,
    exp.Nullif: ValueWriter._nullif,
    exp.Abs: ValueWriter._abs,
    exp.Floor: ValueWriter._rounding,
    exp.Ceil: ValueWriter._rounding,
    exp.Round: ValueWriter._rounding,
    exp.Like: ValueWriter._like,
    exp.Count: ValueWriter._count,
    exp.Sum: ValueWriter._sum,
    exp.Min: ValueWriter._extreme,
    exp.Max: ValueWriter._extreme,
    exp.Window: ValueWriter._window,
    exp.Anonymous: ValueWriter._keyed_hash,
    **dict.fromkeys(_ARITHMETIC, ValueWriter._arithmetic),
    **dict.fromkeys(_COMPARISONS, ValueWriter._comparison),
}
