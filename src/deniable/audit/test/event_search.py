"""The search for an event that is more probable under one input than the claim allows.

Each feature is cut into cells, and cells are taken in the order of their likelihood ratio
(Neyman and Pearson). Thresholds are tried too, because they are easier to read and overfit
less. Pairs of features make a grid of cells, exact outputs a list of cells, and a logistic
score is one more feature. Half of the sample proposes events, the other half ranks them. Errors
made here are harmless: events are tested again on fresh outputs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.audit.test.events import (
    Bins,
    CellEvent,
    CellPairEvent,
    Event,
    ExactOutputEvent,
    ThresholdEvent,
)
from deniable.audit.test.features import OutputFeature, list_features, looks_continuous
from deniable.audit.test.logistic_score import fit_logistic_score
from deniable.audit.test.outputs import Batch, Floats

Counts: TypeAlias = NDArray[np.int64]
ClaimLine: TypeAlias = tuple[float, float]  # (epsilon, delta) that the claim allows

FLOATING = "floating-point noise: the low digits tell the inputs apart"
_CELLS = 64
_DISTINCT = 256
_BOARD = 12
_PAIRED = 6
_KEYS = 4096
_PROPOSED = 60
_LOW = 6


@dataclass(frozen=True)
class CandidateEvent:
    """An event and its scores: as a bound on epsilon, and as evidence against the claim."""

    event: Event
    epsilon: float
    evidence: float


@dataclass(frozen=True)
class EventTest:
    """An event or its complement, compared between the inputs in this order or in reverse."""

    event: Event
    negated: bool
    turned: bool
    value: float  # its score, by the measure that it was chosen for
    rate: float  # its probability, roughly, under the first input of that order
    floating: bool = False  # whether it is about the low digits of float noise

    @property
    def text(self) -> str:
        text = f"not {self.event.text}" if self.negated else self.event.text
        return f"{FLOATING} ({text})" if self.floating else text


@dataclass(frozen=True)
class EventTests:
    """The events with the best bounds on epsilon, and with the best evidence; best first.

    `low_digits` are those of the latter that only look at where the digits of floats end.
    """

    epsilon: list[EventTest]
    evidence: list[EventTest]
    low_digits: list[EventTest]


def search_events(x: Batch, y: Batch, lines: Sequence[ClaimLine]) -> EventTests:
    """The best events of two samples, by either measure."""
    half_x, half_y = len(x) // 2, len(y) // 2
    fit = TwoSamples(x.rows(slice(None, half_x)), y.rows(slice(None, half_y)), tuple(lines))
    rank = TwoSamples(x.rows(slice(half_x, None)), y.rows(slice(half_y, None)), tuple(lines))
    by_evidence = sorted(_propose(fit), key=lambda candidate: -candidate.evidence)
    by_epsilon = sorted(by_evidence, key=lambda candidate: -candidate.epsilon)
    low = [candidate for candidate in by_evidence if candidate.event.low_digits]
    floating = bool(low) and (looks_continuous(x) or looks_continuous(y))
    best = [*by_evidence[:_PROPOSED], *by_epsilon[:_PROPOSED], *low[: floating * _LOW]]
    events = {id(candidate.event): candidate.event for candidate in best}
    tests = rank.best_tests(list(events.values()))
    if floating:
        tests = [(_mark_floating(first), _mark_floating(second)) for first, second in tests]
    evidence = sorted((test for _, test in tests), key=lambda test: -test.value)
    return EventTests(
        sorted((test for test, _ in tests), key=lambda test: -test.value),
        evidence,
        [test for test in evidence if test.floating],
    )


def _mark_floating(test: EventTest) -> EventTest:
    return replace(test, floating=test.event.low_digits)


@dataclass(frozen=True)
class TwoSamples:
    """Outputs under two inputs, and the (epsilon, delta) lines of the claim."""

    x: Batch
    y: Batch
    lines: tuple[ClaimLine, ...]

    def best_tests(self, events: Sequence[Event]) -> list[tuple[EventTest, EventTest]]:
        """The best way to test each event, for epsilon and for evidence."""
        a = np.array([np.count_nonzero(event.hits(self.x)) for event in events])
        b = np.array([np.count_nonzero(event.hits(self.y)) for event in events])
        forms = [(negated, way) for negated in (False, True) for way in (0, 1)]
        rates, by_epsilon, by_evidence = [], [], []
        for negated, way in forms:
            m, n = (len(self.x) - a, len(self.y) - b) if negated else (a, b)
            rates.append(n / len(self.y) if way else m / len(self.x))
            by_epsilon.append(self.epsilon(m, n, 3.0, way))
            by_evidence.append(self.evidence(m, n, way))

        def best(place: int, scores: list[Floats]) -> EventTest:
            form = max(range(len(forms)), key=lambda each: scores[each][place])
            negated, way = forms[form]
            value, rate = float(scores[form][place]), float(rates[form][place])
            return EventTest(events[place], negated, bool(way), value, rate)

        return [(best(i, by_epsilon), best(i, by_evidence)) for i in range(len(events))]

    def epsilon(self, a: Counts, b: Counts, z: float, way: int) -> Floats:
        """Roughly the lower bound on epsilon that such counts would give."""
        (a, n), (b, m) = self._turned(a, b, way)
        with np.errstate(divide="ignore"):
            log_odds = np.log(a / n) - np.log((b + 1) / m)
        return np.asarray(log_odds - z * np.sqrt(1 / np.maximum(a, 1) + 1 / (b + 1)))

    def evidence(self, a: Counts, b: Counts, way: int) -> Floats:
        """By how many standard errors the counts exceed the claim, on its best line."""
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


def _propose(fit: TwoSamples) -> list[CandidateEvent]:
    listed = list_features(fit.x, fit.y)
    score = fit_logistic_score(fit.x, fit.y, tuple(listed))
    if score is not None:
        listed.append(score)
    candidates: list[CandidateEvent] = []
    scores: list[tuple[float, OutputFeature]] = []
    for feature in listed:
        proposed = _propose_of_feature(fit, feature)
        candidates += proposed
        evidence = max((candidate.evidence for candidate in proposed), default=-1e9)
        scores.append((evidence, feature))
    best = [feature for _, feature in sorted(scores, key=lambda item: -item[0])[:_PAIRED]]
    plain = [feature for feature in best if feature.text != "score"]
    for i, first in enumerate(plain):
        for second in plain[i + 1 :]:
            candidates += _propose_of_pair(fit, first, second)
    return candidates + _propose_of_outputs(fit)


def _propose_of_feature(fit: TwoSamples, feature: OutputFeature) -> list[CandidateEvent]:
    read_x, read_y = feature(fit.x), feature(fit.y)
    bins = Bins(_edges(read_x, read_y, _CELLS))
    a = np.bincount(bins.place(read_x), minlength=bins.cells)
    b = np.bincount(bins.place(read_y), minlength=bins.cells)
    candidates: list[CandidateEvent] = []
    for cell, numbers in _best_cell_sets(fit, a, b):
        mask = np.zeros(bins.cells, dtype=bool)
        mask[cell] = True
        candidates.append(CandidateEvent(CellEvent(feature, bins, mask), *numbers))
    below_a, below_b = np.cumsum(a)[:-2], np.cumsum(b)[:-2]
    above_a, above_b = a[:-1].sum() - below_a, b[:-1].sum() - below_b
    for above, m, n in ((False, below_a, below_b), (True, above_a, above_b)):
        for place, numbers in _best_places(fit, m, n):
            event = ThresholdEvent(feature, float(bins.edges[place]), above)
            candidates.append(CandidateEvent(event, *numbers))
    return candidates


def _edges(x: Floats, y: Floats, cells: int) -> Floats:
    """All distinct values if they are few, else quantiles of both samples together."""
    values = np.concatenate([x, y])
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return np.array([])
    distinct = np.unique(values[:: max(1, len(values) // 20_000)])
    if len(distinct) <= _DISTINCT:
        return distinct
    values.sort()
    ends = np.geomspace(3, len(values) / cells, 8)  # dense in the tails, where odds are large
    places = np.concatenate([ends, len(values) - ends, np.linspace(0, len(values) - 1, cells)])
    places = np.clip(places.astype(np.int64), 0, len(values) - 1)
    return np.unique(values[places])


def _best_places(
    fit: TwoSamples, a: Counts, b: Counts
) -> list[tuple[int, tuple[float, float]]]:
    """The places with the best counts, by each measure and in both directions."""
    if len(a) == 0:
        return []
    scores: dict[int, tuple[float, float]] = {}
    for way in (0, 1):
        evidence = fit.evidence(a, b, way)
        measures = [evidence, *(fit.epsilon(a, b, z, way) for z in (1.5, 3.0, 6.0))]
        for measure in measures:
            place = int(np.argmax(measure))
            scores[place] = (float(measures[2][place]), float(evidence[place]))
    return list(scores.items())


def _best_cell_sets(
    fit: TwoSamples, a: Counts, b: Counts
) -> list[tuple[NDArray[np.int64], tuple[float, float]]]:
    """Sets of cells: the first ones in the order of their likelihood ratio."""
    sets: list[tuple[NDArray[np.int64], tuple[float, float]]] = []
    used = np.flatnonzero(a + b)
    for way in (0, 1):
        first, second = (a, b) if way == 0 else (b, a)
        low = np.log((first[used] + 0.5) / (second[used] + 1.5))
        low -= np.sqrt(1 / (first[used] + 1) + 1 / (second[used] + 1))
        order = used[np.argsort(-low, kind="stable")]
        for place, numbers in _best_places(fit, np.cumsum(a[order]), np.cumsum(b[order])):
            sets.append((order[: place + 1], numbers))
    return sets


def _propose_of_pair(
    fit: TwoSamples, first: OutputFeature, second: OutputFeature
) -> list[CandidateEvent]:
    rows, columns = (
        Bins(_edges(feature(fit.x), feature(fit.y), _BOARD)) for feature in (first, second)
    )
    size = rows.cells * columns.cells
    if size > 1 << 14:
        return []

    def count(batch: Batch) -> Counts:
        place = rows.place(first(batch)) * columns.cells + columns.place(second(batch))
        return np.bincount(place, minlength=size)

    candidates = []
    for cells, numbers in _best_cell_sets(fit, count(fit.x), count(fit.y)):
        mask = np.zeros(size, dtype=bool)
        mask[cells] = True
        board = mask.reshape(rows.cells, columns.cells)
        event = CellPairEvent((first, second), (rows, columns), board)
        candidates.append(CandidateEvent(event, *numbers))
    return candidates


def _propose_of_outputs(fit: TwoSamples) -> list[CandidateEvent]:
    """Sets of exact outputs: frequent ones, and all that occurred under only one input."""
    keys, place = np.unique(np.concatenate([fit.x.keys, fit.y.keys]), return_inverse=True)
    a = np.bincount(place[: len(fit.x)], minlength=len(keys))
    b = np.bincount(place[len(fit.x) :], minlength=len(keys))
    frequent = np.argsort(-(a + b), kind="stable")[:_KEYS]
    candidates = []
    for cells, numbers in _best_cell_sets(fit, a[frequent], b[frequent]):
        candidates.append(CandidateEvent(_exact_event(fit, keys[frequent[cells]]), *numbers))
    if len(keys) > _KEYS:  # else every output is frequent
        for only, other in ((a, b), (b, a)):
            exclusive_keys = keys[(only > 0) & (other == 0)]
            if len(exclusive_keys):
                candidates.append(
                    CandidateEvent(_exact_event(fit, exclusive_keys), math.inf, math.inf)
                )
    return candidates


def _exact_event(fit: TwoSamples, keys: NDArray[np.uint64]) -> ExactOutputEvent:
    for batch in (fit.x, fit.y):
        rows = np.flatnonzero(batch.keys == keys[0])
        if len(rows):
            break
    row = int(rows[0])
    example = ", ".join(_leaf_text(batch, row, j) for j in range(min(batch.width, 6)))
    more = ", ..." if batch.width > 6 else ""
    return ExactOutputEvent(
        np.sort(keys), example if batch.width == 1 else f"({example}{more})"
    )


def _leaf_text(batch: Batch, row: int, j: int) -> str:
    """A number with all its digits, or the text of the output."""
    value = float(batch.values[row, j])
    text = batch.kinds is not None and math.isnan(value) and batch.kinds[row, j] > 0
    return batch.name(int(batch.kind(j)[row])) if text else f"{value:.17g}"
