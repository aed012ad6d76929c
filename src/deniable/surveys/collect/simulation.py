"""A survey rehearsed with made-up people, so that its report can be seen before the field.

True answers follow the questions' `expected` shares (or, without them, one in ten says yes and
other answers are equally frequent; one in twenty declines where that is offered), and go
through the very designs that respondents would use.
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
from deniable.surveys.questionnaire.questionnaire import Questionnaire, SurveyQuestion

_PARTS = 10**9
_DECLINE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedSurvey:
    """Reports of made-up people, and the truth behind them, which no survey has."""

    collected: CollectedReports
    truth: dict[str, NDArray[Any]]


def simulate(survey: Questionnaire, people: int) -> SimulatedSurvey:
    """Asks so many made-up people.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\nkind="yes-no"\\ntext="?"'
    ... )
    >>> simulate(survey, 500).collected.reports["a"].shape
    (500,)
    """
    n = whole(people, "people")
    made = design_questions(survey)
    truth = {one.id: _draw_answers(one, n) for one in survey.questions}
    everybody = np.arange(n)
    turn = uniform_below(max(1, len(made)), n)  # which private question somebody gets
    reports: dict[str, NDArray[Any]] = {}
    whose: dict[str, NDArray[np.int64]] = {}
    for place, name in enumerate(made):
        one_each = survey.collection == "one-question-each"
        mine = np.flatnonzero(turn == place) if one_each else everybody
        if mine.size:
            reports[name] = made[name].randomize(truth[name][mine])
            whose[name] = mine
    for question in survey.questions:
        if not question.private:
            reports[question.id] = truth[question.id]
            whose[question.id] = everybody
    lines = n
    if survey.shuffler is not None and survey.shuffler.separates:  # one line an answer
        sizes = np.cumsum([0, *(len(found) for found in reports.values())])
        whose = {
            name: np.arange(a, b) for name, a, b in zip(reports, sizes, sizes[1:], strict=False)
        }
        lines = int(sizes[-1])
    return SimulatedSurvey(CollectedReports(reports, whose, lines), truth)


def _draw_answers(question: SurveyQuestion, n: int) -> NDArray[Any]:
    """True answers of made-up people."""
    if question.kind == "text":
        raise InvalidParameter(f"{question.id}: free text is never collected. See `lint`.")
    if question.kind == "number":
        assert question.low is not None
        assert question.high is not None
        steps = round((question.high - question.low) / question.step)
        middling = uniform_below(steps + 1, n) + uniform_below(steps + 1, n)
        numbers = np.asarray(question.low + middling / 2 * question.step)
        if question.prefer_not_to_say:
            gone = (question.expected or [_DECLINE])[0]
            numbers[_draw([1 - gone, gone], n) == 1] = np.nan
        return numbers
    if question.kind == "multiple-choice":
        guess = [0.1] * len(question.options) + [_DECLINE] * question.prefer_not_to_say
        shares = question.expected or guess
        boxes = np.stack([_draw([1 - share, share], n) for share in shares], axis=1)
        if question.prefer_not_to_say:  # the last box empties the others
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
