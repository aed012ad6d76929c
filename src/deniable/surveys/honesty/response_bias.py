"""How far the results of a survey could be off because people do not follow the design.

The questionnaire may mark an anchor: a question to which everyone's true answer is no. It gives
the share of attentive people, and careless answers are removed from every question, for any
design (see `carelessness`). An anchor does not detect deliberate lies. For these there is only
a range: the result if a certain share of the people concerned denied it (yes/no questions), or
if a certain share of all people gave any false answer (other questions). See `noncompliance`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms import Duchi, Estimate, NumberOrNot, Ordinal
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
    """`attentive` has one element for each estimate; it is empty without a usable anchor.

    `if_denied` gives the prevalence for shares of the people concerned who may have denied it.
    `if_lied` gives the range of each estimate for shares of all people who may have lied.
    """

    attentive: tuple[AttentiveEstimate, ...] = ()
    if_denied: Mapping[float, float] = field(default_factory=dict)
    if_lied: tuple[Mapping[float, Range], ...] = ()


@dataclass(frozen=True, slots=True)
class AnchorResult:
    """The anchor of a survey and the attention that it shows, or why it cannot be used."""

    question: str
    attention: Attention | None
    problem: str = ""


def find_anchor(
    survey: Questionnaire, designed: Mapping[str, DesignedQuestion], collected: CollectedReports
) -> AnchorResult | None:
    """The first anchor with reports."""
    for question in survey.private:
        if question.anchor and question.id in collected.reports:
            design = designed[question.id].design
            try:
                attentive = attention(design, design.aggregate(collected.reports[question.id]))
            except InvalidParameter as problem:
                return AnchorResult(question.id, None, str(problem))
            return AnchorResult(question.id, attentive)
    return None


def find_response_bias(
    designed: DesignedQuestion,
    collected: CollectedReports,
    estimates: tuple[Estimate, ...],
    anchor: AnchorResult | None,
) -> ResponseBias:
    """The response bias of one question."""
    question = designed.question
    if question.anchor:
        return ResponseBias()
    denied: Mapping[float, float] = {}
    lied: tuple[Mapping[float, Range], ...] = ()
    if question.kind == "yes-no":
        denied = if_some_deny(estimates[1 if question.prefer_not_to_say else 0])
    else:
        lied = tuple(
            if_some_lie(estimate, *ends)
            for estimate, ends in zip(estimates, _ends(designed, len(estimates)), strict=True)
        )
    if anchor is None or anchor.attention is None:
        return ResponseBias((), denied, lied)
    people = collected.people
    overlap = len(np.intersect1d(people[question.id], people[anchor.question]))
    reports = collected.reports[question.id]
    design = designed if designed.options > 1 else designed.design
    cleaned = remove_careless_answers(design, reports, anchor.attention, both=overlap)
    attentive = tuple(
        AttentiveEstimate(value, error, anchor.attention.share, anchor.attention.error)
        for value, error in _as_estimates(designed, cleaned)
    )
    return ResponseBias(attentive, denied, lied)


def _as_estimates(
    designed: DesignedQuestion, cleaned: AttentiveAnswers
) -> list[tuple[float, float]]:
    """Values and errors, in the order of the question's estimates."""
    listed = list(zip(cleaned.shares.tolist(), cleaned.standard_error.tolist(), strict=True))
    if isinstance(designed.design, Duchi):
        return [cleaned.mean()]
    if isinstance(designed.design, NumberOrNot):
        return [cleaned.mean(), listed[2]]
    if isinstance(designed.design, Ordinal):
        return [*listed, cleaned.mean(np.arange(1, designed.design.categories + 1))]
    return (
        listed[1:]
        if designed.question.answers == 2 and designed.question.kind == "yes-no"
        else listed
    )


def _ends(designed: DesignedQuestion, estimates: int) -> list[tuple[float, float]]:
    """The range of each estimate."""
    design = designed.design
    if isinstance(design, Duchi | NumberOrNot):
        mean = (float(design.low), float(design.high))
        return [mean, *([(0.0, 1.0)] * (estimates - 1))]
    if isinstance(design, Ordinal):
        return [*([(0.0, 1.0)] * (estimates - 1)), (1.0, float(design.categories))]
    return [(0.0, 1.0)] * estimates
