"""Shares within groups: the dopers among the under-25s, not among all.

Groups of a public answer are known, so each group is a survey of its own: the exact binomial
interval of its reports, mapped through the channel, or the confidence sequence. If the answer
that makes the groups is randomized too, nobody knows who is in which group. The share in group
g is then the ratio of E(u v) to E(u), with the unbiased readings u of "is in g" and v of the
answer: a ratio of means, with the intervals of `LookRule.ratio`. The mean of a number within a
group is such a ratio as well.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import RandomizedResponse
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.frequency_oracle import FrequencyOracle
from deniable.surveys.estimate.betting_sequence import count_outcomes, extremes
from deniable.surveys.estimate.look_rules import FoundNumber, LookRule
from deniable.surveys.estimate.unbiased_readings import ReportReader, count_pairs, reader_for
from deniable.surveys.questionnaire.designs import DesignedQuestion

Matrix = NDArray[Any]
_EVERYBODY = (1.0, 1.0)


def answer_channels(design: Any) -> list[tuple[Fraction, Fraction]] | None:
    """(p, q) of each answer: what those who mean it, and all others, report with what
    probability. None if the design does not treat all other answers alike.

    >>> answer_channels(RandomizedResponse(odds=3))
    [(Fraction(3, 4), Fraction(1, 4)), (Fraction(3, 4), Fraction(1, 4))]
    """
    if isinstance(design, int):
        return [(Fraction(1), Fraction(0))] * design
    if isinstance(design, DesignedQuestion):
        if design.options == 1:
            return answer_channels(design.design)
        return [(channel.p, channel.q) for channel in design.channels]
    if isinstance(design, RandomizedResponse) and design.categories == 2:
        return [(1 - design.q, 1 - design.p), (design.p, design.q)]
    if isinstance(design, RandomizedResponse | FrequencyOracle):
        return [(design.p, design.q)] * design.categories
    return None


def count_support(design: Any, reports: Any) -> NDArray[np.int64]:
    """How many reports support each answer of a design that has `answer_channels`. Answers that
    were not randomized are numbers, or rows of boxes.

    >>> count_support(RandomizedResponse(odds=3), [1, 0, 1]).tolist()
    [1, 2]
    """
    if isinstance(design, int):
        given = np.asarray(reports)
        return np.asarray(
            given.sum(axis=0) if given.ndim == 2 else np.bincount(given, minlength=design)
        )
    if isinstance(design, DesignedQuestion):
        if design.options == 1:
            return count_support(design.design, reports)
        return np.asarray(design.boxes(reports).sum(axis=0))
    if isinstance(design, RandomizedResponse):
        numbers = read_answers(reports, design.categories).numbers
        return np.asarray(np.bincount(numbers, minlength=design.categories))
    return np.asarray(design.supports(reports).sum(axis=0), dtype=np.int64)


def estimate_answers(design: Any, reports: Any, rule: LookRule) -> tuple[FoundNumber, ...]:
    """The share of each answer; for a number only its mean.

    >>> rule = LookRule(anytime=False)
    >>> coins = RandomizedResponse(odds=3)
    >>> print(estimate_answers(coins, [1] * 400 + [0] * 600, rule)[1].estimate)
    0.300 ± 0.062 (95 %: 0.239 to 0.362)
    """
    channels = answer_channels(design)
    if channels is not None:
        counts = count_support(design, reports).tolist()
        return tuple(
            rule.share(count, len(reports), p, q)
            for count, (p, q) in zip(counts, channels, strict=True)
        )
    reader = reader_for(design)
    everybody = np.ones(len(reports))
    return tuple(_ratios(reader, reader(reports), everybody, _EVERYBODY, 1.0, rule))


def shares_within(
    answers: Any, groups: Any, reports: tuple[Any, Any], rule: LookRule
) -> list[tuple[FoundNumber, ...]]:
    """For each group the share of each answer (for a number: its mean), from both reports of
    each person. A whole number of groups stands for an answer that was not randomized.

    >>> coins, rule = RandomizedResponse(odds=3), LookRule(anytime=False)
    >>> ages = [0] * 1000 + [1] * 1000
    >>> doping = [1] * 400 + [0] * 600 + [1] * 300 + [0] * 700
    >>> young, old = shares_within(coins, 2, (doping, ages), rule)
    >>> print(young[1].estimate)
    0.300 ± 0.062 (95 %: 0.239 to 0.362)
    """
    count_pairs(*reports)
    answered = np.asarray(reports[0])
    if isinstance(groups, int):
        member = np.asarray(reports[1])
        return [
            estimate_answers(answers, answered[member == g], rule.among(groups))
            if (member == g).any()
            else ()
            for g in range(groups)
        ]
    reader, by = reader_for(answers), reader_for(groups)
    if by.ends is not None:
        return []  # a number makes no groups
    memberships, readings = by(reports[1]), reader(answered)
    return [
        tuple(
            _ratios(
                reader,
                readings,
                memberships[:, g],
                (float(by.reach[0][g]), float(by.reach[1][g])),
                float(by.spread[g]),
                rule,
            )
        )
        for g in range(by.answers)
    ]


def shares_of_all(
    answers: Any, groups: Any, reports: tuple[Any, Any], rule: LookRule
) -> list[tuple[FoundNumber, ...]]:
    """For each group the share of all people who are in it and have each answer; nothing for a
    public group that nobody is in.

    >>> coins, rule = RandomizedResponse(odds=3), LookRule(anytime=False)
    >>> young, old = shares_of_all(coins, 2, ([1] * 4 + [0] * 6, [0] * 5 + [1] * 5), rule)
    >>> round(young[1].estimate.raw, 3), round(old[1].estimate.raw, 3)
    (0.55, -0.25)
    """
    count_pairs(*reports)
    reader, by = reader_for(answers), reader_for(groups)
    if reader.ends is not None or by.ends is not None:
        return []
    readings, memberships = reader(np.asarray(reports[0])), by(reports[1])
    everybody = np.ones(len(readings))
    return [
        tuple(
            rule.ratio(
                count_outcomes(
                    readings[:, a] * memberships[:, g],
                    everybody,
                    possible=(
                        *extremes(*([float(end[i]) for end in x.reach] for x, i in both)),
                        *_EVERYBODY,
                    ),
                    spread=math.prod(float(x.spread[i]) for x, i in both),
                )
            )
            for a in range(reader.answers)
            for both in [((reader, a), (by, g))]
        )
        if not isinstance(groups, int) or memberships[:, g].any()
        else ()
        for g in range(by.answers)
    ]


def _ratios(
    reader: ReportReader,
    readings: Matrix,
    member: Matrix,
    reach: tuple[float, float],
    spread: float,
    rule: LookRule,
) -> Iterator[FoundNumber]:
    """The ratio for each answer among those whose membership is read as `member`."""
    first = 0
    if reader.ends is not None:
        yield _mean(reader, readings, member, reach, spread, rule)
        first = 2
    for answer in range(first, reader.answers):
        bounds = [float(end[answer]) for end in reader.reach]
        yield rule.ratio(
            count_outcomes(
                readings[:, answer] * member,
                member,
                possible=(*extremes(reach, bounds), *reach),
                spread=spread * float(reader.spread[answer]),
            )
        )


def _mean(
    reader: ReportReader,
    readings: Matrix,
    member: Matrix,
    reach: tuple[float, float],
    spread: float,
    rule: LookRule,
) -> FoundNumber:
    """The mean of a number among the members who say one: low + (high - low) t, where t is the
    ratio of the readings of the high end to those of both ends."""
    assert reader.ends is not None
    low, high = reader.ends
    said = readings[:, 0] + readings[:, 1]
    least, most = ([float(end[i]) for end in reader.reach] for i in (0, 1))
    both = [1.0] if np.allclose(said, 1.0) else [least[0] + most[0], least[1] + most[1]]
    outcomes = count_outcomes(
        readings[:, 1] * member,
        said * member,
        possible=(*extremes(reach, most), *extremes(reach, both)),
        spread=spread * float(reader.spread[1]),
    )
    return rule.ratio(outcomes).between(low, high)
