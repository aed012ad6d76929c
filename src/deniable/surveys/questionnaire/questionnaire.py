"""A questionnaire as its owner writes it, in TOML or JSON.

Unknown keys are refused, not ignored: a misspelt `prefer_not_to_say` would change what
respondents are promised. Everything here is public.
"""

import tomllib
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal
from unicodedata import category

from pydantic import Field, ValidationError, field_validator, model_validator

from deniable.errors import InvalidParameter
from deniable.exact.foreign_text import read_json
from deniable.exact.rationals import rational
from deniable.exact.suggestions import did_you_mean
from deniable.surveys.questionnaire.phrases import Phrases, Text, in_language
from deniable.surveys.questionnaire.survey_question import Name, StrictModel, SurveyQuestion


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

    `who` asks and `why` are shown first on the page. `mode` is how people are let in: by an
    open link, by an invitation that the host could link to the report, or by a blind pass that
    nobody can link. Results are final at the first batch after `planned_people` reports, or
    after the day `closes`. A `kiosk` forgets everything between two people.

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
    who: Text = ""
    why: Text = ""
    epsilon: float = Field(gt=0)
    collection: Literal["everyone-answers-all", "one-question-each"] = "everyone-answers-all"
    languages: list[str] = Field(default=["en"], min_length=1)
    questions: list[SurveyQuestion] = Field(min_length=1)
    mode: Literal["open", "token", "pass"] = "open"
    kiosk: bool = False
    planned_people: int | None = Field(default=None, ge=1)
    closes: date | None = None
    waves: int = Field(default=1, ge=1)
    shuffler: Shuffler | None = None
    words: dict[str, Text] = Field(default_factory=dict)

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
        self._check_epsilon()
        return self

    def _check_epsilon(self) -> None:
        declared = [question.declared_epsilon for question in self.private]
        own = [epsilon for epsilon in declared if epsilon is not None]
        if self.collection == "one-question-each":
            needed, rest = max(own, default=Fraction(0)), 0
        else:
            needed, rest = sum(own, Fraction(0)), len(declared) - len(own)
        if needed > self.total_epsilon or (rest and needed == self.total_epsilon):
            raise ValueError(
                f"the questions ask for epsilon {float(needed):g}, and {rest} more need a "
                f"part, but the survey has only {self.epsilon:g}"
            )

    @field_validator("closes", mode="before")
    @classmethod
    def _read_day(cls, day: Any) -> Any:
        """JSON has no dates, so a day may be text: 2026-12-31."""
        return date.fromisoformat(day) if isinstance(day, str) else day

    def _texts(self) -> Iterator[tuple[str, Text]]:
        yield "`title`", self.title
        for name, text in (("`who`", self.who), ("`why`", self.why)):
            if text:
                yield name, text
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

    def in_languages(self, text: Text) -> dict[str, str]:
        """A text in every language of the survey."""
        return {language: in_language(text, language) for language in self.languages}

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
        category(character) == "Cc" and character not in "\n\t" for character in content
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
