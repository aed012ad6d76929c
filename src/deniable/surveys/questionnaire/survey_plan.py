"""How many people a survey needs, before anyone is asked.

Each question's design is a yes/no channel for each of its answers, and `deniable.price` says
how many people that channel needs for a margin. If each person gets one of d questions at
random, the survey needs d times as many people.
"""

import math
from dataclasses import dataclass

import numpy as np

from deniable import price
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.mechanisms import Duchi, NumberOrNot, Ordinal
from deniable.surveys.questionnaire.designs import DesignedQuestion, design_questions
from deniable.surveys.questionnaire.questionnaire import Questionnaire, require_questionnaire
from deniable.surveys.questionnaire.ways_to_ask import WaysToAsk, compare_ways_to_ask

_COMMON = 0.1
_DECLINING = 0.05


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One question's part of a plan. `people` counts all respondents of the survey.

    `design_effect` is how many times more people the coins need than a direct question, and
    `power` is the probability that the survey finds that the expected share is not 0.
    """

    question: str
    design: str
    why: str
    epsilon: float
    people: int
    direct: int
    design_effect: float
    margin: float | None
    power: float | None


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """What a survey needs. `people` are enough for the margin of every question."""

    lines: tuple[PlanLine, ...]
    people: int
    epsilon: float
    ways: WaysToAsk | None

    def __str__(self) -> str:
        rows = [
            f"{line.question}: {line.people:,} people ({line.direct:,} if asked directly), "
            f"epsilon {line.epsilon:.4g}, {line.why}"
            for line in self.lines
        ]
        ending = [self.ways.why] if self.ways else []
        return "\n".join([*rows, f"In total: {self.people:,} people.", *ending])


def plan(
    survey: Questionnaire,
    *,
    margin: Number = 0.03,
    confidence: Number = 0.95,
    people: int | None = None,
    response_rate: Number = 1,
) -> SurveyPlan:
    """People needed for a margin, question by question. The margin is a share, or for a number
    a share of its range.

    With `people`, every line also states the margin for that many people.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads('''
    ... id = "s"
    ... title = "t"
    ... epsilon = 1.0986122886681098
    ... [[questions]]
    ... id = "doping"
    ... kind = "yes-no"
    ... text = "Do you?"
    ... ''')
    >>> plan(survey, margin=0.03).people  # 1,068 if asked directly
    4269
    """
    questions = design_questions(require_questionnaire(survey))
    if not questions:
        raise InvalidParameter("No question is private: there is nothing to plan.")
    groups = len(questions) if survey.collection == "one-question-each" else 1
    lines = tuple(
        _plan_question(designed, groups, margin, confidence, people, response_rate)
        for designed in questions.values()
    )
    ways = None
    if len(questions) > 1:
        ways = compare_ways_to_ask(
            len(questions), epsilon=survey.total_epsilon, prevalence=_COMMON
        )
    return SurveyPlan(
        lines=lines,
        people=max(line.people for line in lines),
        epsilon=float(survey.total_epsilon),
        ways=ways,
    )


def _plan_question(
    designed: DesignedQuestion,
    groups: int,
    margin: Number,
    confidence: Number,
    people: int | None,
    response_rate: Number,
) -> PlanLine:
    name, kind = designed.question.id, type(designed.design).__name__
    channel = designed.channel
    finds: float | None = None
    if channel is None:
        spread = _spread(designed)
        need, bought = _people_for_mean(
            spread, margin, confidence, response_rate, people, groups
        )
        effect = spread / 0.25
    else:
        need = price.sample_size(
            channel, margin=margin, confidence=confidence, response_rate=response_rate
        )
        rate = _planned_share(designed)
        effect = price.design_effect(channel, rate)
        bought = None
        if people is not None:
            n = max(1, people // groups)
            bought = price.expected_margin(channel, n=n, confidence=confidence)
            level = 1 - rational(confidence)
            finds = price.power(channel, n=n, prevalence=rate, significance=level)
    direct = price.sample_size(
        None, margin=margin, confidence=confidence, response_rate=response_rate
    )
    return PlanLine(
        name,
        kind,
        designed.why,
        designed.loss.epsilon(),
        need * groups,
        direct,
        effect,
        bought,
        finds,
    )


def _planned_share(designed: DesignedQuestion) -> float:
    """The share to plan for: of the yeses, of the rarest answer, or else one in ten."""
    question = designed.question
    shares = question.expected[1:2] if question.kind == "yes-no" else question.expected
    return min((share for share in shares if 0 < share < 1), default=_COMMON)


def _people_for_mean(
    spread: float,
    margin: Number,
    confidence: Number,
    response_rate: Number,
    people: int | None,
    groups: int,
) -> tuple[int, float | None]:
    """People for the mean of a number or scale; the margin is a share of its range."""
    from scipy.special import ndtri

    z = float(ndtri((1 + float(confidence)) / 2))
    need = math.ceil(spread * (z / float(margin)) ** 2 / float(response_rate))
    bought = None if people is None else z * math.sqrt(spread * groups / people)
    return need, bought


def _spread(designed: DesignedQuestion) -> float:
    """The largest variance of one report about a mean, in squares of the range: half of the
    answers lie at one end and half at the other."""
    design = designed.design
    if not isinstance(design, NumberOrNot):
        return _coin_variance(design) + 0.25
    declining = rational((designed.question.expected or [_DECLINING])[0])
    means = (design.low, (design.low + design.high) / 2, design.high)
    worst = max(design.variance(mean, respondents=1, declining=declining) for mean in means)
    return worst / float(design.high - design.low) ** 2


def _coin_variance(design: Duchi | Ordinal) -> float:
    """The largest variance that coins add to one answer, in squares of the range."""
    if isinstance(design, Duchi):
        ends = [design.variance(x, respondents=1) for x in (design.low, design.high)]
        return max(ends) / float(design.high - design.low) ** 2
    channel = np.array(design.matrix, dtype=float)
    points = np.arange(design.categories) / (design.categories - 1)
    readings = points @ np.linalg.inv(channel)
    return float((readings**2 @ channel - points**2).max())
