"""Exact draws from weighted cells, by table.

Of 2**slot_bits equal slots, cell i owns as many whole slots as certainly fit into its
probability p_i. A draw of slot_bits bits that falls into one of those is finished. Let N_i be
the number of slots owned by the cells up to i, F(i) the probability of these cells, and R the
number of slots without an owner. A draw that falls among the R is taken from

    G(i) = (2**slot_bits F(i) - N_i) / R,

by comparing a uniform U with G. The first word_bits bits of U and integer enclosures of G
decide nearly always (all but about one in 2**50). If they do not, `settle` draws further bits
and encloses G more closely until they do. So the mixture has exactly the wanted distribution,
with its infinite tail, and no float is used.
"""

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable.exact.bits import BitSource, draw_integer
from deniable.exact.distributions import CellDistribution

Cells: TypeAlias = npt.NDArray[np.int64]

CHUNK = 1 << 15  # draws made at once, so that intermediate arrays stay in the cache
EMPTY = -(1 << 63)  # marks a slot that no cell owns

_GUARD = 40


class TableSampler:
    """Draws cells of a distribution. Immutable, so that threads may share it."""

    def __init__(
        self, distribution: CellDistribution, *, slot_bits: int = 16, word_bits: int = 64
    ) -> None:
        self.distribution = distribution
        self.slot_bits = slot_bits
        self.word_bits = word_bits
        self._count = distribution.cells_needed(word_bits + 8)
        lows, highs, after = distribution.weights(self._count, word_bits + _GUARD)
        self._infinite = after > 0
        slots, total = 1 << slot_bits, sum(highs) + after
        owned = [low * slots // total for low in lows]
        self._owned = list(accumulate(owned))
        taken = np.repeat(np.arange(self._count), owned)
        self.slots: Cells = np.full(slots, EMPTY, dtype=np.int64)
        self.slots[: taken.size] = self._cell_at(taken)
        lower, upper = (
            self._rest_bounds(self._count, word_bits) if taken.size < slots else ([], [])
        )
        self._lower = np.array(lower, dtype=np.uint64)
        self._upper = np.array(upper, dtype=np.uint64)

    def draw(self, count: int, source: BitSource) -> Cells:
        """Draws `count` cells."""
        cells = np.empty(count, dtype=np.int64)
        missing = []
        for start in range(0, count, CHUNK):
            some = cells[start : start + CHUNK]
            self.slots.take(source.draw(self.slot_bits, some.size), out=some, mode="clip")
            missing.append(np.flatnonzero(some == EMPTY) + start)
        if missing:
            places = np.concatenate(missing)
            cells[places] = self.draw_rest(places.size, source)
        return cells

    def draw_rest(self, count: int, source: BitSource) -> Cells:
        """Draws `count` cells, given that each fell into a slot without an owner."""
        words = source.draw(self.word_bits, count).astype(np.uint64, copy=False)
        # word < lower[i] proves U < G(i): index <= i; word > upper[i] proves U > G(i): > i.
        least = np.searchsorted(self._upper, words, side="left")
        most = np.searchsorted(self._lower, words, side="right")
        cells: Cells = self._cell_at(least)
        for place in np.flatnonzero((least != most) | self._is_beyond(least, self._count)):
            cells[place] = self.settle(int(words[place]), source)
        return cells

    def settle(self, word: int, source: BitSource) -> int:
        """The cell of a uniform number that begins with `word`: draws until it is certain."""
        bits = self.word_bits
        while True:
            word = word << self.word_bits | draw_integer(source, self.word_bits)
            bits += self.word_bits
            count = max(self._count, self.distribution.cells_needed(bits + 8))
            lower, upper = self._rest_bounds(count, bits)
            index = bisect_left(upper, word)
            if index == bisect_right(lower, word) and not self._is_beyond(index, count):
                return int(self._cell_at(index))

    def _is_beyond(self, index: Any, count: int) -> Any:
        """Whether an index means "after the listed cells", in an infinite distribution."""
        return index >= count if self._infinite else index < 0

    def _rest_bounds(self, count: int, bits: int) -> tuple[list[int], list[int]]:
        """Integers just below and above 2**bits G(i), rounded down, for the listed cells. The
        last cell of a finite distribution is left out, because G is 1 there."""
        lows, highs, after = self.distribution.weights(count, bits + _GUARD)
        slots = 1 << self.slot_bits
        left = slots - self._owned[-1]
        owned = self._owned + self._owned[-1:] * (count - len(self._owned))
        before_lo = before_hi = 0
        after_lo, after_hi = sum(lows), sum(highs) + after
        lower: list[int] = []
        upper: list[int] = []
        for low, high, given in zip(lows, highs, owned, strict=True):
            before_lo, after_lo = before_lo + low, after_lo - low
            before_hi, after_hi = before_hi + high, after_hi - high
            # F = before / (before + after) is least for the least before and greatest after.
            least = (before_lo * slots << bits) // (before_lo + after_hi)
            most = -(-(before_hi * slots << bits) // (before_hi + after_lo))
            # Limited to what a word holds; G is 1 from the last cell with weight on.
            for ends, end in ((lower, least), (upper, most)):
                ends.append(max(0, min((1 << bits) - 1, (end - (given << bits)) // left)))
        return (lower, upper) if self._infinite else (lower[:-1], upper[:-1])

    def _cell_at(self, index: Any) -> Any:
        """The number of the cell at an index in the order 0, ~0, 1, ~1, ..."""
        return index >> 1 ^ -(index & 1) if self.distribution.signed else index
