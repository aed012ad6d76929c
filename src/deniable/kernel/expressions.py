"""Expressions over one row: their type and range, and that no row can make them fail.

Every rule computes a value from the values of its parts. All functions here are deterministic
and total in the engine: no row makes them fail, and none looks at another row, at the order of
rows, at the time or at a setting.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction
from math import ceil, floor, inf, isfinite
from operator import add, mul, sub
from typing import Any, NamedTuple

from sqlglot import exp

from deniable.kernel.polynomials import RowSum
from deniable.kernel.reading import Node, match, no_rule, only, operands, require
from deniable.kernel.relations import Relation
from deniable.kernel.values import BOOL, NULL, UNSURE, Value, as_double, double, hull, integer

_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
NUMBERS = {"int", "double", "null"}
CALENDAR = (10102000000, 99991230235959)  # the moments of the years 1 to 9999, in digits
_FARTHEST = {"SECOND": 4010 * 31_556_952, "MONTH": 4010 * 12}  # that a moment is moved by
_RAW = {"raw wide", "raw number", "raw text", "raw boolean", "text", "null"}
_ANY = {*_RAW, "raw date", "int", "double", "bool"}
# What a cast to a type makes, and from which kinds a TRY_CAST to it is total and gives the same
# result on every run.
_TYPES: Mapping[str, tuple[Value, set[str]]] = {
    "TINYINT": (Value("int", -(1 << 7), (1 << 7) - 1, 8), set()),
    "SMALLINT": (Value("int", -(1 << 15), (1 << 15) - 1, 16), set()),
    "INT": (Value("int", -(1 << 31), (1 << 31) - 1, 32), NUMBERS),
    "BIGINT": (Value("int", -(1 << 63), (1 << 63) - 1, 64), _ANY - {"bool"}),
    "INT128": (Value("int", bits=128), set()),
    "DOUBLE": (double(-inf, inf, NULL), _ANY),
    "BOOLEAN": (BOOL, _ANY),
    "TEXT": (Value("text"), {*_RAW, "int", "double", "bool", "date"}),
    "JSON": (Value("json"), {"text"}),
    "TIMESTAMPNTZ": (Value("time"), {*_RAW, "raw date", "time"}),
    "DATE": (Value("date"), {*_RAW, "raw date", "time", "date"}),
}
_ZERO = Value("int", 0, 0, 8, null=False, polynomial=RowSum.constant(0))
Rules = Mapping[type[Node], "Callable[..., Value]"]


class RowScope(NamedTuple):
    """The row, or the group of rows, that an expression is computed from."""

    rows: Relation
    rules: Rules
    refined: Mapping[Node, Value]  # by what conditions say
    sums: dict[str, RowSum]  # of a group: its aggregates
    inner: "RowScope | None" = None  # of a group: the scope of its rows

    def value(self, node: Node) -> Value:
        """What is known about an expression. A row's number is not a value: it depends on
        other rows."""
        node = node.unnest()
        if self.refined and node in self.refined:
            return self.refined[node]
        if isinstance(node, exp.Column):
            name = self.rows.name(node)
            counted = self.rows.numbered and name in self.rows.units
            require(not counted, "A row number is used as a value.")
            return self.rows.columns[name].named(name)
        if type(node) not in self.rules:
            raise no_rule(node)
        return self.rules[type(node)](node, self)

    def values(self, node: Node, *names: str) -> list[Value]:
        """What is known about the parts of an expression, which has no others than these."""
        return [self.value(part) for part in only(node, *names).iter_expressions()]

    def boolean(self, node: Node) -> None:
        """Checks that this is a condition."""
        check_kinds([self.value(node)], {"bool", "null"})


def check_kinds(values: list[Value], kinds: set[str]) -> None:
    """Refuses values of other kinds: they would be cast, and the cast could fail."""
    require(kinds.issuperset(value.kind for value in values), "A part has the wrong type.")


def _check_alike(values: list[Value]) -> None:
    """Refuses values of several types: one of them would be cast, and the cast could fail."""
    kinds = {"double" if value.kind == "int" else value.kind for value in values} - {"null"}
    known = kinds <= {"double", "text", "bool", "time", "date"}
    require(known and len(kinds) < 2, "Values of different types are compared.")


def type_of(node: Node) -> str:
    """The type of a cast, without parameters."""
    return str(only(node.args["to"], "this").this.name)


def text_of(node: Node) -> str | None:
    """The text that a node is, if it is a constant."""
    return node.this if isinstance(node, exp.Literal) and node.is_string else None


def _literal(node: exp.Literal, scope: RowScope) -> Value:
    """A text or a number. An integer takes the type of what stands beside it, so it counts as
    of the smallest type that holds it. Decimals and larger integers are only cast to DOUBLE.
    """
    if node.is_string:
        return Value("text", null=False, different=1)
    require(isfinite(float(node.this)), "A number is not finite.")
    number = int(node.this) if node.this.isdigit() else Fraction(node.this)
    bits = max(8, 1 << int(number).bit_length().bit_length())
    kind = "int" if node.this.isdigit() and bits <= 128 else "decimal"
    return Value(kind, number, number, bits, False, 1, polynomial=RowSum.constant(number))


def _negative(node: exp.Neg, scope: RowScope) -> Value:
    """-x is 0 - x, except for the sign of a zero."""
    (value,) = scope.values(node, "this")
    if value.kind == "decimal":
        return value._replace(low=-value.high, high=-value.low, zeros=int(value.low == 0))
    return _combined(exp.Sub, _ZERO, value)


def _moved(node: exp.Binary, scope: RowScope) -> Value:
    """t + INTERVAL (n) SECOND, or MONTH: a moment in the calendar, moved by a whole number.

    Proof. The moment lies in the years 1 to 9999. It is moved by at most 4,010 years. So the
    sum lies between 4010 BC and the year 14,010, and every engine has all these moments: none
    fails. It is no longer known to lie in the calendar.
    """
    date, span = scope.value(only(node, "this", "expression").this), node.expression
    inside = CALENDAR[0] <= date.low and date.high <= CALENDAR[1]
    require(date.kind == "time" and inside, "A timestamp that is moved may be out of range.")
    count = scope.value(only(span, "this", "unit").this)
    most = _FARTHEST.get(span.text("unit"), 0)
    near = count.kind == "int" and -most <= count.low and count.high <= most
    require(near, "A timestamp may be moved too far.")
    return Value("time")


def _arithmetic(node: exp.Binary, scope: RowScope) -> Value:
    """a + b - c, from the left."""
    if isinstance(node, exp.Add) and isinstance(node.expression, exp.Interval):
        return _moved(node, scope)
    chain: list[Node] = [node]
    while type(inner := chain[-1].this.unnest()) in _APPLY:
        chain.append(inner)
    result = scope.value(inner)
    for step in reversed(chain):
        part = scope.value(only(step, "this", "expression").expression)
        result = _combined(type(step), result, part)
    return result


_APPLY: Mapping[type[Node], Any] = {exp.Add: add, exp.Sub: sub, exp.Mul: mul}


def _combined(kind: type[Node], a: Value, b: Value) -> Value:
    """a + b, a - b or a * b: it lies between the results at the ends of both ranges. Doubles
    round, and overflow to infinity without an error. Integers must not overflow, and are
    polynomials of the columns that their parts are polynomials of."""
    check_kinds([a, b], NUMBERS)
    apply, corners = _APPLY[kind], [-inf, inf]
    if "double" in (a.kind, b.kind):
        a, b = as_double(a), as_double(b)
    if a.bounded and b.bounded:
        corners = [apply(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    if not a.kind == b.kind == "int":
        result = double(min(corners), max(corners), a, b)
        positive = kind is exp.Add and 0 in (a.zeros, b.zeros)  # a sum with 0.0 is never -0.0
        return result.one_zero() if positive else result
    result = integer(min(corners), max(corners), max(a.bits, b.bits), a, b)
    known = a.polynomial is not None and b.polynomial is not None
    return result._replace(polynomial=apply(a.polynomial, b.polynomial) if known else None)


def _division(node: exp.Binary, scope: RowScope) -> Value:
    """a / b and a % b of doubles: never an error; infinite or NaN where b is 0. The sign of
    that infinity is the sign of the zero, so b must be determined, or not 0."""
    a, b = values = scope.values(node, "this", "expression")
    check_kinds(values, NUMBERS)
    require("double" in (a.kind, b.kind), "Division of integers has no rule.")
    require(b.zeros != UNSURE, "A divisor may be 0 with either sign.")
    a, b = as_double(a), as_double(b)
    known = isinstance(node, exp.Div) and a.bounded and b.bounded
    if not known or b.low <= 0 <= b.high:
        return double(-inf, inf, a, b)._replace(null=True)
    corners = [Fraction(x) / y for x in (a.low, a.high) for y in (b.low, b.high)]
    return double(min(corners), max(corners), a, b)


def _comparison(node: Node, scope: RowScope) -> Value:
    """Values of one type are compared; a number never with a text, which would be cast."""
    _check_alike(scope.values(node, "this", "expression", "expressions", "low", "high"))
    return BOOL


def _logic(node: Node, scope: RowScope) -> Value:
    """AND, OR and NOT of conditions."""
    for part in [node.this] if isinstance(node, exp.Not) else operands(node, type(node)):
        scope.boolean(part)
    return BOOL


def _is_null(node: exp.Is, scope: RowScope) -> Value:
    """x IS NULL is true or false for any type."""
    scope.value(require(match(node, "x IS NULL").get("x"), "IS takes NULL only."))
    return BOOL._replace(null=False)


def _cast(node: exp.Cast, scope: RowScope) -> Value:
    """CAST fails where a value does not fit, so its range must fit the type; to a double it
    never fails. A cast of a text constant does not depend on a row, but would fail on the first
    row if it is not a moment of the calendar."""
    to, value = type_of(only(node, "this", "to")), scope.value(node.this)
    if to == "DOUBLE" and value.kind in ("int", "decimal"):
        return as_double(value)
    if to == "TIMESTAMPNTZ":
        moment = require(_moment(text_of(node.this.unnest()) or ""), "A text is not a moment.")
        return Value("time", moment, moment, null=False, different=1)
    target, _ = _TYPES.get(to, (NULL, ()))
    if target.kind != "int" or value.kind not in ("int", "double") or not value.bounded:
        raise no_rule(node)
    fitting = integer(floor(value.low), ceil(value.high), target.bits, value)
    same = value.polynomial if value.kind == "int" else None
    return fitting._replace(polynomial=same, different=value.different)


def _moment(text: str) -> int | None:
    """A moment in digits, which have the same order; None for other texts."""
    try:
        datetime.fromisoformat(text if _STAMP.fullmatch(text) else "")
    except ValueError:
        return None
    return int(re.sub("[^0-9]", "", text))


def _try_cast(node: exp.TryCast, scope: RowScope) -> Value:
    """TRY_CAST is NULL where CAST would fail. To a text it may show the sign of a zero or
    NaN, so that must be determined; timestamps out of range make it fail: they are refused."""
    to, value = type_of(only(node, "this", "to", "safe")), scope.value(node.this)
    target, kinds = _TYPES.get(to, (NULL, set[str]()))
    total = value.kind in kinds and not (to == "TEXT" and value.unsure)
    require(total, f"TRY_CAST of {value.kind} to {to} has no rule, or is not determined.")
    if target.kind == "int":
        low, high = floor(max(value.low, target.low)), ceil(min(value.high, target.high))
        target = target._replace(low=min(low, high), high=high)
    elif value.kind == target.kind:
        return value
    elif to == "DOUBLE" and value.kind in ("int", "bool"):
        target = double(value.low, value.high, value)._replace(zeros=0)
    zeros = max(target.zeros, value.zeros) if to == "DOUBLE" else 0
    return target._replace(different=value.different, zeros=zeros)


def _case(node: exp.Case, scope: RowScope) -> Value:
    """One of the branches. In a branch its own condition holds and those before it do not, and
    what they say about the range of an expression is used for that expression."""
    values, subject = [], only(node, "this", "ifs", "default").this
    for branch in node.args["ifs"]:
        test, then = only(branch, "this", "true").this, scope
        if subject is not None:
            _check_alike([scope.value(subject), scope.value(test)])
        else:
            scope.boolean(test)
            then, scope = refine(scope, test), refine(scope, test, holds=False)
        values.append(then.value(branch.args["true"]))
    default = node.args.get("default")
    return hull([*values, NULL if default is None else scope.value(default)])


_PAIRS: Any = ((exp.GT, exp.LTE), (exp.GTE, exp.LT))
_OPPOSITE: dict[type[Node], type[Node]] = dict([*_PAIRS, *(pair[::-1] for pair in _PAIRS)])
# What says something about a value: where it does not hold, and where it holds.
_TOLD = ((exp.EQ, exp.Is, *_OPPOSITE), (exp.EQ, exp.In, exp.Between, *_OPPOSITE))
_ENDS: dict[type[Node], Any] = {exp.Between: [(exp.GTE, "low"), (exp.LTE, "high")]}


def refine(scope: RowScope, test: Node, *, holds: bool = True) -> RowScope:
    """The scope with what a condition says about one expression, where it holds or does not.

    A condition that is NULL does not hold; then x is NULL, and a range says nothing about NULL.
    """
    test = test.unnest()
    if isinstance(test, exp.Not):  # it holds where its part is false; else that may be NULL
        return refine(scope, test.this, holds=False) if holds else scope
    if type(test) not in _TOLD[holds]:
        return scope
    value = scope.value(test.this)
    for kind, end in _ENDS.get(type(test), [(type(test), "expression")]):
        other = NULL if end not in test.args else scope.value(test.args[end])
        value = _compared(kind, value, other, holds=holds)
    if isinstance(test, exp.In):
        listed = [scope.value(part).most for part in test.expressions]
        value = value.limited_to(None if None in listed else sum(filter(None, listed)))
    value = value._replace(null=value.null and not holds and not isinstance(test, exp.Is))
    return scope._replace(refined={**scope.refined, test.this.unnest(): value})


def _compared(kind: type[Node], value: Value, other: Value, *, holds: bool) -> Value:
    """A value that compares so with another one. NaN is greater than every number: `x > c` that
    does not hold excludes it, `x < c` does not."""
    rounded = value.kind != other.kind and max(-other.low, other.high) >= 1 << 53
    if not other.bounded or other.null or rounded:
        return value  # where it is rounded, one of them becomes a double before
    if kind is exp.EQ and not holds and other.low == other.high == 0:
        return value.one_zero()
    if kind not in _OPPOSITE or value.kind not in ("int", "double", "time"):
        return value
    kind, low, high = kind if holds else _OPPOSITE[kind], value.low, value.high
    whole = value.kind == other.kind == "int"
    if kind in (exp.LT, exp.LTE):
        high = min(high, other.high - (whole and kind is exp.LT))
    else:
        low = max(low, other.low + (whole and kind is exp.GT))
    nonzero = (kind is exp.LT and other.high <= 0) or (kind is exp.GT and other.low >= 0)
    # If the range is empty, one point of it: no row comes here.
    value = value._replace(low=min(low, high), high=high, polynomial=None)
    return value.one_zero() if nonzero else value


def _coalesce(node: exp.Coalesce, scope: RowScope) -> Value:
    """The first value that is not NULL. COALESCE(SUM(x), 0) of no rows is the empty sum, 0."""
    values = scope.values(node, "this", "expressions")
    empty, null = match(node, "COALESCE(SUM(x), 0)"), all(value.null for value in values)
    return hull(values)._replace(null=null, polynomial=values[0].polynomial if empty else None)


def _nullif(node: exp.Nullif, scope: RowScope) -> Value:
    """NULL where both are equal: a zero has no sign if that is gone."""
    values = scope.values(node, "this", "expression")
    _check_alike(values)
    gone = values[1].low == values[1].high == 0
    return values[0].optional().one_zero() if gone else values[0].optional()


EXPRESSIONS: Rules = {
    exp.Literal: _literal,
    exp.Null: lambda node, scope: NULL,
    exp.Boolean: lambda node, scope: BOOL._replace(null=False, different=1),
    exp.Neg: _negative,
    **dict.fromkeys(_APPLY, _arithmetic),
    **dict.fromkeys((exp.Div, exp.Mod), _division),
    **dict.fromkeys(
        (exp.EQ, exp.NEQ, exp.NullSafeNEQ, *_OPPOSITE, *_ENDS, exp.In), _comparison
    ),
    **dict.fromkeys((exp.And, exp.Or, exp.Not), _logic),
    exp.Is: _is_null,
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.Case: _case,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
}
