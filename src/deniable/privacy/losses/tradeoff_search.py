"""The best lower bound on a trade-off that a delta curve gives.

For each epsilon, 1 - delta - e**epsilon alpha and e**-epsilon (1 - delta - alpha) are lower
bounds (Dong, Roth & Su 2019). Every epsilon is valid, so the search need not be exact. A search
is skipped if a few evaluations show that it cannot exceed a bound that is already known. This
uses that delta falls and e**epsilon grows, so the ends of an interval bound what lies between.
"""

import heapq
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.intervals import Interval, precision

_GOLDEN = (math.sqrt(5) - 1) / 2
_EVALUATIONS = 12  # at most, to show that a search can be skipped
_MARGIN = 1e-6  # far above the error of a computed delta


class TradeoffSearch:
    """The two bounds, as functions of epsilon, for one false-alarm rate 0 < alpha < 1.

    >>> randomized_response = lambda x: Decimal(max(3 - math.exp(x), 0)) / 4
    >>> search = TradeoffSearch(randomized_response, Fraction(1, 20))
    >>> f"{search.greatest(starts=(0.0,), far=2.0, known=Decimal(0)):.6f}"
    '0.850000'
    """

    def __init__(self, delta: Callable[[float], Decimal], alpha: Fraction) -> None:
        self._curve, self._alpha = delta, alpha
        self._log_alpha = math.log(alpha.numerator) - math.log(alpha.denominator)
        self._deltas: dict[float, Decimal] = {}

    def greatest(self, *, starts: tuple[float, ...], far: float, known: Decimal) -> Decimal:
        """The greatest bound found, or `known` if that is greater.

        The first bound is searched from each start to -ln alpha, the second one to `far`.
        """
        searches = [
            (self._steep, self._most_steep, -self._log_alpha),
            (self._flat, self._most_flat, far),
        ]
        if 2 * self._alpha > 1 - Fraction(self._delta(0.0)):
            searches.reverse()  # then the second bound is probably the greater one
        best = known
        for start in starts:
            for line, most, end in searches:
                stop = max(start, end)
                if not _stays_below(most, float(best) - _MARGIN, start, stop):
                    best = max(best, _search_maximum(line, start, stop))
        return best

    def _delta(self, epsilon: float) -> Decimal:
        if epsilon not in self._deltas:
            self._deltas[epsilon] = self._curve(epsilon)
        return self._deltas[epsilon]

    def _steep(self, epsilon: float) -> Decimal:
        excess, odds = self._enclose(epsilon)
        return (1 - excess - odds * self._alpha).lo

    def _flat(self, epsilon: float) -> Decimal:
        excess, odds = self._enclose(epsilon)
        return ((1 - excess - self._alpha) / odds).lo

    def _enclose(self, epsilon: float) -> tuple[Interval, Interval]:
        p = precision(60)
        return p(self._delta(epsilon)), p(Decimal(epsilon)).exp()

    def _most_steep(self, low: float, high: float) -> float:
        return 1 - float(self._delta(high)) - floats.exp(low + self._log_alpha)

    def _most_flat(self, low: float, high: float) -> float:
        return max(1 - float(self._delta(high)) - float(self._alpha), 0.0) * math.exp(-low)


def _stays_below(
    most: Callable[[float, float], float], limit: float, low: float, high: float
) -> bool:
    """Whether a function with the upper bound `most(low, high)` certainly stays below `limit`.

    Divides the interval with the greatest bound, until all are below or it takes too long.
    """
    if limit <= 0 or not math.isfinite(high):
        return False
    intervals = [(-most(low, high), low, high)]
    for _ in range(_EVALUATIONS):
        bound, left, right = intervals[0]
        if -bound < limit:
            return True
        middle = (left + right) / 2
        heapq.heapreplace(intervals, (-most(left, middle), left, middle))
        heapq.heappush(intervals, (-most(middle, right), middle, right))
    return -intervals[0][0] < limit


def _search_maximum(function: Callable[[float], Decimal], near: float, far: float) -> Decimal:
    """The greatest value seen in a golden-section search on [near, far]."""
    lo, hi = near, far
    left, right = hi - _GOLDEN * (hi - lo), lo + _GOLDEN * (hi - lo)
    at_left, at_right = function(left), function(right)
    best = max(function(lo), at_left, at_right)
    for _ in range(36):
        if at_left >= at_right:
            hi, right, at_right = right, left, at_left
            left = hi - _GOLDEN * (hi - lo)
            at_left = function(left)
        else:
            lo, left, at_left = left, right, at_right
            right = lo + _GOLDEN * (hi - lo)
            at_right = function(right)
        best = max(best, at_left, at_right)
    return best
