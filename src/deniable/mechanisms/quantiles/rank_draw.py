"""One value by its rank: the exponential mechanism over cells.

A cell t misses a target rank by D(t) = max(0, target - #{x <= t}, #{x < t} - target). A cell
whose records cover the target misses nothing, so ties need no special care. P(t) is
proportional to exp(-unit D(t)).

If some target lies outside the table, public rows at the bounds can be counted as well: then
such a target falls on a bound, and D is 0 there. They are the same in neighbouring tables, so
no D moves further than without them.
"""

from fractions import Fraction

import numpy as np

from deniable.exact import uniform_below
from deniable.exact.bits import BitSource
from deniable.exact.weighted_choice import WeightedCells
from deniable.mechanisms.histogram import Histogram

_SAFE = 1 << 62  # two such integers differ by an int64


class RankDraw:
    """The cells of a histogram, prepared for any number of draws. `outside` public rows are
    counted at each bound."""

    def __init__(self, data: Histogram, *, outside: int = 0):
        self.rows = data.rows  # without the public ones
        self._cells, counts = data.cells, data.counts
        if outside:
            self._cells, counts = _add_rows(data, outside)
        self._total = self.rows + 2 * outside
        # Odd candidates are occupied cells, even ones the runs of empty cells between them.
        self._lengths = np.ones(2 * self._cells.size + 1, dtype=np.int64)
        self._starts = np.concatenate([[0], self._cells + 1])
        self._lengths[0::2] = np.concatenate([self._cells, [data.size]]) - self._starts
        self._upto = np.concatenate([[0], np.cumsum(counts)])

    def draw(
        self, quantile: Fraction, unit: Fraction, source: BitSource, *, offset: int = 0
    ) -> int:
        """A cell of rank `quantile` times the rows, plus `offset`. The public rows at the lower
        bound have ranks too, so `offset` counts from the first of them."""
        # Not in lowest terms: the running time must not depend on a divisor of the rows.
        parts = quantile.denominator
        target, upto = quantile.numerator * self.rows + offset * parts, self._upto
        if (self._total + abs(offset)) * parts >= _SAFE:
            upto = upto.astype(object)  # a float such as 1/3 has a denominator of 10**16
        misses = np.empty(self._lengths.size, dtype=upto.dtype)
        misses[0::2] = np.abs(upto * parts - target)
        misses[1::2] = np.maximum(target - upto[1:] * parts, upto[:-1] * parts - target)
        np.maximum(misses, 0, out=misses)
        chosen = WeightedCells(self._lengths, misses, unit / parts).draw(source=source)
        if chosen % 2:
            return int(self._cells[chosen // 2])
        inside = uniform_below(int(self._lengths[chosen]), 1, source=source)[0]
        return int(self._starts[chosen // 2]) + int(inside)


def _add_rows(
    data: Histogram, outside: int
) -> tuple[
    np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.int64]]
]:
    """The cells and counts with `outside` more rows at each bound."""
    cells, counts = data.cells, data.counts.copy()
    for end, place in ((0, 0), (data.size - 1, -1)):
        if cells.size and cells[place] == end:
            counts[place] += outside
        else:
            front, back = ([end], []) if place == 0 else ([], [end])
            cells = np.concatenate([front, cells, back]).astype(np.int64)
            more = [outside] * len(front), [outside] * len(back)
            counts = np.concatenate([more[0], counts, more[1]]).astype(np.int64)
    return cells, counts
