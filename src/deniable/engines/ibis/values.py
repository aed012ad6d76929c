"""Translates the values of our statements into Ibis expressions.

Only features of every backend are used: 64-bit integers, doubles, text, comparisons and CASE.
Nothing depends on how a backend rounds, orders NaN or casts: each is written out, on arguments
that cannot fail, because some backends evaluate both sides of a CASE.
"""

from collections.abc import Callable
from typing import Any

import ibis
from sqlglot import exp

from deniable.engines.dialect.constants import digits_of
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
    """Translates values; `columns` are those that a SELECT can use."""

    def __init__(
        self, columns: dict[str, Value | WideInteger], salt: int, backend: str
    ) -> None:
        self.columns, self._salt, self._backend = columns, salt, backend

    def translate(self, node: exp.Expr) -> Value | WideInteger:
        """A value as an Ibis expression; raises Unsupported if Ibis cannot reproduce it."""
        reads = _READERS.get(type(node))
        if reads is not None:
            return reads(self, node)
        function = _FUNCTIONS.get(type(node))
        if function is None:
            raise unsupported(node)
        return function(node, self.translate_plain, self._backend)

    def translate_plain(self, node: exp.Expr) -> Value:
        """A value that is not a wide integer."""
        value = self.translate(node)
        if isinstance(value, WideInteger):
            raise unsupported(node)
        return value

    def _column(self, node: exp.Expr) -> Value | WideInteger:
        assert isinstance(node, exp.Column)
        column = self.columns.get(f"{node.table}.{node.name}" if node.table else node.name)
        if column is None:
            raise Unsupported(f"The statement has no column {node.name!r} here.")
        return column

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
        value = self.translate(node.this)
        if to == "wide":
            return value if isinstance(value, WideInteger) else WideInteger(((1, value),))
        if isinstance(value, WideInteger):
            if to != "float64":
                raise unsupported(node)
            return value.to_double()
        return cast(value, to)

    def _paren(self, node: exp.Expr) -> Value | WideInteger:
        return self.translate(node.this)

    def _arithmetic(self, node: exp.Expr) -> Value | WideInteger:
        left, right = self.translate(node.this), self.translate(node.expression)
        if isinstance(left, int | WideInteger) or isinstance(right, int | WideInteger):
            return _wide_arithmetic(node, left, right)
        if isinstance(node, exp.Div):
            return divide(to_double(left), to_double(right).nullif(0.0))
        if isinstance(node, exp.Mul):
            return left * right
        return left + right if isinstance(node, exp.Add) else left - right

    def _comparison(self, node: exp.Expr) -> Value:
        return _COMPARISONS[type(node)](
            self.translate_plain(node.this), self.translate_plain(node.expression)
        )

    def _and_or(self, node: exp.Expr) -> Value:
        left, right = self.translate_plain(node.this), self.translate_plain(node.expression)
        return left & right if isinstance(node, exp.And) else left | right

    def _is(self, node: exp.Expr) -> Value:
        return self.translate_plain(node.this).isnull()

    def _in(self, node: exp.Expr) -> Value:
        value = self.translate_plain(node.this)
        listed = [_constant(item) for item in node.expressions]
        if None in listed:
            tests = [value == self.translate_plain(item) for item in node.expressions]
            any_of = tests[0]
            for item in tests[1:]:
                any_of = any_of | item
            return any_of
        return value.isin(listed)

    def _between(self, node: exp.Expr) -> Value:
        return self.translate_plain(node.this).between(
            self.translate_plain(node.args["low"]), self.translate_plain(node.args["high"])
        )

    def _case(self, node: exp.Expr) -> Value:
        tests = [self.translate_plain(branch.this) for branch in node.args["ifs"]]
        if node.this is not None:
            subject = self.translate_plain(node.this)
            tests = [subject == test for test in tests]
        values = [self.translate(branch.args["true"]) for branch in node.args["ifs"]]
        other = node.args.get("default")
        last = None if other is None else self.translate(other)
        if isinstance(last, WideInteger):  # of a unit within its limits, so it fits
            (test,) = tests
            out = test.fill_null(False)
            last = last.map_parts(lambda part: ibis.cases((out, 0), else_=part)).to_int64()
        doubles = any(is_double(value) for value in (*values, last) if value is not None)
        values = [to_double(value) if doubles else value for value in values]
        if last is None:
            return ibis.cases(*zip(tests, values, strict=True))
        return ibis.cases(
            *zip(tests, values, strict=True), else_=to_double(last) if doubles else last
        )

    def _coalesce_or_extreme(self, node: exp.Expr) -> Value | WideInteger:
        values = [self.translate(value) for value in (node.this, *node.expressions)]
        if isinstance(values[0], WideInteger):
            return values[0].map_parts(lambda value: value.coalesce(0))
        if any(map(is_double, values)):
            values = [to_double(value) for value in values]
        if isinstance(node, exp.Coalesce):
            return ibis.coalesce(*values)
        if isinstance(node, exp.Least):
            return ibis.least(*values)
        if self._backend != "polars" or not any(map(is_double, values)):
            return ibis.greatest(*values)
        greatest: Value = values[0]  # Polars ignores NaN, which is the greatest number
        for value in values[1:]:
            greatest = ibis.cases(
                (greatest.isnull() | (value > greatest), value), else_=greatest
            )
        return greatest

    def _nullif(self, node: exp.Expr) -> Value:
        return self.translate_plain(node.this).nullif(self.translate_plain(node.expression))

    def _not(self, node: exp.Expr) -> Value:
        return ~self.translate_plain(node.this)

    def _negative(self, node: exp.Expr) -> Value:
        return -self.translate_plain(node.this)

    def _abs(self, node: exp.Expr) -> Value:
        return self.translate_plain(node.this).abs()

    def _count(self, node: exp.Expr) -> Value:
        if isinstance(node.this, exp.Star):
            rows: Any = self.columns["*"]
            return rows.count()
        if isinstance(node.this, exp.Distinct):
            value = self.translate_plain(node.this.expressions[0])
            return value.nunique(where=value.notnull())  # Polars would count NULL
        return self.translate_plain(node.this).count()

    def _sum(self, node: exp.Expr) -> WideInteger:
        inner = node.this
        if isinstance(inner, exp.Cast) and inner.args["to"].this.name == "INT128":
            inner = inner.this
        value = self.translate(inner)
        if isinstance(value, WideInteger):
            return value.total()
        if is_double(value):
            raise unsupported(node)  # a sum of doubles depends on the order of rows
        return split_by_sign(value).total()

    def _extreme(self, node: exp.Expr) -> Value:
        value = self.translate_plain(node.this)
        if isinstance(node, exp.Min):
            return value.min()
        if self._backend != "polars" or not is_double(value):
            return value.max()
        # Polars ignores NaN, which is the greatest number.
        has_nan = value.isnan().cast("int64").max() == 1
        return ibis.cases((has_nan, float("nan")), else_=value.max())

    def _keyed_hash(self, node: exp.Expr) -> Value:
        if node.name.upper() != "HASH" or not isinstance(node.expressions[-1], exp.Placeholder):
            raise unsupported(node)
        values = [self.translate_plain(argument) for argument in node.expressions[:-1]]
        return text_to_hash(values, self._salt).hash()


def _wide_arithmetic(node: exp.Expr, left: Any, right: Any) -> Any:
    """Arithmetic of wide integers; in a product one side is constant, or both are equal."""
    if isinstance(node, exp.Mul):
        sides = [side for side in (left, right) if isinstance(side, WideInteger)]
        if len(sides) == 2 and node.this == node.expression and len(left.parts) == 1:
            ((weight, value),) = left.parts
            return square(value).multiply(weight * weight)
        numbers = [
            _whole_number(side) for side in (left, right) if not isinstance(side, WideInteger)
        ]
        if len(sides) == 1 and numbers[0] is not None:
            return sides[0].multiply(numbers[0])
        raise unsupported(node)
    both = [
        side if isinstance(side, WideInteger) else WideInteger(((1, side),))
        for side in (left, right)
    ]
    return both[0] + (both[1] if isinstance(node, exp.Add) else both[1].multiply(-1))


def _whole_number(value: Any) -> int | None:
    if isinstance(value, int):
        return value
    operation = value.op()
    return int(operation.value) if type(operation).__name__ == "Literal" else None


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
    exp.And: IbisValues._and_or,
    exp.Or: IbisValues._and_or,
    exp.Not: IbisValues._not,
    exp.Is: IbisValues._is,
    exp.In: IbisValues._in,
    exp.Between: IbisValues._between,
    exp.Case: IbisValues._case,
    exp.Coalesce: IbisValues._coalesce_or_extreme,
    exp.Least: IbisValues._coalesce_or_extreme,
    exp.Greatest: IbisValues._coalesce_or_extreme,
    exp.Nullif: IbisValues._nullif,
    exp.Abs: IbisValues._abs,
    exp.Count: IbisValues._count,
    exp.Sum: IbisValues._sum,
    exp.Min: IbisValues._extreme,
    exp.Max: IbisValues._extreme,
    exp.Anonymous: IbisValues._keyed_hash,
    **dict.fromkeys(_COMPARISONS, IbisValues._comparison),
}
_FUNCTIONS = {**TEXT_FUNCTIONS, **NUMBER_FUNCTIONS, **DATE_FUNCTIONS}
