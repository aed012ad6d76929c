"""Wide integers divided by numbers of rows, towards zero, where engines divide doubles.

Of w1 * e1 + w2 * e2 + ... each e is a multiple of the rows and a rest. The rests times their
weights are divided as on paper, a digit of the weights at a time, from the highest down. Every
step is a column for the next one to use, and all quotients of a SELECT are made side by side.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ibis

from deniable.engines.ibis.wide_integers import (
    BASE,
    Value,
    WideInteger,
    quotient,
)

_BITS = BASE.bit_length() - 1
_MOST_ROWS = 1 << 32  # of one unit in one group; whoever has more counts for nothing there


@dataclass(frozen=True, slots=True)
class _Division:
    """The columns of one division: its parts with their weights, the rows, what is left."""

    parts: tuple[tuple[int, str], ...]
    rests: tuple[str, ...]
    rows: str
    by: str
    whole: str
    rest: str

    @property
    def places(self) -> int:
        """How many digits the longest weight has."""
        return max(-(-abs(weight).bit_length() // _BITS) for weight, _ in self.parts)

    def step(self, table: Value, place: int) -> Value:
        """What is divided at one place: never negative."""
        digits = [_digit(weight, place) for weight, _ in self.parts]
        made = table[self.by] * self.below(place)
        for name, digit in zip(self.rests, digits, strict=True):
            made = made + table[name] * digit if digit else made
        return made if place == self.places - 1 else made + table[self.rest] * BASE

    def below(self, place: int) -> int:
        """How many times the rows are added so that nothing is negative."""
        digits = [_digit(weight, place) for weight, _ in self.parts]
        return sum(-digit for digit in digits if digit < 0)

    def found(self, table: Value, place: int) -> Value:
        """The quotient of all places down to this one."""
        made = _divide_small(table[self.rest], table[self.by]) - self.below(place)
        return made if place == self.places - 1 else made + table[self.whole] * BASE

    def total(self, table: Value) -> Value:
        """The quotient, rounded down."""
        made = table[self.whole]
        for weight, one in self.parts:
            made = made + _divide_small(table[one], table[self.by]) * weight
        return made

    def nearer(self, table: Value) -> Value:
        """The quotient towards zero."""
        up = (table[self.whole] < 0) & (table[self.rest] > 0)
        few = table[self.rows] < _MOST_ROWS
        return ibis.cases((few & up, table[self.whole] + 1), (few, table[self.whole]), else_=0)


def divide_by_rows(
    table: Value, asked: Sequence[tuple[WideInteger, Value]], fresh: Callable[[], str]
) -> tuple[Value, list[str]]:
    """The table with a column for each wide integer over its rows, and those columns' names."""
    kept = list(table.columns)
    table, divisions = _prepare(table, asked, fresh)
    for place in reversed(range(max(one.places for one in divisions))):
        now = [one for one in divisions if one.places > place]
        table = table.mutate(**{one.rest: one.step(table, place) for one in now})
        wholes = {one.whole: one.found(table, place) for one in now}
        rests = {one.rest: table[one.rest] % table[one.by] for one in now}
        table = table.mutate(**wholes, **rests)
    table = table.mutate(**{one.whole: one.total(table) for one in divisions})
    table = table.mutate(**{one.whole: one.nearer(table) for one in divisions})
    names = [one.whole for one in divisions]
    return table.select(*kept, *names), names


def _prepare(
    table: Value, asked: Sequence[tuple[WideInteger, Value]], fresh: Callable[[], str]
) -> tuple[Value, list[_Division]]:
    """The table with what is divided, by what, and the rests; each of them once."""
    held: dict[Value, str] = {}
    by: dict[str, str] = {}
    rests: dict[tuple[str, str], str] = {}
    made = []
    for over, rows in asked:
        count = held.setdefault(rows.op(), fresh())
        names = [held.setdefault(one.op(), fresh()) for _, one in over.parts]
        few = by.setdefault(count, fresh())
        left = tuple(rests.setdefault((one, few), fresh()) for one in names)
        weights = (weight for weight, _ in over.parts)
        parts = tuple(zip(weights, names, strict=True))
        made.append(_Division(parts, left, count, few, fresh(), fresh()))
    table = table.mutate(**{name: one.to_expr() for one, name in held.items()})
    safe = {few: _at_least_one(table[count]) for count, few in by.items()}
    table = table.mutate(**safe)
    left_ = {name: table[one] % table[few] for (one, few), name in rests.items()}
    return table.mutate(**left_), made


def _at_least_one(rows: Value) -> Value:
    return ibis.cases((rows.between(1, _MOST_ROWS - 1), rows), else_=1)


def _divide_small(value: Value, by: Value) -> Value:
    """value // by of integers from 0 to 2^62, the latter up to 2^32: in two digits."""
    high = quotient(value, BASE)
    low = (high % by) * BASE + value % BASE
    return quotient(high, by) * BASE + quotient(low, by)


def _digit(weight: int, place: int) -> int:
    """A digit of a weight, the lowest at place 0, with its sign."""
    digit = abs(weight) >> _BITS * place & BASE - 1
    return digit if weight > 0 else -digit
