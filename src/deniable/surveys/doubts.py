"""How far a report could be off because people do not follow the design.

If the questionnaire marks an anchor (a question to which everybody's true answer is no), the
share of attentive people is read from it and careless answers are taken out of the choices.
Whoever denies on purpose passes every anchor: for that there is only a range, what the truth
would be if so many of the people concerned had denied. See `deniable.surveys.honesty`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.mechanisms import Estimate, RandomizedResponse
from deniable.surveys.asking import Asked
from deniable.surveys.collected import Collected
from deniable.surveys.honesty import Attentive, attentive, if_some_deny
from deniable.surveys.questionnaire import Questionnaire


@dataclass(frozen=True, slots=True)
class Doubts:
    """`attentive` has one for each estimate, or none without an anchor that can tell.

    `if_denied` gives, for shares of the people concerned who may have denied, the prevalence.
    """

    attentive: tuple[Attentive, ...] = ()
    if_denied: Mapping[float, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The anchor of a survey with its counts. `problem` says why it cannot be used, if so."""

    question: str
    design: Any
    counts: Any
    problem: str = ""


def anchor_of(
    survey: Questionnaire, made: Mapping[str, Asked], collected: Collected
) -> Anchor | None:
    """The first anchor with reports."""
    for one in survey.private:
        if one.anchor and one.id in collected.reports:
            design = made[one.id].design
            counts = design.aggregate(collected.reports[one.id])
            try:
                attentive(design, counts, anchor=design, anchor_counts=counts)
            except InvalidParameter as problem:
                return Anchor(one.id, design, counts, str(problem))
            return Anchor(one.id, design, counts)
    return None


def doubts(
    one: Asked, reports: Any, estimates: tuple[Estimate, ...], anchor: Anchor | None
) -> Doubts:
    """Those about one question; denying is thought of for yes/no questions only."""
    denied: Mapping[float, float] = {}
    question, design = one.question, one.design
    if question.kind == "yes-no" and not question.anchor:
        denied = if_some_deny(estimates[1 if question.prefer_not_to_say else 0])
    usable = anchor is not None and not anchor.problem and not question.anchor
    if not usable or one.options > 1 or not isinstance(design, RandomizedResponse):
        return Doubts((), denied)
    assert anchor is not None
    tally = design.aggregate(reports)
    k, n = design.categories, tally.respondents
    channel = RandomizedResponse.channel(design.p, design.q)
    answers = [1] if k == 2 and len(estimates) == 1 else range(k)
    found = tuple(
        attentive(
            channel,
            (n - tally[answer], tally[answer]),
            anchor=anchor.design,
            anchor_counts=anchor.counts,
            careless=Fraction(1, k),
        )
        for answer in answers
    )
    return Doubts(found, denied)
