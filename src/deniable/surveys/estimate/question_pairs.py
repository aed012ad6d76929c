"""Tables of two questions of a survey, with labels.

Every pair of questions gets a table if at least one is private, the same people answered both,
and the table is readable: at most 12 columns and 60 rows. A question with more than 12 answers
takes the rows. A number has one row for its low end and one for its high end; its mean for each
answer of the other question is also given. A multiple choice has one row per box.
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
from deniable.surveys.questionnaire.questionnaire import Questionnaire
from deniable.surveys.questionnaire.survey_question import SurveyQuestion

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
        """The mean of a number for each answer of the other question; () without a number."""
        is_number = [reader.ends is not None for reader in self.table.readers]
        if not any(is_number):
            return ()
        labels = self.column_labels if is_number[0] else self.row_labels
        return tuple(zip(labels, self.table.means(confidence), strict=True))


def tabulate_pairs(
    survey: Questionnaire,
    designed: dict[str, DesignedQuestion],
    collected: CollectedReports,
    language: str,
) -> Iterator[QuestionPair]:
    """The tables of all pairs that have one."""
    for first, second in combinations(survey.questions, 2):
        if not _fit(first, second) or not {first.id, second.id} <= collected.reports.keys():
            continue
        rows, columns = (second, first) if _size(second) > _COLUMNS else (first, second)
        reports = collected.both(rows.id, columns.id)
        if len(reports[0]):
            yield _tabulate(survey, designed, (rows, columns), reports, language)


def _tabulate(
    survey: Questionnaire,
    designed: dict[str, DesignedQuestion],
    sides: tuple[SurveyQuestion, SurveyQuestion],
    reports: tuple[Any, Any],
    language: str,
) -> QuestionPair:
    designs = [
        designed[question.id] if question.private else question.answers for question in sides
    ]
    labels = [_labels(question, language, survey) for question in sides]
    rows, columns = (_design_of(design) for design in designs)
    table = crosstab(rows, columns, reports, covariances=False)
    return QuestionPair(sides[0].id, sides[1].id, labels[0], labels[1], table)


def _design_of(question: DesignedQuestion | int) -> Any:
    """The design itself, unless the question is a multiple choice."""
    if isinstance(question, int) or question.options > 1:
        return question
    return question.design


def _fit(first: SurveyQuestion, second: SurveyQuestion) -> bool:
    """Whether two questions make a readable table."""
    both = (first, second)
    public = all(not question.private for question in both)
    listed = all(question.private or question.kind in _LISTED for question in both)
    if first.anchor or second.anchor or public or not listed:
        return False
    few, many = sorted((_size(first), _size(second)))
    return 0 < few <= _COLUMNS and many <= _ROWS


def _size(question: SurveyQuestion) -> int:
    """How many rows or columns a question takes."""
    if question.kind == "number":
        return 2 + question.prefer_not_to_say
    return question.answers


def _labels(question: SurveyQuestion, language: str, survey: Questionnaire) -> tuple[str, ...]:
    labels = question.labels(language, survey.wording)
    if question.kind != "number":
        return tuple(labels)
    return (f"{question.low:g}", f"{question.high:g}", *labels)
