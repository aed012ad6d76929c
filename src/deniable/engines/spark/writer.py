"""Writes our statements for Spark: the same integers with ANSI mode on or off.

Wide integers are DECIMAL(38, 0), which is slow. So a sum of narrow integers is computed as
several sums of 16 bits each, which are combined once per group; none can overflow below 2^47
rows. Text is passed as parameters, never as part of the statement.
"""

import math
from collections.abc import Callable

from sqlglot import exp

from deniable.engines.dialect import text_patterns
from deniable.engines.dialect.date_parts import DATE_PARTS, SECONDS_OF, TRUNCATION_UNITS
from deniable.engines.dialect.engine_dialect import (
    Dialect,
    Side,
    StatementState,
    ValueWriter,
)
from deniable.engines.dialect.function_writer import FUNCTIONS
from deniable.engines.dialect.typed_sql import Kind, TypedSQL, WrittenRelation
from deniable.engines.dialect.value_writer import VALUES
from deniable.engines.handover.declared_keys import bare_name
from deniable.errors import Unsupported
from deniable.query.plan.quoting import quote_with_backticks as quote_name

_WIDE = "DECIMAL(38,0)"
_WHOLE_FROM = "4503599627370496D"  # 2^52: larger doubles are whole numbers
_DAY = 86_400  # seconds
_MAX_DAYS = 106_751_991  # days from 1970, so that microseconds fit in 64 bits
_SHIFTS = {"int": (16, 0), "bigint": (48, 32, 16, 0)}  # the lowest bit of each partial sum
_INLINE_LENGTH = 100  # a shorter value may be written several times
_RUN_ROWS = 1 << 16  # rows that one EXPLODE creates
_LONGEST_NUMBER = 2000  # letters
_QUOTED = "'%d'"
_CHUNK = f"CAST(1000000000000000000 AS {_WIDE})"


def _text_literal(state: StatementState, value: str) -> str:
    return state.parameter(f"t{len(state.parameters)}", value)


def key_view(prefix: str, relation: str) -> str:
    """The temporary view that an engine with this prefix makes of declared keys.

    >>> key_view("deniable_1", "(keys 0)")
    'deniable_1_keys_0'
    """
    return f"{prefix}_{bare_name(relation)}"


def _in_keys(state: StatementState, value: str, relation: str) -> str:
    return f"{value} IN (SELECT key FROM {key_view(state.prefix, relation)})"


def _double_literal(state: StatementState, value: float) -> str:
    return f"{value!r}D"


def _convert(to: ValueWriter, value: TypedSQL, kind: Kind) -> str | None:
    sql, source = value.sql, value.kind
    match source, kind:
        case "int" | "bigint" | "wide" | "decimal", "double":
            return f"CAST({sql} AS DOUBLE)"
        case "text", "double":
            return to.bind([value], lambda text: _text_to_double(to, text))
        case "double", "int" | "bigint":
            bits = 31 if kind == "int" else 63
            return to.bind([value], lambda number: _to_integer(number, bits))
        case "decimal", "int" | "bigint":
            return f"TRY_CAST(ROUND({sql}, 0) AS BIGINT)"
        case "int" | "bigint" | "wide", "int" | "bigint":
            return f"TRY_CAST({sql} AS BIGINT)"
        case "int" | "bigint", "wide":
            return f"CAST({sql} AS {_WIDE})"
        case "int" | "bigint" | "wide" | "boolean", "text":
            return f"CAST({sql} AS STRING)"
        case "date", "text":
            return to.bind([value], _day_to_text)
        case "date", "timestamp":
            fits = f"UNIX_DATE({sql}) BETWEEN -{_MAX_DAYS} AND {_MAX_DAYS}"
            return f"CASE WHEN {fits} THEN CAST({sql} AS TIMESTAMP_NTZ) END"
        case "text", "timestamp":
            return to.bind([value], lambda text: _text_to_moment(to, text))
        case "timestamp", "date":
            return f"CAST({sql} AS DATE)"
        case _:
            return None


def _text_to_moment(to: ValueWriter, sql: str) -> str:
    pattern = to.text_literal(text_patterns.MOMENT)
    day, time = (f"REGEXP_EXTRACT({sql}, {pattern}, {part})" for part in (1, 2))
    return f"TRY_CAST(CONCAT({day}, {time}) AS TIMESTAMP_NTZ)"


def _text_to_double(to: ValueWriter, sql: str) -> str:
    """Text as a double, as DuckDB reads it; NULL if it is so long that Java's regular
    expressions could need more stack than there is, which ends the driver."""
    number, infinite, not_a_number, noise = (
        to.text_literal(pattern)
        for pattern in (
            text_patterns.NUMBER,
            text_patterns.INFINITE,
            text_patterns.NOT_A_NUMBER,
            text_patterns.NOISE,
        )
    )
    bare = f"REGEXP_REPLACE({sql}, {noise}, '')"
    return (
        f"CASE WHEN LENGTH({sql}) > {_LONGEST_NUMBER} THEN NULL "
        f"WHEN {sql} RLIKE {number} OR {sql} RLIKE {infinite} "
        f"THEN TRY_CAST({bare} AS DOUBLE) "
        f"WHEN {sql} RLIKE {not_a_number} THEN DOUBLE('NaN') END"
    )


def _day_to_text(sql: str) -> str:
    """A day as DuckDB writes it, including days before Christ and after the year 9999."""
    before = f"CONCAT(LPAD(CAST(1 - YEAR({sql}) AS STRING), GREATEST(4, LENGTH("
    before += f"CAST(1 - YEAR({sql}) AS STRING))), '0'), RIGHT(CAST({sql} AS STRING), 6), "
    return (
        f"CASE WHEN YEAR({sql}) > 9999 THEN SUBSTRING(CAST({sql} AS STRING), 2) "
        f"WHEN YEAR({sql}) < 1 THEN {before}' (BC)') ELSE CAST({sql} AS STRING) END"
    )


def _double_arithmetic(to: ValueWriter, sign: str, left: TypedSQL, right: TypedSQL) -> TypedSQL:
    below = f"NULLIF({right.sql}, 0D)" if sign == "/" else right.sql
    return TypedSQL(f"({left.sql} {sign} {below})", "double")


def _write_wide_quotient(to: ValueWriter, left: TypedSQL, right: TypedSQL) -> TypedSQL:
    over = to.cast(left, "wide")
    by = to.cast(right, "wide").sql
    return TypedSQL(to.bind([over], lambda number: _divide_wide(number, by, right.sql)), "wide")


def _sum_integers(value: TypedSQL, over: str) -> TypedSQL:
    if value.kind == "wide":
        return TypedSQL(f"SUM({value.sql}){over}", "wide")
    return TypedSQL(f"({' + '.join(_partial_sums(value, over))})", "wide")


def _keyed_hash(state: StatementState, values: list[TypedSQL]) -> TypedSQL:
    salt = state.parameter("salt", state.salt)
    return TypedSQL(
        f"XXHASH64({', '.join([salt, *(value.sql for value in values)])})", "bigint"
    )


def _write_rounded(to: ValueWriter, how: str, value: TypedSQL) -> TypedSQL:
    return TypedSQL(to.bind([value], lambda number: _round_double(how, number)), "double")


def _like(to: ValueWriter, value: TypedSQL, pattern: TypedSQL) -> TypedSQL:
    pattern_text = to.state.parameters.get(pattern.sql.removeprefix(":"))
    if isinstance(pattern_text, str) and pattern.sql.startswith(":"):
        escaped_pattern = to.text_literal(pattern_text.replace("\\", "\\\\"))
    else:
        backslash, escaped = to.text_literal("\\"), to.text_literal("\\\\")
        escaped_pattern = f"REPLACE({pattern.sql}, {backslash}, {escaped})"
    return TypedSQL(f"({value.sql} LIKE {escaped_pattern})", "boolean")


def _bind(state: StatementState, values: list[TypedSQL], body: Callable[..., str]) -> str:
    """Long values become arguments of a lambda function, which is called once."""
    names, head, tail = [], "", ""
    for value in values:
        if value.simple or len(value.sql) < _INLINE_LENGTH:
            names.append(value.sql)
            continue
        state.bound += 1
        names.append(f"deniable_{state.bound}")
        head += f"TRANSFORM(ARRAY({value.sql}), {names[-1]} -> "
        tail += ")[0]"
    return f"({head}{body(*names)}{tail})"


def _number_rows(table: WrittenRelation, number: str, of: int, place: int) -> tuple[str, Kind]:
    """The values of a row, and a number that distinguishes it from equal rows.

    Spark may run this each time that it is read, and parts of it again if an executor is
    lost, with the rows in any order. A number from Spark (ROW_NUMBER over all rows,
    MONOTONICALLY_INCREASING_ID, UUID) could then differ each time, and one row would be
    two units. Instead, equal rows are counted, and that many rows are created: the rows
    depend only on the table, not on any order.
    """
    if not table.deterministic:
        raise Unsupported(
            "This Spark frame has new rows each time that it is read (it uses RAND or "
            "similar), so its rows cannot be privacy units. Write it to a table, and "
            "protect that table. Nothing was spent."
        )
    columns = [quote_name(column) for column in table.columns]
    keys = [
        _exact_text(name, kind)
        for name, kind in zip(columns, table.columns.values(), strict=True)
    ]
    # Each key has one value, except that MIN may choose between two NaN.
    selected = [f"MIN({name}) AS {name}" for name in columns]
    selected += [f"ARRAY({', '.join([*keys, _QUOTED % place])}) AS `(held)`"]
    selected += ["COUNT(*) AS `(times)`"]
    distinct_rows = f"SELECT {', '.join(selected)} FROM {table.sql} "
    distinct_rows += f"GROUP BY {', '.join(keys)}" if keys else "HAVING COUNT(*) > 0"
    runs = f"SEQUENCE(0L, (`(times)` - 1L) DIV {_RUN_ROWS}L)"
    in_run = f"SEQUENCE(1L, LEAST({_RUN_ROWS}L, `(times)` - `(run)` * {_RUN_ROWS}L))"
    row_number = "CAST(`(run)` AS STRING), CAST(`(one)` AS STRING)"
    unit = f"CONCAT(`(held)`, ARRAY({row_number})) AS {quote_name(number)}"
    return (
        f"SELECT {', '.join([unit, *columns])} FROM ({distinct_rows}) "
        f"LATERAL VIEW EXPLODE({runs}) AS `(run)` LATERAL VIEW EXPLODE({in_run}) AS `(one)`"
    ), "opaque"


def _trim(value: str, letters: str, side: Side) -> str:
    return f"TRIM({side} {letters} FROM {value})"


def _position(value: str, part: str) -> str:
    return f"INSTR({value}, {part})"


def _transcendental(name: str, value: str) -> str:
    return f"{name.upper()}({value})"


def _power(base: str, exponent: str) -> str:
    defined = f"{base} >= 0D OR FLOOR({exponent}) = {exponent}"
    return f"CASE WHEN {defined} THEN POWER({base}, {exponent}) END"


def _remainder(left: str, right: str) -> str:
    return f"({left} % NULLIF({right}, 0D))"


def _is_distinct(left: str, right: str) -> str:
    return f"NOT ({left} <=> {right})"


def _date_part(name: str, moment: str) -> str:
    part, _, offset = DATE_PARTS[name]
    return f"(CAST(EXTRACT({part} FROM {moment}) AS BIGINT) - {offset})"


def _days_between(end: str, start: str) -> str:
    return f"CAST(DATEDIFF(CAST({end} AS DATE), CAST({start} AS DATE)) AS BIGINT)"


def _starts_with(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    text, start = to.write(node.this).sql, to.write(node.expression).sql
    return TypedSQL(f"STARTSWITH({text}, {start})", "boolean")


def _moved(moment: str, count: str, unit: str) -> str:
    """The day of a month stays, or is its last one, as in DuckDB."""
    if unit == "MONTH":
        return f"({moment} + MAKE_YM_INTERVAL(0, CAST({count} AS INT)))"
    days, rest = f"CAST({count} DIV {_DAY} AS INT)", f"CAST({count} % {_DAY} AS INT)"
    return f"({moment} + MAKE_DT_INTERVAL({days}, 0, 0, {rest}))"


def _truncate_moment(to: ValueWriter, node: exp.Expr) -> TypedSQL | None:
    unit = node.text("unit")
    if unit not in TRUNCATION_UNITS:
        return None
    truncated = to.bind([to.write(node.this)], lambda moment: _truncate(unit, moment))
    return TypedSQL(truncated, "timestamp")


def _truncate(unit: str, moment: str) -> str:
    """The start of an hour, a day or a longer unit. Spark's own DATE_TRUNC would compute it in
    the session's time zone, in which some hours do not exist."""
    day = f"CAST({moment} AS DATE)"
    if unit != "DAY" and unit not in SECONDS_OF:
        day = f"TRUNC({day}, '{unit}')"
    start = f"CAST({day} AS TIMESTAMP_NTZ)"
    for part in ("HOUR", "MINUTE", "SECOND"):
        if SECONDS_OF.get(unit, math.inf) <= SECONDS_OF[part]:
            start = f"TIMESTAMPADD({part}, {part}({moment}), {start})"
    return start


def _exact_text(name: str, kind: Kind) -> str:
    """A value as text, different for different values: even for 0.0 and -0.0."""
    return f"HEX({name})" if kind == "opaque" else f"CAST({name} AS STRING)"


def _to_integer(number: str, bits: int) -> str:
    fits = f"RINT({number}) >= {-(2**bits)}D AND RINT({number}) < {2**bits}D"
    return f"CASE WHEN {fits} THEN CAST(RINT({number}) AS BIGINT) END"


def _round_double(how: str, number: str) -> str:
    """Spark's own FLOOR and CEIL return integers, which fail for large doubles."""
    rounded = f"CAST({how.upper()}({number}) AS DOUBLE)"
    if how == "trunc":
        rounded = f"CAST(CAST({number} AS BIGINT) AS DOUBLE)"
    if how == "round":
        size = f"FLOOR(ABS({number}))"
        up = f"CASE WHEN ABS({number}) - {size} >= 0.5D THEN 1D ELSE 0D END"
        rounded = f"(CASE WHEN {number} < 0D THEN -1D ELSE 1D END * ({size} + {up}))"
    return f"CASE WHEN ABS({number}) < {_WHOLE_FROM} THEN {rounded} ELSE {number} END"


def _divide_wide(over: str, by: str, narrow_by: str) -> str:
    """Spark rounds a quotient of decimals, so 38 digits are divided as 20 and 18."""
    upper = _divide_towards_zero(over, _CHUNK)
    rest = f"({upper} % {by}) * {_CHUNK} + {over} % {_CHUNK}"
    high, low = _divide_towards_zero(upper, by), _divide_towards_zero(f"({rest})", by)
    long = f"{high} * {_CHUNK} + {low}"
    short = f"CAST(TRY_CAST({over} AS BIGINT) DIV {narrow_by} AS {_WIDE})"
    return f"CASE WHEN ABS({over}) < {_CHUNK} THEN {short} ELSE CAST({long} AS {_WIDE}) END"


def _divide_towards_zero(over: str, by: str) -> str:
    """over / by rounded towards zero; exact if it has at most 32 digits."""
    return f"CAST(({over} - {over} % {by}) / {by} AS {_WIDE})"


def _partial_sums(value: TypedSQL, over: str) -> list[str]:
    """The sum of a narrow integer, 16 bits at a time; the first part carries the sign."""
    shifts, whole = _SHIFTS[value.kind], f"CAST({value.sql} AS BIGINT)"
    sums = []
    for shift in shifts:
        part = f"SHIFTRIGHT({whole}, {shift})" if shift else whole
        part = part if shift == shifts[0] else f"({part} & 65535L)"
        part_sum = f"CAST(SUM({part}){over} AS {_WIDE})"
        sums.append(f"{part_sum} * {2**shift}" if shift else part_sum)
    return sums


SPARK = Dialect(
    engine="Spark",
    nan="DOUBLE('NaN')",
    values={
        **VALUES,
        **FUNCTIONS,
        exp.StartsWith: _starts_with,
        exp.TimestampTrunc: _truncate_moment,
    },
    quote_name=quote_name,
    text_literal=_text_literal,
    double_literal=_double_literal,
    bind=_bind,
    convert=_convert,
    double_arithmetic=_double_arithmetic,
    divide_wide=_write_wide_quotient,
    round_double=_write_rounded,
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
    median="PERCENTILE({}, 0.5D)",
    keyed_hash=_keyed_hash,
    number_rows=_number_rows,
    in_keys=_in_keys,
    lists=("ARRAY({})", "ELEMENT_AT({}, CAST({} AS INT))", "EXPLODE({})"),
    stored_lists=("GET({}, CAST({} AS INT) - 1)", "ARRAY_SIZE({})"),
)
