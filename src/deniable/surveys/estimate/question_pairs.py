"""Which two questions of a survey make a table, and how it is labelled.

Every pair does that has at least one private question and reports of the same people, while it
can be read: at most a dozen columns, and five dozen rows. Of two questions the one with more
answers takes the rows. A number has a row for its low and its high end, over which it is
spread, and its mean for each answer of the other question stands below; a multiple choice has a
row a box.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from deniable.exact.rationals import Number
from deniable.mechanisms import Estimate
from deniable.surveys.estimate.crosstab import CrossTab, crosstab
from deniable.surveys.questionnaire.collected_reports import CollectedReports
from deniable.surveys.questionnaire.designs import DesignedQuestion
from deniable.surveys.questionnaire.questionnaire import Questionnaire, SurveyQuestion

_COLUMNS, _ROWS = 12, 60
_LISTED = ("yes-no", "single-choice", "scale")


@dataclass(frozen=True, slots=True, eq=False)
class QuestionPair:
    """Two questions in one table."""

    rows: str
    columns: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    table: CrossTab

    def means(self, confidence: Number = 0.95) -> tuple[tuple[str, Estimate], ...]:
        """The mean of a number for each answer of the other question; none without a number."""
        number = [one.ends is not None for one in self.table.readers]
        if not any(number):
            return ()
        labels = self.column_labels if number[0] else self.row_labels
        return tuple(zip(labels, self.table.means(confidence), strict=True))


def tabulate_pairs(
    survey: Questionnaire,
    made: dict[str, DesignedQuestion],
    collected: CollectedReports,
    language: str,
) -> Iterator[QuestionPair]:
    """Tables of all pairs that have one."""
    for one, other in combinations(survey.questions, 2):
        if not _fit(one, other) or not {one.id, other.id} <= collected.reports.keys():
            continue
        rows, columns = (other, one) if _size(other) > _COLUMNS else (one, other)
        reports = collected.both(rows.id, columns.id)
        if len(reports[0]):
            yield _tabulate(survey, made, (rows, columns), reports, language)


def _tabulate(
    survey: Questionnaire,
    made: dict[str, DesignedQuestion],
    sides: tuple[SurveyQuestion, SurveyQuestion],
    reports: tuple[Any, Any],
    language: str,
) -> QuestionPair:
    designs = [made[one.id] if one.private else one.answers for one in sides]
    labels = [_labels(one, language, survey) for one in sides]
    rows, columns = (_bare(one) for one in designs)
    table = crosstab(rows, columns, reports, covariances=False)
    return QuestionPair(sides[0].id, sides[1].id, labels[0], labels[1], table)


def _bare(design: DesignedQuestion | int) -> Any:
    """The design itself, if the question is no multiple choice."""
    if isinstance(design, int) or design.options > 1:
        return design
    return design.design


def _fit(one: SurveyQuestion, other: SurveyQuestion) -> bool:
    """Whether two questions make a table that can be read."""
    open_ones = [not x.private for x in (one, other)]
    listed = all(x.private or x.kind in _LISTED for x in (one, other))
    if one.anchor or other.anchor or all(open_ones) or not listed:
        return False
    few, many = sorted((_size(one), _size(other)))
    return 0 < few <= _COLUMNS and many <= _ROWS


def _size(question: SurveyQuestion) -> int:
    """How many rows or columns a question takes; none if it is not asked for tables."""
    if question.kind == "number":
        return 2 + question.prefer_not_to_say
    return question.answers


def _labels(question: SurveyQuestion, language: str, survey: Questionnaire) -> tuple[str, ...]:
    labels = question.labels(language, survey.wording)
    if question.kind != "number":
        return tuple(labels)
    return (f"{question.low:g}", f"{question.high:g}", *labels)
