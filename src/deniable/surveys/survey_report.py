"""The report of a survey: estimates with intervals, cross-tabs, what an answer proves.

All of it is computed from reports; none of it costs anything more.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import Number
from deniable.mechanisms import Estimate, Hybrid, NumberOrNot, Ordinal
from deniable.mechanisms.confidence import confidence_level
from deniable.mechanisms.local.estimate import estimate_share
from deniable.privacy import Loss
from deniable.surveys.collect.shuffled_collection import (
    lines_look_alike,
    question_loss,
    sent_loss,
    survey_loss,
)
from deniable.surveys.estimate.question_pairs import QuestionPair, tabulate_pairs
from deniable.surveys.honesty.response_bias import (
    AnchorResult,
    ResponseBias,
    find_anchor,
    find_response_bias,
)
from deniable.surveys.questionnaire.collected_reports import CollectedReports
from deniable.surveys.questionnaire.designs import DesignedQuestion, design_questions
from deniable.surveys.questionnaire.phrases import Phrases, in_language
from deniable.surveys.questionnaire.questionnaire import Questionnaire
from deniable.surveys.questionnaire.respondent_promises import what_an_answer_proves


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question: an estimate for each label, or for the mean of a number."""

    question: str
    text: str
    labels: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    respondents: int
    epsilon: float
    sentence: str
    loss: Loss  # of one report as it was collected: amplified only by a shuffler that hides it
    response_bias: ResponseBias
    amplified: bool = False  # whether a shuffler made `loss` less than that of the coins
    mean: int | None = None  # which of the estimates is a mean and not a share, if one is
    words: Phrases = field(default_factory=Phrases)
    language: str = "en"

    def lines(self) -> Iterator[str]:
        """What is known of how far people's own doing could have moved the estimates."""
        from scipy.special import ndtri

        z = float(ndtri((1 + self.estimates[0].confidence) / 2))
        for label, one in zip(self.labels, self.response_bias.attentive, strict=False):
            value, margin = f"{one.prevalence:.3f}", f"{z * one.standard_error:.3f}"
            yield self._say("careless", label=label, value=value, margin=margin)
        if self.response_bias.if_denied:
            told = (
                f"{share:.0%}: {x:.3f}" for share, x in self.response_bias.if_denied.items()
            )
            yield self._say("if_denied", list=", ".join(told))
        if self.response_bias.if_lied:
            place = self.mean or 0
            ranges = self.response_bias.if_lied[place].items()
            told = (
                f"{share:.0%}: {self._say('range', low=f'{low:.3g}', high=f'{high:.3g}')}"
                for share, (low, high) in ranges
            )
            yield self._say("if_lied", label=self.labels[place], list=", ".join(told))

    def shown(self, estimate: Estimate) -> str:
        """An estimate with its interval, in the report's language."""
        if not estimate.consistent:
            return self._say(
                "inconsistent",
                value=f"{estimate.value:.3f}",
                raw=f"{estimate.raw:.3f}",
                p_value=f"{estimate.p_value:.2g}",
            )
        low, high = str(estimate).removesuffix(")").rsplit(" to ", 1)
        begin, low = low.rsplit(" ", 1)
        return f"{begin} {self._say('range', low=low, high=high)})"

    def _say(self, name: str, **figures: Any) -> str:
        return self.words.say(name, self.language, **figures)


@dataclass(frozen=True, slots=True, eq=False)
class SurveyReport:
    """Everything that a survey says. `loss` is what one person's reports cost at most."""

    title: str
    results: tuple[QuestionResult, ...]
    pairs: tuple[QuestionPair, ...]
    loss: Loss
    collected: Loss  # the same as it was collected: less than `loss` if a shuffler hides it
    respondents: int
    anchor: str = ""  # what the anchor says about attention, if there is one

    def __str__(self) -> str:
        first = self.results[0]
        people = first._say("respondents", number=f"{self.respondents:,}")
        lines = [f"{self.title}: {people}"]
        for one in self.results:
            lines.append(f"\n{one.text} ({one._say('reports', number=f'{one.respondents:,}')})")
            lines += [
                f"  {label}: {one.shown(estimate)}"
                for label, estimate in zip(one.labels, one.estimates, strict=True)
            ]
            lines += [f"  {line}" for line in one.lines()]
            lines.append(f"  {one.sentence}")
        if self.anchor:
            lines.append(f"\n{self.anchor}")
        return "\n".join(lines)


def report(
    survey: Questionnaire,
    collected: CollectedReports,
    *,
    confidence: Number = 0.95,
    language: str | None = None,
) -> SurveyReport:
    """Reads all reports of a survey.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> from deniable.surveys.questionnaire.collected_reports import parse_reports
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\n'
    ...     'kind="yes-no"\\ntext="Do you?"'
    ... )
    >>> found = report(survey, parse_reports(survey, ['{"a":1}'] * 40 + ['{"a":0}'] * 60))
    >>> found.results[0].labels, round(found.results[0].estimates[0].value, 3)
    (('yes',), 0.284)
    """
    spoken = language or survey.languages[0]
    if spoken not in survey.languages:
        listed = ", ".join(survey.languages)
        raise InvalidParameter(f"This survey speaks {listed}. Found {spoken!r}.")
    made = design_questions(survey)
    anchor = find_anchor(survey, made, collected)
    results = tuple(
        _result(survey, made[name], collected, confidence, spoken, anchor)
        for name in made
        if name in collected.reports
    )
    if not results:
        raise InvalidData("No private question has any report.")
    return SurveyReport(
        title=in_language(survey.title, spoken),
        results=results,
        pairs=tuple(tabulate_pairs(survey, made, collected, spoken)),
        loss=sent_loss(survey, made),
        collected=survey_loss(survey, made, collected),
        respondents=collected.respondents,
        anchor=_attention(anchor, survey.wording, spoken),
    )


def _attention(anchor: AnchorResult | None, words: Phrases, language: str) -> str:
    if anchor is None:
        return ""
    if anchor.found is None:
        return f"{anchor.question}: {anchor.problem}"
    return words.say(
        "attention",
        language,
        question=anchor.question,
        share=f"{anchor.found.share:.3f}",
        margin=f"{1.96 * anchor.found.error:.3f}",
    )


def _result(
    survey: Questionnaire,
    one: DesignedQuestion,
    collected: CollectedReports,
    confidence: Number,
    language: str,
    anchor: AnchorResult | None,
) -> QuestionResult:
    question, reports = one.question, collected.reports[one.question.id]
    labels, estimates, mean = _estimates(one, reports, confidence, language, survey.wording)
    boxes = 1 if one.joint else one.options
    mixed = len(reports) if lines_look_alike(survey, collected) else 1
    loss = question_loss(survey, one, reports=mixed)
    return QuestionResult(
        question=question.id,
        text=in_language(question.text, language),
        labels=labels,
        estimates=estimates,
        respondents=len(reports),
        epsilon=one.loss.epsilon(),
        sentence=what_an_answer_proves(
            one.design, boxes=boxes, words=survey.wording, language=language
        ),
        loss=loss,
        amplified=loss != one.loss,
        response_bias=find_response_bias(one, collected, estimates, anchor),
        mean=mean,
        words=survey.wording,
        language=language,
    )


def _estimates(
    one: DesignedQuestion, reports: Any, confidence: Number, language: str, words: Phrases
) -> tuple[tuple[str, ...], tuple[Estimate, ...], int | None]:
    """Labels, estimates, and which of them is a mean."""
    labels, design = tuple(one.question.labels(language, words)), one.design
    average = words.say("mean", language)
    if isinstance(design, Hybrid):
        return (average,), (design.estimate(reports, confidence=confidence),), 0
    if isinstance(design, NumberOrNot):
        mean = design.estimate(reports, confidence=confidence)
        gone = design.not_said(reports, confidence=confidence)
        return (average, *labels), (mean, gone), 0
    if one.options > 1:
        return labels, _options(one, reports, confidence), None
    found = design.estimate(reports, confidence=confidence)
    if isinstance(found, Estimate):
        return labels[1:], (found,), None
    if isinstance(design, Ordinal):
        scores = [float(point) for point in range(1, design.categories + 1)]
        mean = design.estimate_mean(reports, scores=scores, confidence=confidence)
        return (*labels, average), (*found, mean), len(labels)
    return labels, tuple(found), None


def _options(one: DesignedQuestion, reports: Any, confidence: Number) -> tuple[Estimate, ...]:
    """Of a multiple choice: the share of each option among all, and of those who declined."""
    boxes, level = one.boxes(reports), confidence_level(confidence)
    return tuple(
        estimate_share(
            int(column.sum()), len(boxes), p=channel.p, q=channel.q, confidence=level
        )
        for column, channel in zip(boxes.T, one.channels, strict=True)
    )
