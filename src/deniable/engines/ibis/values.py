"""Values of our statements as expressions of Ibis, which its backends write as they can.

Only what every backend has is used: 64-bit integers, doubles, text, comparisons and CASE.
Nothing relies on how a backend rounds, orders NaN or casts: each is spelt out, on arguments
that were made harmless first, because some backends evaluate both sides of a CASE.
"""

from collections.abc import Callable
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines.dialect.engine_dialect import digits_of
from deniable.engines.ibis.casts import (
    cast,
    divide,
    is_double,
    moment_literal,
    to_double,
    unsupported,
)
from deniable.engines.ibis.date_functions import DATE_FUNCTIONS
from deniable.engines.ibis.number_functions import NUMBER_FUNCTIONS
from deniable.engines.ibis.row_numbers import text_to_hash
from deniable.engines.ibis.text_functions import TEXT_FUNCTIONS
from deniable.engines.ibis.wide_integers import (
    Value,
    WideInteger,
    split_by_sign,
    square,
)
from deniable.errors import Unsupported

_TYPES = {"INT": "int64", "BIGINT": "int64", "INT128": "wide", "DOUBLE": "float64"}
_TYPES |= {"TEXT": "string", "VARCHAR": "string", "BOOLEAN": "boolean", "DATE": "date"}
_TYPES |= {"TIMESTAMP": "timestamp(6)", "TIMESTAMPNTZ": "timestamp(6)", "SMALLINT": "int64"}
_COMPARISONS: dict[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
    exp.LT: lambda a, b: a < b,
    exp.LTE: lambda a, b: a <= b,
    exp.GT: lambda a, b: a > b,
    exp.GTE: lambda a, b: a >= b,
}


class IbisValues:
    """Reads values; `columns` are those that a SELECT can name."""

    def __init__(
        self, columns: dict[str, Value | WideInteger], salt: int, backend: str
    ) -> None:
        self.columns, self._salt, self._backend = columns, salt, backend

    def say(self, node: exp.Expr) -> Value | WideInteger:
        """A value; raises Unsupported on what Ibis has no words for."""
        reads = _READERS.get(type(node))
        if reads is not None:
            return reads(self, node)
        function = _FUNCTIONS.get(type(node))
        if function is None:
            raise unsupported(node)
        return function(node, self.plain, self._backend)

    def plain(self, node: exp.Expr) -> Value:
        """A value that is no wide integer."""
        found = self.say(node)
        if isinstance(found, WideInteger):
            raise unsupported(node)
        return found

    def _column(self, node: exp.Expr) -> Value | WideInteger:
        assert isinstance(node, exp.Column)
        found = self.columns.get(f"{node.table}.{node.name}" if node.table else node.name)
        if found is None:
            raise Unsupported(f"The statement has no column {node.name!r} here.")
        return found

    def _literal(self, node: exp.Expr) -> Value:
        if node.is_string:
            return ibis.literal(node.name)
        whole = node.name.lstrip("-").isdigit()
        return ibis.literal(int(node.name) if whole else float(node.name))

    def _cast(self, node: exp.Expr) -> Value | WideInteger:
        to = _TYPES.get(node.args["to"].this.name)
        if to is None:
            raise unsupported(node.args["to"])
        if isinstance(node.this, exp.Literal) and to == "timestamp(6)":
            return moment_literal(node.this.name)
        number = digits_of(node.this)
        if number is not None and to in ("float64", "wide"):
            return ibis.literal(float(number)) if to == "float64" else int(number)
        value = self.say(node.this)
        if to == "wide":
            return value if isinstance(value, WideInteger) else WideInteger(((1, value),))
        if isinstance(value, WideInteger):
            if to != "float64":
                raise unsupported(node)
            return value.real()
        return cast(value, to)

    def _paren(self, node: exp.Expr) -> Value | WideInteger:
        return self.say(node.this)

    def _arithmetic(self, node: exp.Expr) -> Value | WideInteger:
        left, right = self.say(node.this), self.say(node.expression)
        if isinstance(left, int | WideInteger) or isinstance(right, int | WideInteger):
            return _wide_arithmetic(node, left, right)
        if isinstance(node, exp.Div):
            return divide(to_double(left), to_double(right).nullif(0.0))
        if isinstance(node, exp.Mul):
            return left * right
        return left + right if isinstance(node, exp.Add) else left - right

    def _comparison(self, node: exp.Expr) -> Value:
        return _COMPARISONS[type(node)](self.plain(node.this), self.plain(node.expression))

    def _connected(self, node: exp.Expr) -> Value:
        left, right = self.plain(node.this), self.plain(node.expression)
        return left & right if isinstance(node, exp.And) else left | right

    def _is(self, node: exp.Expr) -> Value:
        return self.plain(node.this).isnull()

    def _in(self, node: exp.Expr) -> Value:
        value = self.plain(node.this)
        listed = [_constant(one) for one in node.expressions]
        if None in listed:
            among = [value == self.plain(one) for one in node.expressions]
            found = among[0]
            for one in among[1:]:
                found = found | one
            return found
        return value.isin(listed)

    def _between(self, node: exp.Expr) -> Value:
        return self.plain(node.this).between(
            self.plain(node.args["low"]), self.plain(node.args["high"])
        )

    def _case(self, node: exp.Expr) -> Value:
        tests = [self.plain(one.this) for one in node.args["ifs"]]
        if node.this is not None:
            subject = self.plain(node.this)
            tests = [subject == one for one in tests]
        values = [self.say(one.args["true"]) for one in node.args["ifs"]]
        other = node.args.get("default")
        last = None if other is None else self.say(other)
        if isinstance(last, WideInteger):  # of a unit within its limits, so that it fits
            (test,) = tests
            out = test.fill_null(False)
            last = last.each(lambda one: ibis.cases((out, 0), else_=one)).narrow()
        real_ = any(is_double(one) for one in (*values, last) if one is not None)
        values = [to_double(one) if real_ else one for one in values]
        if last is None:
            return ibis.cases(*zip(tests, values, strict=True))
        return ibis.cases(
            *zip(tests, values, strict=True), else_=to_double(last) if real_ else last
        )

    def _flat(self, node: exp.Expr) -> Value | WideInteger:
        values = [self.say(one) for one in (node.this, *node.expressions)]
        if isinstance(values[0], WideInteger):
            return values[0].each(lambda one: one.coalesce(0))
        if any(map(is_double, values)):
            values = [to_double(one) for one in values]
        if isinstance(node, exp.Coalesce):
            return ibis.coalesce(*values)
        if isinstance(node, exp.Least):
            return ibis.least(*values)
        if self._backend != "polars" or not any(map(is_double, values)):
            return ibis.greatest(*values)
        most: Value = values[0]  # Polars passes NaN by, which is the greatest number
        for one in values[1:]:
            most = ibis.cases((most.isnull() | (one > most), one), else_=most)
        return most

    def _nullif(self, node: exp.Expr) -> Value:
        return self.plain(node.this).nullif(self.plain(node.expression))

    def _not(self, node: exp.Expr) -> Value:
        return ~self.plain(node.this)

    def _negative(self, node: exp.Expr) -> Value:
        return -self.plain(node.this)

    def _abs(self, node: exp.Expr) -> Value:
        return self.plain(node.this).abs()

    def _count(self, node: exp.Expr) -> Value:
        if isinstance(node.this, exp.Star):
            rows: Any = self.columns["*"]
            return rows.count()
        if isinstance(node.this, exp.Distinct):
            value = self.plain(node.this.expressions[0])
            return value.nunique(where=value.notnull())  # Polars would count NULL
        return self.plain(node.this).count()

    def _sum(self, node: exp.Expr) -> WideInteger:
        inner = node.this
        if isinstance(inner, exp.Cast) and inner.args["to"].this.name == "INT128":
            inner = inner.this
        value = self.say(inner)
        if isinstance(value, WideInteger):
            return value.total()
        if is_double(value):
            raise unsupported(node)  # a sum of doubles depends on the order of rows
        return split_by_sign(value).total()

    def _extreme(self, node: exp.Expr) -> Value:
        value = self.plain(node.this)
        if isinstance(node, exp.Min):
            return value.min()
        if self._backend != "polars" or not is_double(value):
            return value.max()
        # Polars passes NaN by, which is the greatest number.
        nowhere = value.isnan().cast("int64").max() == 1
        return ibis.cases((nowhere, float("nan")), else_=value.max())

    def _anonymous(self, node: exp.Expr) -> Value:
        if node.name.upper() != "HASH" or not isinstance(node.expressions[-1], exp.Placeholder):
            raise unsupported(node)
        values = [self.plain(one) for one in node.expressions[:-1]]
        return text_to_hash(values, self._salt).hash()


def _wide_arithmetic(node: exp.Expr, left: Any, right: Any) -> Any:
    """Arithmetic of wide integers, of which a product has a constant side."""
    if isinstance(node, exp.Mul):
        sides = [one for one in (left, right) if isinstance(one, WideInteger)]
        if len(sides) == 2 and node.this == node.expression and len(left.parts) == 1:
            ((weight, value),) = left.parts
            return square(value).times(weight * weight)
        numbers = [
            _whole_number(one) for one in (left, right) if not isinstance(one, WideInteger)
        ]
        if len(sides) == 1 and numbers[0] is not None:
            return sides[0].times(numbers[0])
        raise unsupported(node)
    both = [
        one if isinstance(one, WideInteger) else WideInteger(((1, one),))
        for one in (left, right)
    ]
    return both[0] + (both[1] if isinstance(node, exp.Add) else both[1].times(-1))


def _whole_number(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    found = value.op()
    return int(found.value) if type(found).__name__ == "Literal" else None


def _constant(node: exp.Expr) -> Any:
    if isinstance(node, exp.Literal):
        return node.name if node.is_string else float(node.name)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    number = digits_of(node.this) if isinstance(node, exp.Cast) else digits_of(node)
    return None if number is None else float(number)


_READERS: dict[type[exp.Expr], Callable[[IbisValues, exp.Expr], Any]] = {
    exp.Column: IbisValues._column,
    exp.Literal: IbisValues._literal,
    exp.Null: lambda _, node: ibis.null(),
    exp.Boolean: lambda _, node: ibis.literal(bool(node.this)),
    exp.Paren: IbisValues._paren,
    exp.Cast: IbisValues._cast,
    exp.TryCast: IbisValues._cast,
    exp.Add: IbisValues._arithmetic,
    exp.Sub: IbisValues._arithmetic,
    exp.Mul: IbisValues._arithmetic,
    exp.Div: IbisValues._arithmetic,
    exp.Neg: IbisValues._negative,
    exp.And: IbisValues._connected,
    exp.Or: IbisValues._connected,
    exp.Not: IbisValues._not,
    exp.Is: IbisValues._is,
    exp.In: IbisValues._in,
    exp.Between: IbisValues._between,
    exp.Case: IbisValues._case,
    exp.Coalesce: IbisValues._flat,
    exp.Least: IbisValues._flat,
    exp.Greatest: IbisValues._flat,
    exp.Nullif: IbisValues._nullif,
    exp.Abs: IbisValues._abs,
    exp.Count: IbisValues._count,
    exp.Sum: IbisValues._sum,
    exp.Min: IbisValues._extreme,
    exp.Max: IbisValues._extreme,
    exp.Anonymous: IbisValues._anonymous,
    **dict.fromkeys(_COMPARISONS, IbisValues._comparison),
}
_FUNCTIONS = {**TEXT_FUNCTIONS, **NUMBER_FUNCTIONS, **DATE_FUNCTIONS}
