"""Expressions over one row: their type and range, and that no row can make them fail.

Every rule computes a value from the values of its parts. All functions here are deterministic
and total in the engine: no row makes them fail, and none looks at another row, at the order of
rows, at the time or at a setting.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from math import ceil, floor, inf, isfinite
from typing import Any

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.polynomials import RowSum
from deniable.kernel.reading import Node, bare, no_rule, only, type_of
from deniable.kernel.values import Value, double, hull, integer

_BITS = {"INT": 32, "BIGINT": 64, "INT128": 128}
_PLAIN = {"DOUBLE": "double", "TEXT": "text", "BOOLEAN": "bool"}
_PLAIN |= {"TIMESTAMPNTZ": "time", "DATE": "date"}
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_FIRST, _LAST = "0001-01-02 00:00:00", "9999-12-30 23:59:59"
_NUMBERS = {"int", "double", "null"}
_RAW = {"raw wide", "raw number", "raw text", "raw boolean", "text", "null"}
# From which kinds a TRY_CAST to a type is total and gives the same result on every run.
_TRY = {
    "DOUBLE": {*_RAW, "raw date", "int", "double", "bool"},
    "TEXT": {*_RAW, "int", "double", "bool", "date"},
    "BOOLEAN": {*_RAW, "raw date", "int", "double", "bool"},
    "BIGINT": {*_RAW, "raw date", "int", "double"},
    "INT": {"int", "double", "null"},
    "TIMESTAMPNTZ": {*_RAW, "raw date", "time"},
    "DATE": {*_RAW, "raw date", "time", "date"},
}


@dataclass(frozen=True, slots=True)
class RowScope:
    """The columns that an expression may name, and what a condition says about its parts."""

    find: Callable[[exp.Column], Value]  # the value of a column
    rules: "Mapping[type[Node], Callable[..., Value]]"
    aggregate: "Callable[[Node], Value] | None" = None
    refined: Mapping[Node, Value] = field(default_factory=dict)

    def value(self, node: Node) -> Value:
        """What is known about an expression."""
        node = bare(node)
        if isinstance(node, exp.Column):
            return self.refined.get(node) or self.find(node)
        if self.aggregate is not None and isinstance(node, exp.AggFunc):
            return self.aggregate(node)
        rule = self.rules.get(type(node))
        if rule is None:
            raise no_rule(node)
        return (self.refined and self.refined.get(node)) or rule(node, self)

    def values(self, node: Node, *names: str) -> list[Value]:
        """What is known about the parts of an expression, which has no others than these."""
        return [self.value(part) for part in only(node, *names).iter_expressions()]

    def boolean(self, node: Node) -> Value:
        """A condition."""
        value = self.value(node)
        check_kinds([value], {"bool", "null"})
        return value


def check_kinds(values: list[Value], kinds: set[str]) -> None:
    """Refuses values of other kinds: they would be cast, and the cast could fail."""
    if any(value.kind not in kinds for value in values):
        raise PlanRefused("An expression has a part of the wrong type.")


def _literal(node: exp.Literal, scope: RowScope) -> Value:
    """A text, or an integer. It takes the type of what stands beside it, so it counts as of the
    smallest type that holds it. Decimals stand only in casts to DOUBLE."""
    if node.is_string:
        return Value("text", null=False, count=1, constant=node.this)
    if not node.this.isdigit():
        raise PlanRefused(f"A number that is not an integer: {node.this}")
    number = int(node.this)
    bits = next((bits for bits in (8, 16, 32, 64, 128) if number < 1 << bits - 1), 0)
    if not bits:
        raise PlanRefused("An integer is wider than 128 bits.")
    by = RowSum.constant(number)
    return Value("int", number, number, bits, null=False, polynomial=by)


def _negative(node: exp.Neg, scope: RowScope) -> Value:
    """-x turns the range round, exactly; 0.0 becomes -0.0. An integer's type may not hold the
    opposite of its least value, so its range must not reach that."""
    (value,) = scope.values(node, "this")
    check_kinds([value], _NUMBERS)
    low, high = -value.high, -value.low
    if value.kind == "int":
        by = None if value.polynomial is None else value.polynomial.times(-1)
        return replace(integer(low, high, value.bits, value), polynomial=by)
    exact = bool(low > 0 or high < 0)
    return replace(value, kind="double", low=low, high=high, exact=exact)


def _arithmetic(node: exp.Binary, scope: RowScope) -> Value:
    """a + b - c, from the left: each range lies between the results at the ends of the ranges
    of its parts. Doubles round, and overflow to infinity without an error. Integers must not
    overflow, and are polynomials of the columns that their parts are polynomials of."""
    chain: list[Node] = [node]
    while type(inner := bare(chain[-1].this)) in _APPLY:
        chain.append(inner)
    result = scope.value(inner)
    for step in reversed(chain):
        only(step, "this", "expression")
        result = _combined(type(step), result, scope.value(step.expression))
    return result


_APPLY: dict[type, Callable[..., Fraction]] = {
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
}


def _combined(kind: type, a: Value, b: Value) -> Value:
    check_kinds([a, b], _NUMBERS)
    corners: list[Any] = [-inf, inf]
    if a.bounded and b.bounded:
        corners = [_APPLY[kind](x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = min(corners), max(corners)
    if not a.kind == b.kind == "int":
        return double(low, high, a, b)
    result = integer(low, high, max(a.bits, b.bits), a, b)
    left, right = a.polynomial, b.polynomial
    if left is None or right is None:
        return result
    if kind is exp.Mul:
        return replace(result, polynomial=left.multiplied(right))
    return replace(result, polynomial=left.plus(right, -1 if kind is exp.Sub else 1))


def _division(node: exp.Binary, scope: RowScope) -> Value:
    """a / b and a % b of doubles: never an error; infinite or NaN where b is 0. The sign of
    that infinity is the sign of the zero, so b must be determined, or not 0."""
    a, b = values = scope.values(node, "this", "expression")
    check_kinds(values, _NUMBERS)
    if "double" not in (a.kind, b.kind):
        raise PlanRefused("Division of integers has no rule.")
    if b.loose and not isinstance(bare(node.expression), exp.Nullif):
        raise PlanRefused("A divisor may be 0 with either sign.")
    known = isinstance(node, exp.Div) and a.bounded and b.bounded
    if not known or b.low <= 0 <= b.high:
        return replace(double(-inf, inf, a, b), null=True)
    corners = [Fraction(x) / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return double(min(corners), max(corners), a, b)


def _comparison(node: Node, scope: RowScope) -> Value:
    """Values of one type are compared; a number never with a text, which would be cast."""
    _check_alike(scope.values(node, "this", "expression", "expressions", "low", "high"))
    return Value("bool")


def _check_alike(values: list[Value]) -> None:
    kinds = {"number" if v.kind in ("int", "double") else v.kind for v in values} - {"null"}
    if len(kinds) > 1 or not kinds <= {"number", "text", "bool", "time", "date"}:
        raise PlanRefused("Values of different types are compared.")


def _logic(node: Node, scope: RowScope) -> Value:
    """AND, OR and NOT of conditions; a chain of one of them is read from the left."""
    while type(inner := bare(only(node, "this", "expression").this)) is type(node):
        if isinstance(node, exp.Binary):
            scope.boolean(node.expression)
        node = inner
    check_kinds(scope.values(node, "this", "expression"), {"bool", "null"})
    return Value("bool")


def _is_null(node: exp.Is, scope: RowScope) -> Value:
    """x IS NULL is true or false for any type."""
    if not isinstance(only(node, "this", "expression").expression, exp.Null):
        raise no_rule(node)
    scope.value(node.this)
    return Value("bool", null=False)


def _cast(node: exp.Cast, scope: RowScope) -> Value:
    """CAST fails where a value does not fit, so its range must fit the type; to a double it
    never fails. A cast of a text constant does not depend on a row, but would fail on the first
    row if it is no moment of the calendar."""
    to, inner = type_of(only(node, "this", "to")), bare(node.this)
    if to == "DOUBLE" and (number := _number_literal(inner)) is not None:
        found = Value("double", number, number, null=False)
        if number.denominator != 1 or abs(number) >= 1 << 53:  # the engine may round it
            found = double(number, number, found)
        return replace(found, count=1, exact=number != 0 or isinstance(inner, exp.Literal))
    value = scope.value(inner)
    if to == "TIMESTAMPNTZ" and _is_moment(value.constant or ""):
        return replace(value, kind="time")
    if to not in _BITS or value.kind not in ("int", "double") or not value.bounded:
        raise no_rule(node)
    fitting = integer(floor(value.low), ceil(value.high), _BITS[to], value)
    return replace(fitting, polynomial=value.polynomial, count=value.count)


def _is_moment(text: str) -> bool:
    try:
        return bool(_STAMP.fullmatch(text) and datetime.fromisoformat(text))
    except ValueError:
        return False


def _number_literal(node: Node) -> Fraction | None:
    inner = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(inner, exp.Literal) or inner.is_string or not isfinite(float(inner.this)):
        return None
    return Fraction(float(inner.this)) * (1 if inner is node else -1)


def _try_cast(node: exp.TryCast, scope: RowScope) -> Value:
    """TRY_CAST is NULL where CAST would fail. To a text it may show the sign of a zero, so that
    must be determined; timestamps out of range make it fail, so they are refused."""
    to = type_of(only(node, "this", "to", "safe"))
    value = scope.value(node.this)
    if value.kind not in _TRY.get(to, set()) or (to == "TEXT" and value.loose):
        raise PlanRefused(
            f"TRY_CAST of {value.kind} to {to} has no rule, or is not determined."
        )
    if to == "DOUBLE" and value.kind == "double":
        return value
    if to == "DOUBLE" and value.kind in ("int", "bool"):
        low, high = (0, 1) if value.kind == "bool" else (value.low, value.high)
        return replace(double(low, high, value), exact=True, count=value.count)
    if to in _BITS:
        edge = 1 << _BITS[to] - 1
        low = -edge if value.low < -edge else floor(value.low)
        high = edge - 1 if value.high > edge - 1 else ceil(value.high)
        return Value("int", min(low, high), high, _BITS[to], count=value.count)
    unknown = to == "DOUBLE"
    kept = Value(_PLAIN[to], nan=unknown, exact=not unknown, count=value.count)
    return replace(kept, calendar=value.calendar)


def _case(node: exp.Case, scope: RowScope) -> Value:
    """One of the branches. In a branch its own condition holds and those before it do not, and
    what they say about the range of an expression is used for that expression."""
    values, after, subject = [], scope, only(node, "this", "ifs", "default").this
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        if subject is None:
            after.boolean(branch.this)
            values.append(_refine(after, branch.this, holds=True).value(branch.args["true"]))
            after = _refine(after, branch.this, holds=False)
        else:
            _check_alike([scope.value(subject), scope.value(branch.this)])
            values.append(scope.value(branch.args["true"]))
    default = node.args.get("default")
    return hull([*values, _NULL if default is None else after.value(default)])


_OPPOSITE = {exp.GT: exp.LTE, exp.GTE: exp.LT, exp.LT: exp.GTE, exp.LTE: exp.GT}


def _refine(scope: RowScope, condition: Node, *, holds: bool) -> RowScope:
    """The scope with what a condition says about one expression, where it holds or does not.

    NaN is greater than every number: `x > c` that does not hold excludes it, `x < c` does not.
    A condition that is NULL does not hold; then x is NULL, and a range says nothing about NULL.
    """
    condition, found = bare(condition), None
    if isinstance(condition, exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        ends = scope.value(condition.expression)
        found = _compared(type(condition), scope.value(condition.this), ends, holds=holds)
    elif isinstance(condition, exp.Between) and holds:
        first, last = (scope.value(condition.args[end]).constant for end in ("low", "high"))
        found = scope.value(condition.this)
        inside = (first or "") >= _FIRST and (last or "~") <= _LAST
        found = replace(found, calendar=inside and found.kind == "time")
    elif isinstance(condition, exp.In) and holds:
        listed = [scope.value(part).most for part in condition.expressions]
        count = None if None in listed else sum(filter(None, listed))
        found = scope.value(condition.this).limited_to(count)
    if found is None:
        return scope
    return replace(scope, refined={**scope.refined, bare(condition.this): found})


def _compared(kind: type, value: Value, other: Value, *, holds: bool) -> Value | None:
    if not other.bounded or other.null:
        return None
    if kind is exp.EQ and not holds and other.low == other.high == 0:
        return replace(value, exact=True, loose=False)
    if kind not in _OPPOSITE or value.kind not in ("int", "double"):
        return None
    kind = kind if holds else _OPPOSITE[kind]
    whole = value.kind == other.kind == "int"
    if value.kind != other.kind and max(-other.low, other.high) >= 1 << 53:
        return None  # one of them is rounded to a double before they are compared
    low, high, nan = value.low, value.high, value.nan
    if (kind is exp.LT and other.high <= 0) or (kind is exp.GT and other.low >= 0):
        value = replace(value, exact=True, loose=False)  # it is not a zero
    if kind in (exp.LT, exp.LTE):
        high, nan = min(high, other.high - (whole and kind is exp.LT)), False
    else:
        low = max(low, other.low + (whole and kind is exp.GT))
    # If the range is empty, one point of it: no row comes here.
    return replace(value, low=min(low, high), high=high, nan=nan, polynomial=None)


def _coalesce(node: exp.Coalesce, scope: RowScope) -> Value:
    """The first value that is not NULL. COALESCE(SUM(x), 0) of no rows is the empty sum, 0."""
    values = scope.values(node, "this", "expressions")
    result = replace(hull(values), null=all(value.null for value in values))
    if isinstance(bare(node.this), exp.Sum) and values[1:] == [scope.value(_ZERO)]:
        return replace(result, polynomial=values[0].polynomial)
    return result


def _nullif(node: exp.Nullif, scope: RowScope) -> Value:
    """NULL where both are equal: a zero has no sign if that is gone."""
    values = scope.values(node, "this", "expression")
    _check_alike(values)
    value, gone = values[0].optional(), (values[1].low, values[1].high) == (0, 0)
    return replace(value, exact=value.exact or gone, loose=value.loose and not gone)


_NULL, _ZERO = Value("null", count=1), exp.Literal.number(0)
RULES: dict[type[Node], Callable[..., Value]] = {
    exp.Literal: _literal,
    exp.Null: lambda node, scope: _NULL,
    exp.Boolean: lambda node, scope: Value("bool", null=False, count=1),
    exp.Neg: _negative,
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul), _arithmetic),
    **dict.fromkeys((exp.Div, exp.Mod), _division),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), _comparison),
    **dict.fromkeys((exp.NullSafeNEQ, exp.In, exp.Between), _comparison),
    **dict.fromkeys((exp.And, exp.Or, exp.Not), _logic),
    exp.Is: _is_null,
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.Case: _case,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
}
