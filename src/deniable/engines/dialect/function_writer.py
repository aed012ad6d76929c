"""Functions of rows in another engine's words: of text, of numbers, and of dates.

Letters are DuckDB's own (`duckdb_letters`), places in a text are counted in code points, and
all that is not defined is NULL. The curves (EXP, LN, LOG10, LOG2, SIN, COS, POWER) are those of
the engine: their last digit may be another, as it may between two machines with DuckDB.
"""

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

from sqlglot import exp

from deniable.engines.dialect.date_parts import DATE_PARTS
from deniable.engines.dialect.duckdb_letters import case_pairs, spaces
from deniable.engines.dialect.engine_dialect import EngineDialect, TypedSQL, constant_of

WriteValue: TypeAlias = Callable[[exp.Expr], TypedSQL]
Side: TypeAlias = Literal["BOTH", "LEADING", "TRAILING"]


class FunctionWriter(EngineDialect):
    """Writes functions, with the words of one engine."""

    NAN: ClassVar[str]

    @abstractmethod
    def bind(self, values: list[TypedSQL], body: Callable[..., str]) -> str:
        """What `body` makes of values; each is computed once, or so short that it may be
        computed several times."""

    @abstractmethod
    def trim(self, value: str, letters: str, side: Side) -> str:
        """Text without those letters at its ends."""

    @abstractmethod
    def position(self, value: str, part: str) -> str:
        """Where a part of a text begins, from 1 on; 0 where it is not there."""

    @abstractmethod
    def transcendental(self, name: str, value: str) -> str:
        """exp, ln, log10, sin or cos of a double; ln and log10 of 0 and less are NULL."""

    @abstractmethod
    def power(self, base: str, exponent: str) -> str:
        """One double to the power of another; roots of negative ones are NULL."""

    @abstractmethod
    def remainder(self, left: str, right: str) -> str:
        """What is left of one double, as C's fmod; NULL where the other is 0."""

    @abstractmethod
    def is_distinct(self, left: str, right: str) -> str:
        """IS DISTINCT FROM."""

    @abstractmethod
    def date_part(self, name: str, moment: str) -> str:
        """A part of a moment, by the name that DuckDB has for it, as an integer."""

    @abstractmethod
    def days_between(self, end: str, start: str) -> str:
        """The days from one day to another."""

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

        def body(one: str) -> str:
            plain = f"OCTET_LENGTH({one}) = LENGTH({one})"  # letters of one byte each
            return (
                f"CASE WHEN {plain} THEN {which.upper()}({one}) "
                f"ELSE TRANSLATE({one}, {before}, {after}) END"
            )

        return TypedSQL(self.bind([value], body), "text")

    def _ilike(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        value, pattern = write(node.this), write(node.expression)
        return self.like(self._fold_case("lower", value), self._fold_case("lower", pattern))

    def _trim(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        known = node.args.get("expression")
        letters = self.text_literal(spaces()) if known is None else write(known).sql
        side: Side = node.text("position") or "BOTH"  # type: ignore[assignment]
        return TypedSQL(self.trim(write(node.this).sql, letters, side), "text")

    def _substring(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        start, length = (node.args.get(one) for one in ("start", "length"))
        first = constant_of(start)
        size = None if length is None else constant_of(length)
        if first is None or (size is None and length is not None):
            return None
        value = write(node.this)
        return TypedSQL(self.bind([value], lambda one: _cut(one, int(first), size)), "text")

    def _left_or_right(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        """LEFT and RIGHT; with a number below zero, all but so many from the other end."""
        size = constant_of(node.expression)
        if size is None:
            return None
        left = isinstance(node, exp.Left)

        def body(one: str) -> str:
            rest = f"GREATEST(LENGTH({one}) - {abs(int(size))}, 0)"
            if left:
                return f"SUBSTRING({one}, 1, {size if size >= 0 else rest})"
            return f"SUBSTRING({one}, {f'{rest} + 1' if size >= 0 else 1 - int(size)})"

        return TypedSQL(self.bind([write(node.this)], body), "text")

    def _position(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        found = self.position(write(node.this).sql, write(node.args["substr"]).sql)
        return TypedSQL(found, "int")

    def _contains(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        found = self.position(write(node.this).sql, write(node.expression).sql)
        return TypedSQL(f"({found} > 0)", "boolean")

    def _ends_with(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        both = [write(node.this), write(node.expression)]
        return TypedSQL(
            self.bind(
                both,
                lambda one, end: (
                    f"CASE WHEN LENGTH({end}) <= LENGTH({one}) THEN SUBSTRING({one}, "
                    f"LENGTH({one}) - LENGTH({end}) + 1) = {end} "
                    f"WHEN {one} IS NOT NULL AND {end} IS NOT NULL THEN FALSE END"
                ),
            ),
            "boolean",
        )

    def _transcendental(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        name = type(node).__name__.lower()
        value = self.cast(write(node.this), "double")
        return TypedSQL(
            self.bind([value], lambda one: self.transcendental(name, one)), "double"
        )

    def _logarithm(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        of = node.args.get("expression")
        base = Fraction(10) if of is None else constant_of(node.this)
        if base not in (2, 10):
            return None
        value = self.cast(write(node.this if of is None else of), "double")
        made = self.bind([value], lambda one: self.transcendental("log10", one))
        if base == 2:  # as DuckDB has it: the other's share in the logarithm of 2
            made = f"({made} / {self.transcendental('log10', self.double_literal(2.0))})"
        return TypedSQL(made, "double")

    def _power(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return self._of_two_doubles(node, write, self.power)

    def _remainder(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return self._of_two_doubles(node, write, self.remainder)

    def _of_two_doubles(
        self, node: exp.Expr, write: WriteValue, body: Callable[[str, str], str]
    ) -> TypedSQL:
        both = [self.cast(write(one), "double") for one in (node.this, node.expression)]
        return TypedSQL(self.bind(both, body), "double")

    def _truncate(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        return self.round_double("trunc", self.cast(write(node.this), "double"))

    def _sign(self, node: exp.Expr, write: WriteValue) -> TypedSQL:
        value = self.cast(write(node.this), "double")

        def body(one: str) -> str:
            return (
                f"CASE WHEN {one} = {self.NAN} OR {one} = 0 THEN 0 "
                f"WHEN {one} > 0 THEN 1 WHEN {one} < 0 THEN -1 END"
            )

        return TypedSQL(self.bind([value], body), "int")

    def round_to_digits(self, node: exp.Expr, write: WriteValue) -> TypedSQL | None:
        """ROUND to some digits: the product is rounded; where there is none, nothing is."""
        places = constant_of(node.args["decimals"])
        if places is None:
            return None
        power = TypedSQL(self.double_literal(10.0 ** abs(int(places))), "double", simple=True)
        there, back = ("*", "/") if places >= 0 else ("/", "*")

        def body(one: str) -> str:
            known = TypedSQL(one, "double", simple=True)
            steps = self.round_double("round", self.double_arithmetic(there, known, power))
            made = self.double_arithmetic(back, steps, power)
            most = self.double_literal(1.7976931348623157e308)
            near = self.bind([made], lambda it: f"CASE WHEN ABS({it}) <= {most} THEN {it} END")
            return f"COALESCE({near}, {one})"

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
        """DATE_DIFF: beginnings of hours, days, months or years that lie between, or weeks."""
        both = [write(node.this), write(node.expression)]
        unit = node.text("unit").upper()

        def body(end: str, start: str) -> str:
            def less(part: str) -> str:
                return f"{self.date_part(part, end)} - {self.date_part(part, start)}"

            return {
                "DAY": self.days_between(end, start),
                "HOUR": f"{self.days_between(end, start)} * 24 + {less('HOUR')}",
                "MONTH": f"({less('YEAR')}) * 12 + {less('MONTH')}",
                "YEAR": less("YEAR"),
                "WEEK": self.days_between(end, start),
            }[unit]

        if unit not in ("DAY", "HOUR", "MONTH", "YEAR", "WEEK"):
            return None
        made = TypedSQL(f"({self.bind(both, body)})", "bigint")
        seven = TypedSQL("7", "int", simple=True)
        return self.cast(self.divide_wide(made, seven), "bigint") if unit == "WEEK" else made


def _cut(one: str, first: int, size: Fraction | None) -> str:
    """SUBSTRING as DuckDB has it: from behind if `first` is below zero, and to the left of it
    if `size` is."""

    def letters_before(offset: int) -> str:
        """How many letters lie before what is `offset` letters after the first that counts."""
        if first >= 0:
            return str(max(first - 1 + offset, 0))
        return f"GREATEST(LENGTH({one}) - {max(-first - offset, 0)}, 0)"

    if size is None:
        return f"SUBSTRING({one}, {letters_before(0)} + 1)"
    low, high = (letters_before(offset) for offset in sorted((0, int(size))))
    return f"SUBSTRING({one}, {low} + 1, {high} - {low})"


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
