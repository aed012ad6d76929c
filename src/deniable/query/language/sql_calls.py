"""Which node of sqlglot's stands for which function, and where its arguments are."""

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.date_parts import DATE_PARTS, DIFFERENCE_UNITS, TRUNCATION_UNITS
from deniable.query.language.syntax_tree import Call, Expression, Literal

Reader: TypeAlias = Callable[[exp.Expr], Expression]

# Our name, and the places of the arguments; the last ones may be missing.
_CALLS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Lower: ("lower", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Left: ("left", ("this", "expression")),
    exp.Right: ("right", ("this", "expression")),
    exp.StartsWith: ("starts with", ("this", "expression")),
    exp.EndsWith: ("ends with", ("this", "expression")),
    exp.Contains: ("contains", ("this", "expression")),
    exp.StrPosition: ("strpos", ("this", "substr")),
    exp.Reverse: ("reverse", ("this",)),
    exp.Nullif: ("nullif", ("this", "expression")),
    exp.Mod: ("mod", ("this", "expression")),
    exp.IntDiv: ("quotient", ("this", "expression")),
    exp.Exp: ("exp", ("this",)),
    exp.Ln: ("ln", ("this",)),
    exp.Sign: ("sign", ("this",)),
    exp.Trunc: ("trunc", ("this",)),
    exp.Sin: ("sin", ("this",)),
    exp.Cos: ("cos", ("this",)),
    exp.Year: ("year", ("this",)),
    exp.Quarter: ("quarter", ("this",)),
    exp.Month: ("month", ("this",)),
    exp.Week: ("week", ("this",)),
    exp.Day: ("day", ("this",)),
    exp.DayOfYear: ("dayofyear", ("this",)),
    exp.DayOfWeek: ("dayofweek", ("this",)),
    exp.DayOfWeekIso: ("isodow", ("this",)),
    exp.Hour: ("hour", ("this",)),
    exp.Minute: ("minute", ("this",)),
    exp.Second: ("second", ("this",)),
    exp.SplitPart: ("split part", ("this", "delimiter", "part_index")),
    exp.NullSafeNEQ: ("is distinct", ("this", "expression")),
}
_BENIGN = {"safe", "typed", "date_part_boundary", "coalesce", "ignore_nulls", "big_int"}
_TRIMS = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}
_GROWS = (exp.Concat, exp.DPipe, exp.ConcatWs, exp.Pad, exp.Repeat, exp.Replace, exp.Space)
_PATTERNS = (
    exp.RegexpLike,
    exp.RegexpReplace,
    exp.RegexpExtract,
    exp.SimilarTo,
    exp.RegexpILike,
)
_CLOCK = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Rand, exp.Uuid)


def read_call(node: exp.Expr, read: Reader) -> Expression | None:
    """The call that a node stands for; None where it is no function of rows."""
    kind = type(node)
    if kind in _CALLS:
        name, places = _CALLS[kind]
        check_places(node, *places)
        found = [node.args.get(place) for place in places]
        while found and found[-1] is None:
            found.pop()
        if any(one is None for one in found):
            raise InvalidQuery(f"{name.upper()} lacks an argument.")
        return Call(name, tuple(read(one) for one in found if one is not None))
    special = _SPECIAL.get(kind)
    if special is not None:
        return special(node, read)
    _refuse(node)
    return None


def check_places(node: exp.Expr, *known: str) -> None:
    """Refuses what stands somewhere in a node where nothing is read from."""
    for place, value in node.args.items():
        if value and place not in known and place not in _BENIGN:
            text = node.sql(dialect="duckdb", comments=False)[:60]
            raise InvalidQuery(f"{place.upper()} in {text} is not supported: leave it out.")


def _refuse(node: exp.Expr) -> None:
    text = node.sql(dialect="duckdb", comments=False)[:60]
    if isinstance(node, _GROWS):
        raise InvalidQuery(
            f"{text} makes text longer, without end if repeated. Compare or group by its "
            "parts: GROUP BY a, b instead of a || b."
        )
    if isinstance(node, _PATTERNS):
        raise InvalidQuery(
            f"{text}: patterns fail or run long on some rows. LIKE, ILIKE, STARTS_WITH and "
            "CONTAINS do not."
        )
    if isinstance(node, _CLOCK):
        raise InvalidQuery(
            f"{text} changes from run to run. Write the value, as in DATE '2026-01-31'."
        )
    if isinstance(node, exp.Interval):
        raise InvalidQuery(
            f"{text}: dates are not moved here, for they could leave the calendar. Use "
            "DATE_DIFF('day', a, b) > 30, or DATE_TRUNC."
        )
    if isinstance(node, exp.Window):
        raise InvalidQuery(
            f"{text}: a window looks from one row at others. Use a sub-query GROUP BY the "
            "privacy unit."
        )


def _trim(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "expression", "position")
    name = _TRIMS[str(node.args.get("position") or "")]
    parts = [node.this, *([node.expression] if node.args.get("expression") else [])]
    return Call(name, tuple(read(part) for part in parts))


def _log(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "expression")
    if node.args.get("expression") is None:
        return Call("log10", (read(node.this),))
    bases = {"10": "log10", "2": "log2"}
    name = bases.get(node.this.name) if isinstance(node.this, exp.Literal) else None
    if name is None:
        raise InvalidQuery("LOG takes base 2 or 10; LN(x) / LN(b) serves others.")
    return Call(name, (read(node.expression),))


def _extract(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "expression")
    return read_date_part(node.this.name, read(node.expression))


def read_date_part(name: str, date: Expression) -> Call:
    """A part of a date, such as its month."""
    spelt = {"dow": "dayofweek", "doy": "dayofyear", "weekday": "dayofweek"}
    wanted = spelt.get(name.lower(), name.lower())
    if wanted not in DATE_PARTS:
        raise InvalidQuery(f"A date has no part {name} here: {', '.join(DATE_PARTS)}.")
    return Call(wanted, (date,))


def _start(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "unit")
    unit = node.args.get("unit")
    name = "" if unit is None else unit.name.lower()
    if name not in TRUNCATION_UNITS:
        raise InvalidQuery(f"DATE_TRUNC goes to the start of {', '.join(TRUNCATION_UNITS)}.")
    return Call(f"start of {name}", (read(node.this),))


def _difference(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "expression", "unit")
    unit = node.args.get("unit")
    name = "day" if unit is None else unit.name.lower()
    if name not in DIFFERENCE_UNITS or node.args.get("expression") is None:
        raise InvalidQuery(f"DATE_DIFF('day', a, b) counts {', '.join(DIFFERENCE_UNITS)}.")
    return Call(f"{name}s between", (read(node.expression), read(node.this)))


def _if(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "true", "false")
    other = node.args.get("false")
    branches = read(node.this), read(node.args["true"])
    return Call("case", (*branches, Literal(None) if other is None else read(other)))


def _same(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "expression")
    return Call("not", (Call("is distinct", (read(node.this), read(node.expression))),))


def _like(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "expression", "negate")
    name = "like" if isinstance(node, exp.Like) else "ilike"
    made = Call(name, (read(node.this), read(node.expression)))
    return Call("not", (made,)) if node.args.get("negate") else made


def _round(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "decimals")
    decimals = node.args.get("decimals")
    if decimals is None:
        return Call("round", (read(node.this),))
    return Call("round to", (read(node.this), read(decimals)))


_SPECIAL: dict[type[exp.Expr], Callable[[exp.Expr, Reader], Call]] = {
    exp.Trim: _trim,
    exp.Log: _log,
    exp.Extract: _extract,
    exp.TimestampTrunc: _start,
    exp.DateTrunc: _start,
    exp.DateDiff: _difference,
    exp.If: _if,
    exp.NullSafeEQ: _same,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Round: _round,
}
