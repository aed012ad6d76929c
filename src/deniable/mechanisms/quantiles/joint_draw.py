"""One exact draw of many quantiles together, with exponential weights for all tuples.

Candidates are the non-decreasing m-tuples o of places. Let n_j be the number of records between
o_{j-1} and o_j, and tau_j the targets. P(o) is proportional to exp(-unit * D(o)), where
D(o) = sum |n_j - tau_j|.

Proposal. Let y_j(i) be the weight of all ways to place o_1, ..., o_j such that o_j is the first
quantile in the i-th interval, without the choice of its place there. A block of k quantiles in
one interval of length L has C(L + k - 1, k) ways, and a factor c**tau for each inner gap, which
is empty. So y_{j+1} is the product of a row with a two-sided exponential (`log_sums`), and a
tuple is drawn backwards, block by block, as in Gillenwater, Joseph & Kulesza 2021. Floats
compute only upper bounds Y_j >= y_j: each row is raised by more than its error can be. A block
is drawn with integer weights H_b above (bound * ways * decay); S_b is their sum.

Decision. The tuple is accepted with probability

    exp(-unit D(o)) * prod_b(S_b * ways_b / H_b) * 2**scale / S_top,

a known rational times one exponential, tossed as an exact coin. Otherwise the draw starts
again. The probability is at most 1: H_b >= Y * ways * decay in its own scale, and
S_b <= Y_{j+1}(i) for the block after it, because Y_{j+1} was raised above any such sum; so the
product telescopes. An accepted tuple has probability proportional to exp(-unit D(o)). Floats
decide only how often the draw starts again: about once in 2**25.

Windows. D(o) >= |e| + |s - e| for e = rank(o_j) - (tau_1 + ... + tau_j) and s = n - sum(tau).
So in all tuples with D(o) below a bound each rank lies in a known window, and only windows are
computed. All other tuples share one more candidate: a uniform tuple, accepted with probability
exp(-unit D(o)) / 2**-cut if it leaves a window. Its weight is at most about 2**-60.
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
from deniable.exact.uniform_comparison import uniform_is_below
from deniable.mechanisms.histogram import Integers
from deniable.mechanisms.quantiles.log_sums import (
    Row,
    operation_count,
    peak,
    rounding_error,
    sum_over_gaps,
)
from deniable.mechanisms.quantiles.order_statistics import RecordSlice

_LN_TWO = 0.6931471805599453
_LN_TWO_UP = Fraction(6932, 10000)
_SPARE_BITS = 64
_MOST_OUTSIDE = Fraction(1, 1 << 20)
WEIGHT_BITS = 60


@dataclass(frozen=True, slots=True)
class QuantileBlock:
    """`count` quantiles in one interval, and its share of the proposal."""

    interval: int
    count: int
    share: Fraction  # S_b * ways_b / H_b, the inverse of the probability of each placement


@dataclass(frozen=True, slots=True)
class BlockChoices:
    """All blocks that may end with one quantile, with integer weights."""

    intervals: Integers
    counts: Integers
    weights: Integers
    scale: int  # a weight of w has log2(w) about log2(weights) - scale

    @property
    def total(self) -> int:
        return int(self.weights.sum())


class JointDraw:
    """The distribution of one joint draw, prepared.

    `grain` rounds each row up to a multiple of it. It is for proofs: the coarser the rows, the
    more often the exact coin decides; the distribution stays the same.
    """

    def __init__(
        self, data: RecordSlice, targets: list[Fraction], unit: Fraction, *, grain: float = 0.0
    ) -> None:
        self.data, self.targets, self.unit = data, targets, unit
        self.count = len(targets) - 1
        self._grain, self._decay = grain, float(unit)
        self._split = [_split_target(tau) for tau in targets]
        self._sums = list(accumulate(targets))
        self._ways = math.comb(data.size + self.count - 1, self.count)
        reach = (self._ways.bit_length() + _SPARE_BITS) * _LN_TWO_UP / unit + 2
        self._prepare(reach)
        while self._outside > self._inside * _MOST_OUTSIDE:
            reach *= 2  # there is no place near a target
            self._prepare(reach)

    def _prepare(self, reach: Fraction) -> None:
        """Windows that hold every tuple whose D is within `reach` of the least possible D."""
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
        self._peaks: list[float] = []  # bounds on all logarithms up to each row
        self._fill_rows()
        self._top = self.choices(self.count, rows)
        self._inside = Fraction(self._top.total) / Fraction(2) ** self._top.scale

    def draw(self, source: BitSource) -> tuple[list[int], list[int]]:
        """Places in ascending order, and their ranks."""
        chance = self._inside / (self._inside + self._outside)
        while True:
            if bernoulli(chance, 1, source=source)[0]:
                blocks = self._propose(source)
                if self._toss(self.acceptance(blocks), self.distance(blocks), source):
                    return self._draw_places(blocks, source)
            elif outside := self._draw_outside(source):
                return outside

    def choices(self, last: int, before: int) -> BlockChoices:
        """The blocks that may end with quantile number `last` (from 1) if the next quantile
        has rank `before`. For the last quantile, `before` is the number of records."""
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
        raised = 1 + (8 + 2 * last) * rounding_error(self._peaks[last])
        sizes = np.exp(logs - base * _LN_TWO) * raised
        spare = WEIGHT_BITS - int(np.frexp(sizes.sum())[1])
        weights = np.ldexp(sizes, spare).astype(np.int64) + 1
        weights[np.isneginf(logs)] = 0  # exactly zero: there is no place
        return BlockChoices(
            np.concatenate(intervals), np.concatenate(counts), weights, spare - base
        )

    def acceptance(self, blocks: list[QuantileBlock]) -> Fraction:
        """The factor of exp(-unit D) in the probability of accepting a proposed tuple."""
        share = Fraction(2) ** self._top.scale / self._top.total
        return share * math.prod(block.share for block in blocks)

    def distance(self, blocks: list[QuantileBlock]) -> Fraction:
        """D of a tuple, from its blocks in descending order."""
        ranks = [block.interval for block in reversed(blocks) for _ in range(block.count)]
        return self._distance(ranks)

    def block(self, choices: BlockChoices, index: int, last: int) -> QuantileBlock:
        """One of the blocks to choose from."""
        interval, count = int(choices.intervals[index]), int(choices.counts[index])
        _, length = self._interval(interval, last)
        ways = math.comb(length + count - 1, count)
        return QuantileBlock(
            interval, count, Fraction(choices.total * ways, int(choices.weights[index]))
        )

    def _distance(self, ranks: list[int]) -> Fraction:
        ends = [0, *ranks, self.data.rows]
        gaps = (b - a for a, b in pairwise(ends))
        return sum((abs(g - t) for g, t in zip(gaps, self.targets, strict=True)), Fraction(0))

    def _fill_rows(self) -> None:
        """Fills the rows of upper bounds, one for each quantile, and the peaks."""
        first, last = self._windows[0]
        row = -self._decay * self._misses(np.arange(first, last + 1), 0)
        self._peaks.append(peak(row))
        self._rows.append(self._raise(row, 8, 0.0))
        for j in range(1, self.count + 1):
            start, end = self._windows[j - 1]
            ending = np.full(end - start + 1, -np.inf)
            for _, at, weights in self._blocks(j):
                part = ending[at - start : at - start + weights.size]
                np.logaddexp(part, weights, out=part)
            follows = self._windows[j] if j < self.count else (self.data.rows, self.data.rows)
            self._peaks.append(max(self._peaks[-1], self._largest_log(j, follows)))
            if j < self.count:
                row = sum_over_gaps(ending, start, self._split[j], self._decay, follows)
                # Also covers the 1 that is added to every integer weight.
                ones = ending.size * j * 2.0 ** (4 - WEIGHT_BITS)
                stacked = operation_count(ending.size + row.size) + 4 * j
                self._rows.append(self._raise(row, stacked, ones))

    def _largest_log(self, j: int, follows: tuple[int, int]) -> float:
        """An upper bound on all logarithms from quantile j's blocks to the next row."""
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

    def _raise(self, row: Row, steps: int, more: float) -> Row:
        """A row above the true row, and above any sum of weights that leads to it."""
        up = row + ((steps + 32) * rounding_error(self._peaks[-1]) + more)
        return np.ceil(up / self._grain) * self._grain if self._grain else up

    def _blocks(self, last: int) -> Iterator[tuple[int, int, Row]]:
        """For each size of a block that ends with quantile `last`: the size, the first interval
        and the log of (Y at its first quantile * ways * inner gaps)."""
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
        """|gap - tau_j|, with one rounding."""
        whole, rest = self._split[j]
        over = (gaps - whole).astype(np.float64)
        return np.abs(over - rest)

    def _interval(self, interval: int, last: int) -> tuple[int, int]:
        """The place before an interval in the window of quantile `last`, and its length."""
        at = interval - self._windows[last - 1][0]
        before, end = self._edges[last - 1][at : at + 2].tolist()
        return before, end - before

    def _propose(self, source: BitSource) -> list[QuantileBlock]:
        """Draws blocks, the last quantile first."""
        blocks: list[QuantileBlock] = []
        last, choices = self.count, self._top
        while True:
            sums = np.cumsum(choices.weights)
            ticket = int(uniform_below(int(sums[-1]), 1, source=source)[0])
            index = int(np.searchsorted(sums, ticket, side="right"))
            blocks.append(self.block(choices, index, last))
            last -= blocks[-1].count
            if not last:
                return blocks
            choices = self.choices(last, blocks[-1].interval)

    def _toss(self, share: Fraction, distance: Fraction, source: BitSource) -> bool:
        """Heads with probability share * exp(-unit * distance)."""
        x = self.unit * distance
        extra = max(0, share.numerator.bit_length() - share.denominator.bit_length()) + 8

        def enclose(bits: int) -> Enclosure:
            lo, hi = exp_neg(x, bits + extra)
            divisor = share.denominator << extra
            if lo * share.numerator > divisor << bits:
                raise ArithmeticError(
                    "The bound of a proposal does not hold. Please report it."
                )
            return lo * share.numerator // divisor, min(
                -(-hi * share.numerator // divisor), 1 << bits
            )

        return bool(uniform_is_below(enclose, 1, source)[0])

    def _draw_places(
        self, blocks: list[QuantileBlock], source: BitSource
    ) -> tuple[list[int], list[int]]:
        places: list[int] = []
        ranks: list[int] = []
        last = self.count
        for block in blocks:
            before, length = self._interval(block.interval, last)
            chosen = _draw_multiset(length, block.count, source)
            places = [before + 1 + place for place in chosen] + places
            ranks = [block.interval] * block.count + ranks
            last -= block.count
        return places, ranks

    def _draw_outside(self, source: BitSource) -> tuple[list[int], list[int]] | None:
        """Draws a tuple outside the windows, or returns None."""
        chosen = _draw_multiset(self.data.size, self.count, source)
        places = [self.data.lowest + offset for offset in chosen]
        ranks = [self.data.rank(place) for place in places]
        if all(a <= r <= b for r, (a, b) in zip(ranks, self._windows, strict=True)):
            return None
        share = Fraction(2) ** self._cut
        return (places, ranks) if self._toss(share, self._distance(ranks), source) else None


def _split_target(tau: Fraction) -> tuple[int, float]:
    whole = math.floor(tau)
    return whole, float(tau - whole)


def _draw_multiset(size: int, count: int, source: BitSource) -> list[int]:
    """A uniform non-decreasing sequence of `count` numbers below `size`, from a uniform subset
    of size + count - 1 numbers (Floyd's method)."""
    chosen: set[int] = set()
    for top in range(size - 1, size + count - 1):
        number = int(uniform_below(top + 1, 1, source=source)[0])
        chosen.add(top if number in chosen else number)
    return [number - i for i, number in enumerate(sorted(chosen))]
