"""The functions of rows that sqlglot parses: their names here, and their arguments."""

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.date_parts import DATE_PARTS, DIFFERENCE_UNITS, TRUNCATION_UNITS
from deniable.query.language.spellings.written_json import (
    read_json,
    refuse_arrow,
    refuse_json,
    refuse_path,
)
from deniable.query.language.syntax_tree import Call, Expression, Literal

Reader: TypeAlias = Callable[[exp.Expr], Expression]

# Our name of each function, and sqlglot's names of its arguments; the last may be missing.
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
    exp.Replace: ("replace", ("this", "expression", "replacement")),
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
_GROWS = (exp.ConcatWs, exp.Pad, exp.Repeat, exp.Space)
_PATTERNS = (
    exp.RegexpLike,
    exp.RegexpReplace,
    exp.RegexpExtract,
    exp.SimilarTo,
    exp.RegexpILike,
)
_CLOCK = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Rand, exp.Uuid)


def read_call(node: exp.Expr, read: Reader) -> Expression | None:
    """The call of a node; None if the node is not a function of rows."""
    kind = type(node)
    if kind in _CALLS:
        name, places = _CALLS[kind]
        check_places(node, *places)
        arguments = [node.args.get(place) for place in places]
        while arguments and arguments[-1] is None:
            arguments.pop()
        if any(argument is None for argument in arguments):
            raise InvalidQuery(f"{name.upper()} needs another argument.")
        return Call(
            name, tuple(read(argument) for argument in arguments if argument is not None)
        )
    special = _SPECIAL.get(kind)
    if special is not None:
        return special(node, read)
    _refuse(node)
    return None


def check_places(node: exp.Expr, *known: str) -> None:
    """Refuses a node with arguments that would not be read."""
    for place, value in node.args.items():
        if value and place not in known and place not in _BENIGN:
            raise InvalidQuery(
                f"{quote_sql(node)} has an argument or a word that is not supported here: "
                f"{place.upper()}. Remove it."
            )


def argument_of(node: exp.Expr) -> exp.Expr:
    """The only argument of a function. Refuses none, and more than one."""
    check_places(node, "this")
    if node.this is None:
        raise InvalidQuery(
            f"{quote_sql(node)} has no argument. Name a column, as in SUM(cost), or write "
            "COUNT(*) to count rows."
        )
    argument: exp.Expr = node.this
    return argument


def quote_sql(node: exp.Expr) -> str:
    """A piece of the analyst's own text, shortened, for error messages."""
    try:
        text = node.sql(dialect="duckdb", comments=False)
    except Exception:  # sqlglot may fail to print a tree that it has parsed
        text = type(node).__name__.upper()
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse(node: exp.Expr) -> None:
    text = quote_sql(node)
    if isinstance(node, _GROWS):
        raise InvalidQuery(
            f"{text} is not supported: it makes text longer, and repeated use could fill the "
            "memory. Use a || b or CONCAT(a, b)."
        )
    if isinstance(node, _PATTERNS):
        raise InvalidQuery(
            f"{text} is not supported: regular expressions can fail or be slow on some rows. "
            "Use LIKE, ILIKE, STARTS_WITH or CONTAINS."
        )
    if isinstance(node, _CLOCK):
        raise InvalidQuery(
            f"{text} is not supported: its value changes from run to run. Write the value "
            "itself, as in DATE '2026-01-31'."
        )
    if isinstance(node, exp.Interval):
        raise InvalidQuery(
            f"{text} is not supported here. Add it to a date, as in d + INTERVAL 2 DAY, or "
            "compare DATE_DIFF('day', a, b) with a number."
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
        raise InvalidQuery("LOG takes the base 2 or 10. For another base b use LN(x) / LN(b).")
    return Call(name, (read(node.expression),))


def _extract(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "expression")
    return read_date_part(node.this.name, read(node.expression))


def read_date_part(name: str, date: Expression) -> Call:
    """A part of a date, such as its month."""
    synonyms = {"dow": "dayofweek", "doy": "dayofyear", "weekday": "dayofweek"}
    part = synonyms.get(name.lower(), name.lower())
    if part == "epoch":
        return Call("seconds between", (Call("cast date", (Literal("1970-01-01"),)), date))
    if part not in DATE_PARTS:
        raise InvalidQuery(
            f"{name} is not a supported part of a date. The parts are {', '.join(DATE_PARTS)}."
        )
    return Call(part, (date,))


def _start(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "unit")
    unit = node.args.get("unit")
    name = "" if unit is None else unit.name.lower()
    if name not in TRUNCATION_UNITS:
        raise InvalidQuery(
            f"DATE_TRUNC takes one of the units {', '.join(TRUNCATION_UNITS)}, as in "
            "DATE_TRUNC('month', day)."
        )
    return Call(f"start of {name}", (read(node.this),))


def _difference(node: exp.Expr, read: Reader) -> Call:
    check_places(node, "this", "expression", "unit")
    unit = node.args.get("unit")
    name = "day" if unit is None else unit.name.lower()
    if name not in DIFFERENCE_UNITS or node.args.get("expression") is None:
        raise InvalidQuery(
            f"DATE_DIFF takes one of the units {', '.join(DIFFERENCE_UNITS)} and two dates, as "
            "in DATE_DIFF('day', a, b)."
        )
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
    like = Call(name, (read(node.this), read(node.expression)))
    return Call("not", (like,)) if node.args.get("negate") else like


def _concat(node: exp.Expr, read: Reader) -> Call:
    """CONCAT, which skips NULLs."""
    return Call("concat", tuple(read(part) for part in node.expressions))


def _join(node: exp.Expr, read: Reader) -> Call:
    """a || b, which is NULL where one of them is."""
    check_places(node, "this", "expression")
    return Call("joined", (read(node.this), read(node.expression)))


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
    exp.Concat: _concat,
    exp.DPipe: _join,
    exp.JSONExtractScalar: read_json,
    exp.JSONExtract: refuse_json,
    exp.JSONBExtract: refuse_path,
    exp.JSONBExtractScalar: refuse_path,
    exp.Lambda: refuse_arrow,
}
