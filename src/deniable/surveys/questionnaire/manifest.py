"""The manifest: what a questionnaire promises, as one canonical JSON text with a hash.

A device draws its reports from the manifest's whole numbers, the page shows the manifest's
sentences, and every report names the manifest's hash. So nobody can change a promise after the
survey has begun: a change makes another manifest. Anyone who reads a manifest computes the loss
of each question again from its weights, and refuses one that promises more than they keep.
"""

import hashlib
import json
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.foreign_text import nests_deeper, read_json, read_rational
from deniable.surveys.questionnaire.manifest_question import (
    ManifestQuestion,
    describe_questions,
)
from deniable.surveys.questionnaire.questionnaire import Questionnaire, require_questionnaire
from deniable.surveys.questionnaire.report_body import read_body, write_body
from deniable.surveys.questionnaire.survey_question import Name, StrictModel

MOST_BYTES = 256_000
_MOST_LEVELS = 12
_LEAST_KEY, _MOST_KEY = 2048, 4096
_MARKUP = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}

Mode = Literal["open", "token", "pass"]


class ManifestKey(StrictModel):
    """The public RSA key that checks blind passes. There is one for the whole survey."""

    n: str = Field(pattern=r"^[1-9][0-9]{600,1300}$")
    e: str = Field(pattern=r"^[1-9][0-9]{0,9}$")

    @model_validator(mode="after")
    def _check(self) -> "ManifestKey":
        bits, exponent = int(self.n).bit_length(), int(self.e)
        if bits % 8 or not _LEAST_KEY <= bits <= _MOST_KEY:
            raise ValueError("a key has 2048 to 4096 bits, in whole bytes")
        if exponent % 2 == 0 or not 3 <= exponent < 1 << 32:
            raise ValueError("the exponent of a key is odd, from 3 to 2**32")
        return self


class Manifest(StrictModel):
    """Everything that a respondent is promised. Made by `make_manifest`, read by
    `read_manifest`."""

    format: Literal[1] = 1
    survey: Name
    title: dict[str, str]
    who: dict[str, str]
    why: dict[str, str]
    languages: list[str] = Field(min_length=1)
    collection: Literal["everyone-answers-all", "one-question-each"]
    mode: Mode
    kiosk: bool
    epsilon: str
    planned_people: int | None = Field(ge=1)
    closes: str | None = Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
    rehearsal: bool
    origin: str | None = Field(pattern=r"^https?://[A-Za-z0-9.:\[\]-]+$")
    key: ManifestKey | None
    words: dict[str, str | dict[str, str]]
    questions: list[ManifestQuestion] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> "Manifest":
        if (self.mode == "pass") != (self.key is not None):
            raise ValueError("blind passes need a key, and other modes do without")
        if self.kiosk and self.mode != "open":
            raise ValueError("a kiosk has no invitations: its mode is open")
        if len({question.id for question in self.questions}) < len(self.questions):
            raise ValueError("two questions have the same id")
        for question in self.questions:
            for text in (self.title, self.who, self.why, question.text, question.labels):
                if sorted(text) != sorted(self.languages):
                    raise ValueError("a text is missing in a language")
        self._check_conditions()
        costs = [question.cost for question in self.private]
        spent = sum(costs) if self.collection == "everyone-answers-all" else max(costs)
        if spent > read_rational(self.epsilon):
            raise ValueError("the questions cost more than the epsilon of one person")
        return self

    def _check_conditions(self) -> None:
        earlier: dict[str, ManifestQuestion] = {}
        for question in self.questions:
            if question.ask_if is not None:
                on = earlier.get(question.ask_if.question)
                if on is None or on.private or on.kind == "number":
                    raise ValueError(
                        "a condition must name a public question that comes before"
                    )
                if question.private and self.collection == "one-question-each":
                    raise ValueError(
                        "a private question with `ask_if` cannot be drawn for one-question-each"
                    )
            earlier[question.id] = question

    def canonical(self) -> bytes:
        """The manifest as canonical JSON: ASCII, sorted keys, no spaces, no markup.

        The last is so that a page can hold it as it is.
        """
        text = json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))
        return "".join(_MARKUP.get(character, character) for character in text).encode("ascii")

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
        return hashlib.sha256(self.canonical()).hexdigest()

    @property
    def private(self) -> list[ManifestQuestion]:
        """The questions whose answers are randomized."""
        return [question for question in self.questions if question.private]

    def question(self, name: str) -> ManifestQuestion:
        """The question with this id."""
        return next(question for question in self.questions if question.id == name)

    @property
    def report_length(self) -> int:
        """How many bytes every report has."""
        return len(write_body(self.hash, self._fields, {}))

    def write_report(self, reports: dict[str, Any]) -> bytes:
        """The bytes of one person's report: for each question what its design drew."""
        body = write_body(self.hash, self._fields, reports)
        self.read_report(body)
        return body

    def read_report(self, body: bytes) -> dict[str, Any]:
        """The reports in a body, by question. Refuses anything that no device could send."""
        reports = read_body(self.hash, self._fields, body)
        answered_ids = [question.id for question in self.private if question.id in reports]
        if self.collection == "one-question-each":
            if self.private and len(answered_ids) != 1:
                raise InvalidData("The report is refused: it must answer one private question.")
            return reports
        for question in self.questions:
            if not question.is_asked(reports) and question.id in reports:
                raise InvalidData(f"The report is refused: {question.id} was not asked.")
            if (
                question.private
                and question.is_asked(reports)
                and question.id not in answered_ids
            ):
                raise InvalidData(f"The report is refused: {question.id} is missing.")
        return reports

    @cached_property
    def _fields(self) -> list[Any]:
        return [question.field for question in self.questions]


def make_manifest(
    survey: Questionnaire,
    *,
    mode: Mode | None = None,
    key: tuple[int, int] | None = None,
    rehearsal: bool = False,
    origin: str | None = None,
) -> Manifest:
    """The manifest of a questionnaire. `key` is the public RSA key (n, e) for blind passes.

    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads('''
    ... id = "doping"
    ... title = "Doping"
    ... epsilon = 1.1
    ... [[questions]]
    ... id = "doped"
    ... kind = "yes-no"
    ... text = "Have you doped?"
    ... design = "two-coins"
    ... ''')
    >>> manifest = make_manifest(survey)
    >>> manifest.questions[0].channel
    {'table': [['3', '1'], ['1', '3']]}
    >>> manifest.read_report(manifest.write_report({"doped": 1}))
    {'doped': 1}
    >>> read_manifest(manifest.canonical()) == manifest
    True
    """
    checked = require_questionnaire(survey)
    if not checked.private:
        raise InvalidParameter("No question is private: a manifest would promise nothing.")
    content = _describe_survey(checked) | {
        "mode": mode or checked.mode,
        "rehearsal": rehearsal,
        "origin": origin,
        "key": None if key is None else {"n": str(key[0]), "e": str(key[1])},
    }
    try:
        return Manifest.model_validate(content)
    except ValidationError as problem:
        raise InvalidParameter(f"No manifest can be made: {_explain(problem)}.") from None


def read_manifest(data: bytes) -> Manifest:
    """Reads a manifest that anybody may have written."""
    if len(data) > MOST_BYTES or nests_deeper(data, _MOST_LEVELS):
        raise InvalidData("The manifest is too long, or nests too deeply.")
    try:
        manifest = Manifest.model_validate(read_json(data))
    except ValidationError as problem:
        raise InvalidData(f"The manifest is refused: {_explain(problem)}.") from None
    except ValueError as problem:
        raise InvalidData(f"The manifest is not JSON: {problem}.") from None
    if manifest.canonical() != data:
        raise InvalidData("The manifest is not in canonical form, so its hash says nothing.")
    return manifest


def _describe_survey(survey: Questionnaire) -> dict[str, Any]:
    """What the questionnaire alone decides."""
    return {
        "survey": survey.id,
        "title": survey.in_languages(survey.title),
        "who": survey.in_languages(survey.who),
        "why": survey.in_languages(survey.why),
        "languages": survey.languages,
        "collection": survey.collection,
        "kiosk": survey.kiosk,
        "epsilon": str(survey.total_epsilon),
        "planned_people": survey.planned_people,
        "closes": None if survey.closes is None else survey.closes.isoformat(),
        "words": survey.words,
        "questions": describe_questions(survey),
    }


def _explain(problem: ValidationError) -> str:
    error = problem.errors()[0]
    where = ".".join(str(part) for part in error["loc"]) or "as a whole"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}"
