"""Writes functions of text, numbers and dates in another engine's dialect.

Upper and lower case are DuckDB's own (`duckdb_letters`), positions in a text count code
points, and an undefined result is NULL. The transcendental functions (EXP, LN, LOG10, LOG2,
SIN, COS, POWER) are the engine's own: their last digit may differ, as it may between two
machines that run DuckDB.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from deniable.engines.dialect.constants import constant_of
from deniable.engines.dialect.date_parts import DATE_PARTS, SECONDS_OF
from deniable.engines.dialect.duckdb_letters import case_pairs, spaces
from deniable.engines.dialect.engine_dialect import Side, ValueWriter, WriteNode
from deniable.engines.dialect.typed_sql import TypedSQL


def _square_root(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return TypedSQL(f"SQRT({to.write(node.this).sql})", "double")


def _length(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return TypedSQL(f"LENGTH({to.write(node.this).sql})", "int")


def _change_case(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    which: Literal["lower", "upper"] = "upper" if isinstance(node, exp.Upper) else "lower"
    return _fold_case(to, which, to.write(node.this))


def _fold_case(to: ValueWriter, which: Literal["lower", "upper"], value: TypedSQL) -> TypedSQL:
    before, after = map(to.text_literal, case_pairs(which))

    def body(text: str) -> str:
        plain = f"OCTET_LENGTH({text}) = LENGTH({text})"  # only one-byte letters
        return (
            f"CASE WHEN {plain} THEN {which.upper()}({text}) "
            f"ELSE TRANSLATE({text}, {before}, {after}) END"
        )

    return TypedSQL(to.bind([value], body), "text")


def _ilike(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    value, pattern = to.write(node.this), to.write(node.expression)
    return to.dialect.like(to, _fold_case(to, "lower", value), _fold_case(to, "lower", pattern))


def _trim(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    argument = node.args.get("expression")
    letters = to.text_literal(spaces()) if argument is None else to.write(argument).sql
    side: Side = node.text("position") or "BOTH"  # type: ignore[assignment]
    return TypedSQL(to.dialect.trim(to.write(node.this).sql, letters, side), "text")


def _substring(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    start, length = (node.args.get(text) for text in ("start", "length"))
    first = constant_of(start)
    size = None if length is None else constant_of(length)
    if first is None or (size is None and length is not None):
        return None
    value = to.write(node.this)
    return TypedSQL(to.bind([value], lambda text: _cut(text, int(first), size)), "text")


def _left_or_right(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    """LEFT and RIGHT; a negative number leaves out that many letters at the other end."""
    size = constant_of(node.expression)
    if size is None:
        return None
    left = isinstance(node, exp.Left)

    def body(text: str) -> str:
        rest = f"GREATEST(LENGTH({text}) - {abs(int(size))}, 0)"
        if left:
            return f"SUBSTRING({text}, 1, {size if size >= 0 else rest})"
        return f"SUBSTRING({text}, {f'{rest} + 1' if size >= 0 else 1 - int(size)})"

    return TypedSQL(to.bind([to.write(node.this)], body), "text")


def _position(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    place = to.dialect.position(to.write(node.this).sql, to.write(node.args["substr"]).sql)
    return TypedSQL(place, "int")


def _contains(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    place = to.dialect.position(to.write(node.this).sql, to.write(node.expression).sql)
    return TypedSQL(f"({place} > 0)", "boolean")


def _replace(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    parts = [to.write(node.args[name]).sql for name in ("this", "expression", "replacement")]
    return TypedSQL(f"REPLACE({', '.join(parts)})", "text")


def _ends_with(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    both = [to.write(node.this), to.write(node.expression)]
    return TypedSQL(
        to.bind(
            both,
            lambda text, end: (
                f"CASE WHEN LENGTH({end}) <= LENGTH({text}) THEN SUBSTRING({text}, "
                f"LENGTH({text}) - LENGTH({end}) + 1) = {end} "
                f"WHEN {text} IS NOT NULL AND {end} IS NOT NULL THEN FALSE END"
            ),
        ),
        "boolean",
    )


def _transcendental(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    name = type(node).__name__.lower()
    value = to.cast(to.write(node.this), "double")
    return TypedSQL(
        to.bind([value], lambda argument: to.dialect.transcendental(name, argument)), "double"
    )


def _logarithm(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    argument_node = node.args.get("expression")
    base = Fraction(10) if argument_node is None else constant_of(node.this)
    if base not in (2, 10):
        return None
    value = to.cast(to.write(node.this if argument_node is None else argument_node), "double")
    logarithm = to.bind([value], lambda argument: to.dialect.transcendental("log10", argument))
    if base == 2:  # as DuckDB computes it: log10(x) / log10(2)
        logarithm = (
            f"({logarithm} / {to.dialect.transcendental('log10', to.double_literal(2.0))})"
        )
    return TypedSQL(logarithm, "double")


def _power(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return _of_two_doubles(to, node, to.dialect.power)


def _remainder(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return _of_two_doubles(to, node, to.dialect.remainder)


def _of_two_doubles(
    to: ValueWriter, node: exp.Expr, body: Callable[[str, str], str]
) -> TypedSQL:
    both = [to.cast(to.write(operand), "double") for operand in (node.this, node.expression)]
    return TypedSQL(to.bind(both, body), "double")


def _truncate(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return to.dialect.round_double(to, "trunc", to.cast(to.write(node.this), "double"))


def _sign(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    value = to.cast(to.write(node.this), "double")

    def body(number: str) -> str:
        return (
            f"CASE WHEN {number} = {to.dialect.nan} OR {number} = 0 THEN 0 "
            f"WHEN {number} > 0 THEN 1 WHEN {number} < 0 THEN -1 END"
        )

    return TypedSQL(to.bind([value], body), "int")


def round_to_digits(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    """ROUND to some digits: scales, rounds, scales back; unchanged if that overflows."""
    places = constant_of(node.args["decimals"])
    if places is None:
        return None
    power = TypedSQL(to.double_literal(10.0 ** abs(int(places))), "double", simple=True)
    scale_up, scale_down = ("*", "/") if places >= 0 else ("/", "*")

    def body(number: str) -> str:
        typed = TypedSQL(number, "double", simple=True)
        rounded = to.dialect.round_double(
            to, "round", to.dialect.double_arithmetic(to, scale_up, typed, power)
        )
        result = to.dialect.double_arithmetic(to, scale_down, rounded, power)
        greatest = to.double_literal(1.7976931348623157e308)
        finite = to.bind(
            [result], lambda it: f"CASE WHEN ABS({it}) <= {greatest} THEN {it} END"
        )
        return f"COALESCE({finite}, {number})"

    return TypedSQL(to.bind([to.cast(to.write(node.this), "double")], body), "double")


def _date_part(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    name = node.this.name.upper()
    if name not in DATE_PARTS:
        return None
    return TypedSQL(to.dialect.date_part(name, to.write(node.expression).sql), "int")


def _distinct(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return TypedSQL(
        f"({to.dialect.is_distinct(to.write(node.this).sql, to.write(node.expression).sql)})",
        "boolean",
    )


def _date_diff(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    """DATE_DIFF: counts the starts of seconds, minutes, hours, days, months or years in
    between; a week is seven days."""
    both = [to.write(node.this), to.write(node.expression)]
    unit = node.text("unit").upper()

    def body(end: str, start: str) -> str:
        def subtract(part: str) -> str:
            return f"{to.dialect.date_part(part, end)} - {to.dialect.date_part(part, start)}"

        hours = f"{to.dialect.days_between(end, start)} * 24 + {subtract('HOUR')}"
        minutes = f"({hours}) * 60 + {subtract('MINUTE')}"
        return {
            "DAY": to.dialect.days_between(end, start),
            "HOUR": hours,
            "MINUTE": minutes,
            "SECOND": f"({minutes}) * 60 + {subtract('SECOND')}",
            "MONTH": f"({subtract('YEAR')}) * 12 + {subtract('MONTH')}",
            "YEAR": subtract("YEAR"),
            "WEEK": to.dialect.days_between(end, start),
        }[unit]

    if unit not in ("DAY", "MONTH", "YEAR", "WEEK", *SECONDS_OF):
        return None
    difference = TypedSQL(f"({to.bind(both, body)})", "bigint")
    seven = TypedSQL("7", "int", simple=True)
    return (
        to.cast(to.dialect.divide_wide(to, difference, seven), "bigint")
        if unit == "WEEK"
        else difference
    )


def _cut(text: str, first: int, size: Fraction | None) -> str:
    """SUBSTRING as in DuckDB: a negative `first` counts from the end, and a negative `size`
    takes letters to the left."""

    def letters_before(offset: int) -> str:
        """How many letters lie before the place `offset` letters after the first one."""
        if first >= 0:
            return str(max(first - 1 + offset, 0))
        return f"GREATEST(LENGTH({text}) - {max(-first - offset, 0)}, 0)"

    if size is None:
        return f"SUBSTRING({text}, {letters_before(0)} + 1)"
    low, high = (letters_before(offset) for offset in sorted((0, int(size))))
    return f"SUBSTRING({text}, {low} + 1, {high} - {low})"


def _md5(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return TypedSQL(f"MD5({to.write(node.this).sql})", "text")


def _joined(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    both = [to.cast(to.write(part), "text").sql for part in (node.this, node.expression)]
    return TypedSQL(f"({both[0]} || {both[1]})", "text")


FUNCTIONS: Mapping[type[exp.Expr], WriteNode] = {
    exp.MD5: _md5,
    exp.DPipe: _joined,
    exp.Sqrt: _square_root,
    exp.Length: _length,
    exp.Lower: _change_case,
    exp.Upper: _change_case,
    exp.ILike: _ilike,
    exp.Trim: _trim,
    exp.Substring: _substring,
    exp.Left: _left_or_right,
    exp.Right: _left_or_right,
    exp.StrPosition: _position,
    exp.Contains: _contains,
    exp.EndsWith: _ends_with,
    exp.Replace: _replace,
    exp.Exp: _transcendental,
    exp.Ln: _transcendental,
    exp.Sin: _transcendental,
    exp.Cos: _transcendental,
    exp.Log: _logarithm,
    exp.Pow: _power,
    exp.Mod: _remainder,
    exp.Trunc: _truncate,
    exp.Sign: _sign,
    exp.Extract: _date_part,
    exp.NullSafeNEQ: _distinct,
    exp.DateDiff: _date_diff,
}
