"""One noisy histogram of scores, by class and group: everything else follows from it, free.

A row of the test part is in exactly one cell (group, class, score bin), so the whole histogram
has the sensitivity of one count. Sums and shares of cells have exact intervals (see
`ratio_intervals`). The area under the ROC curve is a ratio of products of cells: its noise is
nearly Gaussian, and its variance is taken from the noisy cells, which makes it a little too
large on average. Coverage of both is tested by simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.learn.evaluation.ratio_intervals import (
    NoiseLaw,
    ScoreReading,
    difference,
    fieller,
)

Table = NDArray[np.float64]
RATES = ("accuracy", "selected", "true_positive", "false_positive", "precision", "positive")


@dataclass(frozen=True, slots=True)
class ScoreHistogram:
    """Noisy counts of (group, class, score bin): class 1 is the one whose score it is.

    `edges` are the limits of the bins, from 0 to 1. A row is taken as positive from the bin
    that contains `threshold` on.

    >>> counts = np.array([[[60.0, 20.0], [10.0, 30.0]]])
    >>> histogram = ScoreHistogram(counts, NoiseLaw(1.0), (0.0, 0.5, 1.0))
    >>> print(histogram.accuracy())
    0.750 (0.732 to 0.769)
    >>> print(histogram.auc())
    0.750 (0.729 to 0.772)
    """

    counts: NDArray[Any]  # groups x 2 x bins; kept as floats
    noise: NoiseLaw
    edges: tuple[float, ...]
    groups: tuple[Any, ...] = (None,)
    classes: tuple[Any, Any] = (0, 1)
    threshold: float = 0.5

    def __post_init__(self) -> None:
        shape = (len(self.groups), 2, len(self.edges) - 1)
        if np.shape(self.counts) != shape:
            raise InvalidParameter(
                f"`counts` must have the shape {shape}: groups, classes, bins. Found "
                f"{np.shape(self.counts)}."
            )
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.float64))
        if list(self.edges) != sorted(set(self.edges)):
            raise InvalidParameter("`edges` must increase.")

    @property
    def bins(self) -> int:
        """The number of score bins."""
        return len(self.edges) - 1

    def cut_at(self, threshold: float | None = None) -> int:
        """The number of the first bin that is taken as positive."""
        value = self.threshold if threshold is None else threshold
        return int(np.searchsorted(self.edges[1:], value, side="right"))

    def rate(
        self,
        name: str,
        *,
        group: Any = None,
        threshold: float | None = None,
        confidence: float = 0.95,
    ) -> ScoreReading:
        """One of the shares in `RATES`, of all rows or of one group's."""
        part, whole = self._parts(name, self.cut_at(threshold))
        mask = self._mask(group)
        return self.noise.ratio(part * mask, whole * mask, self.counts, confidence)

    def accuracy(
        self, threshold: float | None = None, confidence: float = 0.95
    ) -> ScoreReading:
        """The share of rows whose class is predicted rightly."""
        return self.rate("accuracy", threshold=threshold, confidence=confidence)

    def confusion(
        self, threshold: float | None = None, confidence: float = 0.95
    ) -> dict[tuple[Any, Any], ScoreReading]:
        """The number of rows by (actual class, predicted class)."""
        cut, readings = self.cut_at(threshold), {}
        for actual, predicted in ((0, 0), (0, 1), (1, 0), (1, 1)):
            cells = np.zeros_like(self.counts)
            cells[:, actual, slice(cut, None) if predicted else slice(cut)] = 1.0
            name = self.classes[actual], self.classes[predicted]
            readings[name] = self.noise.sum_reading(cells, self.counts, confidence)
        return readings

    def roc(self, confidence: float = 0.95) -> list[tuple[ScoreReading, ScoreReading]]:
        """(false positive share, true positive share) at every edge, from 0 to 1.

        Each interval holds by itself.
        """
        points = []
        for cut in range(self.bins, -1, -1):
            false, true = (
                self.noise.ratio(*self._parts(name, cut), self.counts, confidence)
                for name in ("false_positive", "true_positive")
            )
            points.append((false, true))
        return points

    def auc(self, group: Any = None, confidence: float = 0.95) -> ScoreReading:
        """The chance that a row of class 1 scores above a row of class 0; ties are half."""
        class_zero, class_one = (self.counts * self._mask(group)).sum(axis=0)
        groups = self.counts.shape[0] if group is None else 1
        order = np.tri(self.bins, k=-1) + np.eye(self.bins) / 2
        above, below = (
            order @ class_zero,
            order.T @ class_one,
        )  # of each bin of class 1, of class 0
        top, bottom = float(class_one @ above), float(class_one.sum() * class_zero.sum())
        ones, zeros = np.full(self.bins, class_zero.sum()), np.full(self.bins, class_one.sum())
        cell = groups * self.noise.deviation**2
        vary_one, vary_zero = np.full(self.bins, cell), np.full(self.bins, cell)
        if self.noise.rows_per_unit:
            vary_one = vary_one + self.noise.rows_per_unit * np.maximum(class_one, 0.0)
            vary_zero = vary_zero + self.noise.rows_per_unit * np.maximum(class_zero, 0.0)
        spread = (
            float((vary_one * above**2).sum() + (vary_zero * below**2).sum()),
            float((vary_one * above * ones).sum() + (vary_zero * below * zeros).sum()),
            float((vary_one * ones**2).sum() + (vary_zero * zeros**2).sum()),
        )
        if min(class_one.sum(), class_zero.sum()) <= 0:
            return ScoreReading(0.5, 0.0, 1.0)
        return fieller(top, bottom, spread, self.noise.multiple(confidence))

    def calibration(
        self, parts: int = 10, confidence: float = 0.95
    ) -> list[tuple[float, float, ScoreReading]]:
        """(low score, high score, share of class 1 among them), for about `parts` ranges."""
        ranges = []
        for cells in np.array_split(np.arange(self.bins), min(parts, self.bins)):
            whole = np.zeros_like(self.counts)
            whole[:, :, cells] = 1.0
            part = whole.copy()
            part[:, 0, :] = 0.0
            share = self.noise.ratio(part, whole, self.counts, confidence)
            ranges.append((self.edges[cells[0]], self.edges[cells[-1] + 1], share))
        return ranges

    def calibration_error(self, parts: int = 10, confidence: float = 0.95) -> ScoreReading:
        """The mean distance between the share of class 1 and the middle of the scores' range.

        The interval is proven, by a bound on every range at once, and rather wide.
        """
        ranges = np.array_split(np.arange(self.bins), min(parts, self.bins))
        miss = (1 - confidence) / (len(ranges) + 1)
        total = self.noise.sum_reading(np.ones_like(self.counts), self.counts, 1 - miss)
        value, low, high = 0.0, 0.0, 0.0
        for cells in ranges:
            middle = (self.edges[cells[0]] + self.edges[cells[-1] + 1]) / 2
            part = np.zeros_like(self.counts)
            part[:, 1, cells], part[:, 0, cells] = 1.0 - middle, -middle
            apart = self.noise.sum_reading(part, self.counts, 1 - miss)
            value += abs(apart.value)
            low += max(apart.low, -apart.high, 0.0)
            high += max(apart.high, -apart.low)
        least, most = max(total.low, 1.0), max(total.high, 1.0)
        value = min(value / max(total.value, 1.0), 1.0)
        return ScoreReading(value, min(low / most, value), max(min(high / least, 1.0), value))

    def lift(self, threshold: float | None = None, confidence: float = 0.95) -> ScoreReading:
        """How much more frequent class 1 is among the selected rows than among all."""
        level = 1 - (1 - confidence) / 2
        chosen = self.rate("precision", threshold=threshold, confidence=level)
        base = self.rate("positive", confidence=level)
        least, most = max(base.low, 1e-12), max(base.high, 1e-12)
        value = chosen.value / max(base.value, 1e-12)
        return ScoreReading(value, chosen.low / most, max(chosen.high / least, value))

    def gap(
        self,
        name: str,
        first: Any,
        second: Any,
        *,
        threshold: float | None = None,
        confidence: float = 0.95,
    ) -> ScoreReading:
        """How far a share of one group is above that of another."""
        return difference(
            *(
                self.rate(name, group=group, threshold=threshold, confidence=confidence)
                for group in (first, second)
            )
        )

    def largest_gap(
        self, name: str, threshold: float | None = None, confidence: float = 0.95
    ) -> tuple[Any, Any, ScoreReading]:
        """The two groups that are furthest apart in a share.

        The intervals of all pairs hold at once, so that of the largest gap does too.
        """
        pairs = list(combinations(self.groups, 2))
        if not pairs:
            raise InvalidParameter("A gap needs two or more groups. Declare a `group` column.")
        level = 1 - (1 - confidence) / len(pairs)
        gaps = [
            (
                first,
                second,
                self.gap(name, first, second, threshold=threshold, confidence=level),
            )
            for first, second in pairs
        ]
        first, second, gap = max(gaps, key=lambda candidate: abs(candidate[2].value))
        if gap.value >= 0:
            return first, second, gap
        return second, first, ScoreReading(-gap.value, -gap.high, -gap.low)

    def _mask(self, group: Any) -> Table:
        """1 in the cells of a group; all cells if it is None."""
        mask = np.ones((len(self.groups), 1, 1))
        if group is not None:
            if group not in self.groups:
                known = ", ".join(map(repr, self.groups))
                raise InvalidParameter(f"Unknown group {group!r}. There are: {known}.")
            mask[:] = 0.0
            mask[self.groups.index(group)] = 1.0
        return mask

    def _parts(self, name: str, cut: int) -> tuple[Table, Table]:
        """The cells whose sum is divided, and those that it is divided by."""
        shape = self.counts.shape
        chosen, positive = np.zeros(shape), np.zeros(shape)
        chosen[:, :, cut:], positive[:, 1, :] = 1.0, 1.0
        parts = {
            "accuracy": (chosen * positive + (1 - chosen) * (1 - positive), np.ones(shape)),
            "selected": (chosen, np.ones(shape)),
            "true_positive": (chosen * positive, positive),
            "false_positive": (chosen * (1 - positive), 1 - positive),
            "precision": (chosen * positive, chosen),
            "positive": (positive, np.ones(shape)),
        }
        if name not in parts:
            raise InvalidParameter(f"Unknown share {name!r}. There are: {', '.join(RATES)}.")
        return parts[name]


def auc_deviation(bins: int, deviation: float, positives: float, negatives: float) -> float:
    """About how far noise moves the area under the curve, before anything is measured.

    >>> round(auc_deviation(100, 4.2, 2_000, 8_000), 4)
    0.0216
    """
    return sqrt(bins) * deviation * sqrt(1 / positives**2 + 1 / negatives**2)


def equal_edges(bins: int) -> tuple[float, ...]:
    """Limits of equally wide score bins.

    >>> equal_edges(4)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    return tuple(float(edge) for edge in np.linspace(0.0, 1.0, bins + 1))


def read_counts(cells: Sequence[float], groups: int, bins: int) -> Table:
    """The flat cells of a release, in the order group, class, bin."""
    return np.asarray(cells, dtype=np.float64).reshape(groups, 2, bins)
