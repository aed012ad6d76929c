"""Values in another engine's words, each with its kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from deniable.engines.dialect.functions import Functions
from deniable.engines.dialect.terms import (
    NUMBERS,
    WHOLE,
    Columns,
    Kind,
    Said,
    digits,
)
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
_LONGEST = 1_000_000  # words of a value: some must say their argument several times
_COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_COUNTED: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


@dataclass(frozen=True, slots=True)
class ColumnKinds:
    """The relations that a SELECT reads, by name, and what WITH defined before it."""

    defined: Mapping[str, Columns]
    read: dict[str, Columns] = field(default_factory=dict)

    def kind(self, column: exp.Column) -> Kind:
        """The kind of a column."""
        held = [self.read[column.table]] if column.table else list(self.read.values())
        found = [one[column.name] for one in held if column.name in one]
        if not found:
            raise Unsupported(f"The statement has no column {column.name!r} here.")
        return found[0]


class DialectValues(Functions):
    """Writes values, with the words of one engine."""

    def say(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        """A value in the engine's words."""
        writes = _WRITES.get(type(node))
        if writes is not None:
            found: Said | None = writes(self, node, scope)
        else:
            found = self.function(node, lambda one: self.say(one, scope))
        if found is None or len(found.sql) > _LONGEST:
            raise self._unknown(node)
        return found

    def _unknown(self, node: exp.Expr) -> Unsupported:
        return Unsupported(
            f"{self.engine} has no exact words for {type(node).__name__.upper()} as DuckDB "
            "means it. Ask without it, or copy the table into DuckDB. Nothing was spent."
        )

    def _column(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        assert isinstance(node, exp.Column)
        sql = f"{self.name(node.table)}." if node.table else ""
        return Said(sql + self.name(node.name), scope.kind(node), simple=True)

    def _literal(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        if node.is_string:
            return Said(self.text(node.name), "text", simple=True)
        if node.name.lstrip("-").isdigit():
            large = abs(int(node.name)) >= 2**31
            return Said(node.name, "bigint" if large else "int", simple=True)
        return Said(self.real(float(node.name)), "double", simple=True)

    def _null(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        return Said("NULL", "null", simple=True)

    def _boolean(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        return Said("TRUE" if node.this else "FALSE", "boolean", simple=True)

    def _paren(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        inner = self.say(node.this, scope)
        return inner if inner.simple else Said(f"({inner.sql})", inner.kind)

    def _cast(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        kind = _TYPES.get(node.args["to"].this.name)
        if kind is None:
            raise self._unknown(node.args["to"])
        if kind == "double" and (number := digits(node.this)) is not None:
            return Said(self.real(float(number)), "double", simple=True)
        value = self.say(node.this, scope)
        return self.cast(value, kind)

    def _arithmetic(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        left, right = self.say(node.this, scope), self.say(node.expression, scope)
        sign = _COUNTED[type(node)]
        kinds = {left.kind, right.kind}
        if kinds <= set(WHOLE) and sign != "/":
            kind: Kind = "wide" if "wide" in kinds else "bigint" if "bigint" in kinds else "int"
            return self.counted(sign, left, right, kind)
        if not kinds <= {*NUMBERS, "null"}:
            raise self._unknown(node)
        real = [
            one if one.kind == "double" else self.cast(one, "double") for one in (left, right)
        ]
        return self.computed(sign, *real)

    def _negative(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        inner = self.say(node.this, scope)
        return Said(f"(- {inner.sql})", inner.kind)

    def _share(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        left, right = (self.say(one, scope) for one in (node.this, node.expression))
        if not {left.kind, right.kind} <= set(WHOLE):
            raise self._unknown(node)
        return self.share(left, right)

    def _comparison(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        left, right = self.say(node.this, scope), self.say(node.expression, scope)
        return Said(f"({left.sql} {_COMPARED[type(node)]} {right.sql})", "boolean")

    def _connected(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        word = "AND" if isinstance(node, exp.And) else "OR"
        left, right = self.say(node.this, scope), self.say(node.expression, scope)
        return Said(f"({left.sql} {word} {right.sql})", "boolean")

    def _not(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        return Said(f"(NOT {self.say(node.this, scope).sql})", "boolean")

    def _is(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        if not isinstance(node.expression, exp.Null):
            raise self._unknown(node)
        return Said(f"({self.say(node.this, scope).sql} IS NULL)", "boolean")

    def _in(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        if not node.expressions:
            raise self._unknown(node)
        listed = ", ".join(self.say(one, scope).sql for one in node.expressions)
        return Said(f"({self.say(node.this, scope).sql} IN ({listed}))", "boolean")

    def _between(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        low, high = (self.say(node.args[end], scope).sql for end in ("low", "high"))
        return Said(f"({self.say(node.this, scope).sql} BETWEEN {low} AND {high})", "boolean")

    def _case(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        tests = [self.say(one.this, scope).sql for one in node.args["ifs"]]
        if node.this is not None:
            subject = self.say(node.this, scope).sql
            tests = [f"({subject} = {one})" for one in tests]
        values = [self.say(one.args["true"], scope) for one in node.args["ifs"]]
        other = node.args.get("default")
        last = [] if other is None else [self.say(other, scope)]
        kind = self._common([*values, *last])
        values, last = ([self.cast(one, kind) for one in part] for part in (values, last))
        pairs = zip(tests, values, strict=True)
        sql = "CASE" + "".join(f" WHEN {test} THEN {one.sql}" for test, one in pairs)
        return Said(f"{sql} ELSE {last[0].sql} END" if last else f"{sql} END", kind)

    def _flat(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        """COALESCE, LEAST, GREATEST: of one kind, and NULL where all are."""
        values = [self.say(one, scope) for one in (node.this, *node.expressions)]
        kind = self._common(values)
        listed = ", ".join(self.cast(one, kind).sql for one in values)
        return Said(f"{type(node).__name__.upper()}({listed})", kind)

    def _nullif(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        value, out = self.say(node.this, scope), self.say(node.expression, scope)
        return Said(f"NULLIF({value.sql}, {self.cast(out, value.kind).sql})", value.kind)

    def _abs(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        value = self.say(node.this, scope)
        return Said(f"ABS({value.sql})", value.kind)

    def _whole(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        if node.args.get("decimals") is not None:
            made = self.rounded(node, lambda one: self.say(one, scope))
            if made is None:
                raise self._unknown(node)
            return made
        value = self.say(node.this, scope)
        return value if value.kind in WHOLE else self.whole(type(node).__name__.lower(), value)

    def _like(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        return self.like(self.say(node.this, scope), self.say(node.expression, scope))

    def _count(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        if isinstance(node.this, exp.Star):
            return Said("COUNT(*)", "bigint")
        inner, word = node.this, ""
        if isinstance(inner, exp.Distinct):
            (inner,), word = inner.expressions, "DISTINCT "
        return Said(f"COUNT({word}{self.say(inner, scope).sql})", "bigint")

    def _sum(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        value = self.say(node.this, scope)
        if value.kind not in WHOLE:
            raise self._unknown(node)  # a sum of doubles depends on the order of rows
        return self.total(value)

    def _extreme(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        value = self.say(node.this, scope)
        return Said(f"{type(node).__name__.upper()}({value.sql})", value.kind)

    def _window(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        words = {exp.RowNumber: "ROW_NUMBER", exp.DenseRank: "DENSE_RANK"}
        word = words.get(type(node.this))
        # Numbers over a whole table would be others each time that it is read.
        if word is None or node.args.get("spec") or not node.args.get("partition_by"):
            raise self._unknown(node)
        parts = ", ".join(self.say(one, scope).sql for one in node.args["partition_by"])
        order = node.args.get("order")
        sorted_ = f" ORDER BY {self._listed(order, scope)}" if order else ""
        return Said(f"{word}() OVER (PARTITION BY {parts}{sorted_})", "bigint")

    def _listed(self, node: exp.Expr, scope: ColumnKinds) -> str:
        parts = []
        for one in node.expressions:
            ordered = isinstance(one, exp.Ordered)
            said = self.say(one.this if ordered else one, scope)
            parts.append(said.sql + (" DESC" if ordered and one.args.get("desc") else ""))
        return ", ".join(parts)

    def _anonymous(self, node: exp.Expr, scope: ColumnKinds) -> Said:
        if node.name.upper() != "HASH" or not isinstance(node.expressions[-1], exp.Placeholder):
            raise self._unknown(node)
        return self.drawn([self.say(one, scope) for one in node.expressions[:-1]])

    def _common(self, values: list[Said]) -> Kind:
        """The kind that values of one CASE or COALESCE share."""
        kinds = {one.kind for one in values} - {"null"}
        if len(kinds) < 2:
            return kinds.pop() if kinds else "null"
        if kinds <= set(NUMBERS):
            whole = kinds <= set(WHOLE)
            return "double" if not whole else "wide" if "wide" in kinds else "bigint"
        raise Unsupported(f"{self.engine} has no value of several kinds at once.")


_WRITES: dict[type[exp.Expr], Callable[[DialectValues, exp.Expr, ColumnKinds], Said]] = {
    exp.Column: DialectValues._column,
    exp.Literal: DialectValues._literal,
    exp.Null: DialectValues._null,
    exp.Boolean: DialectValues._boolean,
    exp.Paren: DialectValues._paren,
    exp.Cast: DialectValues._cast,
    exp.TryCast: DialectValues._cast,
    exp.Neg: DialectValues._negative,
    exp.IntDiv: DialectValues._share,
    exp.And: DialectValues._connected,
    exp.Or: DialectValues._connected,
    exp.Not: DialectValues._not,
    exp.Is: DialectValues._is,
    exp.In: DialectValues._in,
    exp.Between: DialectValues._between,
    exp.Case: DialectValues._case,
    exp.Coalesce: DialectValues._flat,
    exp.Least: DialectValues._flat,
    exp.Greatest: DialectValues._flat,
    exp.Nullif: DialectValues._nullif,
    exp.Abs: DialectValues._abs,
    exp.Floor: DialectValues._whole,
    exp.Ceil: DialectValues._whole,
    exp.Round: DialectValues._whole,
    exp.Like: DialectValues._like,
    exp.Count: DialectValues._count,
    exp.Sum: DialectValues._sum,
    exp.Min: DialectValues._extreme,
    exp.Max: DialectValues._extreme,
    exp.Window: DialectValues._window,
    exp.Anonymous: DialectValues._anonymous,
    **dict.fromkeys(_COUNTED, DialectValues._arithmetic),
    **dict.fromkeys(_COMPARED, DialectValues._comparison),
}
