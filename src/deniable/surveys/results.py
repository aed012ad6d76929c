"""The report of a survey: estimates with intervals, cross-tabs, what an answer proves.

All of it is computed from reports; none of it costs anything more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from deniable.errors import InvalidData
from deniable.exact.rationals import Number
from deniable.mechanisms import Estimate, Hybrid, NumberOrNot, Ordinal, RandomizedResponse
from deniable.mechanisms.estimate import level_of, share
from deniable.privacy import Loss, PureLoss
from deniable.surveys.asking import Asked, asked
from deniable.surveys.collected import Collected
from deniable.surveys.crosstab import CrossTab, crosstab
from deniable.surveys.questionnaire import Question, Questionnaire, said
from deniable.surveys.sentences import what_an_answer_proves
from deniable.surveys.shuffled_collection import collected_loss

_WIDEST = 12  # answers of a question that still makes a readable table


@dataclass(frozen=True, slots=True)
class Result:
    """One question: an estimate for each label, or for the mean of a number."""

    question: str
    text: str
    labels: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    respondents: int
    epsilon: float
    sentence: str
    loss: Loss  # of one report as it was collected: amplified only by a shuffler that hides it


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two questions in one table."""

    rows: str
    columns: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    table: CrossTab


@dataclass(frozen=True, slots=True, eq=False)
class SurveyReport:
    """Everything that a survey says. `loss` is what one person's reports cost at most."""

    title: str
    results: tuple[Result, ...]
    pairs: tuple[Pair, ...]
    loss: Loss
    respondents: int

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.respondents:,} respondents"]
        for one in self.results:
            lines.append(f"\n{one.text} ({one.respondents:,} reports)")
            lines += [
                f"  {label}: {estimate}"
                for label, estimate in zip(one.labels, one.estimates, strict=True)
            ]
            lines.append(f"  {one.sentence}")
        return "\n".join(lines)


def report(
    survey: Questionnaire,
    collected: Collected,
    *,
    confidence: Number = 0.95,
    language: str | None = None,
) -> SurveyReport:
    """Reads all reports of a survey.

    >>> from deniable.surveys.questionnaire import loads
    >>> from deniable.surveys.collected import collect
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\n'
    ...     'kind="yes-no"\\ntext="Do you?"'
    ... )
    >>> found = report(survey, collect(survey, ['{"a":1}'] * 40 + ['{"a":0}'] * 60))
    >>> found.results[0].labels, round(found.results[0].estimates[0].value, 3)
    (('yes',), 0.284)
    """
    spoken = language or survey.languages[0]
    made = asked(survey)
    results = tuple(
        _result(survey, made[name], collected, confidence, spoken)
        for name in made
        if name in collected.reports
    )
    if not results:
        raise InvalidData("No private question has any report.")
    one_each = survey.collection == "one-question-each"
    losses = [one.loss for one in made.values()]
    whole: Loss = PureLoss(0)
    if one_each:
        whole = max(losses, key=lambda loss: loss.epsilon())
    else:
        for loss in losses:
            whole = whole + loss
    return SurveyReport(
        title=said(survey.title, spoken),
        results=results,
        pairs=tuple(_pairs(survey, made, collected, spoken)),
        loss=whole,
        respondents=collected.respondents,
    )


def _result(
    survey: Questionnaire, one: Asked, collected: Collected, confidence: Number, language: str
) -> Result:
    question, reports = one.question, collected.reports[one.question.id]
    labels, estimates = _estimates(one, reports, confidence, language)
    return Result(
        question=question.id,
        text=said(question.text, language),
        labels=labels,
        estimates=estimates,
        respondents=len(reports),
        epsilon=one.loss.epsilon(),
        sentence=what_an_answer_proves(one.design),
        loss=_collected(survey, one, len(reports)),
    )


def _collected(survey: Questionnaire, one: Asked, reports: int) -> Loss:
    """A multiple choice asked option by option is one report with the sum of their losses."""
    if one.options > 1 and not one.joint:
        return one.loss
    return collected_loss(survey, one.design, reports=reports)


def _estimates(
    one: Asked, reports: Any, confidence: Number, language: str
) -> tuple[tuple[str, ...], tuple[Estimate, ...]]:
    labels, design = tuple(one.question.labels(language)), one.design
    if isinstance(design, Hybrid):
        return ("mean",), (design.estimate(reports, confidence=confidence),)
    if isinstance(design, NumberOrNot):
        mean = design.estimate(reports, confidence=confidence)
        return ("mean", *labels), (mean, design.not_said(reports, confidence=confidence))
    if one.options > 1:
        return labels, _options(one, reports, confidence)
    found = design.estimate(reports, confidence=confidence)
    if isinstance(found, Estimate):
        return ("yes",), (found,)
    if isinstance(design, Ordinal):
        scores = [float(point) for point in range(1, design.categories + 1)]
        mean = design.estimate_mean(reports, scores=scores, confidence=confidence)
        return (*labels, "mean"), (*found, mean)
    return labels, tuple(found)


def _options(one: Asked, reports: Any, confidence: Number) -> tuple[Estimate, ...]:
    """Of a multiple choice: the share of each option among all, and of those who declined."""
    boxes, level = one.boxes(reports), level_of(confidence)
    return tuple(
        share(int(column.sum()), len(boxes), p=channel.p, q=channel.q, confidence=level)
        for column, channel in zip(boxes.T, one.channels, strict=True)
    )


def _pairs(
    survey: Questionnaire, made: dict[str, Asked], collected: Collected, language: str
) -> Iterator[Pair]:
    """Tables of all pairs that have one: at least one private, few answers, the same people."""
    for one, other in combinations(survey.questions, 2):
        designs = _design(one, made), _design(other, made)
        if None in designs or not (one.private or other.private):
            continue
        if not {one.id, other.id} <= collected.reports.keys():
            continue
        reports = collected.both(one.id, other.id)
        if len(reports[0]) == 0:
            continue
        rows, columns = (None if design == "public" else design for design in designs)
        table = crosstab(rows, columns, counts=_table(one, other, reports))
        yield Pair(
            one.id,
            other.id,
            tuple(one.labels(language)),
            tuple(other.labels(language)),
            table,
        )


def _table(one: Question, other: Question, reports: tuple[Any, Any]) -> Any:
    a, b = (np.asarray(part, dtype=np.int64) for part in reports)
    flat = np.bincount(a * other.answers + b, minlength=one.answers * other.answers)
    if flat.size > one.answers * other.answers:
        raise InvalidData("Some reports name answers that the question does not have.")
    return flat.reshape(one.answers, other.answers)


def _design(question: Question, made: dict[str, Asked]) -> Any:
    """A question's design if it fits into a table, "public" if it has none, else None."""
    if question.answers > _WIDEST or question.kind not in ("yes-no", "single-choice", "scale"):
        return None
    if not question.private:
        return "public"
    design = made[question.id].design
    return design if isinstance(design, RandomizedResponse | Ordinal) else None
