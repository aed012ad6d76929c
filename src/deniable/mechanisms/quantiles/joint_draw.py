"""One exact draw of many quantiles together, from the exponential law over all of them.

Candidates are the non-decreasing m-tuples o of places. With n_j the records between o_{j-1}
and o_j and targets tau_j, P(o) is proportional to exp(-unit * D(o)), D(o) = sum |n_j - tau_j|.

Proposal. Let y_j(i) be the weight of all ways to place o_1, ..., o_j such that o_j is the
first in the i-th interval, without the choice of its place there. A block of k quantiles in
one interval of length L has C(L + k - 1, k) ways, and pays c**tau for each inner gap, which is
empty. So y_{j+1} is a product of a row with a two-sided exponential (`logsums`), and a tuple
is drawn backwards, block by block, as in Gillenwater, Joseph & Kulesza 2021. Floats compute
upper bounds Y_j >= y_j only: each row is raised by more than its error can be. A block is
drawn with integer weights H_b above (bound * ways * decay); S_b is their sum.

Decision. The tuple is kept with probability

    exp(-unit D(o)) * prod_b(S_b * ways_b / H_b) * 2**scale / S_top,

a known rational times one exponential, tossed as an exact coin; else all begins again. This
is at most 1: H_b >= Y * ways * decay in its own scale, and S_b <= Y_{j+1}(i) for the block
after it, as Y_{j+1} was raised above any such sum; so the product telescopes. What is kept
has probability proportional to exp(-unit D(o)): floats set only how often it begins again,
about once in 2**25.

Windows. D(o) >= |e| + |s - e| for e = rank(o_j) - (tau_1 + ... + tau_j) and s = n - sum(tau).
So tuples with D(o) below a bound have each rank in a known window, and only windows are
computed. All other tuples share one more candidate: a uniform tuple, kept with probability
exp(-unit D(o)) / 2**-cut if it does leave a window. Its weight is at most about 2**-60.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from deniable.exact import bernoulli, uniform_below
from deniable.exact.bits import BitSource
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.threshold import below
from deniable.mechanisms.histogram import Integers
from deniable.mechanisms.quantiles.log_sums import (
    Row,
    operations,
    passed_on,
    peak,
    slop,
)
from deniable.mechanisms.quantiles.order_statistics import Slice

_LN_TWO = 0.6931471805599453
_LN_TWO_UP = Fraction(6932, 10000)
_SPARE_BITS = 64
_MOST_OUTSIDE = Fraction(1, 1 << 20)
WEIGHT_BITS = 60


@dataclass(frozen=True, slots=True)
class TransitionBlock:
    """So many quantiles in one interval, and its share of the proposal."""

    interval: int
    count: int
    share: Fraction  # S_b * ways_b / H_b, the inverse of its probability, place by place


@dataclass(frozen=True, slots=True)
class Step:
    """All blocks that may end with a given quantile, with integer weights."""

    intervals: Integers
    counts: Integers
    weights: Integers
    scale: int  # a weight of w has log2(w) about log2(weights) - scale

    @property
    def total(self) -> int:
        return int(self.weights.sum())


class JointDraw:
    """The law of one joint draw, prepared.

    `grain` raises each row to multiples of it. It is for proofs: the coarser the rows, the
    more often the exact coin decides; the law stays.
    """

    def __init__(
        self, data: Slice, targets: list[Fraction], unit: Fraction, *, grain: float = 0.0
    ) -> None:
        self.data, self.targets, self.unit = data, targets, unit
        self.count = len(targets) - 1
        self._grain, self._decay = grain, float(unit)
        self._split = [_whole_and_rest(tau) for tau in targets]
        self._sums = list(accumulate(targets))
        self._ways = math.comb(data.size + self.count - 1, self.count)
        reach = (self._ways.bit_length() + _SPARE_BITS) * _LN_TWO_UP / unit + 2
        self._prepare(reach)
        while self._outside > self._inside * _MOST_OUTSIDE:
            reach *= 2  # as there is no place near a target
            self._prepare(reach)

    def _prepare(self, reach: Fraction) -> None:
        """Windows that hold every tuple whose D is within `reach` of the least conceivable."""
        rows = self.data.rows
        surplus = rows - self._sums[-1]
        reach += abs(surplus)
        self._cut = math.floor(self.unit * reach / _LN_TWO_UP)  # exp(-unit reach) <= 2**-cut
        self._windows = [
            (
                max(0, math.floor(at + (surplus - reach) / 2)),
                min(rows, math.ceil(at + (surplus + reach) / 2)),
            )
            for at in self._sums[:-1]
        ]
        whole = all(window == (0, rows) for window in self._windows)
        self._outside = Fraction(0) if whole else Fraction(self._ways, 1 << self._cut)
        self._edges = [self.data.edges(*window) for window in self._windows]
        self._rows: list[Row] = []
        self._peaks: list[float] = []  # bounds of all logarithms met up to each row
        self._fill()
        self._top = self.step(self.count, rows)
        self._inside = Fraction(self._top.total) / Fraction(2) ** self._top.scale

    def draw(self, source: BitSource) -> tuple[list[int], list[int]]:
        """Places in ascending order, and their ranks."""
        chance = self._inside / (self._inside + self._outside)
        while True:
            if bernoulli(chance, 1, source=source)[0]:
                blocks = self._propose(source)
                if self._coin(self.acceptance(blocks), self.distance(blocks), source):
                    return self._placed(blocks, source)
            elif found := self._stray(source):
                return found

    def step(self, last: int, before: int) -> Step:
        """The blocks that may end with quantile number `last` (from 1), when the one after it
        has rank `before`; for the last of all, `before` is the number of records."""
        rows, intervals, counts = [], [], []
        free = last == self.count
        for count, start, row in self._blocks(last):
            size = row.size if free else min(row.size, before - start)
            if size > 0:
                at = np.arange(start, start + size)
                rows.append(row[:size] - self._decay * self._misses(before - at, last))
                intervals.append(at)
                counts.append(np.full(size, count))
        logs = np.concatenate(rows)
        top = float(logs.max())
        base = math.floor(top / _LN_TWO) if math.isfinite(top) else 0
        raised = 1 + (8 + 2 * last) * slop(self._peaks[last])
        sizes = np.exp(logs - base * _LN_TWO) * raised
        spare = WEIGHT_BITS - int(np.frexp(sizes.sum())[1])
        weights = np.ldexp(sizes, spare).astype(np.int64) + 1
        weights[np.isneginf(logs)] = 0  # no place at all: not a matter of rounding
        return Step(np.concatenate(intervals), np.concatenate(counts), weights, spare - base)

    def acceptance(self, blocks: list[TransitionBlock]) -> Fraction:
        """What a proposed tuple's exp(-unit D) is multiplied with, to keep it or not."""
        share = Fraction(2) ** self._top.scale / self._top.total
        return share * math.prod(block.share for block in blocks)

    def distance(self, blocks: list[TransitionBlock]) -> Fraction:
        """D of a tuple, from its blocks in descending order."""
        ranks = [block.interval for block in reversed(blocks) for _ in range(block.count)]
        return self._distance(ranks)

    def block(self, step: Step, index: int, last: int) -> TransitionBlock:
        """One of a step's blocks."""
        interval, count = int(step.intervals[index]), int(step.counts[index])
        _, length = self._interval(interval, last)
        ways = math.comb(length + count - 1, count)
        return TransitionBlock(
            interval, count, Fraction(step.total * ways, int(step.weights[index]))
        )

    def _distance(self, ranks: list[int]) -> Fraction:
        ends = [0, *ranks, self.data.rows]
        gaps = (b - a for a, b in pairwise(ends))
        return sum((abs(g - t) for g, t in zip(gaps, self.targets, strict=True)), Fraction(0))

    def _fill(self) -> None:
        """The rows of upper bounds, one for each quantile, and the sizes met on the way."""
        first, last = self._windows[0]
        row = -self._decay * self._misses(np.arange(first, last + 1), 0)
        self._peaks.append(peak(row))
        self._rows.append(self._raised(row, 8, 0.0))
        for j in range(1, self.count + 1):
            start, end = self._windows[j - 1]
            ending = np.full(end - start + 1, -np.inf)
            for _, at, some in self._blocks(j):
                part = ending[at - start : at - start + some.size]
                np.logaddexp(part, some, out=part)
            follows = self._windows[j] if j < self.count else (self.data.rows, self.data.rows)
            self._peaks.append(max(self._peaks[-1], self._largest(j, follows)))
            if j < self.count:
                row = passed_on(ending, start, self._split[j], self._decay, follows)
                # Also above what 1 added to every weight of a step can amount to.
                ones = ending.size * j * 2.0 ** (4 - WEIGHT_BITS)
                stacked = operations(ending.size + row.size) + 4 * j
                self._rows.append(self._raised(row, stacked, ones))

    def _largest(self, j: int, follows: tuple[int, int]) -> float:
        """No logarithm is larger, on the way from quantile j's blocks to the next row."""
        start, end = self._windows[j - 1]
        gaps = follows[0] - end - self.targets[j], follows[1] - start - self.targets[j]
        width = end - start + follows[1] - follows[0] + 2
        far = self.unit * (max(abs(gap) for gap in gaps) + width)
        sizes = [peak(row) for row in self._rows]
        ways = j * math.log(self.data.size + j)
        inner = max(
            self._sums[j - 1] - self._sums[j - count] for count, _, _ in self._blocks(j)
        )
        return max(sizes) + ways + float(self.unit * inner + far)

    def _raised(self, row: Row, steps: int, more: float) -> Row:
        """Above the true row, and above any sum of a step's weights that leads to it."""
        up = row + ((steps + 32) * slop(self._peaks[-1]) + more)
        return np.ceil(up / self._grain) * self._grain if self._grain else up

    def _blocks(self, last: int) -> Iterator[tuple[int, int, Row]]:
        """For each size of a block that ends with quantile `last`: the first interval, and log
        of (Y at its first quantile * ways * inner gaps)."""
        start, end = self._windows[last - 1]
        lengths = np.diff(self._edges[last - 1]).astype(np.float64)
        with np.errstate(divide="ignore"):
            ways = np.log(lengths)
        for count in range(1, last + 1):
            first = last - count  # counted from 0
            low, high = max(start, self._windows[first][0]), min(end, self._windows[first][1])
            if count > 1:
                with np.errstate(divide="ignore"):
                    ways = ways + np.log((lengths + (count - 1)) / count)
            if low > high:
                return
            inner = float(self.unit * (self._sums[last - 1] - self._sums[first]))
            row = self._rows[first][low - self._windows[first][0] :][: high - low + 1]
            yield count, low, row + ways[low - start : high - start + 1] - inner

    def _misses(self, gaps: Integers, j: int) -> Row:
        """|gap - tau_j|, with no more than a rounding."""
        whole, rest = self._split[j]
        over = (gaps - whole).astype(np.float64)
        return np.abs(over - rest)

    def _interval(self, interval: int, last: int) -> tuple[int, int]:
        """The place before an interval in quantile `last`'s window, and its length."""
        at = interval - self._windows[last - 1][0]
        before, end = self._edges[last - 1][at : at + 2].tolist()
        return before, end - before

    def _propose(self, source: BitSource) -> list[TransitionBlock]:
        """Blocks, the last quantile first."""
        blocks: list[TransitionBlock] = []
        last, step = self.count, self._top
        while True:
            sums = np.cumsum(step.weights)
            ticket = int(uniform_below(int(sums[-1]), 1, source=source)[0])
            index = int(np.searchsorted(sums, ticket, side="right"))
            blocks.append(self.block(step, index, last))
            last -= blocks[-1].count
            if not last:
                return blocks
            step = self.step(last, blocks[-1].interval)

    def _coin(self, share: Fraction, distance: Fraction, source: BitSource) -> bool:
        """Heads with probability share * exp(-unit * distance)."""
        x = self.unit * distance
        extra = max(0, share.numerator.bit_length() - share.denominator.bit_length()) + 8

        def enclose(bits: int) -> Enclosure:
            lo, hi = exp_neg(x, bits + extra)
            one = share.denominator << extra
            if lo * share.numerator > one << bits:
                raise ArithmeticError("A proposal's bound does not hold: please report this.")
            return lo * share.numerator // one, min(-(-hi * share.numerator // one), 1 << bits)

        return bool(below(enclose, 1, source)[0])

    def _placed(
        self, blocks: list[TransitionBlock], source: BitSource
    ) -> tuple[list[int], list[int]]:
        places: list[int] = []
        ranks: list[int] = []
        last = self.count
        for block in blocks:
            before, length = self._interval(block.interval, last)
            chosen = _multiset(length, block.count, source)
            places = [before + 1 + one for one in chosen] + places
            ranks = [block.interval] * block.count + ranks
            last -= block.count
        return places, ranks

    def _stray(self, source: BitSource) -> tuple[list[int], list[int]] | None:
        """A tuple outside of the windows, or nothing."""
        chosen = _multiset(self.data.size, self.count, source)
        places = [self.data.lowest + one for one in chosen]
        ranks = [self.data.rank(place) for place in places]
        if all(a <= r <= b for r, (a, b) in zip(ranks, self._windows, strict=True)):
            return None
        share = Fraction(2) ** self._cut
        return (places, ranks) if self._coin(share, self._distance(ranks), source) else None


def _whole_and_rest(tau: Fraction) -> tuple[int, float]:
    whole = math.floor(tau)
    return whole, float(tau - whole)


def _multiset(size: int, count: int, source: BitSource) -> list[int]:
    """A uniform non-decreasing sequence of `count` numbers below `size`: Floyd's subset of
    size + count - 1 numbers, moved together."""
    chosen: set[int] = set()
    for top in range(size - 1, size + count - 1):
        one = int(uniform_below(top + 1, 1, source=source)[0])
        chosen.add(top if one in chosen else one)
    return [one - i for i, one in enumerate(sorted(chosen))]
