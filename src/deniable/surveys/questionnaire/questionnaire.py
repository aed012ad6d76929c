"""A questionnaire as its owner writes it, in TOML or JSON.

Unknown keys are refused, not ignored: a misspelt `prefer_not_to_say` would change what
respondents are promised. Everything here is public.
"""

import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal
from unicodedata import category

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from deniable.errors import InvalidParameter
from deniable.exact.foreign_text import read_json
from deniable.exact.rationals import rational
from deniable.exact.suggestions import did_you_mean
from deniable.surveys.questionnaire.phrases import Phrases, Text, in_language

Kind = Literal["yes-no", "single-choice", "multiple-choice", "scale", "number", "text"]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]

_ENGLISH = Phrases()


class StrictModel(BaseModel):
    """Values are not converted, unknown keys are refused, and instances are frozen."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class AskCondition(StrictModel):
    """A question is asked only after this answer to that question."""

    question: Name
    answer: str


class SurveyQuestion(StrictModel):
    """One question. `private` answers are randomized; others are sent as they are.

    `expected` is a guess at the shares of the answers, used only for plans and simulations. For
    a number it is the share of people who prefer not to say.
    """

    id: Name
    kind: Kind
    text: Text
    private: bool = True
    options: list[Text] = []
    points: int | None = Field(default=None, ge=2, le=100)
    low: float | None = None
    high: float | None = None
    step: float = 1
    prefer_not_to_say: bool = False
    epsilon: float | None = Field(default=None, gt=0)
    expected: list[float] = []
    anchor: bool = False
    ask_if: AskCondition | None = None

    @model_validator(mode="after")
    def _check(self) -> "SurveyQuestion":
        if self.kind in ("single-choice", "multiple-choice") and len(self.options) < 2:
            raise ValueError("a choice needs two or more `options`")
        if self.kind not in ("single-choice", "multiple-choice") and self.options:
            raise ValueError("only single-choice and multiple-choice have `options`")
        if self.kind == "scale" and self.points is None:
            raise ValueError("a scale needs `points`, for example 5")
        if self.kind == "number" and (self.low is None or self.high is None):
            raise ValueError("a number needs `low` and `high`: answers are clipped to them")
        if self.anchor and (self.kind != "yes-no" or self.prefer_not_to_say):
            raise ValueError(
                "an anchor is a yes-no question whose true answer is always no, without "
                "`prefer_not_to_say`"
            )
        if self.expected and len(self.expected) != self.answers:
            raise ValueError(f"`expected` needs {self.answers} shares, one for each answer")
        if any(not 0 <= share <= 1 for share in self.expected):
            raise ValueError("`expected` must hold shares from 0 to 1")
        if (
            self.kind not in ("multiple-choice", "number")
            and self.expected
            and abs(sum(self.expected) - 1) > 1e-9
        ):
            raise ValueError("the shares in `expected` must add up to 1")
        return self

    @property
    def answers(self) -> int:
        """How many answers can be listed. For a multiple choice this is the number of boxes, of
        which "prefer not to say" is the last."""
        listed = {"yes-no": 2, "scale": self.points or 0, "number": 0, "text": 0}
        return listed.get(self.kind, len(self.options)) + self.prefer_not_to_say

    def labels(self, language: str, words: Phrases = _ENGLISH) -> list[str]:
        """The labels of the answers, in the order of their numbers."""
        match self.kind:
            case "yes-no":
                labels = [words.say("no", language), words.say("yes", language)]
            case "scale":
                labels = [str(point + 1) for point in range(self.points or 0)]
            case _:
                labels = [in_language(option, language) for option in self.options]
        declined = words.say("prefer_not_to_say", language)
        return labels + [declined] * self.prefer_not_to_say


class Shuffler(StrictModel):
    """Who receives the reports, and what is removed before the analyst sees them.

    A shuffler hides reports among each other only if it is independent and strips identity,
    order and time. With `separates` it also separates the answers of one person and mixes each
    question by itself. Answers are then hidden better, but two questions cannot be tabulated.
    """

    who: str = Field(min_length=1)
    independent: bool
    strips: list[Literal["identity", "order", "time"]]
    separates: bool = False

    @property
    def hides_reports(self) -> bool:
        """Whether amplification may be claimed."""
        return self.independent and {*self.strips} == {"identity", "order", "time"}


class Questionnaire(StrictModel):
    """A survey: its questions, and the epsilon that all answers of one person may cost.

    >>> survey = loads('''
    ... id = "doping-2026"
    ... title = "Doping in triathlon"
    ... epsilon = 2
    ... [[questions]]
    ... id = "doping"
    ... kind = "yes-no"
    ... text = "Have you ever used a forbidden substance?"
    ... ''')
    >>> survey.title, len(survey.questions), survey.total_epsilon
    ('Doping in triathlon', 1, Fraction(2, 1))
    """

    id: Name
    title: Text
    epsilon: float = Field(gt=0)
    collection: Literal["everyone-answers-all", "one-question-each"] = "everyone-answers-all"
    languages: list[str] = Field(default=["en"], min_length=1)
    questions: list[SurveyQuestion] = Field(min_length=1)
    waves: int = Field(default=1, ge=1)
    shuffler: Shuffler | None = None
    words: dict[str, Text] = {}

    @model_validator(mode="after")
    def _check(self) -> "Questionnaire":
        names = [question.id for question in self.questions]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two questions have the id {', '.join(twice)}")
        try:
            Phrases(self.words)
        except InvalidParameter as problem:
            raise ValueError(str(problem).rstrip(".")) from None
        for where, text in self._texts():
            missing = [
                code for code in self.languages if isinstance(text, dict) and code not in text
            ]
            if missing or (isinstance(text, str) and len(self.languages) > 1):
                lacks = ", ".join(missing or self.languages)
                raise ValueError(f"{where} must be given in each language; missing: {lacks}")
        own = [question.epsilon for question in self.private if question.epsilon is not None]
        needed, rest = sum(map(rational, own)), len(self.private) - len(own)
        if self.collection == "everyone-answers-all" and (
            needed > self.total_epsilon or (rest and needed == self.total_epsilon)
        ):
            raise ValueError(
                f"the questions ask for epsilon {float(needed):g}, and {rest} more need a "
                f"part, but the survey has only {self.epsilon:g}"
            )
        return self

    def _texts(self) -> Iterator[tuple[str, Text]]:
        yield "`title`", self.title
        for question in self.questions:
            yield f"`text` of {question.id}", question.text
            for option in question.options:
                yield f"an option of {question.id}", option
        for name, word in self.words.items():
            yield f"`{name}` of the words", word

    @property
    def total_epsilon(self) -> Fraction:
        """The epsilon that all answers of one person may cost together, exactly."""
        return rational(self.epsilon)

    @property
    def amplifies(self) -> bool:
        """Whether a shuffler hides reports. No report may come with a public answer."""
        hides = self.shuffler is not None and self.shuffler.hides_reports
        return hides and (self._separated or len(self.private) == len(self.questions))

    @property
    def sends_separately(self) -> bool:
        """Whether each report is sent without the same person's other answers."""
        single = self.collection == "one-question-each" or len(self.questions) == 1
        return self._separated or (single and len(self.private) == len(self.questions))

    @property
    def _separated(self) -> bool:
        return self.shuffler is not None and self.shuffler.separates

    @property
    def wording(self) -> Phrases:
        """The labels and sentences that are not part of a question."""
        return Phrases(self.words)

    @property
    def private(self) -> list[SurveyQuestion]:
        """The questions whose answers are randomized."""
        return [question for question in self.questions if question.private]

    def question(self, name: str) -> SurveyQuestion:
        """The question with this id."""
        for question in self.questions:
            if question.id == name:
                return question
        raise InvalidParameter(
            f"No question has the id {name!r}. There are "
            f"{', '.join(question.id for question in self.questions)}."
        )


def load(path: str | Path) -> Questionnaire:
    """Reads a questionnaire from a .toml or .json file."""
    file = Path(path)
    if file.suffix not in (".toml", ".json"):
        raise InvalidParameter(
            f"A questionnaire is a .toml or .json file. Found {file.name!r}."
        )
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as problem:
        raise InvalidParameter(f"{file.name} cannot be read: {problem.strerror}.") from None
    return loads(text, form=file.suffix.removeprefix("."))


def loads(text: str, *, form: str = "toml") -> Questionnaire:
    """Reads a questionnaire from text, written in TOML or JSON."""
    try:
        content: Any = tomllib.loads(text) if form == "toml" else read_json(text)
        _refuse_control_characters(content)
    except (ValueError, RecursionError) as problem:
        raise InvalidParameter(
            f"The questionnaire is not valid {form.upper()}: {problem}."
        ) from None
    try:
        return Questionnaire.model_validate(content)
    except ValidationError as problem:
        errors = "; ".join(_describe_error(error) for error in problem.errors())
        raise InvalidParameter(f"The questionnaire has errors. {errors}.") from None


def _refuse_control_characters(content: Any) -> None:
    """A text of the questionnaire is shown as it is, so it must not steer a terminal."""
    if isinstance(content, dict):
        content = [*content, *content.values()]
    if isinstance(content, list):
        for part in content:
            _refuse_control_characters(part)
    elif isinstance(content, str) and any(
        category(one) == "Cc" and one not in "\n\t" for one in content
    ):
        raise ValueError("a text holds control characters")


def _describe_error(error: Any) -> str:
    """Where a mistake is, counted from 1, and what is expected there."""
    parts: list[str] = []
    for key in error["loc"]:
        if isinstance(key, str):
            parts.append(f"`{key}`")
        else:
            of_questions = parts[-1] == "`questions`"
            parts[-1] = (
                f"question {key + 1}" if of_questions else f"{parts[-1]}, item {key + 1}"
            )
    where = ", ".join(parts) or "as a whole"
    if error["type"] == "extra_forbidden":
        return f"{where}: unknown key. {_suggest_key(*error['loc'])}".rstrip()
    message = error["msg"].removeprefix("Value error, ")
    return f"{where}: {message.replace('Input should', 'must')}"


def _suggest_key(*path: str | int) -> str:
    kind = SurveyQuestion if len(path) == 3 and path[0] == "questions" else Questionnaire
    return did_you_mean(str(path[-1]), kind.model_fields)


def require_questionnaire(survey: Any) -> Questionnaire:
    """Refuses anything but a questionnaire, such as the name of its file."""
    if not isinstance(survey, Questionnaire):
        raise InvalidParameter(
            f"`survey` must be a Questionnaire. Found {survey!r}. Read a file with "
            "surveys.load(path)."
        )
    return survey
