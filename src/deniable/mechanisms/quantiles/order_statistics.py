"""The records in order, with ties broken at random: order statistics, drawn when needed.

Each cell is cut into 2**k places, and each of its records goes to a random place. For any fixed
draw of the places, neighbouring tables still differ in one record, so a mechanism that is
private on places is private on cells: condition on the places of the common records. Spreading
ties evenly, by rank or by count, would not be private: one more record would move all other
records of its cell. If the common places are published with the output, a choice by exponential
weights still has bounded range. Without them no divergence and no delta is larger (both are
convex), so its `RangeLoss` stays an upper bound.

So an atom has the weight of a whole cell, and as many ranks as records. Cells that are often
full can be given more places, see `stretched_cells`. Places are drawn lazily, only for cells
that are read; once drawn they do not change.
"""

from dataclasses import dataclass

import numpy as np

from deniable.exact import uniform_below
from deniable.exact.bits import BitSource
from deniable.mechanisms.histogram import Histogram, Integers
from deniable.mechanisms.quantiles.stretched_cells import StretchedCells

PLACE_BITS = 32
_MOST_BITS = 62  # a place's number, and twice it, fit into int64


class OrderStatistics:
    """Sorted places of all records of a histogram."""

    def __init__(
        self,
        data: Histogram,
        source: BitSource,
        *,
        place_bits: int = PLACE_BITS,
        atoms: tuple[tuple[int, int], ...] = (),
    ):
        self._data, self._source = data, source
        self._stretch = StretchedCells(data.size, atoms)
        self.place_bits = min(place_bits, _MOST_BITS - self._stretch.width.bit_length())
        self._drawn: list[tuple[int, Integers]] = []  # (first rank, places), whole cells

    def all_records(self) -> "RecordSlice":
        """All records, all places."""
        return RecordSlice(
            self, 0, self._data.rows, 0, (self._stretch.width << self.place_bits) - 1
        )

    def cell(self, place: int) -> int:
        """The cell that a place belongs to."""
        return self._stretch.cell(place >> self.place_bits)

    def places(self, first: int, last: int) -> Integers:
        """The places of the records with ranks first, ..., last - 1, ascending."""
        if first >= last:
            return np.zeros(0, dtype=np.int64)
        upto = self._data.cumulative_counts
        low, high = np.searchsorted(upto, [first, last - 1], side="right")
        start, end = int(upto[low] - self._data.counts[low]), int(upto[high])
        inside = [(at, run) for at, run in self._drawn if start < at + run.size and at < end]
        apart = [(at, run) for at, run in self._drawn if start >= at + run.size or at >= end]
        parts, at = [], min([start, *(at for at, _ in inside)])
        begin = at
        for begin_drawn, drawn in sorted(inside, key=lambda pair: pair[0]):
            parts += [self._draw_places(at, begin_drawn), drawn]
            at = begin_drawn + drawn.size
        parts.append(self._draw_places(at, end))
        merged = np.concatenate(parts)
        self._drawn = [*apart, (begin, merged)]
        return merged[first - begin : last - begin]

    def rank_of(self, place: int) -> int:
        """How many records lie below a place."""
        cell = self.cell(place)
        index = int(np.searchsorted(self._data.cells, cell))
        before = int(self._data.cumulative_counts[index - 1]) if index else 0
        if index == self._data.cells.size or self._data.cells[index] != cell:
            return before
        own = self.places(before, before + int(self._data.counts[index]))
        return before + int(np.searchsorted(own, place, side="left"))

    def _draw_places(self, start: int, end: int) -> Integers:
        """Draws places for the whole cells that hold these ranks."""
        if start >= end:
            return np.zeros(0, dtype=np.int64)
        low, high = np.searchsorted(
            self._data.cumulative_counts, [start, end - 1], side="right"
        )
        cells = np.repeat(self._data.cells[low : high + 1], self._data.counts[low : high + 1])
        places = self._stretch.starts(cells)
        for atom, width in self._stretch.atoms:
            inside = np.flatnonzero(cells == atom)
            places[inside] += uniform_below(width, inside.size, source=self._source)
        if self.place_bits:
            drawn = self._source.draw(self.place_bits, end - start).astype(np.int64)
            places = (places << self.place_bits) + drawn
        return np.sort(places)


@dataclass(frozen=True, slots=True)
class RecordSlice:
    """The records of ranks first, ..., last - 1, in the places lowest, ..., highest.

    A candidate is a place o; its rank is the number of these records below o. The candidates
    of rank i form the i-th interval, which may be empty.
    """

    order: OrderStatistics
    first: int
    last: int
    lowest: int
    highest: int

    @property
    def rows(self) -> int:
        return self.last - self.first

    @property
    def size(self) -> int:
        return self.highest - self.lowest + 1

    def edges(self, low: int, high: int) -> Integers:
        """The last place before each interval low, ..., high, and the last place of `high`."""
        inner = self.order.places(
            self.first + max(low - 1, 0), min(self.first + high + 1, self.last)
        )
        before = [self.lowest - 1] if low == 0 else []
        after = [self.highest] if high == self.rows else []
        return np.concatenate([np.array(before, np.int64), inner, np.array(after, np.int64)])

    def rank(self, place: int) -> int:
        """How many of these records lie below a place."""
        return min(max(self.order.rank_of(place), self.first), self.last) - self.first

    def split(self, place: int, rank: int) -> "tuple[RecordSlice, RecordSlice]":
        """The records below a candidate with the places up to it, and all other records."""
        middle = self.first + rank
        return (
            RecordSlice(self.order, self.first, middle, self.lowest, place),
            RecordSlice(self.order, middle, self.last, place, self.highest),
        )
