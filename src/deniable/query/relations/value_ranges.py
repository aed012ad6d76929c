"""What is known about a value before any row is read: its kind, bounds and grid.

Bounds are carried through expressions by interval arithmetic on exact rationals. They follow
only from the policy. The engine clips the argument of every aggregate to them once more, so a
wrong bound would cost accuracy and never privacy.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from deniable.query.language.syntax_tree import Literal
from deniable.query.plan.grid_steps import common_step

_LARGEST = Fraction(10) ** 100  # a bound beyond it is dropped; doubles reach to 1e308
_MOST_BITS = 1000  # a bound with more bits is rounded outwards


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The kind of a value ("number", "text", "boolean", "date"; None: NULL), bounds and grid.

    If there is a `step`, the value is a multiple of it. If `low` or `high` is None, the value
    has no bound on that side.
    """

    kind: str | None
    low: Fraction | None = None
    high: Fraction | None = None
    step: Fraction | None = None
    timed: bool = False  # for dates: whether they may have a time of day

    @property
    def bounded(self) -> bool:
        """Whether there are both bounds."""
        return self.low is not None and self.high is not None


def shorten(a: ValueRange) -> ValueRange:
    """The same range, with bounds and a step that are short enough for further arithmetic.

    Powers of powers soon have more digits than fit into memory. A bound beyond 1e100 is
    dropped, and a bound with very many digits is rounded outwards.

    >>> far = shorten(ValueRange("number", Fraction(1, 3**999), Fraction(10) ** 101))
    >>> far.low, far.high
    (Fraction(0, 1), None)
    """
    if a.kind != "number":
        return a
    step = a.step
    if step is not None and not 1 / _LARGEST <= step <= _LARGEST:
        step = None
    if step is not None and _bits(step) > _MOST_BITS:
        step = None
    low, high = _outwards(a.low, math.floor), _outwards(a.high, math.ceil)
    return ValueRange("number", low, high, step)


def _outwards(end: Fraction | None, whole: Callable[[Fraction], int]) -> Fraction | None:
    if end is None or abs(end) > _LARGEST:
        return None
    tiny = end != 0 and abs(end) < 1 / _LARGEST
    return whole(end * _LARGEST) / _LARGEST if tiny or _bits(end) > _MOST_BITS else end


def _bits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def constant(value: Fraction) -> ValueRange:
    """The range of a literal number. Its grid is the coarsest that contains it."""
    return ValueRange("number", value, value, abs(value) or Fraction(1))


def hull(parts: list[ValueRange]) -> ValueRange:
    """The range of a value that is one of several."""
    kinds = [part for part in parts if part.kind is not None]
    if not kinds:
        return ValueRange(None)
    if kinds[0].kind != "number":
        return ValueRange(kinds[0].kind, timed=any(kind.timed for kind in kinds))
    lows = [kind.low for kind in kinds if kind.low is not None]
    highs = [kind.high for kind in kinds if kind.high is not None]
    low = min(lows) if len(lows) == len(kinds) else None
    high = max(highs) if len(highs) == len(kinds) else None
    return ValueRange("number", low, high, common_step([kind.step for kind in kinds]))


def plus(a: ValueRange, b: ValueRange) -> ValueRange:
    """a + b."""
    return ValueRange(
        "number", _add(a.low, b.low), _add(a.high, b.high), common_step([a.step, b.step])
    )


def negative(a: ValueRange) -> ValueRange:
    """-a."""
    low = None if a.high is None else -a.high
    return ValueRange("number", low, None if a.low is None else -a.low, a.step)


def times(a: ValueRange, b: ValueRange) -> ValueRange:
    """a * b."""
    step = None if a.step is None or b.step is None else a.step * b.step
    return ValueRange("number", *_corners(a, b, lambda x, y: x * y), step)


def quotient(a: ValueRange, b: ValueRange) -> ValueRange:
    """a / b, NULL if b is 0. It has bounds only if the range of b does not contain 0."""
    if b.low is None or b.high is None or b.low <= 0 <= b.high:
        return ValueRange("number")
    return ValueRange("number", *_corners(a, b, lambda x, y: x / y), None)


def absolute(a: ValueRange) -> ValueRange:
    """|a|."""
    if a.low is None or a.high is None:
        return ValueRange("number", Fraction(0), None, a.step)
    least = Fraction(0) if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return ValueRange("number", least, max(abs(a.low), abs(a.high)), a.step)


def rounded(a: ValueRange) -> ValueRange:
    """a rounded to a whole number, up or down."""
    low = None if a.low is None else Fraction(math.floor(a.low))
    return ValueRange(
        "number", low, None if a.high is None else Fraction(math.ceil(a.high)), Fraction(1)
    )


def least(parts: list[ValueRange]) -> ValueRange:
    """The least of several numbers, ignoring NULLs."""
    highs = [part.high for part in parts if part.high is not None]
    whole_hull = hull(parts)
    # The argument with the least upper bound may be NULL, so the greatest of them counts.
    high = max(highs) if len(highs) == len(parts) else None
    return ValueRange("number", whole_hull.low, high, whole_hull.step)


def _add(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b


def _corners(
    a: ValueRange, b: ValueRange, operation: Callable[[Fraction, Fraction], Fraction]
) -> tuple[Fraction | None, Fraction | None]:
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return None, None
    corners = [operation(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(corners), max(corners)


def literal_range(literal: Literal) -> ValueRange:
    """The range of a constant: itself."""
    if literal.value is None:
        return ValueRange(None)
    if isinstance(literal.value, bool):
        return ValueRange("boolean")
    return ValueRange("text") if isinstance(literal.value, str) else constant(literal.value)
