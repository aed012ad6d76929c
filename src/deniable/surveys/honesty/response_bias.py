"""How far a report could be off because people do not follow the design.

If the questionnaire marks an anchor (a question to which everybody's true answer is no), the
share of attentive people is read from it and careless answers are taken out of every question,
whatever its design (see `carelessness`). Whoever lies on purpose passes every anchor: for that
there is only a range, what the truth would be if so many of the people concerned had denied (of
a yes/no question), or if so many of all had said anything whatever (of any other). See
`deniable.surveys.honesty.noncompliance`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms import Estimate, Hybrid, NumberOrNot, Ordinal
from deniable.surveys.honesty.carelessness import (
    Attention,
    AttentiveAnswers,
    attention,
    remove_careless_answers,
)
from deniable.surveys.honesty.noncompliance import (
    AttentiveEstimate,
    Range,
    if_some_deny,
    if_some_lie,
)
from deniable.surveys.questionnaire.collected_reports import CollectedReports
from deniable.surveys.questionnaire.designs import DesignedQuestion
from deniable.surveys.questionnaire.questionnaire import Questionnaire


@dataclass(frozen=True, slots=True)
class ResponseBias:
    """`attentive` has one for each estimate, or none without an anchor that can tell.

    `if_denied` gives, for shares of the people concerned who may have denied, the prevalence;
    `if_lied`, for shares of all people who may have answered anything, the range of each
    estimate.
    """

    attentive: tuple[AttentiveEstimate, ...] = ()
    if_denied: Mapping[float, float] = field(default_factory=dict)
    if_lied: tuple[Mapping[float, Range], ...] = ()


@dataclass(frozen=True, slots=True)
class AnchorResult:
    """The anchor of a survey and what it found. `problem` says why it cannot be used, if so."""

    question: str
    found: Attention | None
    problem: str = ""


def find_anchor(
    survey: Questionnaire, made: Mapping[str, DesignedQuestion], collected: CollectedReports
) -> AnchorResult | None:
    """The first anchor with reports."""
    for one in survey.private:
        if one.anchor and one.id in collected.reports:
            design = made[one.id].design
            try:
                found = attention(design, design.aggregate(collected.reports[one.id]))
            except InvalidParameter as problem:
                return AnchorResult(one.id, None, str(problem))
            return AnchorResult(one.id, found)
    return None


def find_response_bias(
    one: DesignedQuestion,
    collected: CollectedReports,
    estimates: tuple[Estimate, ...],
    anchor: AnchorResult | None,
) -> ResponseBias:
    """Those about one question."""
    question = one.question
    if question.anchor:
        return ResponseBias()
    denied: Mapping[float, float] = {}
    lied: tuple[Mapping[float, Range], ...] = ()
    if question.kind == "yes-no":
        denied = if_some_deny(estimates[1 if question.prefer_not_to_say else 0])
    else:
        lied = tuple(
            if_some_lie(each, *ends)
            for each, ends in zip(estimates, _ends(one, len(estimates)), strict=True)
        )
    if anchor is None or anchor.found is None:
        return ResponseBias((), denied, lied)
    people = collected.people
    both = len(np.intersect1d(people[question.id], people[anchor.question]))
    reports = collected.reports[question.id]
    bare = one if one.options > 1 else one.design
    cleaned = remove_careless_answers(bare, reports, anchor.found, both=both)
    found = tuple(
        AttentiveEstimate(value, error, anchor.found.share, anchor.found.error)
        for value, error in _as_estimates(one, cleaned)
    )
    return ResponseBias(found, denied, lied)


def _as_estimates(
    one: DesignedQuestion, cleaned: AttentiveAnswers
) -> list[tuple[float, float]]:
    """Values and errors in the order of a result's estimates."""
    listed = list(zip(cleaned.shares.tolist(), cleaned.standard_error.tolist(), strict=True))
    if isinstance(one.design, Hybrid):
        return [cleaned.mean()]
    if isinstance(one.design, NumberOrNot):
        return [cleaned.mean(), listed[2]]
    if isinstance(one.design, Ordinal):
        return [*listed, cleaned.mean(np.arange(1, one.design.categories + 1))]
    return listed[1:] if one.question.answers == 2 and one.question.kind == "yes-no" else listed


def _ends(one: DesignedQuestion, estimates: int) -> list[tuple[float, float]]:
    """Between which numbers each estimate lies."""
    design = one.design
    if isinstance(design, Hybrid | NumberOrNot):
        mean = (float(design.low), float(design.high))
        return [mean, *([(0.0, 1.0)] * (estimates - 1))]
    if isinstance(design, Ordinal):
        return [*([(0.0, 1.0)] * (estimates - 1)), (1.0, float(design.categories))]
    return [(0.0, 1.0)] * estimates
