"""Which design each question gets, and why.

| question | design |
|---|---|
| yes/no | randomized response: optimal for two answers |
| one of k | randomized response while k < 3 odds + 2, then OUE, beyond 1,000 answers OLH |
| several of d | all options at once as one of 2**d answers, or each option by itself, whichever
  errs less; "prefer not to say" is one more answer, or one more option |
| scale | ordinal; as one of k if it has more than 12 points, or "prefer not to say" |
| number | one bit (`Duchi`); `NumberOrNot` if people may decline |

Every design is a channel of whole numbers, which a phone draws exactly. So none adds continuous
noise. A question that declares a design by name, or its odds, gets that.

"Prefer not to say" is one of the answers that go through the design, so it is as private as any
other answer.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import rational
from deniable.mechanisms import OLH, OUE, Duchi, NumberOrNot, Ordinal, RandomizedResponse
from deniable.mechanisms.epsilon_or_odds import odds_of, rate
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.oue import crossover
from deniable.privacy import Loss
from deniable.surveys.questionnaire.declared_designs import declared_response
from deniable.surveys.questionnaire.questionnaire import Questionnaire
from deniable.surveys.questionnaire.survey_question import SurveyQuestion

_MOST_ORDINAL = 12  # points of a scale; the weights of more would not fit on a page
_MOST_JOINT = 6  # options that are randomized at once: 64 answers
_MANY = 1000


@dataclass(frozen=True, slots=True)
class DesignedQuestion:
    """A private question with its design. For a multiple choice `options` is the number of
    boxes, "prefer not to say" included; for any other question it is 1."""

    question: SurveyQuestion
    design: Any
    loss: Loss
    why: str
    options: int = 1
    joint: bool = False

    @property
    def channel(self) -> RandomizedResponse | None:
        """The yes/no channel of one answer (or option); None if the question is for a mean."""
        design = self.design
        if isinstance(design, Duchi | NumberOrNot | Ordinal):
            return None
        if self.joint:  # half of all sets hold a given option; the true set gains p - q
            by_chance = design.q * 2 ** (len(self.question.options) - 1)
            return RandomizedResponse.channel(by_chance + design.p - design.q, by_chance)
        return RandomizedResponse.channel(design.p, design.q)

    @property
    def channels(self) -> list[RandomizedResponse]:
        """The yes/no channel of every box of a multiple choice, "prefer not to say" last."""
        assert self.channel is not None
        declined = RandomizedResponse.channel(self.design.p, self.design.q)
        boxes = [self.channel] * len(self.question.options)
        return boxes + [declined] * self.question.prefer_not_to_say

    def randomize(self, answers: Any) -> NDArray[Any]:
        """One report per person. Each answer to a multiple choice is a row of booleans (boxes);
        a tick at "prefer not to say" clears all other boxes. For a number, nan declines."""
        encoded = answers if self.options == 1 else self.encode(answers)
        return np.asarray(self.design.randomize(encoded))

    def encode(self, answers: Any) -> NDArray[np.int64]:
        """Answers to a multiple choice as the design takes them: one row of ticks per person,
        or the number of the set of ticks if all boxes are randomized at once."""
        marks = read_answers(answers, 2).numbers.reshape(-1, self.options)
        if self.question.prefer_not_to_say:
            marks = np.column_stack([marks[:, :-1] * (1 - marks[:, -1:]), marks[:, -1]])
        return np.asarray(marks @ (1 << np.arange(self.options)) if self.joint else marks)

    def boxes(self, reports: Any) -> NDArray[np.int64]:
        """Reports of a multiple choice as rows of 0 and 1, one for each box."""
        marks = np.asarray(reports)
        if self.joint:
            self.design.aggregate(marks)  # refuses invalid reports
            return np.asarray(marks[:, None] >> np.arange(self.options) & 1, dtype=np.int64)
        if marks.ndim != 2 or marks.shape[1] != self.options:
            raise InvalidData(
                f"Each report of {self.question.id} must have {self.options} boxes."
            )
        return read_answers(marks, 2).numbers.reshape(marks.shape)


def design_question(question: SurveyQuestion, epsilon: Fraction) -> DesignedQuestion:
    """Chooses the design of one private question at an epsilon.

    >>> from deniable.surveys.questionnaire.survey_question import SurveyQuestion
    >>> designed = design_question(SurveyQuestion(id="a", kind="yes-no", text="?"), Fraction(1))
    >>> type(designed.design).__name__, designed.loss.epsilon()
    ('RandomizedResponse', 1.0)
    """
    k = question.answers
    strength = _strength(question, epsilon)
    match question.kind:
        case "yes-no" if question.design is not None:
            return _with_design(question, declared_response(question.design), "as declared")
        case "yes-no":
            why = "randomized response: the best for few answers"
            return _with_design(question, RandomizedResponse(**strength, categories=k), why)
        case "single-choice":
            return _design_choice(question, strength, k)
        case "scale" if question.prefer_not_to_say or k > _MOST_ORDINAL:
            return _design_choice(question, strength, k)
        case "scale":
            why = "ordinal: reports are near the true answer, so means err less"
            return _with_design(question, Ordinal(**strength, categories=k), why)
        case "multiple-choice":
            return _design_multiple_choice(question, strength)
        case "number":
            assert question.low is not None
            assert question.high is not None
            limits = {"low": question.low, "high": question.high, "step": question.step}
            if question.prefer_not_to_say:
                why = "one of low, high and not said; a number is rounded to an end at random"
                return _with_design(question, NumberOrNot(**strength, **limits), why)
            why = "one bit: a number is rounded to an end at random; good for means"
            return _with_design(question, Duchi(**strength, **limits), why)
    raise InvalidParameter(
        f"{question.id}: free text cannot be randomized and may identify its writer. "
        'Offer a closed list of options, with "other" among them.'
    )


def split_epsilon(survey: Questionnaire) -> dict[str, Fraction]:
    """The epsilon of each private question: its own, or an equal part of the rest.

    If each person gets one question at random, a question without its own has the whole
    epsilon.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> two = '[[questions]]\\nkind="yes-no"\\ntext="?"\\nid="'
    >>> split_epsilon(
    ...     loads(f'id="s"\\ntitle="t"\\nepsilon=3\\n{two}a"\\n{two}b"\\nepsilon=2\\n')
    ... )
    {'a': Fraction(1, 1), 'b': Fraction(2, 1)}
    """
    declared = {question.id: question.declared_epsilon for question in survey.private}
    own = {name: epsilon for name, epsilon in declared.items() if epsilon is not None}
    if survey.collection == "one-question-each":
        return {name: own.get(name, survey.total_epsilon) for name in declared}
    rest = declared.keys() - own.keys()
    each = (survey.total_epsilon - sum(own.values())) / len(rest) if rest else Fraction(0)
    return {question.id: own.get(question.id, each) for question in survey.private}


def design_questions(survey: Questionnaire) -> dict[str, DesignedQuestion]:
    """All private questions with their designs."""
    return {
        name: design_question(survey.question(name), epsilon)
        for name, epsilon in split_epsilon(survey).items()
    }


def _with_design(question: SurveyQuestion, design: Any, why: str) -> DesignedQuestion:
    return DesignedQuestion(question, design, design.loss, why)


def _strength(question: SurveyQuestion, epsilon: Fraction) -> dict[str, Any]:
    """The odds that a question declares, or else its epsilon."""
    if question.odds is not None:
        return {"odds": rational(question.odds)}
    return {"epsilon": epsilon}


def _design_choice(
    question: SurveyQuestion, strength: dict[str, Any], k: int
) -> DesignedQuestion:
    if k <= crossover(odds_of(strength.get("epsilon"), strength.get("odds"))):
        why = "randomized response: the best for few answers"
        return _with_design(question, RandomizedResponse(**strength, categories=k), why)
    if k <= _MANY:
        why = "one bit for each answer (OUE): errs less when there are many answers"
        return _with_design(question, OUE(**strength, categories=k), why)
    why = "local hashing (OLH): as good as one bit for each answer, with shorter reports"
    return _with_design(question, OLH(**strength, categories=k), why)


def _design_multiple_choice(
    question: SurveyQuestion, strength: dict[str, Any]
) -> DesignedQuestion:
    """All options at once, or each by itself, whichever errs less at a share of 10 %."""
    d, boxes = len(question.options), question.answers
    epsilon = rate(strength.get("epsilon"), strength.get("odds"))  # ln(odds), rounded down
    single = RandomizedResponse(epsilon=epsilon / boxes)
    separate = DesignedQuestion(
        question,
        single,
        single.loss * boxes,
        f"each option by itself, at epsilon / {boxes}",
        options=boxes,
    )
    if d > _MOST_JOINT:
        return separate
    sets = 2**d + question.prefer_not_to_say
    whole = RandomizedResponse(**strength, categories=sets)
    why = f"all options at once, as one of {sets} answers"
    joint = DesignedQuestion(question, whole, whole.loss, why, boxes, True)
    joint_variance, separate_variance = (
        designed.channel.variance(0.1, respondents=1)
        for designed in (joint, separate)
        if designed.channel is not None
    )
    return joint if joint_variance < separate_variance else separate
