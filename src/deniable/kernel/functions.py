"""The functions of rows that the kernel knows: each is deterministic and total in the engine.

Their results have no useful range, but the types matter: SIGN makes an integer of 8 bits, and
sums of it may overflow.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from sqlglot import exp

from deniable.kernel.expressions import NUMBERS, RowScope, Rules, check_kinds
from deniable.kernel.reading import Node, bare, match, only, require, text_of
from deniable.kernel.values import BOOL, UNSURE, Value, double, hull, integer

_FARTHEST_PLACE = 10**9  # in a text
_CALENDAR = (10102000000, 99991230235959)  # the moments of the years 1 to 9999, in digits
_UNITS = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "ISODOW", "DOY", "DAYOFWEEK"}
_UNITS |= {"DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "ISOYEAR"}
_TEXT = {"text", "null"}
_PLACE = {"int"}  # a position in a text: a constant of moderate size
_EDGES = ("LEADING", "TRAILING")  # of TRIM
_OF_NUMBERS = (exp.Floor, exp.Ceil, exp.Sqrt, exp.Exp, exp.Ln, exp.Log, exp.Sin, exp.Cos)
_OF_TEXTS = (exp.Lower, exp.Upper, exp.Trim, exp.Reverse)
_TESTS = (exp.StartsWith, exp.EndsWith, exp.Contains, exp.Like, exp.ILike)
_NUMBERS = {"this": NUMBERS, "expression": NUMBERS}
_TEXTS = {"this": _TEXT, "expression": _TEXT, "substr": _TEXT, "position": set[str]()}
_PLACES = {"this": _TEXT, "expression": _PLACE, "start": _PLACE, "length": _PLACE}
_PIECE = {"this": _TEXT, "delimiter": _TEXT, "part_index": _PLACE}

# The kinds of the arguments of functions, and what these make. A function of numbers is NaN or
# infinite where it is not defined.
_SIGNATURES: dict[type[Node], tuple[Mapping[str, set[str]], Value]] = {
    **dict.fromkeys(_OF_NUMBERS, (_NUMBERS, double(-inf, inf))),
    exp.Sign: (_NUMBERS, integer(-1, 1, 8)),
    **dict.fromkeys(_OF_TEXTS, (_TEXTS, Value("text"))),
    **dict.fromkeys((exp.Left, exp.Right, exp.Substring), (_PLACES, Value("text"))),
    exp.SplitPart: (_PIECE, Value("text")),
    **dict.fromkeys(_TESTS, (_TEXTS, BOOL)),
    **dict.fromkeys((exp.Length, exp.StrPosition), (_TEXTS, integer(0, 1 << 40, 64))),
}


def _function(node: Node, scope: RowScope) -> Value:
    """A function of the table: its arguments have the right types. It is determined up to the
    sign of a zero if they are."""
    kinds, result = _SIGNATURES[type(node)]
    zeros = result.zeros
    for name, part in only(node, *kinds).args.items():
        if not part or part in _EDGES:
            continue
        value = scope.value(part)
        check_kinds([value], kinds[name])
        near = value.low == value.high and abs(value.low) <= _FARTHEST_PLACE
        require(near or kinds[name] is not _PLACE, "A position in a text is no small constant.")
        zeros = max(zeros, value.zeros) if zeros else 0
    return replace(result, null=True, zeros=zeros)


def _power(node: exp.Pow, scope: RowScope) -> Value:
    """A negative power of a zero is an infinity with its sign, so its sign is determined."""
    base, power = values = scope.values(node, "this", "expression")
    check_kinds(values, NUMBERS)
    added = match(node.this, "x + y").get("y")  # x + 0.0 is never -0.0
    zero = base if added is None else scope.value(added)
    known = base.zeros != UNSURE or power.low >= 0 or zero.low == zero.high == zero.zeros == 0
    require(known, "The base of a power may be 0 with either sign.")
    return double(-inf, inf, *values)


def _kept_type(node: Node, scope: RowScope) -> Value:
    """ABS, ROUND and TRUNC of an integer keep its type. ABS has no sign to show."""
    value, *digits = values = scope.values(node, "this", "decimals")
    check_kinds(values, NUMBERS)
    if value.kind == "int" and not digits:
        most = max(-value.low, value.high)
        return integer(-most, most, value.bits, value)
    if isinstance(node, exp.Round) and value.bounded and not digits:
        return double(value.low - 1, value.high + 1, value)
    check_kinds([value], {"double", "null"})
    result = double(-inf, inf, *values)
    return replace(result, zeros=0) if isinstance(node, exp.Abs) else result


def _extremum(node: Node, scope: RowScope) -> Value:
    """LEAST and GREATEST skip NULL, so the result is one of the arguments."""
    values = scope.values(node, "this", "expressions", "ignore_nulls")
    check_kinds(values, NUMBERS)
    return hull(values).interchanged()


def _escape(node: exp.Escape, scope: RowScope) -> Value:
    """LIKE with an escape character fails on the first row if the pattern ends with it: so both
    are constants, and the pattern does not."""
    like, mark = only(node, "this", "expression").this, text_of(node.expression) or ""
    pattern = text_of(like.expression) if isinstance(like, exp.Like | exp.ILike) else None
    require(pattern is not None and len(mark) == 1, "ESCAPE belongs to LIKE, with constants.")
    rest = (pattern or "").replace(mark * 2, "")  # pairs from the left, as the engine reads
    require(not rest.endswith(mark), "A pattern ends with its escape character.")
    return scope.value(like)


def _date_part(node: Node, scope: RowScope) -> Value:
    """Parts and differences of timestamps in the calendar, and timestamps cut to a unit."""
    only(node, "this", "expression", "unit", "date_part_boundary")
    unit = node.this if isinstance(node, exp.Extract) else node.args.get("unit")
    known = isinstance(unit, exp.Var) and unit.name.upper() in _UNITS
    require(known, "A date function has no such unit.")
    dates = [part for part in node.iter_expressions() if not isinstance(bare(part), exp.Var)]
    for date in map(scope.value, dates):
        inside = _CALENDAR[0] <= date.low and date.high <= _CALENDAR[1]
        require(date.kind == "time" and inside, "A timestamp may be out of range.")
    if isinstance(node, exp.TimestampTrunc):
        return Value("time")
    return replace(integer(-(1 << 50), 1 << 50, 64), null=True)


FUNCTIONS: Rules = {
    **dict.fromkeys(_SIGNATURES, _function),
    exp.Pow: _power,
    **dict.fromkeys((exp.Abs, exp.Round, exp.Trunc), _kept_type),
    **dict.fromkeys((exp.Least, exp.Greatest), _extremum),
    exp.Escape: _escape,
    **dict.fromkeys((exp.Extract, exp.TimestampTrunc, exp.DateDiff), _date_part),
}
