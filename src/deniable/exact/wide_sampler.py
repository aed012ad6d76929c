"""Exact draws from a distribution of large scale: a cell by table, then a place in it.

One word holds a slot (which cell), a place (which integer in the cell) and the first bits of
a uniform U. A place is kept if U < exp(-penalty). The penalties of all cells that own slots
have a known upper bound, so an integer comparison decides for all but a few per cent of the
words. The others get a second look: more bits of U are compared with a float exp(-penalty).
If their distance does not exceed both the error bound of the float and the width of the known
bits, `_settle` decides with integer enclosures and as many more bits as necessary.

If the distribution is a rounded continuous one, a place is a number of halves, and further
digits of the place are drawn only for the second look.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.exact.bits import BitSource, Words, draw_integer
from deniable.exact.distributions import Floats, WideDistribution
from deniable.exact.enclosures import exp_neg
from deniable.exact.table_sampler import (
    CHUNK,
    EMPTY,
    Cells,
    TableSampler,
)

_FLOAT_ERROR = 2.0**-45  # eight times the joint error of the penalty and exp
_LARGEST = 1 << 62


class WideSampler:
    """Draws integers of a `WideDistribution`. Immutable, so that threads may share it."""

    def __init__(
        self, distribution: WideDistribution, *, slot_bits: int = 16, word_bits: int = 64
    ) -> None:
        self._distribution = distribution
        self._table = TableSampler(distribution, slot_bits=slot_bits, word_bits=word_bits)
        self._word_bits = word_bits
        self._slot_mask = np.uint64((1 << slot_bits) - 1)
        self._slot_bits = np.uint64(slot_bits)
        place_bits = distribution.shift + distribution.rounds
        self._place_mask = np.uint64((1 << place_bits) - 1)
        self._below_keep = np.uint64(slot_bits + place_bits)
        self._keep_bits = word_bits - slot_bits - place_bits
        self._starts = np.where(
            self._table.slots == EMPTY, EMPTY, self._table.slots * (1 << distribution.shift)
        )
        # Words below this one need no second look, unless their slot is empty.
        self._plain = np.uint64(self._certain_keeps() << slot_bits + place_bits)

    def _certain_keeps(self) -> int:
        """The greatest v for which U < v / 2**keep_bits keeps any place of cells with slots."""
        owned = self._table.slots[self._table.slots != EMPTY]
        if not owned.size:
            return 0
        width = Fraction(1 << self._distribution.shift)
        worst = max(
            self._distribution.exact_penalty(int(c), width) for c in (owned.min(), owned.max())
        )
        return exp_neg(worst, self._keep_bits)[0]

    def draw(self, count: int, source: BitSource) -> npt.NDArray[Any]:
        """Draws `count` integers: Python integers if one does not fit into 64 bits."""
        values = np.empty(count, dtype=np.int64)
        looks = [
            self._draw_quickly(values[start : start + CHUNK], start, source)
            for start in range(0, count, CHUNK)
        ]
        if not looks:
            return values
        doubtful, words = (np.concatenate(parts) for parts in zip(*looks, strict=True))
        large: dict[int, int] = {}
        while doubtful.size:
            mask = self._look_closely(values, doubtful, words, large, source)
            doubtful = doubtful[~mask]
            words = source.draw(self._word_bits, doubtful.size)
        if not large:
            return values
        wide = values.astype(object)
        for place, value in large.items():
            wide[place] = value
        return wide

    def _draw_quickly(
        self, values: npt.NDArray[np.int64], start: int, source: BitSource
    ) -> tuple[Cells, Words]:
        """Draws into `values`. Returns which of them need a second look, and their words."""
        words = source.draw(self._word_bits, values.size)
        starts = self._starts.take((words & self._slot_mask).view(np.int64))
        np.add(starts, self._offsets(words), out=values)
        doubtful = np.flatnonzero((words >= self._plain) | (starts == EMPTY))
        return doubtful + start, words[doubtful]

    def _offsets(self, words: Words) -> npt.NDArray[np.int64]:
        """How far each word's value lies above the start of its cell."""
        places = (words >> self._slot_bits & self._place_mask).view(np.int64)
        return (places + 1) >> 1 if self._distribution.rounds else places

    def _look_closely(
        self,
        values: npt.NDArray[np.int64],
        doubtful: Cells,
        words: Words,
        large: dict[int, int],
        source: BitSource,
    ) -> npt.NDArray[np.bool_]:
        """Writes the values of the words that are kept. Returns which are kept."""
        cells = self._table.slots[words & self._slot_mask]
        empty = np.flatnonzero(cells == EMPTY)
        cells[empty] = self._table.draw_rest(empty.size, source)
        mask = self._decide_kept(cells, words, source)
        steps = self._offsets(words)
        values[doubtful] = cells * (1 << self._distribution.shift) + steps
        for i in np.flatnonzero(mask & (np.abs(cells) >= _LARGEST >> self._distribution.shift)):
            start = int(cells[i]) << self._distribution.shift
            large[int(doubtful[i])] = start + int(steps[i])
        return mask

    def _decide_kept(
        self, cells: Cells, words: Words, source: BitSource
    ) -> npt.NDArray[np.bool_]:
        """Whether each place is kept: U < exp(-penalty)."""
        places = (words >> self._slot_bits & self._place_mask).view(np.int64)
        places = np.where(cells < 0, places ^ self._place_mask.view(np.int64), places)
        firsts = words >> self._below_keep
        seconds = source.draw(self._word_bits, cells.size)
        unit = 2.0**-self._word_bits
        uniform = (firsts + seconds * unit) * 2.0**-self._keep_bits
        if self._distribution.rounds:
            digits = source.draw(self._word_bits, cells.size)
            nearer = (places + digits * unit) / 2
            most, least = (
                self._keep_probability(cells, nearer),
                self._keep_probability(cells, nearer + unit / 2),
            )
        else:
            digits = np.zeros_like(seconds)
            most = least = self._keep_probability(cells, places.astype(np.float64))
        mask = uniform + unit * 2.0**-self._keep_bits <= least - _FLOAT_ERROR
        for i in np.flatnonzero(~mask & (uniform < most + _FLOAT_ERROR)):
            known = int(firsts[i]) << self._word_bits | int(seconds[i])
            mask[i] = self._settle(int(cells[i]), int(places[i]), known, int(digits[i]), source)
        return mask

    def _keep_probability(self, cells: Cells, place: Floats) -> Floats:
        """exp(-penalty), with an error below _FLOAT_ERROR."""
        mirrored = cells < 0
        number = np.where(mirrored, ~cells, cells).astype(np.float64)
        return np.exp(-self._distribution.penalty(number, mirrored.astype(np.float64), place))

    def _settle(
        self, cell: int, place: int, uniform: int, digits: int, source: BitSource
    ) -> bool:
        """Whether U < exp(-penalty), when the first digits of U and of the place are known."""
        bits, digit_bits = self._keep_bits + self._word_bits, self._word_bits
        while True:
            least, most = self._penalties(cell, place, digits, digit_bits)
            if uniform < exp_neg(most, bits)[0]:
                return True
            if uniform >= exp_neg(least, bits)[1]:
                return False
            uniform = uniform << self._word_bits | draw_integer(source, self._word_bits)
            bits += self._word_bits
            if self._distribution.rounds:
                digits = digits << self._word_bits | draw_integer(source, self._word_bits)
                digit_bits += self._word_bits

    def _penalties(
        self, cell: int, place: int, digits: int, digit_bits: int
    ) -> tuple[Fraction, Fraction]:
        """The least and the greatest penalty that the known digits of the place allow."""
        if not self._distribution.rounds:
            exact = self._distribution.exact_penalty(cell, Fraction(place))
            return exact, exact
        known, unit = (place << digit_bits) + digits, 2 << digit_bits
        least, most = (
            self._distribution.exact_penalty(cell, Fraction(end, unit))
            for end in (known, known + 1)
        )
        return least, most
