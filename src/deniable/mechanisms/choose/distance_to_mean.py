"""How far a table is from a mean that rounds to t, when records are added or removed.

A table has a mean of at least a if and only if the sum of y - a over its records is not
negative. It has a mean below b if and only if the sum of b - y is positive. Let a and b be the
edges of the cell that rounds to t. D(x, t) is the larger of the distances (in records added or
removed) from x to these two sets of tables; the empty table is in both sets.

*Its sensitivity is one.* When x changes by one record, its distance to a set changes by at most
one (triangle inequality), and so does the larger of two distances. *It is zero at the true
answer*, and at most the number of changes that make t the answer: such a table is in both sets.
(It may be less: a table near both sets need not be near a table in both. That costs accuracy,
not privacy.)

*It is easy to compute.* To raise the sum of y - a, each added record contributes at most
hi - a, any number of times, and each removed x_i < a contributes a - x_i. So k changes
contribute at most the sum of the k largest such gains, and this can be reached: D is the least
k whose gains cover the deficit. The other side is the mirror image. n removals always reach the
empty table.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData
from deniable.mechanisms.choose.distances import RoundedMeans


@dataclass(frozen=True, slots=True)
class DistanceToChangingMean(RoundedMeans):
    """The mean of any number of whole-numbered records from lo to hi, rounded to a grid.

    >>> DistanceToChangingMean(0, 3, Fraction(1))([0, 0, 3]).tolist()
    [1, 0, 1, 2]
    """

    def __call__(self, data: Any) -> NDArray[np.int64]:
        records = np.asarray(data)
        if records.ndim != 1 or (records.size and records.dtype.kind not in "iu"):
            raise InvalidData("A mean needs a list of whole numbers.")
        rising = np.sort(np.clip(records.astype(np.int64), self.lo, self.hi))
        rises, falls = _SumRaiser(rising, self.hi), _SumRaiser(-rising[::-1], -self.lo)
        half = self.step / 2
        changes = [
            max(rises.changes(t - half, 0), falls.changes(-(t + half), 1))
            for t in self.outputs()
        ]
        return np.minimum(np.array(changes, dtype=np.int64), rising.size)


class _SumRaiser:
    """The least number of changes that raise a table's sum of y - edge to zero or above."""

    def __init__(self, rising: NDArray[np.int64], top: int) -> None:
        self.rising, self.top = rising, top
        self.sums: list[int] = [0, *np.cumsum(rising).tolist()]

    def changes(self, edge: Fraction, above: int) -> int:
        """Computed in parts of the edge's denominator, so that every number is whole; `above`
        is 1 if the sum must be positive."""
        a, b = edge.numerator, edge.denominator
        deficit = a * self.rising.size - b * self.sums[-1] + above
        if deficit <= 0:
            return 0
        added = b * self.top - a  # the gain of one more record at the top
        better = int(np.searchsorted(self.rising, math.ceil(Fraction(2 * a, b) - self.top)))
        if self._gain_of_removing(better, a, b) < deficit and added > 0:
            return better + -(-(deficit - self._gain_of_removing(better, a, b)) // added)
        low, high = 0, better
        while low < high:  # gains of single removals fall, but stay positive
            middle = (low + high) // 2
            if self._gain_of_removing(middle, a, b) >= deficit:
                high = middle
            else:
                low = middle + 1
        return low if self._gain_of_removing(low, a, b) >= deficit else self.rising.size

    def _gain_of_removing(self, count: int, a: int, b: int) -> int:
        """The gain of removing the `count` smallest records."""
        return a * count - b * self.sums[count]
