"""The report of a survey: estimates with intervals, cross-tabs, what an answer proves.

All of it is computed from randomized reports, so it costs no more epsilon.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.foreign_text import escape_html
from deniable.exact.html_tables import html_table
from deniable.exact.rationals import Number, confidence_level
from deniable.mechanisms import Duchi, Estimate, NumberOrNot, Ordinal
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
    """The result of one question: an estimate for each label, or of the mean of a number."""

    question: str
    text: str
    labels: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    respondents: int
    epsilon: float
    sentence: str
    loss: Loss  # of one report as it was collected; smaller if a shuffler hides it
    response_bias: ResponseBias
    amplified: bool = False  # whether a shuffler made `loss` smaller
    mean: int | None = None  # the index of the estimate that is a mean, if there is one
    words: Phrases = field(default_factory=Phrases)
    language: str = "en"

    def lines(self) -> Iterator[str]:
        """How far careless or false answers could have moved the estimates."""
        from scipy.special import ndtri

        z = float(ndtri((1 + self.estimates[0].confidence) / 2))
        for label, estimate in zip(self.labels, self.response_bias.attentive, strict=False):
            value, margin = f"{estimate.prevalence:.3f}", f"{z * estimate.standard_error:.3f}"
            yield self._say("careless", label=label, value=value, margin=margin)
        if self.response_bias.if_denied:
            shares = (
                f"{share:.0%}: {x:.3f}" for share, x in self.response_bias.if_denied.items()
            )
            yield self._say("if_denied", list=", ".join(shares))
        if self.response_bias.if_lied:
            place = self.mean or 0
            ranges = (
                f"{share:.0%}: {self._say('range', low=f'{low:.3g}', high=f'{high:.3g}')}"
                for share, (low, high) in self.response_bias.if_lied[place].items()
            )
            yield self._say("if_lied", label=self.labels[place], list=", ".join(ranges))

    def format_estimate(self, estimate: Estimate) -> str:
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
    """The results of a survey. `loss` is the loss of all reports of one person, at most."""

    title: str
    results: tuple[QuestionResult, ...]
    pairs: tuple[QuestionPair, ...]
    loss: Loss
    collected: Loss  # the same as it was collected; smaller if a shuffler hides it
    respondents: int
    anchor: str = ""  # what the anchor says about attention, if the survey has one

    def __str__(self) -> str:
        first = self.results[0]
        people = first._say("respondents", number=f"{self.respondents:,}")
        lines = [f"{self.title}: {people}"]
        for result in self.results:
            count = result._say("reports", number=f"{result.respondents:,}")
            lines.append(f"\n{result.text} ({count})")
            lines += [
                f"  {label}: {result.format_estimate(estimate)}"
                for label, estimate in zip(result.labels, result.estimates, strict=True)
            ]
            lines += [f"  {line}" for line in result.lines()]
            lines.append(f"  {result.sentence}")
        if self.anchor:
            lines.append(f"\n{self.anchor}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        people = self.results[0]._say("respondents", number=f"{self.respondents:,}")
        parts = [f"<h3>{escape_html(self.title)}: {escape_html(people)}</h3>"]
        for result in self.results:
            count = result._say("reports", number=f"{result.respondents:,}")
            shown = zip(
                result.labels, map(result.format_estimate, result.estimates), strict=True
            )
            below = "\n".join([*result.lines(), result.sentence])
            parts.append(
                html_table((result.text, count), [*shown], (False, False), below=below)
            )
        parts += [f"<p>{escape_html(self.anchor)}</p>"] if self.anchor else []
        return "".join(parts)


def report(
    survey: Questionnaire,
    collected: CollectedReports,
    *,
    confidence: Number = 0.95,
    language: str | None = None,
) -> SurveyReport:
    """Estimates all results of a survey from its reports.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> from deniable.surveys.questionnaire.collected_reports import parse_reports
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\n'
    ...     'kind="yes-no"\\ntext="Do you?"'
    ... )
    >>> reported = report(survey, parse_reports(survey, ['{"a":1}'] * 40 + ['{"a":0}'] * 60))
    >>> reported.results[0].labels, round(reported.results[0].estimates[0].value, 3)
    (('yes',), 0.284)
    """
    chosen = language or survey.languages[0]
    if chosen not in survey.languages:
        listed = ", ".join(survey.languages)
        raise InvalidParameter(
            f"`language` must be a language of this survey: {listed}. Found {chosen!r}."
        )
    questions = design_questions(survey)
    anchor = find_anchor(survey, questions, collected)
    results = tuple(
        _result(survey, questions[name], collected, confidence, chosen, anchor)
        for name in questions
        if name in collected.reports
    )
    if not results:
        raise InvalidData("No private question has any report.")
    return SurveyReport(
        title=in_language(survey.title, chosen),
        results=results,
        pairs=tuple(tabulate_pairs(survey, questions, collected, chosen)),
        loss=sent_loss(survey, questions),
        collected=survey_loss(survey, questions, collected),
        respondents=collected.respondents,
        anchor=_attention(anchor, survey.wording, chosen),
    )


def _attention(anchor: AnchorResult | None, words: Phrases, language: str) -> str:
    if anchor is None:
        return ""
    if anchor.attention is None:
        return f"{anchor.question}: {anchor.problem}"
    return words.say(
        "attention",
        language,
        question=anchor.question,
        share=f"{anchor.attention.share:.3f}",
        margin=f"{1.96 * anchor.attention.error:.3f}",
    )


def _result(
    survey: Questionnaire,
    designed: DesignedQuestion,
    collected: CollectedReports,
    confidence: Number,
    language: str,
    anchor: AnchorResult | None,
) -> QuestionResult:
    question, reports = designed.question, collected.reports[designed.question.id]
    labels, estimates, mean = _estimates(
        designed, reports, confidence, language, survey.wording
    )
    boxes = 1 if designed.joint else designed.options
    mixed = len(reports) if lines_look_alike(survey, collected) else 1
    loss = question_loss(survey, designed, reports=mixed)
    return QuestionResult(
        question=question.id,
        text=in_language(question.text, language),
        labels=labels,
        estimates=estimates,
        respondents=len(reports),
        epsilon=designed.loss.epsilon(),
        sentence=what_an_answer_proves(
            designed.design, boxes=boxes, words=survey.wording, language=language
        ),
        loss=loss,
        amplified=loss != designed.loss,
        response_bias=find_response_bias(designed, collected, estimates, anchor),
        mean=mean,
        words=survey.wording,
        language=language,
    )


def _estimates(
    designed: DesignedQuestion, reports: Any, confidence: Number, language: str, words: Phrases
) -> tuple[tuple[str, ...], tuple[Estimate, ...], int | None]:
    """Labels, estimates, and the index of the mean, if there is one."""
    labels, design = tuple(designed.question.labels(language, words)), designed.design
    average = words.say("mean", language)
    if isinstance(design, Duchi):
        return (average,), (design.estimate(reports, confidence=confidence),), 0
    if isinstance(design, NumberOrNot):
        mean = design.estimate(reports, confidence=confidence)
        not_said = design.not_said(reports, confidence=confidence)
        return (average, *labels), (mean, not_said), 0
    if designed.options > 1:
        return labels, _option_shares(designed, reports, confidence), None
    estimates = design.estimate(reports, confidence=confidence)
    if isinstance(estimates, Estimate):
        return labels[1:], (estimates,), None
    if isinstance(design, Ordinal):
        scores = [float(point) for point in range(1, design.categories + 1)]
        mean = design.estimate_mean(reports, scores=scores, confidence=confidence)
        return (*labels, average), (*estimates, mean), len(labels)
    return labels, tuple(estimates), None


def _option_shares(
    designed: DesignedQuestion, reports: Any, confidence: Number
) -> tuple[Estimate, ...]:
    """The share of each option of a multiple choice, and of people who prefer not to say."""
    boxes, level = designed.boxes(reports), confidence_level(confidence)
    return tuple(
        estimate_share(
            int(column.sum()), len(boxes), p=channel.p, q=channel.q, confidence=level
        )
        for column, channel in zip(boxes.T, designed.channels, strict=True)
    )
