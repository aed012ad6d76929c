"""Spends calls by evidence: which comparisons of an audit are worth testing.

All comparisons start with small samples. Those with little evidence against the claim are
dropped, and the others get larger samples, with the same number of calls in every heat
(successive halving: Karnin, Koren & Somekh 2013). With k comparisons each of the last few gets
about 1 / log(k) of the calls, instead of 1 / k. Nothing here is a test: errors only cost power,
because what is found is tested again on fresh outputs.

Floating-point noise often shows in large samples only, by which exact outputs occur. So some
comparisons whose outputs look like it stay in the race without evidence. If there are too few
calls for all comparisons, those of two calls in a row are left out first, then the last pairs.
"""

import math
from collections.abc import Sequence

from deniable.audit.test.comparisons import Comparison
from deniable.audit.test.event_confirmation import claim_lines
from deniable.audit.test.event_search import EventTests, search_events
from deniable.audit.test.mechanism_calls import gather
from deniable.audit.test.outputs import Batch, join_batches

_FEWEST = 50  # outputs needed for a search
_TRIED = 16  # outputs that show how wide they are
_NUMBERS = 1 << 21  # numbers kept of one sample
_FINALISTS = 4
_FLOATING = 12  # comparisons of floats that stay at most
_CLOSE = 1.5  # standard errors: floats with that much less evidence than the first do not stay
_DROPPED = 4  # of four comparisons one stays in the race
_SINGLE_WEIGHT = 3

Found = dict[Comparison, EventTests]


def race(comparisons: Sequence[Comparison], calls: int) -> Found:
    """The best events of the comparisons that are left at the end; `calls` at most."""
    samples: dict[Comparison, tuple[Batch, Batch]] = {}
    active, best_events = list_affordable(comparisons, calls), {}
    heats = count_heats(active, calls)
    for heat in range(heats):
        best_events = _look(active, calls // heats, samples)
        if heat < heats - 1 and best_events:
            active = keep_best(best_events)
    return best_events


def list_affordable(comparisons: Sequence[Comparison], calls: int) -> list[Comparison]:
    """The comparisons of which large enough samples can be drawn: all, or those of single
    calls, or the first of these."""
    singles = [each for each in comparisons if each.single]
    least = _FEWEST + _TRIED
    for choice in (list(comparisons), singles):
        if all(_count_outputs(each, choice, calls) >= least for each in choice):
            return choice
    return singles[: calls // (2 * least)]


def count_heats(comparisons: Sequence[Comparison], calls: int) -> int:
    """As many as it takes to leave the finalists, if the first samples are large enough.

    >>> count_heats([], 1000)
    1
    """
    rounds = math.ceil(math.log(max(len(comparisons), 1) / _FINALISTS, _DROPPED))
    heats = 1 + max(rounds, 0)
    share = calls // heats * _SINGLE_WEIGHT // max(sum(map(_weight, comparisons)), 1)
    return heats if share >= 4 * _FEWEST else 1


def keep_best(best_events: Found) -> list[Comparison]:
    """The comparisons with most evidence, the one with the largest epsilon, and some with
    floating-point noise."""
    finalists = max(_FINALISTS, len(best_events) // _DROPPED)
    best = sorted(best_events, key=lambda each: -_evidence(best_events[each]))[:finalists]
    singles = [each for each in best_events if each.single] or list(best_events)
    best.append(max(singles, key=lambda each: best_events[each].epsilon[0].value))
    return list(dict.fromkeys([*best, *_keep_floats(best_events)]))


def _keep_floats(best_events: Found) -> list[Comparison]:
    """The comparisons of floats that may be the broken one."""
    digits = {
        each: tests.low_digits[0].value
        for each, tests in best_events.items()
        if each.single and tests.low_digits
    }
    least = max(digits.values(), default=0.0) - _CLOSE
    ranked = sorted(digits, key=lambda each: -digits[each])
    return [each for each in ranked if digits[each] >= least][:_FLOATING]


def _evidence(tests: EventTests) -> float:
    return tests.evidence[0].value


def _weight(comparison: Comparison) -> int:
    return _SINGLE_WEIGHT if comparison.single else 1


def _count_outputs(
    comparison: Comparison, comparisons: Sequence[Comparison], calls: int
) -> int:
    """How many outputs of each input a comparison gets, if it shares calls with others."""
    total = sum(map(_weight, comparisons))
    return calls * _weight(comparison) // total // (2 * comparison.cost)


def _look(
    comparisons: list[Comparison], calls: int, samples: dict[Comparison, tuple[Batch, Batch]]
) -> Found:
    """Draws more outputs of each comparison and searches all that were drawn in this race."""
    numbers = _NUMBERS * _FINALISTS // max(len(comparisons), _FINALISTS)
    best_events = {}
    for comparison in comparisons:
        count = _count_outputs(comparison, comparisons, calls)
        width = next(comparison.left(min(count, _TRIED))).width if count else 1
        count = min(count - _TRIED, numbers // width)
        if count < _FEWEST:
            continue
        batches = gather(comparison.left(count)), gather(comparison.right(count))
        if comparison in samples:
            left, right = samples[comparison]
            batches = join_batches([left, batches[0]]), join_batches([right, batches[1]])
        samples[comparison] = batches
        best_events[comparison] = search_events(*batches, claim_lines(comparison.claim))
    return best_events
