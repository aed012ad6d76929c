"""Writes functions of text, numbers and dates in another engine's dialect.

Upper and lower case are DuckDB's own (`duckdb_letters`), positions in a text count code
points, and an undefined result is NULL. The transcendental functions (EXP, LN, LOG10, LOG2,
SIN, COS, POWER) are the engine's own: their last digit may differ, as it may between two
machines that run DuckDB.
"""

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

from sqlglot import exp

from deniable.engines.dialect.constants import constant_of
from deniable.engines.dialect.date_parts import DATE_PARTS
from deniable.engines.dialect.duckdb_letters import case_pairs, spaces
from deniable.engines.dialect.engine_dialect import EngineDialect
from deniable.engines.dialect.typed_sql import TypedSQL

WriteValue: TypeAlias = Callable[[exp.Expr], TypedSQL]
Side: TypeAlias = Literal["BOTH", "LEADING", "TRAILING"]


class FunctionWriter(EngineDialect):
    """Writes functions in the dialect of one engine."""

    NAN: ClassVar[str]

    @abstractmethod
    def bind(self, values: list[TypedSQL], body: Callable[..., str]) -> str:
        """Writes `body` with the values as arguments. Each value is computed once, or is so
        short that it may be repeated."""

    @abstractmethod
    def trim(self, value: str, letters: str, side: Side) -> str:
        """Text without these letters at its ends."""

    @abstractmethod
    def position(self, value: str, part: str) -> str:
        """Where a part begins in a text, counted from 1; 0 if it is not in the text."""

    @abstractmethod
    def transcendental(self, name: str, value: str) -> str:
        """exp, ln, log10, sin or cos of a double; ln and log10 are NULL for 0 and below."""

    @abstractmethod
    def power(self, base: str, exponent: str) -> str:
        """One double to the power of another; roots of negative numbers are NULL."""

    @abstractmethod
    def remainder(self, left: str, right: str) -> str:
        """The remainder of two doubles, as C's fmod; NULL if the divisor is 0."""

    @abstractmethod
    def is_distinct(self, left: str, right: str) -> str:
        """IS DISTINCT FROM."""

    @abstractmethod
    def date_part(self, name: str, moment: str) -> str:
        """A part of a moment, by DuckDB's name for it, as an integer."""

    @abstractmethod
    def days_between(self, end: str, start: str) -> str:
        """The number of days from `start` to `end`."""

    def write_function(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        writes = _WRITES.get(type(node))
        return None if writes is None else writes(self, node, write)

    def _square_root(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return TypedSQL(f"SQRT({write(node.this).sql})", "double")

    def _length(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return TypedSQL(f"LENGTH({write(node.this).sql})", "int")

    def _change_case(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        which: Literal["lower", "upper"] = "upper" if isinstance(node, exp.Upper) else "lower"
        return self._fold_case(which, write(node.this))

    def _fold_case(self, which: Literal["lower", "upper"], value: TypedSQL) -> TypedSQL:
        before, after = map(self.text_literal, case_pairs(which))

        def body(text: str) -> str:
            plain = f"OCTET_LENGTH({text}) = LENGTH({text})"  # only one-byte letters
            return (
                f"CASE WHEN {plain} THEN {which.upper()}({text}) "
                f"ELSE TRANSLATE({text}, {before}, {after}) END"
            )

        return TypedSQL(self.bind([value], body), "text")

    def _ilike(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        value, pattern = write(node.this), write(node.expression)
        return self.like(self._fold_case("lower", value), self._fold_case("lower", pattern))

    def _trim(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        given = node.args.get("expression")
        letters = self.text_literal(spaces()) if given is None else write(given).sql
        side: Side = node.text("position") or "BOTH"  # type: ignore[assignment]
        return TypedSQL(self.trim(write(node.this).sql, letters, side), "text")

    def _substring(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        start, length = (node.args.get(text) for text in ("start", "length"))
        first = constant_of(start)
        size = None if length is None else constant_of(length)
        if first is None or (size is None and length is not None):
            return None
        value = write(node.this)
        return TypedSQL(self.bind([value], lambda text: _cut(text, int(first), size)), "text")

    def _left_or_right(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
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

        return TypedSQL(self.bind([write(node.this)], body), "text")

    def _position(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        place = self.position(write(node.this).sql, write(node.args["substr"]).sql)
        return TypedSQL(place, "int")

    def _contains(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        place = self.position(write(node.this).sql, write(node.expression).sql)
        return TypedSQL(f"({place} > 0)", "boolean")

    def _ends_with(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        both = [write(node.this), write(node.expression)]
        return TypedSQL(
            self.bind(
                both,
                lambda text, end: (
                    f"CASE WHEN LENGTH({end}) <= LENGTH({text}) THEN SUBSTRING({text}, "
                    f"LENGTH({text}) - LENGTH({end}) + 1) = {end} "
                    f"WHEN {text} IS NOT NULL AND {end} IS NOT NULL THEN FALSE END"
                ),
            ),
            "boolean",
        )

    def _transcendental(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        name = type(node).__name__.lower()
        value = self.cast(write(node.this), "double")
        return TypedSQL(
            self.bind([value], lambda argument: self.transcendental(name, argument)), "double"
        )

    def _logarithm(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        argument_node = node.args.get("expression")
        base = Fraction(10) if argument_node is None else constant_of(node.this)
        if base not in (2, 10):
            return None
        value = self.cast(
            write(node.this if argument_node is None else argument_node), "double"
        )
        logarithm = self.bind([value], lambda argument: self.transcendental("log10", argument))
        if base == 2:  # as DuckDB computes it: log10(x) / log10(2)
            logarithm = (
                f"({logarithm} / {self.transcendental('log10', self.double_literal(2.0))})"
            )
        return TypedSQL(logarithm, "double")

    def _power(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return self._of_two_doubles(node, write, self.power)

    def _remainder(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return self._of_two_doubles(node, write, self.remainder)

    def _of_two_doubles(
        self, node: exp.Expr, write: WriteValue, body: Callable[[str, str], str]
    ) -> TypedSQL:
        both = [self.cast(write(operand), "double") for operand in (node.this, node.expression)]
        return TypedSQL(self.bind(both, body), "double")

    def _truncate(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return self.round_double("trunc", self.cast(write(node.this), "double"))

    def _sign(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        value = self.cast(write(node.this), "double")

        def body(number: str) -> str:
            return (
                f"CASE WHEN {number} = {self.NAN} OR {number} = 0 THEN 0 "
                f"WHEN {number} > 0 THEN 1 WHEN {number} < 0 THEN -1 END"
            )

        return TypedSQL(self.bind([value], body), "int")

    def round_to_digits(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        """ROUND to some digits: scales, rounds, scales back; unchanged if that overflows."""
        places = constant_of(node.args["decimals"])
        if places is None:
            return None
        power = TypedSQL(self.double_literal(10.0 ** abs(int(places))), "double", simple=True)
        scale_up, scale_down = ("*", "/") if places >= 0 else ("/", "*")

        def body(number: str) -> str:
            typed = TypedSQL(number, "double", simple=True)
            rounded = self.round_double("round", self.double_arithmetic(scale_up, typed, power))
            result = self.double_arithmetic(scale_down, rounded, power)
            greatest = self.double_literal(1.7976931348623157e308)
            finite = self.bind(
                [result], lambda it: f"CASE WHEN ABS({it}) <= {greatest} THEN {it} END"
            )
            return f"COALESCE({finite}, {number})"

        return TypedSQL(self.bind([self.cast(write(node.this), "double")], body), "double")

    def _date_part(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        name = node.this.name.upper()
        if name not in DATE_PARTS:
            return None
        return TypedSQL(self.date_part(name, write(node.expression).sql), "int")

    def _distinct(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return TypedSQL(
            f"({self.is_distinct(write(node.this).sql, write(node.expression).sql)})", "boolean"
        )

    def _date_diff(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        """DATE_DIFF: counts the starts of hours, days, months or years in between; a week is
        seven days."""
        both = [write(node.this), write(node.expression)]
        unit = node.text("unit").upper()

        def body(end: str, start: str) -> str:
            def subtract(part: str) -> str:
                return f"{self.date_part(part, end)} - {self.date_part(part, start)}"

            return {
                "DAY": self.days_between(end, start),
                "HOUR": f"{self.days_between(end, start)} * 24 + {subtract('HOUR')}",
                "MONTH": f"({subtract('YEAR')}) * 12 + {subtract('MONTH')}",
                "YEAR": subtract("YEAR"),
                "WEEK": self.days_between(end, start),
            }[unit]

        if unit not in ("DAY", "HOUR", "MONTH", "YEAR", "WEEK"):
            return None
        difference = TypedSQL(f"({self.bind(both, body)})", "bigint")
        seven = TypedSQL("7", "int", simple=True)
        return (
            self.cast(self.divide_wide(difference, seven), "bigint")
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


_WRITES: dict[
    type[exp.Expr], Callable[[FunctionWriter, exp.Expr, WriteValue], TypedSQL | None]
] = {
    exp.Sqrt: FunctionWriter._square_root,
    exp.Length: FunctionWriter._length,
    exp.Lower: FunctionWriter._change_case,
    exp.Upper: FunctionWriter._change_case,
    exp.ILike: FunctionWriter._ilike,
    exp.Trim: FunctionWriter._trim,
    exp.Substring: FunctionWriter._substring,
    exp.Left: FunctionWriter._left_or_right,
    exp.Right: FunctionWriter._left_or_right,
    exp.StrPosition: FunctionWriter._position,
    exp.Contains: FunctionWriter._contains,
    exp.EndsWith: FunctionWriter._ends_with,
    exp.Exp: FunctionWriter._transcendental,
    exp.Ln: FunctionWriter._transcendental,
    exp.Sin: FunctionWriter._transcendental,
    exp.Cos: FunctionWriter._transcendental,
    exp.Log: FunctionWriter._logarithm,
    exp.Pow: FunctionWriter._power,
    exp.Mod: FunctionWriter._remainder,
    exp.Trunc: FunctionWriter._truncate,
    exp.Sign: FunctionWriter._sign,
    exp.Extract: FunctionWriter._date_part,
    exp.NullSafeNEQ: FunctionWriter._distinct,
    exp.DateDiff: FunctionWriter._date_diff,
}
