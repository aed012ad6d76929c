"""Writes our statements for PostgreSQL, in which a cast or a product can be an error.

PostgreSQL raises errors that DuckDB does not: for text that is not a number, for a double out
of range on either side, for a day that is out of range for a timestamp. It has no TRY_CAST. So
text is matched before it is cast, and a product, quotient or sum of doubles becomes infinite,
or zero, before it could leave the range (`doubles`). A value that is used several times is
computed once, in a sub-query that the optimizer does not merge (OFFSET 0). Wide integers are
`numeric`, whose `div` rounds towards zero and is exact.
"""

from collections.abc import Callable

from sqlglot import exp

from deniable.engines.dialect import text_patterns
from deniable.engines.dialect.date_parts import DATE_PARTS, TRUNCATION_UNITS
from deniable.engines.dialect.engine_dialect import (
    Dialect,
    Side,
    StatementState,
    ValueWriter,
)
from deniable.engines.dialect.function_writer import FUNCTIONS
from deniable.engines.dialect.typed_sql import Kind, TypedSQL, WrittenRelation
from deniable.engines.dialect.value_writer import VALUES
from deniable.engines.handover.declared_keys import bare_name, type_of_keys
from deniable.engines.postgresql import doubles
from deniable.errors import Unsupported
from deniable.query.plan.quoting import quote_name, quote_text

_ARITHMETIC = {
    "+": doubles.add,
    "-": doubles.add,
    "*": doubles.multiply,
    "/": doubles.divide,
}
_MOST_KEYS = 1 << 28  # bytes of declared keys; PostgreSQL's own limit is four times as high
_LAST_IN_LATIN1 = "\xff"
_LAST_DAY = "'294247-01-10'::date"  # the last day whose microseconds fit in 64 bits


def _text_literal(state: StatementState, value: str) -> str:
    if "\0" in value:
        raise Unsupported(
            "PostgreSQL does not support text that contains a zero byte. Nothing was spent."
        )
    if not state.utf8 and not value.isascii():
        raise Unsupported(
            "This database is not encoded in UTF8, and the query uses letters that it may "
            "not have. Nothing was spent."
        )
    return quote_text(value)


def _in_keys(state: StatementState, value: str, relation: str) -> str:
    """The keys are one array, which PostgreSQL looks up by hash if both sides have the same
    type. Keys that no text of this database can equal are left out: it could not read them."""
    keys = state.keys[relation]
    if keys.nbytes > _MOST_KEYS:
        raise Unsupported(
            f"The declared keys of this query are too long for PostgreSQL: together more than "
            f"{_MOST_KEYS >> 20} MiB. Declare fewer of them, or copy the table into DuckDB. "
            "Nothing was spent."
        )
    name, type_ = bare_name(relation), type_of_keys(keys)
    if name not in state.parameters:
        listed = keys.to_pylist()
        if type_ == "text":
            listed = [key for key in listed if _is_in_database(state, key)]
        state.parameter(name, listed)
    place = list(state.parameters).index(name) + 1
    return f"({value})::{type_} = ANY(${place}::{type_}[])"


def _is_in_database(state: StatementState, text: str) -> bool:
    return "\0" not in text and (state.utf8 or max(text, default="") <= _LAST_IN_LATIN1)


def _double_literal(state: StatementState, value: float) -> str:
    return f"'{value!r}'::float8"


def _convert(to: ValueWriter, value: TypedSQL, kind: Kind) -> str | None:
    sql, source = value.sql, value.kind
    match source, kind:
        case "int" | "bigint", "double":
            return f"({sql})::float8"
        case "wide" | "decimal", "double":
            return to.bind([value], doubles.to_double)
        case "text", "double":
            return to.bind([value], lambda text: _text_to_double(to, text))
        case "double", "int" | "bigint":
            half = 2**31 if kind == "int" else 2**63
            return to.bind([value], lambda number: doubles.round_to_even(number, half))
        case "wide" | "decimal", "int" | "bigint":
            return to.bind([value], _to_bigint)
        case "int" | "bigint", "int" | "bigint":
            return f"({sql})::bigint"
        case "int" | "bigint", "wide":
            return f"({sql})::numeric"
        case "int" | "bigint" | "wide" | "boolean", "text":
            return f'({sql})::text COLLATE "C"'
        case "date", "text":
            return f"REPLACE(({sql})::text, ' BC', ' (BC)') COLLATE \"C\""
        case "date", "timestamp":
            return to.bind([value], _to_timestamp)
        case "text", "timestamp":
            return to.bind([value], lambda text: _text_to_moment(to, text))
        case "timestamp", "date":
            return f"({sql})::date"
        case _:
            return None


def _bind(state: StatementState, values: list[TypedSQL], body: Callable[..., str]) -> str:
    """Each value is computed once, in a sub-query, unless it is simple."""
    if all(value.simple for value in values):
        return f"({body(*(value.sql for value in values))})"
    state.bound += 1
    names = [f"b{state.bound}_{place}" for place in range(len(values))]
    bound = ", ".join(
        f"{value.sql} AS {name}" for value, name in zip(values, names, strict=True)
    )
    return f"(SELECT {body(*names)} FROM (SELECT {bound} OFFSET 0) AS b{state.bound})"


def _text_to_double(to: ValueWriter, text: str) -> str:
    """Text as a double, as DuckDB reads it; NULL if it has more than 2,000 letters."""
    number, infinite, not_a_number, noise = map(
        to.text_literal,
        (
            text_patterns.NUMBER,
            text_patterns.INFINITE,
            text_patterns.NOT_A_NUMBER,
            text_patterns.NOISE,
        ),
    )
    bare = f"REGEXP_REPLACE({text}, {noise}, '', 'g')"
    far = (  # an exponent so large that 2,000 digits cannot balance it
        f"CASE WHEN {bare} ~ '^-?[0.]*[eE]' OR {bare} ~ '[eE]-' THEN 0::float8 "
        f"WHEN {bare} ~ '^-' THEN '-Infinity'::float8 ELSE 'Infinity'::float8 END"
    )
    near = to.bind([TypedSQL(f"({bare})::numeric", "wide")], doubles.to_double)
    return (
        f"CASE WHEN LENGTH({text}) > 2000 THEN NULL "
        f"WHEN {text} ~ {infinite} AND {text} ~ '-' THEN '-Infinity'::float8 "
        f"WHEN {text} ~ {infinite} THEN 'Infinity'::float8 "
        f"WHEN {text} ~ {not_a_number} THEN 'NaN'::float8 "
        f"WHEN {text} ~ {number} THEN CASE WHEN {bare} ~ '[eE]-?0*[1-9][0-9]{{4,}}$' "
        f"THEN {far} ELSE {near} END END"
    )


def _text_to_moment(to: ValueWriter, text: str) -> str:
    """Text as a moment; NULL if there is no such day or time."""
    match = f"REGEXP_MATCH({text}, {to.text_literal(text_patterns.MOMENT_PARTS)})"
    bound = "(SELECT m[1]::int AS y, m[2]::int AS mo, m[3]::int AS d, m[4]::int AS h, "
    bound += "m[5]::int AS mi, m[6]::int AS s, m[7] AS f FROM "
    bound += f"(SELECT {match} AS m OFFSET 0) AS found OFFSET 0) AS parts"
    leap = "y % 4 = 0 AND (y % 100 <> 0 OR y % 400 = 0)"
    last_day = f"CASE WHEN mo = 2 AND ({leap}) THEN 29 WHEN mo = 2 THEN 28 "
    last_day += "WHEN mo IN (4, 6, 9, 11) THEN 30 ELSE 31 END"
    exists = f"mo BETWEEN 1 AND 12 AND d BETWEEN 1 AND {last_day} AND COALESCE(h, 0) < 24 "
    exists += "AND COALESCE(mi, 0) < 60 AND COALESCE(s, 0) < 60"
    moment = "MAKE_TIMESTAMP(CASE WHEN y = 0 THEN -1 ELSE y END, mo, d, COALESCE(h, 0), "
    moment += "COALESCE(mi, 0), (COALESCE(s, 0)::text || '.' || COALESCE(f, '0'))::float8)"
    return f"(SELECT CASE WHEN {exists} THEN {moment} END FROM {bound})"


def _double_arithmetic(to: ValueWriter, sign: str, left: TypedSQL, right: TypedSQL) -> TypedSQL:
    operation = _ARITHMETIC[sign]
    return TypedSQL(to.bind([left, right], lambda *both: operation(sign, *both)), "double")


def _divide_wide(to: ValueWriter, left: TypedSQL, right: TypedSQL) -> TypedSQL:
    over, by = (to.cast(operand, "wide").sql for operand in (left, right))
    return TypedSQL(f"DIV({over}, NULLIF({by}, 0))", "wide")


def _sum_integers(value: TypedSQL, over: str) -> TypedSQL:
    added = f"({value.sql})::bigint" if value.kind != "wide" else value.sql
    return TypedSQL(f"SUM({added}){over}", "wide")


def _extreme(name: str, value: TypedSQL) -> str:
    """PostgreSQL has no MIN and MAX of booleans."""
    if value.kind == "boolean":
        name = {"MIN": "BOOL_AND", "MAX": "BOOL_OR"}[name]
    return f"{name}({value.sql})"


def _keyed_hash(state: StatementState, values: list[TypedSQL]) -> TypedSQL:
    """The text of a row would show the sign of zero, which no comparison sees: 0 + -0 is 0."""
    unsigned = (
        f"({value.sql} + 0)" if value.kind == "double" else value.sql for value in values
    )
    row = f"ROW({', '.join(unsigned)})::text"
    return TypedSQL(f'HASHTEXTEXTENDED({row} COLLATE "C", {state.salt})', "bigint")


def _round_double(to: ValueWriter, how: str, value: TypedSQL) -> TypedSQL:
    if how == "round":  # PostgreSQL's own ROUND rounds half to even
        return TypedSQL(to.bind([value], doubles.round_half_away), "double")
    return TypedSQL(f"{how.upper()}({value.sql})", "double")


def _like(to: ValueWriter, value: TypedSQL, pattern: TypedSQL) -> TypedSQL:
    return TypedSQL(f"({value.sql} LIKE {pattern.sql} ESCAPE '')", "boolean")


def _number_rows(table: WrittenRelation, number: str, of: int, place: int) -> tuple[str, Kind]:
    """Row numbers: the statement is MATERIALIZED, so it runs only once."""
    columns = ", ".join(
        [f"ROW_NUMBER() OVER () * {of} + {place} AS {quote_name(number)}"]
        + [quote_name(column) for column in table.columns]
    )
    return f"SELECT {columns} FROM {table.sql} AS numbered", "bigint"


def _trim(value: str, letters: str, side: Side) -> str:
    word = {"BOTH": "BTRIM", "LEADING": "LTRIM", "TRAILING": "RTRIM"}[side]
    return f"{word}({value}, {letters})"


def _position(value: str, part: str) -> str:
    return f"STRPOS({value}, {part})"


def _is_distinct(left: str, right: str) -> str:
    return f"{left} IS DISTINCT FROM {right}"


def _date_part(name: str, moment: str) -> str:
    part = f"EXTRACT({DATE_PARTS[name][1]} FROM {moment})"
    return f"FLOOR({part})::bigint" if name == "SECOND" else f"{part}::bigint"


def _days_between(end: str, start: str) -> str:
    return f"(({end})::date - ({start})::date)"


def _moved(moment: str, count: str, unit: str) -> str:
    """The day of a month stays, or is its last one, as in DuckDB."""
    span = f"months => ({count})::int" if unit == "MONTH" else f"secs => ({count})::float8"
    return f"({moment} + MAKE_INTERVAL({span}))"


def _starts_with(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    text, start = to.write(node.this).sql, to.write(node.expression).sql
    return TypedSQL(f"STARTS_WITH({text}, {start})", "boolean")


def _truncate_moment(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    unit = node.text("unit")
    if unit not in TRUNCATION_UNITS:
        return None
    truncated = f"DATE_TRUNC('{unit.lower()}', {to.write(node.this).sql})"
    return TypedSQL(truncated, "timestamp")


def _to_bigint(number: str) -> str:
    fits = f"ROUND({number}) BETWEEN -{2**63} AND {2**63 - 1}"
    return f"CASE WHEN {fits} THEN ({number})::bigint END"


def _to_timestamp(day: str) -> str:
    fits = f"NOT ISFINITE({day}) OR {day} <= {_LAST_DAY}"
    return f"CASE WHEN {fits} THEN ({day})::timestamp END"


POSTGRESQL = Dialect(
    engine="PostgreSQL",
    nan="'NaN'::float8",
    values={
        **VALUES,
        **FUNCTIONS,
        exp.StartsWith: _starts_with,
        exp.TimestampTrunc: _truncate_moment,
    },
    text_literal=_text_literal,
    double_literal=_double_literal,
    bind=_bind,
    convert=_convert,
    double_arithmetic=_double_arithmetic,
    divide_wide=_divide_wide,
    round_double=_round_double,
    power=doubles.power,
    remainder=doubles.remainder,
    transcendental=doubles.transcendental,
    is_distinct=_is_distinct,
    like=_like,
    trim=_trim,
    position=_position,
    date_part=_date_part,
    days_between=_days_between,
    moved=_moved,
    sum_integers=_sum_integers,
    median="PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {})",
    extreme=_extreme,
    keyed_hash=_keyed_hash,
    number_rows=_number_rows,
    in_keys=_in_keys,
    lists=("ARRAY[{}]", "({})[{}]", "UNNEST({})"),
    stored_lists=("({})[{}]", "CARDINALITY({})"),
    once=" MATERIALIZED",
    apart=" OFFSET 0",
)
