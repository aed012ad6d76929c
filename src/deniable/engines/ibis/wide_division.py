"""Divides wide integers by numbers of rows, rounded towards zero, exactly.

Backends would divide doubles. In w1 * e1 + w2 * e2 + ... each e is a multiple of the rows plus
a remainder. The remainders times their weights are divided by long division, one digit of the
weights at a time, from the highest down. Each step is a column that the next one uses, and all
quotients of a SELECT are computed in parallel.
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
_MOST_ROWS = 1 << 32  # of one unit in one group; a unit with more counts as 0 there


@dataclass(frozen=True, slots=True)
class _Division:
    """The columns of one division: its parts with their weights, the rows, the remainders."""

    parts: tuple[tuple[int, str], ...]
    rests: tuple[str, ...]
    rows: str
    by: str
    whole: str
    rest: str

    @property
    def places(self) -> int:
        """The number of digits of the longest weight."""
        return max(-(-abs(weight).bit_length() // _BITS) for weight, _ in self.parts)

    def dividend(self, table: Value, place: int) -> Value:
        """The number to divide at one place; never negative."""
        digits = [_digit(weight, place) for weight, _ in self.parts]
        dividend = table[self.by] * self.rows_added(place)
        for name, digit in zip(self.rests, digits, strict=True):
            dividend = dividend + table[name] * digit if digit else dividend
        return dividend if place == self.places - 1 else dividend + table[self.rest] * BASE

    def rows_added(self, place: int) -> int:
        """How many times the rows are added, so that nothing is negative."""
        digits = [_digit(weight, place) for weight, _ in self.parts]
        return sum(-digit for digit in digits if digit < 0)

    def quotient_so_far(self, table: Value, place: int) -> Value:
        """The quotient of all places down to this one."""
        quotient_here = _divide_small(table[self.rest], table[self.by]) - self.rows_added(place)
        return (
            quotient_here
            if place == self.places - 1
            else quotient_here + table[self.whole] * BASE
        )

    def total(self, table: Value) -> Value:
        """The quotient, rounded down."""
        quotient_sum = table[self.whole]
        for weight, part in self.parts:
            quotient_sum = quotient_sum + _divide_small(table[part], table[self.by]) * weight
        return quotient_sum

    def towards_zero(self, table: Value) -> Value:
        """The quotient, rounded towards zero."""
        up = (table[self.whole] < 0) & (table[self.rest] > 0)
        few = table[self.rows] < _MOST_ROWS
        return ibis.cases((few & up, table[self.whole] + 1), (few, table[self.whole]), else_=0)


def divide_by_rows(
    table: Value, requests: Sequence[tuple[WideInteger, Value]], fresh: Callable[[], str]
) -> tuple[Value, list[str]]:
    """The table with a column for each wide integer divided by its rows, and their names."""
    columns = list(table.columns)
    table, divisions = _prepare(table, requests, fresh)
    for place in reversed(range(max(division.places for division in divisions))):
        now = [division for division in divisions if division.places > place]
        table = table.mutate(
            **{division.rest: division.dividend(table, place) for division in now}
        )
        wholes = {division.whole: division.quotient_so_far(table, place) for division in now}
        rests = {division.rest: table[division.rest] % table[division.by] for division in now}
        table = table.mutate(**wholes, **rests)
    table = table.mutate(**{division.whole: division.total(table) for division in divisions})
    table = table.mutate(
        **{division.whole: division.towards_zero(table) for division in divisions}
    )
    names = [division.whole for division in divisions]
    return table.select(*columns, *names), names


def _prepare(
    table: Value, requests: Sequence[tuple[WideInteger, Value]], fresh: Callable[[], str]
) -> tuple[Value, list[_Division]]:
    """The table with columns for the dividends, the divisors and the remainders, each once."""
    names_of: dict[Value, str] = {}
    divisors: dict[str, str] = {}
    rests: dict[tuple[str, str], str] = {}
    divisions = []
    for over, rows in requests:
        count = names_of.setdefault(rows.op(), fresh())
        names = [names_of.setdefault(part.op(), fresh()) for _, part in over.parts]
        divisor = divisors.setdefault(count, fresh())
        remainders = tuple(rests.setdefault((part, divisor), fresh()) for part in names)
        weights = (weight for weight, _ in over.parts)
        parts = tuple(zip(weights, names, strict=True))
        divisions.append(_Division(parts, remainders, count, divisor, fresh(), fresh()))
    table = table.mutate(**{name: part.to_expr() for part, name in names_of.items()})
    safe = {divisor: _at_least_one(table[count]) for count, divisor in divisors.items()}
    table = table.mutate(**safe)
    remainder_columns = {
        name: table[part] % table[divisor] for (part, divisor), name in rests.items()
    }
    return table.mutate(**remainder_columns), divisions


def _at_least_one(rows: Value) -> Value:
    return ibis.cases((rows.between(1, _MOST_ROWS - 1), rows), else_=1)


def _divide_small(value: Value, by: Value) -> Value:
    """value // by, for value from 0 to 2^62 and by up to 2^32: in two digits."""
    high = quotient(value, BASE)
    low = (high % by) * BASE + value % BASE
    return quotient(high, by) * BASE + quotient(low, by)


def _digit(weight: int, place: int) -> int:
    """A digit of a weight, the lowest at place 0, with its sign."""
    digit = abs(weight) >> _BITS * place & BASE - 1
    return digit if weight > 0 else -digit
