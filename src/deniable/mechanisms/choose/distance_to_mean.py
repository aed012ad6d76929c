"""How far a table is from a mean that rounds to t, when records come and go.

A table has a mean of at least a just if the sum of y - a over its records is not negative, and
of less than b just if the sum of b - y is positive. Let D(x, t) be the larger of the distances
(in records that come or go) from x to these two sets of tables, with a and b the edges of the
cell that rounds to t; the empty table counts into both.

*It has sensitivity one.* A distance to a set moves by at most one when x does, by the triangle
inequality, and so does the larger of two. *It is zero at the true answer*, and never more than
the number of changes that make t the answer: whoever gets there is in both sets. (It may be
less: a table near both sets need not be near a table in both. That costs accuracy, never
privacy.)

*It is easy to find.* To raise the sum of y - a, each added record brings hi - a at most, as
often as one likes, and each removed x_i < a brings a - x_i. So k changes bring at most the sum
of the k largest such gains, and that is reached: D is the least k whose gains cover the
deficit. The other side is its mirror image, and n removals reach the empty table in any case.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.mechanisms.choose.distances import Means


@dataclass(frozen=True, slots=True)
class ToChangingMean(Means):
    """The mean of any number of whole-numbered records from lo to hi, rounded to a grid.

    >>> ToChangingMean(0, 3, Fraction(1))([0, 0, 3]).tolist()
    [1, 0, 1, 2]
    """

    def __call__(self, data: Any) -> NDArray[np.int64]:
        records = np.asarray(data)
        if records.ndim != 1 or (records.size and records.dtype.kind not in "iu"):
            raise InvalidData("A mean needs a list of whole numbers.")
        rising = np.sort(np.clip(records.astype(np.int64), self.lo, self.hi))
        rises, falls = _Raise(rising, self.hi), _Raise(-rising[::-1], -self.lo)
        half = self.step / 2
        found = [
            max(rises.changes(t - half, 0), falls.changes(-(t + half), 1))
            for t in self.outputs()
        ]
        return np.minimum(np.array(found, dtype=np.int64), rising.size)


class _Raise:
    """Least numbers of changes that lift a table's sum of y - edge to zero, or above it."""

    def __init__(self, rising: NDArray[np.int64], top: int) -> None:
        self.rising, self.top = rising, top
        self.sums: list[int] = [0, *np.cumsum(rising).tolist()]

    def changes(self, edge: Fraction, above: int) -> int:
        """All in parts of the edge's denominator, so that every number is whole; `above` is 1
        if the sum must be positive."""
        a, b = edge.numerator, edge.denominator
        deficit = a * self.rising.size - b * self.sums[-1] + above
        if deficit <= 0:
            return 0
        added = b * self.top - a  # what one more record at the top brings
        better = int(np.searchsorted(self.rising, math.ceil(Fraction(2 * a, b) - self.top)))
        if self._removed(better, a, b) < deficit and added > 0:
            return better + -(-(deficit - self._removed(better, a, b)) // added)
        low, high = 0, better
        while low < high:  # gains of single removals fall, but stay positive
            middle = (low + high) // 2
            if self._removed(middle, a, b) >= deficit:
                high = middle
            else:
                low = middle + 1
        return low if self._removed(low, a, b) >= deficit else self.rising.size

    def _removed(self, count: int, a: int, b: int) -> int:
        """What removing so many of the smallest records brings."""
        return a * count - b * self.sums[count]
