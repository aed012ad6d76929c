"""Our statements in Spark's words: the same integers with ANSI mode on or off.

Wide integers are DECIMAL(38, 0), which is slow, so a sum of narrow integers is made of sums
of 16 bits each, put together once a group: none can overflow below 2^47 rows. Text enters as
parameters, never as part of the statement.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from deniable.engines.dialect import text_patterns
from deniable.engines.dialect.date_parts import DATE_PARTS, TRUNCATION_UNITS
from deniable.engines.dialect.engine_dialect import Kind, TypedSQL
from deniable.engines.dialect.function_writer import Side
from deniable.engines.dialect.statement_writer import StatementWriter, WrittenRelation
from deniable.errors import Unsupported

_WIDE = "DECIMAL(38,0)"
_WHOLE_FROM = "4503599627370496D"  # 2^52: from here on doubles are whole
_MAX_DAYS = 106_751_991  # days from 1970, so that microseconds fit in 64 bits
_SHIFTS = {"int": (16, 0), "bigint": (48, 32, 16, 0)}  # where the parts of a sum begin
_INLINE_LENGTH = 100  # signs of a value that may be written several times
_ROWS_PER_EXPLODE = 1 << 16  # rows that are written out at a time
_QUOTED = "'%d'"
_CHUNK = f"CAST(1000000000000000000 AS {_WIDE})"


class SparkWriter(StatementWriter):
    """Writes for Spark SQL; `parameters` fill what the statement leaves open.

    >>> writer = SparkWriter({"visits": WrittenRelation("`v`", {"ward": "text"})})
    >>> writer.write('SELECT COUNT(*) AS n FROM "visits" WHERE "ward" = \\'A\\'')
    'SELECT COUNT(*) AS `n` FROM `v` AS `visits` WHERE (`ward` = :t0)'
    >>> writer.parameters
    {'t0': 'A'}
    """

    engine = "Spark"
    NAN = "DOUBLE('NaN')"

    def __init__(self, tables: Mapping[str, WrittenRelation], salt: int = 0) -> None:
        super().__init__(tables)
        self._salt = salt
        self._bound = 0
        self.parameters: dict[str, Any] = {}

    def quote_name(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def text_literal(self, value: str) -> str:
        return self._parameter(f"t{len(self.parameters)}", value)

    def _parameter(self, mark: str, value: str | int) -> str:
        self.parameters[mark] = value
        return f":{mark}"

    def double_literal(self, value: float) -> str:
        return f"{value!r}D"

    def convert(self, value: TypedSQL, kind: Kind) -> str | None:
        sql, known = value.sql, value.kind
        match known, kind:
            case "int" | "bigint" | "wide" | "decimal", "double":
                return f"CAST({sql} AS DOUBLE)"
            case "text", "double":
                return self._text_to_double(sql)
            case "double", "int" | "bigint":
                low, high = (-(2**31), 2**31) if kind == "int" else (-(2**63), 2**63)
                near = f"RINT({sql}) >= {low}D AND RINT({sql}) < {high}D"
                return f"CASE WHEN {near} THEN CAST(RINT({sql}) AS BIGINT) END"
            case "decimal", "int" | "bigint":
                return f"TRY_CAST(ROUND({sql}, 0) AS BIGINT)"
            case "int" | "bigint" | "wide", "int" | "bigint":
                return f"TRY_CAST({sql} AS BIGINT)"
            case "int" | "bigint", "wide":
                return f"CAST({sql} AS {_WIDE})"
            case "int" | "bigint" | "wide" | "boolean", "text":
                return f"CAST({sql} AS STRING)"
            case "date", "text":
                return self._day_to_text(sql)
            case "date", "timestamp":
                near = f"UNIX_DATE({sql}) BETWEEN -{_MAX_DAYS} AND {_MAX_DAYS}"
                return f"CASE WHEN {near} THEN CAST({sql} AS TIMESTAMP_NTZ) END"
            case "text", "timestamp":
                told = f"CASE WHEN {sql} RLIKE {self.text_literal(text_patterns.MOMENT)} THEN {sql} END"
                return f"TRY_CAST({told} AS TIMESTAMP_NTZ)"
            case "timestamp", "date":
                return f"CAST({sql} AS DATE)"
            case _:
                return None

    def _text_to_double(self, sql: str) -> str:
        """Text as a number, as DuckDB reads it."""
        number, infinite, neither, noise = (
            self.text_literal(pattern)
            for pattern in (
                text_patterns.NUMBER,
                text_patterns.INFINITE,
                text_patterns.NOT_A_NUMBER,
                text_patterns.NOISE,
            )
        )
        bare = f"REGEXP_REPLACE({sql}, {noise}, '')"
        return (
            f"CASE WHEN {sql} RLIKE {number} OR {sql} RLIKE {infinite} "
            f"THEN TRY_CAST({bare} AS DOUBLE) WHEN {sql} RLIKE {neither} THEN DOUBLE('NaN') END"
        )

    def _day_to_text(self, sql: str) -> str:
        """A day as DuckDB writes it, also before Christ and after the year 9999."""
        before = f"CONCAT(LPAD(CAST(1 - YEAR({sql}) AS STRING), GREATEST(4, LENGTH("
        before += f"CAST(1 - YEAR({sql}) AS STRING))), '0'), RIGHT(CAST({sql} AS STRING), 6), "
        return (
            f"CASE WHEN YEAR({sql}) > 9999 THEN SUBSTRING(CAST({sql} AS STRING), 2) "
            f"WHEN YEAR({sql}) < 1 THEN {before}' (BC)') ELSE CAST({sql} AS STRING) END"
        )

    def double_arithmetic(self, sign: str, left: TypedSQL, right: TypedSQL) -> TypedSQL:
        below = f"NULLIF({right.sql}, 0D)" if sign == "/" else right.sql
        return TypedSQL(f"({left.sql} {sign} {below})", "double")

    def integer_arithmetic(
        self, sign: str, left: TypedSQL, right: TypedSQL, kind: Kind
    ) -> TypedSQL:
        if kind == "wide":
            left, right = self.cast(left, kind), self.cast(right, kind)
        return super().integer_arithmetic(sign, left, right, kind)

    def divide_wide(self, left: TypedSQL, right: TypedSQL) -> TypedSQL:
        """Spark's quotient of decimals is rounded, so 38 digits are divided as 20 and 18."""
        over, by = (self.cast(one, "wide").sql for one in (left, right))
        upper = _divide_towards_zero(over, _CHUNK)
        rest = f"({upper} % {by}) * {_CHUNK} + {over} % {_CHUNK}"
        long = f"{_divide_towards_zero(upper, by)} * {_CHUNK} + {_divide_towards_zero(f'({rest})', by)}"
        short = f"CAST(TRY_CAST({over} AS BIGINT) DIV {right.sql} AS {_WIDE})"
        narrow = f"ABS({over}) < {_CHUNK}"
        return TypedSQL(
            f"CASE WHEN {narrow} THEN {short} ELSE CAST({long} AS {_WIDE}) END", "wide"
        )

    def sum_integers(self, value: TypedSQL) -> TypedSQL:
        if value.kind == "wide":
            return TypedSQL(f"SUM({value.sql})", "wide")
        return TypedSQL(f"({' + '.join(_partial_sums(value))})", "wide")

    def keyed_hash(self, values: list[TypedSQL]) -> TypedSQL:
        salt = self._parameter("salt", self._salt)
        return TypedSQL(
            f"XXHASH64({', '.join([salt, *(one.sql for one in values)])})", "bigint"
        )

    def round_double(self, how: str, value: TypedSQL) -> TypedSQL:
        """Spark's own FLOOR and CEIL are integers, which fail where doubles are large."""
        sql, small = value.sql, f"ABS({value.sql}) < {_WHOLE_FROM}"
        made = f"CAST({how.upper()}({sql}) AS DOUBLE)"
        if how == "trunc":
            made = f"CAST(CAST({sql} AS BIGINT) AS DOUBLE)"
        if how == "round":
            size = f"FLOOR(ABS({sql}))"
            up = f"CASE WHEN ABS({sql}) - {size} >= 0.5D THEN 1D ELSE 0D END"
            made = f"(CASE WHEN {sql} < 0D THEN -1D ELSE 1D END * ({size} + {up}))"
        return TypedSQL(f"CASE WHEN {small} THEN {made} ELSE {sql} END", "double")

    def like(self, value: TypedSQL, pattern: TypedSQL) -> TypedSQL:
        known = self.parameters.get(pattern.sql.removeprefix(":"))
        if isinstance(known, str) and pattern.sql.startswith(":"):
            written = self.text_literal(known.replace("\\", "\\\\"))
        else:
            one, two = self.text_literal("\\"), self.text_literal("\\\\")
            written = f"REPLACE({pattern.sql}, {one}, {two})"
        return TypedSQL(f"({value.sql} LIKE {written})", "boolean")

    def bind(self, values: list[TypedSQL], body: Callable[..., str]) -> str:
        """Long values are bound in a function of their own, which is called once."""
        names, head, tail = [], "", ""
        for one in values:
            if one.simple or len(one.sql) < _INLINE_LENGTH:
                names.append(one.sql)
                continue
            self._bound += 1
            names.append(f"deniable_{self._bound}")
            head += f"TRANSFORM(ARRAY({one.sql}), {names[-1]} -> "
            tail += ")[0]"
        return f"({head}{body(*names)}{tail})"

    def number_rows(
        self, table: WrittenRelation, number: str, of: int, place: int
    ) -> tuple[str, Kind]:
        """All that a row holds, and a number that tells it from those that hold the same.

        Spark may run this once for every time that it is read, and parts of it again where an
        executor is lost, in any order of the rows. A number that Spark gives (ROW_NUMBER
        over all, MONOTONICALLY_INCREASING_ID, UUID) would then be another each time, and one
        row would be two units. Rows that hold the same are counted instead, and so many come
        back: which rows there are hangs on the table alone, and not on any order.
        """
        if not table.steady:
            raise Unsupported(
                "This frame of Spark is made anew each time that it is read (by RAND or the "
                "like), so that a row could not be told from another. Write it to a table, and "
                "protect that. Nothing was spent."
            )
        shown = [self.quote_name(one) for one in table.columns]
        keys = [
            _exact_text(name, kind)
            for name, kind in zip(shown, table.columns.values(), strict=True)
        ]
        # Of one key there is one value, save that MIN may choose between two NaN.
        chosen = [f"MIN({name}) AS {name}" for name in shown]
        chosen += [f"ARRAY({', '.join([*keys, _QUOTED % place])}) AS `(held)`"]
        alike = f"SELECT {', '.join([*chosen, 'COUNT(*) AS `(times)`'])} FROM {table.sql} "
        alike += f"GROUP BY {', '.join(keys)}" if keys else "HAVING COUNT(*) > 0"
        whole = f"SEQUENCE(0L, (`(times)` - 1L) DIV {_ROWS_PER_EXPLODE}L)"
        rest = f"SEQUENCE(1L, LEAST({_ROWS_PER_EXPLODE}L, `(times)` - `(run)` * {_ROWS_PER_EXPLODE}L))"
        which = "CAST(`(run)` AS STRING), CAST(`(one)` AS STRING)"
        unit = f"CONCAT(`(held)`, ARRAY({which})) AS {self.quote_name(number)}"
        return (
            f"SELECT {', '.join([unit, *shown])} FROM ({alike}) "
            f"LATERAL VIEW EXPLODE({whole}) AS `(run)` LATERAL VIEW EXPLODE({rest}) AS `(one)`"
        ), "opaque"

    def trim(self, value: str, letters: str, side: Side) -> str:
        return f"TRIM({side} {letters} FROM {value})"

    def position(self, value: str, part: str) -> str:
        return f"INSTR({value}, {part})"

    def transcendental(self, name: str, value: str) -> str:
        return f"{name.upper()}({value})"

    def power(self, base: str, exponent: str) -> str:
        defined = f"{base} >= 0D OR FLOOR({exponent}) = {exponent}"
        return f"CASE WHEN {defined} THEN POWER({base}, {exponent}) END"

    def remainder(self, left: str, right: str) -> str:
        return f"({left} % NULLIF({right}, 0D))"

    def is_distinct(self, left: str, right: str) -> str:
        return f"NOT ({left} <=> {right})"

    def date_part(self, name: str, moment: str) -> str:
        word, _, less = DATE_PARTS[name]
        return f"(CAST(EXTRACT({word} FROM {moment}) AS BIGINT) - {less})"

    def days_between(self, end: str, start: str) -> str:
        return f"CAST(DATEDIFF(CAST({end} AS DATE), CAST({start} AS DATE)) AS BIGINT)"

    def write_function(
        self, node: exp.Expr, write: Callable[[exp.Expr], TypedSQL]
    ) -> TypedSQL | None:
        match node:
            case exp.StartsWith():
                words = write(node.this).sql, write(node.expression).sql
                return TypedSQL(f"STARTSWITH({words[0]}, {words[1]})", "boolean")
            case exp.TimestampTrunc() if node.text("unit") in TRUNCATION_UNITS:
                moment = write(node.this).sql
                return TypedSQL(
                    f"CAST(DATE_TRUNC('{node.text('unit')}', {moment}) AS TIMESTAMP_NTZ)",
                    "timestamp",
                )
            case _:
                return super().write_function(node, write)


def _exact_text(name: str, kind: Kind) -> str:
    """A value as text, other for any other value: also for 0.0 and -0.0, which group as one."""
    return f"HEX({name})" if kind == "opaque" else f"CAST({name} AS STRING)"


def _divide_towards_zero(over: str, by: str) -> str:
    """over / by towards zero, exact as long as it has at most 32 digits."""
    return f"CAST(({over} - {over} % {by}) / {by} AS {_WIDE})"


def _partial_sums(value: TypedSQL) -> list[str]:
    """The sum of a narrow integer, 16 bits at a time; the first part has the sign."""
    shifts, whole = _SHIFTS[value.kind], f"CAST({value.sql} AS BIGINT)"
    made = []
    for shift in shifts:
        part = f"SHIFTRIGHT({whole}, {shift})" if shift else whole
        part = part if shift == shifts[0] else f"({part} & 65535L)"
        added = f"CAST(SUM({part}) AS {_WIDE})"
        made.append(f"{added} * {2**shift}" if shift else added)
    return made
