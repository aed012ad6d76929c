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

from deniable.engines.dialect.date_parts import PARTS
from deniable.engines.dialect.duckdb_letters import cases, spaces
from deniable.engines.dialect.terms import Dialect, Said, constant

Saying: TypeAlias = Callable[[exp.Expr], Said]
Side: TypeAlias = Literal["BOTH", "LEADING", "TRAILING"]


class Functions(Dialect):
    """Writes functions, with the words of one engine."""

    NAN: ClassVar[str]

    @abstractmethod
    def let(self, values: list[Said], body: Callable[..., str]) -> str:
        """What `body` makes of values; each is computed once, or so short that it may be
        computed several times."""

    @abstractmethod
    def trimmed(self, value: str, letters: str, side: Side) -> str:
        """Text without those letters at its ends."""

    @abstractmethod
    def place(self, value: str, part: str) -> str:
        """Where a part of a text begins, from 1 on; 0 where it is not there."""

    @abstractmethod
    def curve(self, name: str, value: str) -> str:
        """exp, ln, log10, sin or cos of a double; ln and log10 of 0 and less are NULL."""

    @abstractmethod
    def power(self, base: str, exponent: str) -> str:
        """One double to the power of another; roots of negative ones are NULL."""

    @abstractmethod
    def remainder(self, left: str, right: str) -> str:
        """What is left of one double, as C's fmod; NULL where the other is 0."""

    @abstractmethod
    def differs(self, left: str, right: str) -> str:
        """IS DISTINCT FROM."""

    @abstractmethod
    def part(self, name: str, moment: str) -> str:
        """A part of a moment, by the name that DuckDB has for it, as an integer."""

    @abstractmethod
    def days(self, end: str, start: str) -> str:
        """The days from one day to another."""

    def function(self, node: exp.Expr, said: Saying) -> Said | None:
        writes = _WRITES.get(type(node))
        return None if writes is None else writes(self, node, said)

    def _root(self, node: exp.Expr, said: Saying) -> Said:
        return Said(f"SQRT({said(node.this).sql})", "double")

    def _length(self, node: exp.Expr, said: Saying) -> Said:
        return Said(f"LENGTH({said(node.this).sql})", "int")

    def _case_changed(self, node: exp.Expr, said: Saying) -> Said:
        which: Literal["lower", "upper"] = "upper" if isinstance(node, exp.Upper) else "lower"
        return self._folded(which, said(node.this))

    def _folded(self, which: Literal["lower", "upper"], value: Said) -> Said:
        before, after = map(self.text, cases(which))

        def body(one: str) -> str:
            plain = f"OCTET_LENGTH({one}) = LENGTH({one})"  # letters of one byte each
            return (
                f"CASE WHEN {plain} THEN {which.upper()}({one}) "
                f"ELSE TRANSLATE({one}, {before}, {after}) END"
            )

        return Said(self.let([value], body), "text")

    def _alike(self, node: exp.Expr, said: Saying) -> Said:
        value, pattern = said(node.this), said(node.expression)
        return self.like(self._folded("lower", value), self._folded("lower", pattern))

    def _trim(self, node: exp.Expr, said: Saying) -> Said:
        known = node.args.get("expression")
        letters = self.text(spaces()) if known is None else said(known).sql
        side: Side = node.text("position") or "BOTH"  # type: ignore[assignment]
        return Said(self.trimmed(said(node.this).sql, letters, side), "text")

    def _substring(self, node: exp.Expr, said: Saying) -> Said | None:
        start, length = (node.args.get(one) for one in ("start", "length"))
        first = constant(start)
        size = None if length is None else constant(length)
        if first is None or (size is None and length is not None):
            return None
        value = said(node.this)
        return Said(self.let([value], lambda one: _cut(one, int(first), size)), "text")

    def _end(self, node: exp.Expr, said: Saying) -> Said | None:
        """LEFT and RIGHT; with a number below zero, all but so many from the other end."""
        size = constant(node.expression)
        if size is None:
            return None
        left = isinstance(node, exp.Left)

        def body(one: str) -> str:
            rest = f"GREATEST(LENGTH({one}) - {abs(int(size))}, 0)"
            if left:
                return f"SUBSTRING({one}, 1, {size if size >= 0 else rest})"
            return f"SUBSTRING({one}, {f'{rest} + 1' if size >= 0 else 1 - int(size)})"

        return Said(self.let([said(node.this)], body), "text")

    def _place(self, node: exp.Expr, said: Saying) -> Said:
        found = self.place(said(node.this).sql, said(node.args["substr"]).sql)
        return Said(found, "int")

    def _contains(self, node: exp.Expr, said: Saying) -> Said:
        found = self.place(said(node.this).sql, said(node.expression).sql)
        return Said(f"({found} > 0)", "boolean")

    def _ends_with(self, node: exp.Expr, said: Saying) -> Said:
        both = [said(node.this), said(node.expression)]
        return Said(
            self.let(
                both,
                lambda one, end: (
                    f"CASE WHEN LENGTH({end}) <= LENGTH({one}) THEN SUBSTRING({one}, "
                    f"LENGTH({one}) - LENGTH({end}) + 1) = {end} "
                    f"WHEN {one} IS NOT NULL AND {end} IS NOT NULL THEN FALSE END"
                ),
            ),
            "boolean",
        )

    def _curve(self, node: exp.Expr, said: Saying) -> Said:
        name = type(node).__name__.lower()
        value = self.cast(said(node.this), "double")
        return Said(self.let([value], lambda one: self.curve(name, one)), "double")

    def _logarithm(self, node: exp.Expr, said: Saying) -> Said | None:
        of = node.args.get("expression")
        base = Fraction(10) if of is None else constant(node.this)
        if base not in (2, 10):
            return None
        value = self.cast(said(node.this if of is None else of), "double")
        made = self.let([value], lambda one: self.curve("log10", one))
        if base == 2:  # as DuckDB has it: the other's share in the logarithm of 2
            made = f"({made} / {self.curve('log10', self.real(2.0))})"
        return Said(made, "double")

    def _power(self, node: exp.Expr, said: Saying) -> Said:
        return self._doubles(node, said, self.power)

    def _remainder(self, node: exp.Expr, said: Saying) -> Said:
        return self._doubles(node, said, self.remainder)

    def _doubles(self, node: exp.Expr, said: Saying, body: Callable[[str, str], str]) -> Said:
        both = [self.cast(said(one), "double") for one in (node.this, node.expression)]
        return Said(self.let(both, body), "double")

    def _truncated(self, node: exp.Expr, said: Saying) -> Said:
        return self.whole("trunc", self.cast(said(node.this), "double"))

    def _sign(self, node: exp.Expr, said: Saying) -> Said:
        value = self.cast(said(node.this), "double")

        def body(one: str) -> str:
            return (
                f"CASE WHEN {one} = {self.NAN} OR {one} = 0 THEN 0 "
                f"WHEN {one} > 0 THEN 1 WHEN {one} < 0 THEN -1 END"
            )

        return Said(self.let([value], body), "int")

    def rounded(self, node: exp.Expr, said: Saying) -> Said | None:
        """ROUND to some digits: the product is rounded; where there is none, nothing is."""
        places = constant(node.args["decimals"])
        if places is None:
            return None
        power = Said(self.real(10.0 ** abs(int(places))), "double", simple=True)
        there, back = ("*", "/") if places >= 0 else ("/", "*")

        def body(one: str) -> str:
            known = Said(one, "double", simple=True)
            steps = self.whole("round", self.computed(there, known, power))
            made = self.computed(back, steps, power)
            most = self.real(1.7976931348623157e308)
            near = self.let([made], lambda it: f"CASE WHEN ABS({it}) <= {most} THEN {it} END")
            return f"COALESCE({near}, {one})"

        return Said(self.let([self.cast(said(node.this), "double")], body), "double")

    def _part(self, node: exp.Expr, said: Saying) -> Said | None:
        name = node.this.name.upper()
        if name not in PARTS:
            return None
        return Said(self.part(name, said(node.expression).sql), "int")

    def _distinct(self, node: exp.Expr, said: Saying) -> Said:
        return Said(
            f"({self.differs(said(node.this).sql, said(node.expression).sql)})", "boolean"
        )

    def _difference(self, node: exp.Expr, said: Saying) -> Said | None:
        """DATE_DIFF: beginnings of hours, days, months or years that lie between, or weeks."""
        both = [said(node.this), said(node.expression)]
        unit = node.text("unit").upper()

        def body(end: str, start: str) -> str:
            def less(part: str) -> str:
                return f"{self.part(part, end)} - {self.part(part, start)}"

            return {
                "DAY": self.days(end, start),
                "HOUR": f"{self.days(end, start)} * 24 + {less('HOUR')}",
                "MONTH": f"({less('YEAR')}) * 12 + {less('MONTH')}",
                "YEAR": less("YEAR"),
                "WEEK": self.days(end, start),
            }[unit]

        if unit not in ("DAY", "HOUR", "MONTH", "YEAR", "WEEK"):
            return None
        made = Said(f"({self.let(both, body)})", "bigint")
        seven = Said("7", "int", simple=True)
        return self.cast(self.share(made, seven), "bigint") if unit == "WEEK" else made


def _cut(one: str, first: int, size: Fraction | None) -> str:
    """SUBSTRING as DuckDB has it: from behind if `first` is below zero, and to the left of it
    if `size` is."""

    def place(offset: int) -> str:
        """How many letters lie before what is `offset` letters after the first that counts."""
        if first >= 0:
            return str(max(first - 1 + offset, 0))
        return f"GREATEST(LENGTH({one}) - {max(-first - offset, 0)}, 0)"

    if size is None:
        return f"SUBSTRING({one}, {place(0)} + 1)"
    low, high = (place(offset) for offset in sorted((0, int(size))))
    return f"SUBSTRING({one}, {low} + 1, {high} - {low})"


_WRITES: dict[type[exp.Expr], Callable[[Functions, exp.Expr, Saying], Said | None]] = {
    exp.Sqrt: Functions._root,
    exp.Length: Functions._length,
    exp.Lower: Functions._case_changed,
    exp.Upper: Functions._case_changed,
    exp.ILike: Functions._alike,
    exp.Trim: Functions._trim,
    exp.Substring: Functions._substring,
    exp.Left: Functions._end,
    exp.Right: Functions._end,
    exp.StrPosition: Functions._place,
    exp.Contains: Functions._contains,
    exp.EndsWith: Functions._ends_with,
    exp.Exp: Functions._curve,
    exp.Ln: Functions._curve,
    exp.Sin: Functions._curve,
    exp.Cos: Functions._curve,
    exp.Log: Functions._logarithm,
    exp.Pow: Functions._power,
    exp.Mod: Functions._remainder,
    exp.Trunc: Functions._truncated,
    exp.Sign: Functions._sign,
    exp.Extract: Functions._part,
    exp.NullSafeNEQ: Functions._distinct,
    exp.DateDiff: Functions._difference,
}
