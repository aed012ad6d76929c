"""The search for an event that is likelier under one input than the claim allows.

Each feature is cut into cells, and cells are taken in the order of their likelihood ratio, as
Neyman and Pearson would; thresholds are tried as well, because they read better and overfit
less. Pairs of features make a board of cells, exact outputs a list of them, and a logistic
score one more feature. Half of the sample proposes, the other half ranks what was proposed.
Nothing here has to be right: the judge draws anew.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.audit.test.events import (
    Bins,
    CellEvent,
    Cut,
    Event,
    Exactly,
    Fields,
)
from deniable.audit.test.features import OutputFeature, features
from deniable.audit.test.logistic_score import logistic
from deniable.audit.test.outputs import Batch, Floats

Counts: TypeAlias = NDArray[np.int64]
Line: TypeAlias = tuple[float, float]  # (epsilon, delta) that the claim allows

_CELLS = 64
_DISTINCT = 256
_BOARD = 12
_PAIRED = 6
_KEYS = 4096
_PROPOSED = 60


@dataclass(frozen=True)
class Candidate:
    """An event, and how well it did: as a bound on epsilon, as evidence against the claim."""

    event: Event
    epsilon: float
    evidence: float


@dataclass(frozen=True)
class OutputQuestion:
    """An event or its opposite, asked of the inputs in this order or turned round."""

    event: Event
    negated: bool
    turned: bool
    value: float  # how well it did, by the measure that it is asked for
    rate: float  # about how likely the event is, under the likelier input

    @property
    def text(self) -> str:
        return f"not {self.event.text}" if self.negated else self.event.text


@dataclass(frozen=True)
class Questions:
    """What to ask for the best bound on epsilon, and for the best evidence; best first."""

    epsilon: list[OutputQuestion]
    evidence: list[OutputQuestion]


def questions(x: Batch, y: Batch, lines: Sequence[Line]) -> Questions:
    """The events of two samples that tell most, by either measure."""
    half_x, half_y = len(x) // 2, len(y) // 2
    fit = Sample(x.rows(slice(None, half_x)), y.rows(slice(None, half_y)), tuple(lines))
    rank = Sample(x.rows(slice(half_x, None)), y.rows(slice(half_y, None)), tuple(lines))
    found = sorted(_proposals(fit), key=lambda one: -one.evidence)
    by_epsilon = sorted(found, key=lambda one: -one.epsilon)
    kept = {id(one.event): one.event for one in [*found[:_PROPOSED], *by_epsilon[:_PROPOSED]]}
    asked = [rank.asked(event) for event in kept.values()]
    return Questions(
        sorted((one for one, _ in asked), key=lambda one: -one.value),
        sorted((one for _, one in asked), key=lambda one: -one.value),
    )


@dataclass(frozen=True)
class Sample:
    """Outputs under two inputs, and the lines that the claim draws."""

    x: Batch
    y: Batch
    lines: tuple[Line, ...]

    def asked(self, event: Event) -> tuple[OutputQuestion, OutputQuestion]:
        """The best way to ask it, for epsilon and for evidence."""
        a = np.array([np.count_nonzero(event.hits(self.x))])
        b = np.array([np.count_nonzero(event.hits(self.y))])
        by_epsilon, by_evidence = [], []
        for negated in (False, True):
            m, n = (len(self.x) - a, len(self.y) - b) if negated else (a, b)
            rates = m[0] / len(self.x), n[0] / len(self.y)
            for way in (0, 1):
                form = (event, negated, bool(way))
                told = float(self.epsilon(m, n, 3.0, way)[0])
                by_epsilon.append(OutputQuestion(*form, told, rates[way]))
                told = float(self.evidence(m, n, way)[0])
                by_evidence.append(OutputQuestion(*form, told, rates[way]))
        return tuple(
            max(found, key=lambda one: one.value) for found in (by_epsilon, by_evidence)
        )  # type: ignore[return-value]

    def epsilon(self, a: Counts, b: Counts, z: float, way: int) -> Floats:
        """About the lower bound on epsilon that such counts would give."""
        (a, n), (b, m) = self._turned(a, b, way)
        with np.errstate(divide="ignore"):
            found = np.log(a / n) - np.log((b + 1) / m)
        return np.asarray(found - z * np.sqrt(1 / np.maximum(a, 1) + 1 / (b + 1)))

    def evidence(self, a: Counts, b: Counts, way: int) -> Floats:
        """By how many standard errors the best line of the claim is exceeded."""
        (a, n), (b, m) = self._turned(a, b, way)
        p, q = a / n, b / m
        best = np.full(len(p), -np.inf)
        for epsilon, delta in self.lines:
            odds = math.exp(min(epsilon, 50.0))
            spread = p * (1 - p) / n + odds**2 * q * (1 - q) / m + 1 / n**2 + (odds / m) ** 2
            best = np.maximum(best, (p - odds * q - delta) / np.sqrt(spread))
        return best

    def _turned(
        self, a: Counts, b: Counts, way: int
    ) -> tuple[tuple[Counts, int], tuple[Counts, int]]:
        first, second = (a, len(self.x)), (b, len(self.y))
        return (second, first) if way else (first, second)


def _proposals(fit: Sample) -> list[Candidate]:
    listed = features(fit.x, fit.y)
    score = logistic(fit.x, fit.y, tuple(listed))
    if score is not None:
        listed.append(score)
    found: list[Candidate] = []
    telling: list[tuple[float, OutputFeature]] = []
    for feature in listed:
        proposed = _of_feature(fit, feature)
        found += proposed
        telling.append((max((one.evidence for one in proposed), default=-1e9), feature))
    best = [feature for _, feature in sorted(telling, key=lambda one: -one[0])[:_PAIRED]]
    plain = [one for one in best if one.text != "score"]
    for i, first in enumerate(plain):
        for second in plain[i + 1 :]:
            found += _of_pair(fit, first, second)
    return found + _of_keys(fit)


def _of_feature(fit: Sample, feature: OutputFeature) -> list[Candidate]:
    read_x, read_y = feature(fit.x), feature(fit.y)
    bins = Bins(_edges(read_x, read_y, _CELLS))
    a = np.bincount(bins.place(read_x), minlength=bins.cells)
    b = np.bincount(bins.place(read_y), minlength=bins.cells)
    found: list[Candidate] = []
    for cell, numbers in _ordered(fit, a, b):
        chosen = np.zeros(bins.cells, dtype=bool)
        chosen[cell] = True
        found.append(Candidate(CellEvent(feature, bins, chosen), *numbers))
    below_a, below_b = np.cumsum(a)[:-2], np.cumsum(b)[:-2]
    above_a, above_b = a[:-1].sum() - below_a, b[:-1].sum() - below_b
    for above, m, n in ((False, below_a, below_b), (True, above_a, above_b)):
        for place, numbers in _best(fit, m, n):
            event = Cut(feature, float(bins.edges[place]), above)
            found.append(Candidate(event, *numbers))
    return found


def _edges(x: Floats, y: Floats, cells: int) -> Floats:
    """Distinct values where there are few, else quantiles of both samples together."""
    both = np.concatenate([x, y])
    both = both[np.isfinite(both)]
    if len(both) == 0:
        return np.array([])
    few = np.unique(both[:: max(1, len(both) // 20_000)])
    if len(few) <= _DISTINCT:
        return few
    both.sort()
    ends = np.geomspace(3, len(both) / cells, 8)  # the tails tell most
    places = np.concatenate([ends, len(both) - ends, np.linspace(0, len(both) - 1, cells)])
    places = np.clip(places.astype(np.int64), 0, len(both) - 1)
    return np.unique(both[places])


def _best(fit: Sample, a: Counts, b: Counts) -> list[tuple[int, tuple[float, float]]]:
    """The places with the best counts, by each measure and in both directions."""
    if len(a) == 0:
        return []
    found: dict[int, tuple[float, float]] = {}
    for way in (0, 1):
        evidence = fit.evidence(a, b, way)
        measures = [evidence, *(fit.epsilon(a, b, z, way) for z in (1.5, 3.0, 6.0))]
        for measure in measures:
            place = int(np.argmax(measure))
            found[place] = (float(measures[2][place]), float(evidence[place]))
    return list(found.items())


def _ordered(
    fit: Sample, a: Counts, b: Counts
) -> list[tuple[NDArray[np.int64], tuple[float, float]]]:
    """Sets of cells: the first so many in the order of their likelihood ratio."""
    found: list[tuple[NDArray[np.int64], tuple[float, float]]] = []
    used = np.flatnonzero(a + b)
    for way in (0, 1):
        first, second = (a, b) if way == 0 else (b, a)
        low = np.log((first[used] + 0.5) / (second[used] + 1.5))
        low -= np.sqrt(1 / (first[used] + 1) + 1 / (second[used] + 1))
        order = used[np.argsort(-low, kind="stable")]
        for place, numbers in _best(fit, np.cumsum(a[order]), np.cumsum(b[order])):
            found.append((order[: place + 1], numbers))
    return found


def _of_pair(fit: Sample, first: OutputFeature, second: OutputFeature) -> list[Candidate]:
    bins = tuple(Bins(_edges(one(fit.x), one(fit.y), _BOARD)) for one in (first, second))
    one, two = bins
    if one.cells * two.cells > 1 << 14:
        return []

    def counted(batch: Batch) -> Counts:
        place = one.place(first(batch)) * two.cells + two.place(second(batch))
        return np.bincount(place, minlength=one.cells * two.cells)

    found = []
    for cells, numbers in _ordered(fit, counted(fit.x), counted(fit.y)):
        chosen = np.zeros(one.cells * two.cells, dtype=bool)
        chosen[cells] = True
        board = chosen.reshape(one.cells, two.cells)
        found.append(Candidate(Fields((first, second), (one, two), board), *numbers))
    return found


def _of_keys(fit: Sample) -> list[Candidate]:
    """Sets of exact outputs: the frequent ones, and all that only one input has shown."""
    keys, place = np.unique(np.concatenate([fit.x.keys, fit.y.keys]), return_inverse=True)
    a = np.bincount(place[: len(fit.x)], minlength=len(keys))
    b = np.bincount(place[len(fit.x) :], minlength=len(keys))
    frequent = np.argsort(-(a + b), kind="stable")[:_KEYS]
    found = []
    for cells, numbers in _ordered(fit, a[frequent], b[frequent]):
        found.append(Candidate(_exactly(fit, keys[frequent[cells]]), *numbers))
    if len(keys) > _KEYS:  # else every output is frequent
        for only, other in ((a, b), (b, a)):
            seen = keys[(only > 0) & (other == 0)]
            if len(seen):
                found.append(Candidate(_exactly(fit, seen), math.inf, math.inf))
    return found


def _exactly(fit: Sample, keys: NDArray[np.uint64]) -> Exactly:
    for batch in (fit.x, fit.y):
        rows = np.flatnonzero(batch.keys == keys[0])
        if len(rows):
            break
    row = int(rows[0])
    shown = ", ".join(_leaf(batch, row, j) for j in range(min(batch.width, 6)))
    more = ", ..." if batch.width > 6 else ""
    return Exactly(np.sort(keys), shown if batch.width == 1 else f"({shown}{more})")


def _leaf(batch: Batch, row: int, j: int) -> str:
    """A number with all its digits, or the text that was there."""
    value = float(batch.values[row, j])
    text = batch.kinds is not None and math.isnan(value) and batch.kinds[row, j] > 0
    return batch.name(int(batch.kind(j)[row])) if text else f"{value:.17g}"
