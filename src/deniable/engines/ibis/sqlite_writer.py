"""Writes our statements for SQLite, with DuckDB's functions of rows from `sqlite_functions`.

SQLite compares, groups, joins, counts and sorts; what it would compute in its own way is a
Python function of ours. Doubles and texts are parameters: SQLite does not always read a decimal
number as the nearest double. Sub-queries stand one after the other in one WITH, because the
parser of SQLite allows few levels; those that compute values are MATERIALIZED, so that none is
merged into its reader and computed several times.
"""

import json
from collections.abc import Callable

from sqlglot import exp

from deniable.engines.dialect.constants import constant_of
from deniable.engines.dialect.date_parts import TRUNCATION_UNITS
from deniable.engines.dialect.engine_dialect import (
    Dialect,
    Side,
    StatementState,
    ValueWriter,
    WriteNode,
    align_kinds,
    cast_kinds,
)
from deniable.engines.dialect.function_writer import FUNCTIONS
from deniable.engines.dialect.typed_sql import NUMBERS, Kind, TypedSQL, WrittenRelation
from deniable.engines.dialect.value_writer import VALUES, write_rounding
from deniable.engines.handover.declared_keys import bare_name, type_of_keys
from deniable.engines.ibis.sqlite_functions import NAN
from deniable.engines.ibis.sqlite_moments import DIFFERENCES
from deniable.query.plan.quoting import quote_name

_SIGNS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


def _parameter(state: StatementState, value: str | float) -> str:
    return state.parameter(f"p{len(state.parameters)}", value)


def _in_keys(state: StatementState, value: str, relation: str) -> str:
    """The keys are one parameter in JSON, of which SQLite makes an index. It ends a text of
    JSON at a zero byte, so a text has ~0 for it there, and ~1 for ~."""
    name, keys = bare_name(relation), state.keys[relation]
    is_text = type_of_keys(keys) == "text"
    if name not in state.parameters:
        listed = keys.to_pylist()
        if is_text:
            listed = [text.replace("~", "~1").replace("\0", "~0") for text in listed]
        state.parameter(name, json.dumps(listed))
    key = "REPLACE(REPLACE(value, '~0', CHAR(0)), '~1', '~')" if is_text else "value"
    return f"{value} IN (SELECT {key} FROM json_each(:{name}))"


def _number_rows(table: WrittenRelation, number: str, of: int, place: int) -> tuple[str, Kind]:
    """A row is identified by SQLite's own number of the row, and the table's."""
    columns = [f"(\"(row)\" || ' {place}') AS {quote_name(number)}"]
    columns += [quote_name(column) for column in table.columns]
    return f"SELECT {', '.join(columns)} FROM {table.sql} AS numbered", "opaque"


def _call(name: str, *values: TypedSQL | str | int) -> str:
    """A call of one of our functions."""
    listed = (value.sql if isinstance(value, TypedSQL) else str(value) for value in values)
    return f"deniable_{name}({', '.join(listed)})"


def _align(to: ValueWriter, node: exp.Expr, values: list[TypedSQL]) -> list[TypedSQL]:
    """SQLite does not convert what it compares, so this does, as DuckDB would."""
    aligned = align_kinds(to, node, values)
    kinds = {value.kind for value in aligned} - {"null"}
    if len(kinds) < 2 or not kinds <= set(NUMBERS):
        return aligned
    kind = to.common_kind(aligned)
    return [to.cast(value, kind) for value in aligned]


def _cast(to: ValueWriter, value: TypedSQL, kind: Kind) -> TypedSQL:
    if value.kind == "boolean" and kind in NUMBERS:
        return to.cast(TypedSQL(value.sql, "int"), kind)
    if value.kind == "text" and kind == "boolean":
        return TypedSQL(_call("boolean", value), kind)
    if value.kind == "wide" and kind == "boolean":
        return TypedSQL(f"({value.sql} <> {_call('wide', 0)})", kind)
    return cast_kinds(to, value, kind)


def _convert(to: ValueWriter, value: TypedSQL, kind: Kind) -> str | None:
    match value.kind, kind:
        case "int" | "bigint", "double":
            return f"CAST({value.sql} AS REAL)"
        case "wide", "double":
            return _call("wide_double", value)
        case "text", "double":
            return _call("double", value)
        case "double", "int" | "bigint":
            return _call("integer", value, 32 if kind == "int" else 64)
        case "int", "bigint":
            return value.sql
        case "bigint" | "wide", "int" | "bigint":
            return _call("narrow", value, 32 if kind == "int" else 64)
        case "int" | "bigint", "wide":
            return _call("wide", value)
        case "int" | "bigint", "text":
            return f"CAST({value.sql} AS TEXT)"
        case "wide", "text":
            return _call("wide_text", value)
        case "boolean", "text":
            return f"CASE {value.sql} WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END"
        case "date", "text":
            return _call("day_text", value)
        case "date", "timestamp":
            return value.sql
        case "text", "timestamp":
            return _call("moment", value)
        case "timestamp", "date":
            return _call("day", value)
        case _:
            return None


def _double_arithmetic(to: ValueWriter, sign: str, left: TypedSQL, right: TypedSQL) -> TypedSQL:
    return TypedSQL(_call(_SIGNS[sign], left, right), "double")


def _integer_arithmetic(
    to: ValueWriter, sign: str, left: TypedSQL, right: TypedSQL, kind: Kind
) -> TypedSQL:
    if kind == "wide":
        return TypedSQL(_call(f"wide_{_SIGNS[sign]}", left, right), kind)
    return TypedSQL(f"({left.sql} {sign} {right.sql})", kind)


def _divide_wide(to: ValueWriter, left: TypedSQL, right: TypedSQL) -> TypedSQL:
    return TypedSQL(_call("wide_divide", left, right), "wide")


def _sum_integers(value: TypedSQL, over: str) -> TypedSQL:
    """SQLite's own SUM of 64 bits may overflow. Sums of 16 bits do not, below 2^47 rows;
    the first one carries the sign."""
    assert not over  # `windows` is false
    if value.kind == "wide":
        return TypedSQL(_call("sum", value), "wide")
    sums = [f"SUM({value.sql} >> 48)"]
    sums += [f"SUM(({value.sql} >> {shift}) & 65535)" for shift in (32, 16, 0)]
    return TypedSQL(_call("wide_parts", *sums), "wide")


def _keyed_hash(state: StatementState, values: list[TypedSQL]) -> TypedSQL:
    return TypedSQL(_call("hash", state.salt, *values), "bigint")


def _round_double(to: ValueWriter, how: str, value: TypedSQL) -> TypedSQL:
    return TypedSQL(_call(how, value), "double")


def _round(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    if node.args.get("decimals") is None:
        return write_rounding(to, node)
    places = constant_of(node.args["decimals"])
    if places is None:
        return None
    power = to.double_literal(10.0 ** abs(int(places)))
    value = to.cast(to.write(node.this), "double")
    return TypedSQL(_call("round_digits", value, power, int(places)), "double")


def _like(to: ValueWriter, value: TypedSQL, pattern: TypedSQL) -> TypedSQL:
    return TypedSQL(_call("like", value, pattern), "boolean")


def _bind(state: StatementState, values: list[TypedSQL], body: Callable[..., str]) -> str:
    """Every body here uses each of its arguments once."""
    return body(*(value.sql for value in values))


def _trim(value: str, letters: str, side: Side) -> str:
    return _call("trim", value, letters, f"'{side}'")


def _position(value: str, part: str) -> str:
    return _call("position", value, part)


def _transcendental(name: str, value: str) -> str:
    return _call(name, value)


def _power(base: str, exponent: str) -> str:
    return _call("power", base, exponent)


def _remainder(left: str, right: str) -> str:
    return _call("remainder", left, right)


def _is_distinct(left: str, right: str) -> str:
    return f"{left} IS NOT {right}"


def _date_part(name: str, moment: str) -> str:
    return _call("part", f"'{name}'", moment)


def _days_between(end: str, start: str) -> str:
    return _call("difference", "'DAY'", end, start)


def _moved(moment: str, count: str, unit: str) -> str:
    return _call("move", f"'{unit}'", moment, count)


def _equal(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    """Two integers are equal if their texts are; SQLite can look up only the integers."""
    sides = [node.this, node.expression]
    if all(isinstance(side, exp.Cast) and side.to.is_type("text") for side in sides):
        inner = [to.write(side.this) for side in sides]
        if {value.kind for value in inner} <= {"int", "bigint"}:
            return TypedSQL(f"({inner[0].sql} = {inner[1].sql})", "boolean")
    left, right = to.align(node, *(to.write(side) for side in sides))
    return TypedSQL(f"({left.sql} = {right.sql})", "boolean")


def _extreme_of(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    values = [to.write(value) for value in (node.this, *node.expressions)]
    kind = to.common_kind(values)
    name = type(node).__name__.lower()
    return TypedSQL(_call(name, *(to.cast(value, kind) for value in values)), kind)


def _negative_of(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    value = to.write(node.this)
    if value.kind == "wide":
        return _integer_arithmetic(to, "-", TypedSQL("0", "int"), value, "wide")
    if value.kind == "double":
        return TypedSQL(_call("negative", value), "double")
    return TypedSQL(f"(- {value.sql})", value.kind)


def _absolute_of(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    value = to.write(node.this)
    if value.kind == "wide":
        other = _negative_of(to, node)
        return TypedSQL(_call("greatest", value, other), "wide")
    name = "deniable_absolute" if value.kind == "double" else "ABS"
    return TypedSQL(f"{name}({value.sql})", value.kind)


def _cut(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    """SUBSTRING, LEFT and RIGHT with constant places."""
    names = ("start", "length") if isinstance(node, exp.Substring) else ("expression",)
    places = [constant_of(node.args[name]) for name in names if node.args.get(name)]
    if None in places:
        return None
    numbers = (int(place) for place in places if place is not None)
    name = type(node).__name__.lower()
    return TypedSQL(_call(name, to.write(node.this), *numbers), "text")


def _logarithm_of(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    argument = node.args.get("expression")
    base = 10 if argument is None else constant_of(node.this)
    if base not in (2, 10):
        return None
    value = to.cast(to.write(node.this if argument is None else argument), "double")
    return TypedSQL(_call(f"log{base}", value), "double")


def _sign_of(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return TypedSQL(_call("sign", to.cast(to.write(node.this), "double")), "int")


def _truncated(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    unit = node.text("unit").upper()
    if unit not in TRUNCATION_UNITS:
        return None
    return TypedSQL(_call("truncate", f"'{unit}'", to.write(node.this)), "timestamp")


def _difference(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    unit = node.text("unit").upper()
    if unit not in DIFFERENCES:
        return None
    both = to.write(node.this), to.write(node.expression)
    return TypedSQL(_call("difference", f"'{unit}'", *both), "bigint")


def _called(name: str, kind: Kind) -> WriteNode:
    """A function of one or two texts or doubles."""

    def call(to: ValueWriter, node: exp.Expr) -> TypedSQL:
        arguments = [
            to.write(node.args[key]) for key in ("this", "expression") if node.args.get(key)
        ]
        return TypedSQL(_call(name, *arguments), kind)

    return call


_OWN: dict[type[exp.Expr], WriteNode] = {
    **dict.fromkeys((exp.Floor, exp.Ceil, exp.Round), _round),
    exp.EQ: _equal,
    exp.Least: _extreme_of,
    exp.Greatest: _extreme_of,
    exp.Neg: _negative_of,
    exp.Abs: _absolute_of,
    exp.Substring: _cut,
    exp.Left: _cut,
    exp.Right: _cut,
    exp.Log: _logarithm_of,
    exp.Sign: _sign_of,
    exp.TimestampTrunc: _truncated,
    exp.DateDiff: _difference,
    exp.Length: _called("length", "int"),
    exp.Lower: _called("lower", "text"),
    exp.Upper: _called("upper", "text"),
    exp.ILike: _called("ilike", "boolean"),
    exp.StartsWith: _called("starts_with", "boolean"),
    exp.EndsWith: _called("ends_with", "boolean"),
    exp.Sqrt: _called("sqrt", "double"),
}

SQLITE = Dialect(
    engine="SQLite",
    nan=f"'{NAN}'",
    values={**VALUES, **FUNCTIONS, **_OWN},
    text_literal=_parameter,
    double_literal=_parameter,
    bind=_bind,
    cast=_cast,
    convert=_convert,
    align=_align,
    double_arithmetic=_double_arithmetic,
    integer_arithmetic=_integer_arithmetic,
    divide_wide=_divide_wide,
    round_double=_round_double,
    power=_power,
    remainder=_remainder,
    transcendental=_transcendental,
    is_distinct=_is_distinct,
    like=_like,
    trim=_trim,
    position=_position,
    date_part=_date_part,
    days_between=_days_between,
    moved=_moved,
    sum_integers=_sum_integers,
    grouping_sets=False,
    windows=False,
    keyed_hash=_keyed_hash,
    number_rows=_number_rows,
    in_keys=_in_keys,
    once=" MATERIALIZED",
    apart=" MATERIALIZED",
    flat=True,
    union_part="SELECT * FROM ({})",  # SQLite has no parentheses around the parts
)
