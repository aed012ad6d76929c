"""Which design each question gets, and why.

| question | design |
|---|---|
| yes/no | randomized response: optimal for two answers |
| one of k | randomized response while k < 3 odds + 2, then OUE, beyond 1,000 answers OLH |
| several of d | all options at once as one of 2**d answers, or each by itself: what errs less;
  "prefer not to say" is one more answer of the former, one more option of the latter |
| scale | ordinal; randomized response if "prefer not to say" is one of the answers |
| number | the hybrid of one bit and piecewise; `NumberOrNot` if it may be declined |

"Prefer not to say" is an answer like any other, inside the design: whether somebody declined
is as private as what she would have said.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import OLH, OUE, Hybrid, NumberOrNot, Ordinal, RandomizedResponse
from deniable.mechanisms.epsilon_or_odds import odds_below
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.oue import crossover
from deniable.privacy import Loss
from deniable.surveys.questionnaire.questionnaire import Questionnaire, SurveyQuestion

_MOST_JOINT = 6  # options answered at once: 64 answers
_MANY = 1000


@dataclass(frozen=True, slots=True)
class DesignedQuestion:
    """A private question with its design. `options` is above 1 for a multiple choice: how many
    boxes there are, the one to decline with included."""

    question: SurveyQuestion
    design: Any
    loss: Loss
    why: str
    options: int = 1
    joint: bool = False

    @property
    def channel(self) -> RandomizedResponse | None:
        """The yes/no channel that one answer (or option) sees; None where means are wanted."""
        design = self.design
        if isinstance(design, Hybrid | NumberOrNot | Ordinal):
            return None
        if self.joint:  # half of all sets hold any one option; the true one is q more likely
            by_chance = design.q * 2 ** (len(self.question.options) - 1)
            return RandomizedResponse.channel(by_chance + design.p - design.q, by_chance)
        return RandomizedResponse.channel(design.p, design.q)

    @property
    def channels(self) -> list[RandomizedResponse]:
        """Of a multiple choice: the yes/no channel of every box, that to decline with last."""
        assert self.channel is not None
        declined = RandomizedResponse.channel(self.design.p, self.design.q)
        boxes = [self.channel] * len(self.question.options)
        return boxes + [declined] * self.question.prefer_not_to_say

    def randomize(self, answers: Any) -> NDArray[Any]:
        """One report a person. Answers to a multiple choice are rows of booleans, a box each;
        whoever ticks the one to decline with has ticked no other. To a number, nan declines."""
        meant = answers if self.options == 1 else self.encode(answers)
        return np.asarray(self.design.randomize(meant))

    def encode(self, answers: Any) -> NDArray[np.int64]:
        """Answers to a multiple choice as the design takes them: a row of ticks a person, or
        the number of the set of ticks if all go through the coins at once."""
        marks = read_answers(answers, 2).numbers.reshape(-1, self.options)
        if self.question.prefer_not_to_say:
            marks = np.column_stack([marks[:, :-1] * (1 - marks[:, -1:]), marks[:, -1]])
        return np.asarray(marks @ (1 << np.arange(self.options)) if self.joint else marks)

    def boxes(self, reports: Any) -> NDArray[np.int64]:
        """Reports of a multiple choice as rows of 0 and 1, a box each."""
        marks = np.asarray(reports)
        if self.joint:
            self.design.aggregate(marks)  # refuses what cannot be a report
            return np.asarray(marks[:, None] >> np.arange(self.options) & 1, dtype=np.int64)
        if marks.ndim != 2 or marks.shape[1] != self.options:
            raise InvalidData(f"Reports of {self.question.id} need {self.options} boxes each.")
        return read_answers(marks, 2).numbers.reshape(marks.shape)


def design_question(question: SurveyQuestion, epsilon: Fraction) -> DesignedQuestion:
    """The design of one private question at an epsilon.

    >>> from deniable.surveys.questionnaire.questionnaire import SurveyQuestion
    >>> made = design_question(SurveyQuestion(id="a", kind="yes-no", text="?"), Fraction(1))
    >>> type(made.design).__name__, made.loss.epsilon()
    ('RandomizedResponse', 1.0)
    """
    k = question.answers
    match question.kind:
        case "yes-no":
            why = "randomized response: the best for so few answers"
            return _with_design(
                question, RandomizedResponse(epsilon=epsilon, categories=k), why
            )
        case "single-choice":
            return _design_choice(question, epsilon, k)
        case "scale" if question.prefer_not_to_say:
            return _design_choice(question, epsilon, k)
        case "scale":
            why = "ordinal: near answers stand in for each other, so means err less"
            return _with_design(question, Ordinal(epsilon=epsilon, categories=k), why)
        case "multiple-choice":
            return _design_multiple_choice(question, epsilon)
        case "number":
            assert question.low is not None
            assert question.high is not None
            limits = {"low": question.low, "high": question.high, "step": question.step}
            if question.prefer_not_to_say:
                why = (
                    "one of low, high and not said, a number being rounded to an end by chance"
                )
                return _with_design(question, NumberOrNot(epsilon=epsilon, **limits), why)
            why = "hybrid: a mean from one bit or a window, whichever a coin says"
            return _with_design(question, Hybrid(epsilon=epsilon, **limits), why)
    raise InvalidParameter(
        f"{question.id}: free text cannot be randomized, and gives its writer away. "
        'Ask for one of a closed list of options, with "other" among them.'
    )


def split_epsilon(survey: Questionnaire) -> dict[str, Fraction]:
    """The epsilon of each private question: its own, or an equal part of what is left.

    Where everybody gets one question at random, each has the whole.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> two = '[[questions]]\\nkind="yes-no"\\ntext="?"\\nid="'
    >>> split_epsilon(
    ...     loads(f'id="s"\\ntitle="t"\\nepsilon=3\\n{two}a"\\n{two}b"\\nepsilon=2\\n')
    ... )
    {'a': Fraction(1, 1), 'b': Fraction(2, 1)}
    """
    if survey.collection == "one-question-each":
        return {one.id: survey.total_epsilon for one in survey.private}
    own = {one.id: Fraction(repr(one.epsilon)) for one in survey.private if one.epsilon}
    rest = [one.id for one in survey.private if one.epsilon is None]
    each = (survey.total_epsilon - sum(own.values())) / len(rest) if rest else Fraction(0)
    return {one.id: own.get(one.id, each) for one in survey.private}


def design_questions(survey: Questionnaire) -> dict[str, DesignedQuestion]:
    """All private questions with their designs."""
    return {
        name: design_question(survey.question(name), epsilon)
        for name, epsilon in split_epsilon(survey).items()
    }


def _with_design(question: SurveyQuestion, design: Any, why: str) -> DesignedQuestion:
    return DesignedQuestion(question, design, design.loss, why)


def _design_choice(question: SurveyQuestion, epsilon: Fraction, k: int) -> DesignedQuestion:
    if k <= crossover(odds_below(epsilon)):
        why = "randomized response: the best for so few answers"
        return _with_design(question, RandomizedResponse(epsilon=epsilon, categories=k), why)
    if k <= _MANY:
        why = "one bit for each answer (OUE): with so many answers it errs less"
        return _with_design(question, OUE(epsilon=epsilon, categories=k), why)
    why = "local hashing (OLH): as good as one bit for each answer, and far shorter"
    return _with_design(question, OLH(epsilon=epsilon, categories=k), why)


def _design_multiple_choice(question: SurveyQuestion, epsilon: Fraction) -> DesignedQuestion:
    """All options at once, or each by itself, whichever errs less at a share of 1 in 10."""
    d, boxes = len(question.options), question.answers
    alone = RandomizedResponse(epsilon=epsilon / boxes)
    apart = DesignedQuestion(
        question,
        alone,
        alone.loss * boxes,
        f"each option by itself, at epsilon / {boxes}",
        options=boxes,
    )
    if d > _MOST_JOINT:
        return apart
    sets = 2**d + question.prefer_not_to_say
    whole = RandomizedResponse(epsilon=epsilon, categories=sets)
    why = f"all options at once, as one of {sets} answers"
    together = DesignedQuestion(question, whole, whole.loss, why, boxes, True)
    one, other = (
        made.channel.variance(0.1, respondents=1)
        for made in (together, apart)
        if made.channel is not None
    )
    return together if one < other else apart
