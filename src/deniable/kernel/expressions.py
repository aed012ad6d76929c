"""Expressions over one row: their type and range, and that no row can make them fail.

Every rule computes a value from the values of its parts. All functions here are deterministic
and total in the engine: no row makes them fail, and none looks at another row, at the order of
rows, at the time or at a setting.
"""

import operator
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
from deniable.kernel.reading import Node, bare, no_rule, only, operands, type_of
from deniable.kernel.values import BOOL, NULL, SIGNED, UNSURE, Value, double, hull, integer

_BITS = {"INT": 32, "BIGINT": 64, "INT128": 128}
_KINDS = {"DOUBLE": "double", "TEXT": "text", "BOOLEAN": "bool", "DATE": "date"}
_KINDS |= {"TIMESTAMPNTZ": "time"}
_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
NUMBERS = {"int", "double", "null"}
_RAW = {"raw wide", "raw number", "raw text", "raw boolean", "text", "null"}
# From which kinds a TRY_CAST to a type is total and gives the same result on every run.
_TRY = {
    "DOUBLE": {*_RAW, "raw date", "int", "double", "bool"},
    "TEXT": {*_RAW, "int", "double", "bool", "date"},
    "BOOLEAN": {*_RAW, "raw date", "int", "double", "bool"},
    "BIGINT": {*_RAW, "raw date", "int", "double"},
    "INT": NUMBERS,
    "TIMESTAMPNTZ": {*_RAW, "raw date", "time"},
    "DATE": {*_RAW, "raw date", "time", "date"},
}
_ZERO = exp.Literal.number(0)


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
        if self.refined and node in self.refined:
            return self.refined[node]
        if isinstance(node, exp.Column):
            return self.find(node)
        if self.aggregate is not None and isinstance(node, exp.AggFunc):
            return self.aggregate(node)
        rule = self.rules.get(type(node))
        if rule is None:
            raise no_rule(node)
        return rule(node, self)

    def values(self, node: Node, *names: str) -> list[Value]:
        """What is known about the parts of an expression, which has no others than these."""
        return [self.value(part) for part in only(node, *names).iter_expressions()]

    def boolean(self, node: Node) -> None:
        """Checks that this is a condition."""
        check_kinds([self.value(node)], {"bool", "null"})


def check_kinds(values: list[Value], kinds: set[str]) -> None:
    """Refuses values of other kinds: they would be cast, and the cast could fail."""
    if any(value.kind not in kinds for value in values):
        raise PlanRefused("An expression has a part of the wrong type.")


def _check_alike(values: list[Value]) -> None:
    """Refuses values of several types: one of them would be cast, and the cast could fail."""
    kinds = {"number" if v.kind in ("int", "double") else v.kind for v in values} - {"null"}
    if len(kinds) > 1 or not kinds <= {"number", "text", "bool", "time", "date"}:
        raise PlanRefused("Values of different types are compared.")


def text_of(node: Node) -> str | None:
    """The text that a node is, if it is a constant."""
    return node.this if isinstance(node, exp.Literal) and node.is_string else None


def _literal(node: exp.Literal, scope: RowScope) -> Value:
    """A text, or an integer. It takes the type of what stands beside it, so it counts as of the
    smallest type that holds it. Decimals stand only in casts to DOUBLE."""
    if node.is_string:
        return Value("text", null=False, count=1)
    if not node.this.isdigit() or (number := int(node.this)) >= 1 << 127:
        raise PlanRefused(f"A number that is not an integer of 128 bits: {node.this[:40]}")
    bits = max(8, 1 << number.bit_length().bit_length())
    return Value("int", number, number, bits, False, polynomial=RowSum.constant(number))


def _negative(node: exp.Neg, scope: RowScope) -> Value:
    """-x is 0 - x, but for the sign of a zero."""
    return _combined(exp.Sub, scope.value(_ZERO), *scope.values(node, "this"))


def _arithmetic(node: exp.Binary, scope: RowScope) -> Value:
    """a + b - c, from the left."""
    chain: list[Node] = [node]
    while type(inner := bare(chain[-1].this)) in _APPLY:
        chain.append(inner)
    result = scope.value(inner)
    for step in reversed(chain):
        part = scope.value(only(step, "this", "expression").expression)
        result = _combined(type(step), result, part)
    return result


_APPLY: dict[type[Node], Callable[..., Any]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
}


def _combined(kind: type[Node], a: Value, b: Value) -> Value:
    """a + b, a - b or a * b: it lies between the results at the ends of both ranges. Doubles
    round, and overflow to infinity without an error. Integers must not overflow, and are
    polynomials of the columns that their parts are polynomials of."""
    check_kinds([a, b], NUMBERS)
    apply, corners = _APPLY[kind], [-inf, inf]
    if a.bounded and b.bounded:
        corners = [apply(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    if not a.kind == b.kind == "int":
        return double(min(corners), max(corners), a, b)
    result = integer(min(corners), max(corners), max(a.bits, b.bits), a, b)
    known = a.polynomial is not None and b.polynomial is not None
    return replace(result, polynomial=apply(a.polynomial, b.polynomial) if known else None)


def _division(node: exp.Binary, scope: RowScope) -> Value:
    """a / b and a % b of doubles: never an error; infinite or NaN where b is 0. The sign of
    that infinity is the sign of the zero, so b must be determined, or not 0."""
    a, b = values = scope.values(node, "this", "expression")
    check_kinds(values, NUMBERS)
    if "double" not in (a.kind, b.kind):
        raise PlanRefused("Division of integers has no rule.")
    if b.zeros == UNSURE:
        raise PlanRefused("A divisor may be 0 with either sign.")
    known = isinstance(node, exp.Div) and a.bounded and b.bounded
    if not known or b.low <= 0 <= b.high:
        return replace(double(-inf, inf, a, b), null=True)
    corners = [Fraction(x) / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return double(min(corners), max(corners), a, b)


def _comparison(node: Node, scope: RowScope) -> Value:
    """Values of one type are compared; a number never with a text, which would be cast."""
    _check_alike(scope.values(node, "this", "expression", "expressions", "low", "high"))
    return BOOL


def _logic(node: Node, scope: RowScope) -> Value:
    """AND, OR and NOT of conditions."""
    parts = operands(node, type(node)) if isinstance(node, exp.Connector) else [node.this]
    for part in parts:
        scope.boolean(part)
    return BOOL


def _is_null(node: exp.Is, scope: RowScope) -> Value:
    """x IS NULL is true or false for any type."""
    if not isinstance(only(node, "this", "expression").expression, exp.Null):
        raise no_rule(node)
    scope.value(node.this)
    return replace(BOOL, null=False)


def _cast(node: exp.Cast, scope: RowScope) -> Value:
    """CAST fails where a value does not fit, so its range must fit the type; to a double it
    never fails. A cast of a text constant does not depend on a row, but would fail on the first
    row if it is no moment of the calendar."""
    to, inner = type_of(only(node, "this", "to")), bare(node.this)
    if to == "DOUBLE" and (number := _number(inner)) is not None:
        return number
    if to == "TIMESTAMPNTZ" and (moment := _moment(text_of(inner) or "")) is not None:
        return Value("time", moment, moment, null=False, count=1)
    value = scope.value(inner)
    if to not in _BITS or value.kind not in ("int", "double") or not value.bounded:
        raise no_rule(node)
    fitting = integer(floor(value.low), ceil(value.high), _BITS[to], value)
    same = value.polynomial if value.kind == "int" else None
    return replace(fitting, polynomial=same, count=value.count)


def _number(node: Node) -> Value | None:
    """A constant as a double. The engine may round a decimal in its own way."""
    inner = bare(node.this) if isinstance(node, exp.Neg) else node
    if not isinstance(inner, exp.Literal) or inner.is_string or not isfinite(float(inner.this)):
        return None
    number = Fraction(float(inner.this)) * (1 if inner is node else -1)
    if number.denominator != 1 or abs(number) >= 1 << 53:
        return replace(double(number, number), count=1)
    zeros = SIGNED if number == 0 and inner is not node else 0
    return Value("double", number, number, null=False, count=1, zeros=zeros)


def _moment(text: str) -> int | None:
    """A moment in digits, which have the same order; None for other texts."""
    try:
        datetime.fromisoformat(text if _STAMP.fullmatch(text) else "")
    except ValueError:
        return None
    return int(re.sub("[^0-9]", "", text))


def _try_cast(node: exp.TryCast, scope: RowScope) -> Value:
    """TRY_CAST is NULL where CAST would fail. To a text it may show the sign of a zero, so that
    must be determined; timestamps out of range make it fail, so they are refused."""
    to = type_of(only(node, "this", "to", "safe"))
    value = scope.value(node.this)
    if value.kind not in _TRY.get(to, set()) or (to == "TEXT" and value.zeros == UNSURE):
        raise PlanRefused(f"TRY_CAST of {value.kind} to {to} has no rule or is not determined.")
    if to in _BITS:
        edge = 1 << _BITS[to] - 1
        low = -edge if value.low < -edge else floor(value.low)
        high = edge - 1 if value.high > edge - 1 else ceil(value.high)
        return Value("int", min(low, high), high, _BITS[to], count=value.count)
    if value.kind == _KINDS[to]:
        return value
    if to == "DOUBLE" and value.kind in ("int", "bool"):
        return replace(double(value.low, value.high, value), zeros=0, count=value.count)
    made = BOOL if to == "BOOLEAN" else Value(_KINDS[to], zeros=SIGNED if to == "DOUBLE" else 0)
    return replace(made, count=value.count)


def _case(node: exp.Case, scope: RowScope) -> Value:
    """One of the branches. In a branch its own condition holds and those before it do not, and
    what they say about the range of an expression is used for that expression."""
    values, subject = [], only(node, "this", "ifs", "default").this
    for branch in node.args["ifs"]:
        test, result = only(branch, "this", "true").this, branch.args["true"]
        if subject is not None:
            _check_alike([scope.value(subject), scope.value(test)])
            values.append(scope.value(result))
            continue
        scope.boolean(test)
        values.append(refine(scope, test).value(result))
        scope = refine(scope, test, holds=False)
    default = node.args.get("default")
    return hull([*values, NULL if default is None else scope.value(default)])


_OPPOSITE = {exp.GT: exp.LTE, exp.GTE: exp.LT, exp.LT: exp.GTE, exp.LTE: exp.GT}


def refine(scope: RowScope, condition: Node, *, holds: bool = True) -> RowScope:
    """The scope with what a condition says about one expression, where it holds or does not.

    A condition that is NULL does not hold; then x is NULL, and a range says nothing about NULL.
    """
    condition = bare(condition)
    if isinstance(condition, exp.Not):
        # NOT x holds only where x is false; where it does not hold, x may be NULL.
        return refine(scope, condition.this, holds=False) if holds else scope
    found = None
    if isinstance(condition, exp.EQ) or type(condition) in _OPPOSITE:
        end = scope.value(condition.expression)
        found = _compared(type(condition), scope.value(condition.this), end, holds=holds)
    elif isinstance(condition, exp.Between) and holds:
        low, high = (scope.value(condition.args[end]) for end in ("low", "high"))
        found = _compared(exp.GTE, scope.value(condition.this), low, holds=True)
        found = found and _compared(exp.LTE, found, high, holds=True)
    elif isinstance(condition, exp.In) and holds:
        listed = [scope.value(part).most for part in condition.expressions]
        count = None if None in listed else sum(filter(None, listed))
        found = scope.value(condition.this).limited_to(count)
    elif isinstance(condition, exp.Is) and not holds:
        found = replace(scope.value(condition.this), null=False)
    if found is None:
        return scope
    found = replace(found, null=found.null and not holds)
    return replace(scope, refined={**scope.refined, bare(condition.this): found})


def _compared(kind: type[Node], value: Value, other: Value, *, holds: bool) -> Value | None:
    """A value that compares so with another one. NaN is greater than every number: `x > c` that
    does not hold excludes it, `x < c` does not."""
    if not other.bounded or other.null:
        return None
    if kind is exp.EQ and not holds and other.low == other.high == 0:
        return replace(value, zeros=0)
    if kind not in _OPPOSITE or value.kind not in ("int", "double", "time"):
        return None
    kind = kind if holds else _OPPOSITE[kind]
    whole = value.kind == other.kind == "int"
    if value.kind != other.kind and max(-other.low, other.high) >= 1 << 53:
        return None  # one of them is rounded to a double before they are compared
    low, high, zeros = value.low, value.high, value.zeros
    if (kind is exp.LT and other.high <= 0) or (kind is exp.GT and other.low >= 0):
        zeros = 0  # it is not a zero
    if kind in (exp.LT, exp.LTE):
        high = min(high, other.high - (whole and kind is exp.LT))
    else:
        low = max(low, other.low + (whole and kind is exp.GT))
    # If the range is empty, one point of it: no row comes here.
    return replace(value, low=min(low, high), high=high, zeros=zeros, polynomial=None)


def _coalesce(node: exp.Coalesce, scope: RowScope) -> Value:
    """The first value that is not NULL. COALESCE(SUM(x), 0) of no rows is the empty sum, 0."""
    values = scope.values(node, "this", "expressions")
    empty = isinstance(bare(node.this), exp.Sum) and node.expressions == [_ZERO]
    null = all(value.null for value in values)
    return replace(hull(values), null=null, polynomial=values[0].polynomial if empty else None)


def _nullif(node: exp.Nullif, scope: RowScope) -> Value:
    """NULL where both are equal: a zero has no sign if that is gone."""
    values = scope.values(node, "this", "expression")
    _check_alike(values)
    gone = values[1].low == values[1].high == 0
    return replace(values[0].optional(), zeros=0 if gone else values[0].zeros)


RULES: dict[type[Node], Callable[..., Value]] = {
    exp.Literal: _literal,
    exp.Null: lambda node, scope: NULL,
    exp.Boolean: lambda node, scope: replace(BOOL, null=False, count=1),
    exp.Neg: _negative,
    **dict.fromkeys(_APPLY, _arithmetic),
    **dict.fromkeys((exp.Div, exp.Mod), _division),
    **dict.fromkeys((exp.EQ, exp.NEQ, *_OPPOSITE, exp.NullSafeNEQ), _comparison),
    **dict.fromkeys((exp.In, exp.Between), _comparison),
    **dict.fromkeys((exp.And, exp.Or, exp.Not), _logic),
    exp.Is: _is_null,
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.Case: _case,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
}
