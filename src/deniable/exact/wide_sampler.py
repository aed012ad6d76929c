"""Exact draws from a law of large scale: a cell by table, a place in it, a rare second look.

One word holds a slot (which cell), a place (which integer in the cell) and the first bits of
a uniform U. A place is kept if U < exp(-penalty). No penalty of a cell that owns slots is
above a known one, so for all but a few per cent of the words an integer comparison decides.
The others are looked at closely: more bits of U against a float exp(-penalty), of which only
the distance counts: unless it exceeds both the error bound of the float and what the bits
leave open, `_settle` decides with integer enclosures and as many more bits as it takes.

Where the law is a rounded real one, a place is a number of halves, and the digits after that
are drawn only for the second look.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.exact.bits import BitSource, Words, integer
from deniable.exact.enclosures import exp_neg
from deniable.exact.laws import Floats, WideLaw
from deniable.exact.table_sampler import (
    CHUNK,
    EMPTY,
    Cells,
    TableSampler,
)

_FLOAT_ERROR = 2.0**-45  # eight times what the penalty and exp can be off together
_LARGEST = 1 << 62


class WideSampler:
    """Draws integers of a `Wide` law. Immutable, so that threads may share it."""

    def __init__(self, law: WideLaw, *, slot_bits: int = 16, word_bits: int = 64) -> None:
        self._law = law
        self._table = TableSampler(law, slot_bits=slot_bits, word_bits=word_bits)
        self._word_bits = word_bits
        self._slot_mask = np.uint64((1 << slot_bits) - 1)
        self._slot_bits = np.uint64(slot_bits)
        place_bits = law.shift + law.rounds
        self._place_mask = np.uint64((1 << place_bits) - 1)
        self._below_keep = np.uint64(slot_bits + place_bits)
        self._keep_bits = word_bits - slot_bits - place_bits
        self._starts = np.where(
            self._table.slots == EMPTY, EMPTY, self._table.slots * (1 << law.shift)
        )
        # Words below this one need no second look, unless their slot is empty.
        self._plain = np.uint64(self._sure_keeps() << slot_bits + place_bits)

    def _sure_keeps(self) -> int:
        """The greatest v such that a place of a cell with slots is kept if U < v/2**keep."""
        owned = self._table.slots[self._table.slots != EMPTY]
        if not owned.size:
            return 0
        width = Fraction(1 << self._law.shift)
        worst = max(self._law.exact_penalty(int(c), width) for c in (owned.min(), owned.max()))
        return exp_neg(worst, self._keep_bits)[0]

    def draw(self, count: int, source: BitSource) -> npt.NDArray[Any]:
        """`count` integers; as Python's own where one does not fit into 64 bits."""
        values = np.empty(count, dtype=np.int64)
        looks = [
            self._glance(values[start : start + CHUNK], start, source)
            for start in range(0, count, CHUNK)
        ]
        if not looks:
            return values
        doubtful, words = (np.concatenate(parts) for parts in zip(*looks, strict=True))
        large: dict[int, int] = {}
        while doubtful.size:
            kept = self._look(values, doubtful, words, large, source)
            doubtful = doubtful[~kept]
            words = source.draw(self._word_bits, doubtful.size)
        if not large:
            return values
        wide = values.astype(object)
        for place, value in large.items():
            wide[place] = value
        return wide

    def _glance(
        self, values: npt.NDArray[np.int64], start: int, source: BitSource
    ) -> tuple[Cells, Words]:
        """Draws into `values`; says which of them need a second look, with their words."""
        words = source.draw(self._word_bits, values.size)
        starts = self._starts.take((words & self._slot_mask).view(np.int64))
        np.add(starts, self._steps(words), out=values)
        doubtful = np.flatnonzero((words >= self._plain) | (starts == EMPTY))
        return doubtful + start, words[doubtful]

    def _steps(self, words: Words) -> npt.NDArray[np.int64]:
        """How far each word's value lies above the start of its cell."""
        places = (words >> self._slot_bits & self._place_mask).view(np.int64)
        return (places + 1) >> 1 if self._law.rounds else places

    def _look(
        self,
        values: npt.NDArray[np.int64],
        doubtful: Cells,
        words: Words,
        large: dict[int, int],
        source: BitSource,
    ) -> npt.NDArray[np.bool_]:
        """Writes the values of the words that are kept, and says which are."""
        cells = self._table.slots[words & self._slot_mask]
        empty = np.flatnonzero(cells == EMPTY)
        cells[empty] = self._table.rest(empty.size, source)
        kept = self._kept(cells, words, source)
        steps = self._steps(words)
        values[doubtful] = cells * (1 << self._law.shift) + steps
        for i in np.flatnonzero(kept & (np.abs(cells) >= _LARGEST >> self._law.shift)):
            large[int(doubtful[i])] = (int(cells[i]) << self._law.shift) + int(steps[i])
        return kept

    def _kept(self, cells: Cells, words: Words, source: BitSource) -> npt.NDArray[np.bool_]:
        """Whether each place survives its penalty: U < exp(-penalty)."""
        places = (words >> self._slot_bits & self._place_mask).view(np.int64)
        places = np.where(cells < 0, places ^ self._place_mask.view(np.int64), places)
        firsts = words >> self._below_keep
        seconds = source.draw(self._word_bits, cells.size)
        unit = 2.0**-self._word_bits
        uniform = (firsts + seconds * unit) * 2.0**-self._keep_bits
        if self._law.rounds:
            digits = source.draw(self._word_bits, cells.size)
            nearer = (places + digits * unit) / 2
            most, least = self._keep(cells, nearer), self._keep(cells, nearer + unit / 2)
        else:
            digits = np.zeros_like(seconds)
            most = least = self._keep(cells, places.astype(np.float64))
        kept = uniform + unit * 2.0**-self._keep_bits <= least - _FLOAT_ERROR
        for i in np.flatnonzero(~kept & (uniform < most + _FLOAT_ERROR)):
            known = int(firsts[i]) << self._word_bits | int(seconds[i])
            kept[i] = self._settle(int(cells[i]), int(places[i]), known, int(digits[i]), source)
        return kept

    def _keep(self, cells: Cells, place: Floats) -> Floats:
        """exp(-penalty), off by less than _FLOAT_ERROR."""
        mirrored = cells < 0
        number = np.where(mirrored, ~cells, cells).astype(np.float64)
        return np.exp(-self._law.penalty(number, mirrored.astype(np.float64), place))

    def _settle(
        self, cell: int, place: int, uniform: int, digits: int, source: BitSource
    ) -> bool:
        """Whether U < exp(-penalty), for U and a place known by their first digits."""
        bits, digit_bits = self._keep_bits + self._word_bits, self._word_bits
        while True:
            least, most = self._penalties(cell, place, digits, digit_bits)
            if uniform < exp_neg(most, bits)[0]:
                return True
            if uniform >= exp_neg(least, bits)[1]:
                return False
            uniform = uniform << self._word_bits | integer(source, self._word_bits)
            bits += self._word_bits
            if self._law.rounds:
                digits = digits << self._word_bits | integer(source, self._word_bits)
                digit_bits += self._word_bits

    def _penalties(
        self, cell: int, place: int, digits: int, digit_bits: int
    ) -> tuple[Fraction, Fraction]:
        """The least and the greatest penalty that the known digits of the place allow."""
        if not self._law.rounds:
            exact = self._law.exact_penalty(cell, Fraction(place))
            return exact, exact
        known, unit = (place << digit_bits) + digits, 2 << digit_bits
        least, most = (
            self._law.exact_penalty(cell, Fraction(end, unit)) for end in (known, known + 1)
        )
        return least, most
