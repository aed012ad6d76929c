"""A survey simulated with made-up people, to see its report before real people are asked.

True answers follow the questions' `expected` shares. Without them, one in ten says yes, other
answers are equally frequent, and one in twenty declines if that is possible. The answers go
through the same designs that respondents use.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact import categorical, uniform_below
from deniable.exact.rationals import whole
from deniable.surveys.questionnaire.collected_reports import CollectedReports
from deniable.surveys.questionnaire.designs import design_questions
from deniable.surveys.questionnaire.questionnaire import Questionnaire
from deniable.surveys.questionnaire.survey_question import SurveyQuestion

_PARTS = 10**9
_DECLINE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedSurvey:
    """Reports of made-up people, and their true answers, which a real survey does not have."""

    collected: CollectedReports
    truth: dict[str, NDArray[Any]]


def simulate(survey: Questionnaire, people: int) -> SimulatedSurvey:
    """Simulates the survey with this many people.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\nkind="yes-no"\\ntext="?"'
    ... )
    >>> simulate(survey, 500).collected.reports["a"].shape
    (500,)
    """
    n = whole(people, "people")
    designed = design_questions(survey)
    truth = {question.id: _draw_answers(question, n) for question in survey.questions}
    everybody = np.arange(n)
    turn = uniform_below(max(1, len(designed)), n)  # which private question each person gets
    reports: dict[str, NDArray[Any]] = {}
    people_of: dict[str, NDArray[np.int64]] = {}
    for place, name in enumerate(designed):
        one_each = survey.collection == "one-question-each"
        people_asked = np.flatnonzero(turn == place) if one_each else everybody
        if people_asked.size:
            reports[name] = designed[name].randomize(truth[name][people_asked])
            people_of[name] = people_asked
    for question in survey.questions:
        if not question.private:
            reports[question.id] = truth[question.id]
            people_of[question.id] = everybody
    lines = n
    if survey.shuffler is not None and survey.shuffler.separates:  # one line per answer
        sizes = np.cumsum([0, *(len(listed) for listed in reports.values())])
        people_of = {
            name: np.arange(a, b) for name, a, b in zip(reports, sizes, sizes[1:], strict=False)
        }
        lines = int(sizes[-1])
    return SimulatedSurvey(CollectedReports(reports, people_of, lines), truth)


def _draw_answers(question: SurveyQuestion, n: int) -> NDArray[Any]:
    """True answers of made-up people."""
    if question.kind == "text":
        raise InvalidParameter(
            f"{question.id}: free text cannot be simulated or collected. Run `lint`."
        )
    if question.kind == "number":
        assert question.low is not None
        assert question.high is not None
        steps = round((question.high - question.low) / question.step)
        doubled = uniform_below(steps + 1, n) + uniform_below(steps + 1, n)
        numbers = np.asarray(question.low + doubled / 2 * question.step)
        if question.prefer_not_to_say:
            declining = (question.expected or [_DECLINE])[0]
            numbers[_draw([1 - declining, declining], n) == 1] = np.nan
        return numbers
    if question.kind == "multiple-choice":
        guess = [0.1] * len(question.options) + [_DECLINE] * question.prefer_not_to_say
        shares = question.expected or guess
        boxes = np.stack([_draw([1 - share, share], n) for share in shares], axis=1)
        if question.prefer_not_to_say:  # the last box clears the others
            boxes[:, :-1] *= 1 - boxes[:, -1:]
        return boxes
    if question.anchor:
        return np.zeros(n, dtype=np.int64)
    return _draw(question.expected or _guess_shares(question), n)


def _guess_shares(question: SurveyQuestion) -> list[float]:
    k = question.answers
    if question.kind == "yes-no":
        return [0.9 - 0.05 * (k == 3), 0.1, *([0.05] if k == 3 else [])]
    return [1 / k] * k


def _draw(shares: list[float], n: int) -> NDArray[Any]:
    weights = [round(share * _PARTS) for share in shares]
    return categorical(weights, [Fraction(0)] * len(weights), n)
