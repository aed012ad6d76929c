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

import numpy as np
import numpy.typing as npt

from deniable.exact.bits import Source, Words, integer
from deniable.exact.enclosures import exp_neg
from deniable.exact.laws import Wide
from deniable.exact.table import EMPTY, Cells, Table

_CHUNK = 1 << 15
_FLOAT_ERROR = 2.0**-45  # eight times what the penalty and exp can be off together
_LARGEST = 1 << 62


class WideSampler:
    """Draws integers of a `Wide` law. Immutable, so that threads may share it."""

    def __init__(self, law: Wide, *, slot_bits: int = 16, word_bits: int = 64) -> None:
        self._law = law
        self._table = Table(law, slot_bits=slot_bits, word_bits=word_bits)
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

    def draw(self, count: int, source: Source) -> npt.NDArray[np.int64] | npt.NDArray[np.object_]:
        """`count` integers; as Python's own where one does not fit into 64 bits."""
        values = np.empty(count, dtype=np.int64)
        large: dict[int, int] = {}
        for start in range(0, count, _CHUNK):
            found = self._fill(values[start : start + _CHUNK], source)
            large.update({start + place: value for place, value in found.items()})
        if not large:
            return values
        wide = values.astype(object)
        for place, value in large.items():
            wide[place] = value
        return wide

    def _fill(self, values: npt.NDArray[np.int64], source: Source) -> dict[int, int]:
        """Draws into `values`; returns those that did not fit, by place."""
        words = source.draw(self._word_bits, values.size)
        starts = self._starts.take(words & self._slot_mask)
        np.add(starts, self._steps(words), out=values)
        doubtful = np.flatnonzero((words >= self._plain) | (starts == EMPTY))
        return self._look_again(values, words, doubtful, source) if doubtful.size else {}

    def _steps(self, words: Words) -> npt.NDArray[np.int64]:
        """How far each word's value lies above the start of its cell."""
        places = (words >> self._slot_bits & self._place_mask).view(np.int64)
        return (places + 1) >> 1 if self._law.rounds else places

    def _look_again(
        self, values: npt.NDArray[np.int64], words: Words, doubtful: Cells, source: Source
    ) -> dict[int, int]:
        words = words[doubtful]
        cells = self._table.slots[words & self._slot_mask]
        empty = np.flatnonzero(cells == EMPTY)
        cells[empty] = self._table.rest(empty.size, source)
        kept = self._kept(cells, words, source)
        steps = self._steps(words)
        fits = np.abs(cells) < _LARGEST >> self._law.shift
        good = kept & fits
        values[doubtful[good]] = cells[good] * (1 << self._law.shift) + steps[good]
        large = {
            int(doubtful[i]): (int(cells[i]) << self._law.shift) + int(steps[i])
            for i in np.flatnonzero(kept & ~fits)
        }
        again = doubtful[~kept]
        if again.size:
            fresh = np.empty(again.size, dtype=np.int64)
            found = self._fill(fresh, source)
            values[again] = fresh
            large.update({int(again[place]): value for place, value in found.items()})
        return large

    def _kept(self, cells: Cells, words: Words, source: Source) -> npt.NDArray[np.bool_]:
        """Whether each place survives its penalty."""
        places = (words >> self._slot_bits & self._place_mask).view(np.int64)
        mirrored = cells < 0
        places = np.where(mirrored, places ^ self._place_mask.view(np.int64), places)
        firsts = words >> self._below_keep
        seconds = source.draw(self._word_bits, cells.size)
        digits = source.draw(self._word_bits, cells.size) if self._law.rounds else None
        unit = 2.0**-self._word_bits
        uniform = (firsts + (seconds + 0.5) * unit) * 2.0**-self._keep_bits
        open_ended = unit * 2.0**-self._keep_bits
        place = places.astype(np.float64)
        if digits is not None:  # exp(-penalty) moves by less than the place does, times the rise
            place = (place + (digits + 0.5) * unit) / 2
            open_ended += unit
        number = np.where(mirrored, ~cells, cells).astype(np.float64)
        keep = np.exp(-self._law.penalty(number, mirrored.astype(np.float64), place))
        gap = keep - uniform
        kept: npt.NDArray[np.bool_] = gap > 0
        for i in np.flatnonzero(np.abs(gap) <= open_ended + _FLOAT_ERROR):
            first = int(firsts[i]) << self._word_bits | int(seconds[i])
            digit = None if digits is None else int(digits[i])
            kept[i] = self._settle(int(cells[i]), int(places[i]), first, digit, source)
        return kept

    def _settle(
        self, cell: int, place: int, uniform: int, digits: int | None, source: Source
    ) -> bool:
        """Whether U < exp(-penalty), for U and a place known by their first digits."""
        bits, digit_bits = self._keep_bits + self._word_bits, self._word_bits
        while True:
            if digits is None:
                least = most = self._law.exact_penalty(cell, Fraction(place))
            else:
                scale = 2 << digit_bits
                whole = (place << digit_bits) + digits
                least, most = (
                    self._law.exact_penalty(cell, Fraction(end, scale)) for end in (whole, whole + 1)
                )
            if uniform + 1 <= exp_neg(most, bits)[0]:
                return True
            if uniform >= exp_neg(least, bits)[1]:
                return False
            uniform = uniform << self._word_bits | integer(source, self._word_bits)
            bits += self._word_bits
            if digits is not None:
                digits = digits << self._word_bits | integer(source, self._word_bits)
                digit_bits += self._word_bits
