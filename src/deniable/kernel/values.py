"""What is known about a value of one row: its type, its range, and what it was made from."""

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

from deniable.errors import PlanRefused
from deniable.kernel.polynomials import RowSum

Names = frozenset[str]
_LARGEST_DOUBLE = Fraction(2) ** 1000  # results below this cannot overflow
_SLACK = Fraction(1, 1 << 50)  # more than a few roundings of a double, relative
_TINY = Fraction(1, 1 << 1000)
SIGNED, NANS, UNSURE = 1, 2, 3  # of zeros


class Limit(NamedTuple):
    """At most `most` rows of a unit for each value of `columns`, or at most that many different
    values of `columns` for each unit. A window's number has the limit for its first number."""

    kind: str  # "rows" or "groups"
    columns: Names
    most: int = 1

    def renamed(self, images: Mapping[str, str]) -> "Limit | None":
        """The same under new names; None if a column is dropped."""
        columns = frozenset(images[name] for name in self.columns if name in images)
        return self._replace(columns=columns) if self.columns <= set(images) else None


class Form(NamedTuple):
    """A column that is a sum over the rows that one GROUP BY put together: the last one, the
    same for all columns of a relation, because joins and UNION ALL leave none of them.

    With `cut` m, it is that sum where there are at most m rows, and else the sum times m over
    the number of rows, rounded towards zero.
    """

    rows: RowSum
    cut: int = 0


class Value(NamedTuple):
    """A value of one row, computed from that row alone.

    `kind` is "int", "double", "text", "bool", "time", "date", "null", or "raw" and the kind of
    a column that only casts may read. The range of a time is in digits, as in 20261117083000.
    """

    kind: str
    low: Any = -inf  # a rational, or not known
    high: Any = inf  # likewise; a double may then be NaN, which is greater than every number
    bits: int = 0  # of an integer's type
    null: bool = True  # whether it may be NULL
    different: int | None = None  # the most different values that filters leave, NULL included
    # Whether 0.0 and -0.0 may both occur (SIGNED), and whether the order of rows may decide
    # which of them it is (UNSURE), or only which NaN, of which one prints as -nan (NANS).
    zeros: int = 0
    rank: Limit | None = None  # of a window's number
    form: Form | None = None
    polynomial: RowSum | None = None  # of columns; the value is NULL where one of them is

    @property
    def bounded(self) -> bool:
        """Whether its range is known, so that it is not NaN."""
        return bool(-inf < self.low and self.high < inf)

    @property
    def unsure(self) -> bool:
        """Whether the order of rows may decide on a sign that its text would show."""
        return self.zeros >= NANS

    @property
    def most(self) -> int | None:
        """How many different values there can be, NULL included."""
        counts = [] if self.different is None else [self.different]
        if self.kind in ("int", "bool") and self.bounded:
            counts.append(int(self.high) - int(self.low) + 1 + self.null)
        return min(counts, default=None)

    def limited_to(self, count: int | None) -> "Value":
        """The value where a filter leaves at most `count` different ones.

        Nothing else follows from a filter: the engine may compute a value before it filters, so
        no cast and no sum may rely on it.
        """
        known = [most for most in (self.most, count) if most is not None]
        return self._replace(different=min(known, default=None))

    def interchanged(self) -> "Value":
        """The value where one of several rows is taken that compare equal: whether it is 0.0 or
        -0.0, or which NaN, depends on the order of rows."""
        number = self.kind != "double" or self.high < inf  # NaN is above every end
        return self._replace(zeros=UNSURE if self.zeros else 0 if number else NANS)

    def one_zero(self) -> "Value":
        """The value where a zero is gone, or is always 0.0. It may still be any NaN."""
        return self._replace(zeros=NANS if self.unsure and self.high == inf else 0)

    def optional(self) -> "Value":
        """The value, or NULL; no longer a column, a number of a window or a sum."""
        count = None if self.different is None else self.different + 1
        return self._replace(null=True, different=count, rank=None, form=None, polynomial=None)

    def named(self, name: str) -> "Value":
        """The value as a variable of polynomials."""
        return self._replace(polynomial=RowSum.variable(name, self.low, self.high))


BOOL = Value("bool", 0, 1)
NULL = Value("null", different=1)


def stored(kind: str) -> Value:
    """A column as a source holds it: only casts may read it, unless it is a 64-bit integer. Of
    a list only the elements may be read."""
    if kind == "integer":
        return Value("int", -(1 << 63), (1 << 63) - 1, 64)
    exact = kind in ("wide", "text", "boolean", "date")
    return Value(f"raw {kind}", zeros=0 if exact else SIGNED)


def integer(low: Any, high: Any, bits: int, *parts: Value) -> Value:
    """An integer in a range. Refuses a range that its type cannot hold: it could overflow."""
    edge = 1 << (bits - 1)
    if low <= -edge or high >= edge - 1:
        raise PlanRefused(f"An integer of {bits} bits may overflow.")
    return Value("int", low, high, bits, any(part.null for part in parts))


def double(low: Any, high: Any, *parts: Value) -> Value:
    """A double in a range; unknown if it may overflow. Rounding is monotone, so an end that is
    a double itself, as small integers are, stays an end; others are moved outwards."""
    null, zeros = any(part.null for part in parts), max([SIGNED, *(p.zeros for p in parts)])
    if max(-low, high) > _LARGEST_DOUBLE:
        return Value("double", null=null, zeros=zeros)
    least, most = -_outwards(-low), _outwards(high)
    return Value("double", least, most, null=null, zeros=0 if low > 0 or high < 0 else zeros)


def as_double(value: Value) -> Value:
    """A number as a double. One that is no double is rounded before anything else happens, so
    the ends move outwards here: in a difference of large numbers they would be lost."""
    if value.kind not in ("int", "decimal"):
        return value
    number = double(value.low, value.high, value)
    return number._replace(zeros=value.zeros, different=value.different)


def _outwards(end: Any) -> Any:
    exact = end == int(end) and abs(end) < 1 << 53
    return end if exact else end + max(abs(end) * _SLACK, _TINY)


def hull(values: list[Value]) -> Value:
    """A value that is one of several: of the same type, in the smallest range around all."""
    known = [value for value in values if value.kind != "null"] or [NULL]
    kinds = {value.kind for value in known}
    if len(kinds) > 1 and kinds != {"int", "double"}:
        raise PlanRefused("CASE, COALESCE or UNION ALL mixes types.")
    known = list(map(as_double, known)) if "double" in kinds else known
    counts, null = [value.most for value in values], any(value.null for value in values)
    count = None if None in counts else sum(filter(None, counts))
    low, high = min(value.low for value in known), max(value.high for value in known)
    bits, zeros = max(value.bits for value in known), max(value.zeros for value in known)
    kind = min(kinds)  # a double, if there are both
    return Value(kind, low, high, bits if kind == "int" else 0, null, count, zeros)
