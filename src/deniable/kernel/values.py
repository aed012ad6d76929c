"""What is known about a value of one row: its type, its range, what it depends on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

from deniable.errors import PlanRefused
from deniable.kernel.polynomials import RowSum

Names = frozenset[str]
_LARGEST_DOUBLE = Fraction(2) ** 1000  # results below this cannot overflow
_SLACK = Fraction(1, 1 << 50)  # more than a few roundings of a double, relative
_TINY = Fraction(1, 1 << 1000)


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` rows of a unit for each value of `columns`, or at most that many different
    values of `columns` for each unit. A window's number has the limit for its first number."""

    kind: str  # "rows" or "groups"
    columns: Names
    most: int = 1

    def renamed(self, images: Mapping[str, str]) -> "Limit | None":
        """The same under new names; None if a column is dropped."""
        kept = frozenset(images[name] for name in self.columns if name in images)
        return replace(self, columns=kept) if self.columns <= set(images) else None


@dataclass(frozen=True, slots=True)
class Form:
    """A column that is a sum over the rows that one GROUP BY put together.

    With `cut` m, it is that sum where there are at most m rows, and else the sum times m over
    the number of rows, rounded towards zero.
    """

    group: int  # which GROUP BY
    rows: RowSum
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Value:
    """A value of one row, computed from that row alone."""

    kind: str  # "int", "double", "text", "bool", "time", "date", "null", or "raw" and a kind
    low: Any = -inf  # a rational; infinite: not known, and a double may be infinite
    high: Any = inf
    bits: int = 0  # of an integer's type
    nan: bool = False
    null: bool = True  # whether it may be NULL
    count: int | None = None  # the most different values that filters leave, NULL included
    exact: bool = True  # whether values that compare equal are identical; not 0.0 and -0.0
    loose: bool = False  # determined only up to the sign of a zero
    calendar: bool = False  # a timestamp between the years 1 and 9999
    constant: str | None = None  # the text that it is
    rank: Limit | None = None  # of a window's number
    form: Form | None = None
    polynomial: RowSum | None = None  # as a polynomial of columns, where it is one
    names: Names = frozenset()  # the columns whose NULL makes it NULL

    @property
    def bounded(self) -> bool:
        """Whether its range is known, and it cannot be NaN."""
        return -inf < self.low and self.high < inf and not self.nan

    @property
    def most(self) -> int | None:
        """How many different values there can be, NULL included."""
        counts = [] if self.count is None else [self.count]
        if self.kind == "int" and self.bounded:
            counts.append(int(self.high) - int(self.low) + 1 + self.null)
        if self.kind == "bool":
            counts.append(2 + self.null)
        return min(counts, default=None)

    def limited_to(self, count: int | None) -> "Value":
        """The value where a filter leaves at most `count` different ones.

        Nothing else follows from a filter: the engine may compute a value before it filters, so
        no cast and no sum may rely on it.
        """
        known = [most for most in (self.most, count) if most is not None]
        return replace(self, count=min(known, default=None))

    def interchanged(self) -> "Value":
        """The value where one of several rows is taken that compare equal: whether it is 0.0 or
        -0.0, or which NaN, depends on the order of rows."""
        return replace(self, loose=self.loose or not self.exact)

    def optional(self) -> "Value":
        """The value, or NULL; no longer a column, a number of a window or a sum."""
        plain = replace(
            self, null=True, rank=None, form=None, polynomial=None, names=frozenset()
        )
        return replace(
            plain, constant=None, count=None if self.count is None else self.count + 1
        )

    def renamed(self, name: str) -> "Value":
        """The value as a column of that name: a variable of later polynomials."""
        whole = self.kind == "int" and self.bounded
        by = RowSum.variable(name, self.low, self.high) if whole else None
        return replace(self, polynomial=by, names=frozenset([name]), constant=None)


def integer(low: Any, high: Any, bits: int, *parts: Value) -> Value:
    """An integer in a range. Refuses a range that its type cannot hold: it could overflow."""
    edge = 1 << (bits - 1)
    if low <= -edge or high >= edge - 1:
        raise PlanRefused(f"An integer of {bits} bits may overflow.")
    names = frozenset[str]().union(*(part.names for part in parts))
    return Value("int", low, high, bits, null=any(part.null for part in parts), names=names)


def double(low: Any, high: Any, *parts: Value) -> Value:
    """A double in a range, widened by what rounding may add; unknown if it may overflow."""
    null, loose = any(part.null for part in parts), any(part.loose for part in parts)
    if max(-low, high) > _LARGEST_DOUBLE:
        return Value("double", nan=True, null=null, exact=False, loose=loose)
    least = low - abs(low) * _SLACK - _TINY
    most = high + abs(high) * _SLACK + _TINY
    exact = bool(low > 0 or high < 0)
    return Value("double", least, most, null=null, exact=exact, loose=loose and not exact)


def hull(values: list[Value]) -> Value:
    """A value that is one of several: of the same type, in the smallest range around all."""
    known = [value for value in values if value.kind != "null"]
    kinds = {value.kind for value in known} or {"null"}
    if len(kinds) > 1 and kinds != {"int", "double"}:
        raise PlanRefused("CASE, COALESCE or UNION ALL mixes types.")
    kind = min(kinds)  # a double, if there are both
    counts = [value.most for value in values]
    return Value(
        kind,
        min((value.low for value in known), default=-inf),
        max((value.high for value in known), default=inf),
        max(value.bits for value in values) if kind == "int" else 0,
        any(value.nan for value in known),
        any(value.null for value in values),
        None if None in counts else sum(filter(None, counts)),
        exact=all(value.exact for value in known),
        loose=any(value.loose for value in known),
        calendar=all(value.calendar for value in known),
    )
