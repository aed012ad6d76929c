"""One question of a manifest: its texts, its channel, what it costs and what it promises."""

from fractions import Fraction
from typing import Any

from pydantic import Field, model_validator

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.foreign_text import read_rational
from deniable.exact.rationals import rational
from deniable.surveys.questionnaire.channel_shapes import (
    MOST_ANSWERS,
    channel_of,
    costs_at_most,
    fits_design,
    paper_design_of,
    read_channel,
)
from deniable.surveys.questionnaire.channels import (
    BoxesChannel,
    Channel,
    DitherChannel,
    KeepChannel,
    TableChannel,
)
from deniable.surveys.questionnaire.declared_designs import PaperDesign, fits_device
from deniable.surveys.questionnaire.designs import design_questions, split_epsilon
from deniable.surveys.questionnaire.questionnaire import Questionnaire
from deniable.surveys.questionnaire.report_body import ReportField
from deniable.surveys.questionnaire.respondent_promises import what_an_answer_proves
from deniable.surveys.questionnaire.survey_question import (
    Kind,
    Name,
    StrictModel,
    SurveyQuestion,
)


class AskedAfter(StrictModel):
    """A question is asked only after this answer (its number) to a public question."""

    question: Name
    answer: int = Field(ge=0)


class ManifestQuestion(StrictModel):
    """A question as the page asks it. Numbers are exact: whole, or rationals as text.

    `design` is the name of a declared design. `device` says whether a device can draw it, and
    `paper` what draws the same channel by hand: all three are checked against the channel.
    `promise` is text: what its maker wrote, in the words of that version. It is not computed
    again, so compare it with the channel before you trust a manifest from others.
    """

    id: Name
    kind: Kind
    text: dict[str, str]
    labels: dict[str, list[str]]
    private: bool
    declines: bool
    shuffle: bool
    low: str | None
    high: str | None
    step: str | None
    ask_if: AskedAfter | None
    channel: dict[str, Any] | None
    epsilon: str | None
    promise: dict[str, str] | None
    design: str | None
    device: bool
    paper: PaperDesign | None

    @model_validator(mode="after")
    def _check(self) -> "ManifestQuestion":
        if self.kind == "text":
            raise ValueError("free text cannot be randomized and may identify its writer")
        if len({len(labels) for labels in self.labels.values()}) != 1:
            raise ValueError("a label is missing in a language")
        if self.answers > MOST_ANSWERS:
            raise ValueError("a page can ask for one of at most 1,000 answers")
        grid = [end is not None for end in (self.low, self.high, self.step)]
        if not all(given == (self.kind == "number") for given in grid):
            raise ValueError("a number has `low`, `high` and `step`, and nothing else has")
        if self.kind == "number":
            self._check_grid()
        if self.private != (self.channel is not None):
            raise ValueError("only a private question has a channel, and it must have one")
        if not self.private:
            return self
        try:
            fits = self._channel_fits() and costs_at_most(self.drawn_by, self.cost)
        except InvalidData as problem:
            raise ValueError(str(problem).rstrip(".")) from None
        if not fits:
            raise ValueError("the channel does not fit the question, or costs more than stated")
        if not fits_design(self.design, self.device, self.drawn_by):
            raise ValueError("the channel is not that of the design that is named")
        if self.paper != self.drawn_on_paper:
            raise ValueError("`paper` is not what draws the channel by hand")
        if self.promise is None or self.promise.keys() != self.labels.keys():
            raise ValueError("a promise is missing in a language")
        return self

    def _check_grid(self) -> None:
        low, high, step = map(read_rational, (self.low, self.high, self.step))
        if step <= 0 or high <= low or (high - low) % step:
            raise ValueError("`step` must divide the range from `low` to `high`")

    @property
    def answers(self) -> int:
        """How many answers or boxes are listed, "prefer not to say" included."""
        return len(next(iter(self.labels.values())))

    @property
    def cost(self) -> Fraction:
        """The epsilon of the question."""
        return read_rational(self.epsilon)

    @property
    def drawn_by(self) -> Channel:
        """The channel of a private question."""
        return read_channel(self.channel)

    @property
    def joint(self) -> bool:
        """Whether all boxes of a multiple choice go through the coins at once, as one set."""
        return self.kind == "multiple-choice" and isinstance(self.drawn_by, KeepChannel)

    @property
    def has_one_answer(self) -> bool:
        """Whether the private answer is one of a few, and not a number or a set of boxes."""
        return _has_one_answer(self.kind, self.drawn_by)

    @property
    def drawn_on_paper(self) -> PaperDesign | None:
        """What draws a private answer by hand, from the channel alone."""
        return _find_paper(self.kind, self.drawn_by, self.device)

    @property
    def steps(self) -> int:
        """How many steps a number has from `low` to `high`."""
        low, high, step = map(read_rational, (self.low, self.high, self.step))
        return int((high - low) / step)

    @property
    def field(self) -> ReportField:
        """How a report of this question is written."""
        if self.private:
            channel = self.drawn_by
            if isinstance(channel, BoxesChannel):
                packed = channel.ticks == "one"
                return ReportField(self.id, boxes=channel.boxes, packed=packed)
            return ReportField(self.id, values=channel.reports)
        if self.kind == "multiple-choice":
            return ReportField(self.id, boxes=self.answers)
        if self.kind == "number":
            return ReportField(
                self.id,
                values=self.steps + 1 + self.declines,
                low=read_rational(self.low),
                step=read_rational(self.step),
                declines=self.declines,
            )
        return ReportField(self.id, values=self.answers)

    def is_asked(self, reports: dict[str, Any]) -> bool:
        """Whether the public answers of a person lead to this question."""
        if self.ask_if is None:
            return True
        given = reports.get(self.ask_if.question)
        if isinstance(given, list):
            return bool(given[self.ask_if.answer])
        return given == self.ask_if.answer

    def _channel_fits(self) -> bool:
        channel = self.drawn_by
        match self.kind:
            case "number":
                return (
                    isinstance(channel, DitherChannel)
                    and channel.steps == self.steps
                    and channel.reports == 2 + self.declines
                )
            case "multiple-choice":
                if isinstance(channel, BoxesChannel):
                    return channel.ticks == "any" and channel.boxes == self.answers
                sets = 2 ** (self.answers - self.declines) + self.declines
                return isinstance(channel, KeepChannel) and channel.any_of == sets
        if isinstance(channel, BoxesChannel):
            return channel.ticks == "one" and channel.boxes == self.answers
        if isinstance(channel, DitherChannel):
            return False
        return channel.answers == channel.reports == self.answers


def _has_one_answer(kind: Kind, channel: Channel) -> bool:
    return kind != "multiple-choice" and isinstance(channel, TableChannel | KeepChannel)


def _find_paper(kind: Kind, channel: Channel, device: bool) -> PaperDesign | None:
    return paper_design_of(channel) if device and _has_one_answer(kind, channel) else None


def describe_questions(survey: Questionnaire) -> list[dict[str, Any]]:
    """The questions of a manifest."""
    costs, designed = split_epsilon(survey), design_questions(survey)
    listed = []
    for question in survey.questions:
        described = _describe(survey, question)
        if question.private:
            chosen = designed[question.id]
            channel = channel_of(chosen)
            boxes = 1 if chosen.joint else chosen.options
            described |= {
                "channel": channel.to_json(),
                "epsilon": str(costs[question.id]),
                "promise": {
                    language: what_an_answer_proves(
                        chosen.design, boxes=boxes, words=survey.wording, language=language
                    )
                    for language in survey.languages
                },
                "design": question.design_name,
                "device": fits_device(chosen.design),
                "paper": _find_paper(question.kind, channel, fits_device(chosen.design)),
            }
        listed.append(described)
    return listed


def _describe(survey: Questionnaire, question: SurveyQuestion) -> dict[str, Any]:
    """What does not depend on a design."""
    is_number = question.kind == "number"
    return {
        "id": question.id,
        "kind": question.kind,
        "text": survey.in_languages(question.text),
        "labels": {
            language: question.labels(language, survey.wording) for language in survey.languages
        },
        "private": question.private,
        "declines": question.prefer_not_to_say,
        "shuffle": question.shuffle_options,
        "low": _exact(question.low) if is_number else None,
        "high": _exact(question.high) if is_number else None,
        "step": _exact(question.step) if is_number else None,
        "ask_if": _condition(survey, question),
        "channel": None,
        "epsilon": None,
        "promise": None,
        "design": None,
        "device": True,
        "paper": None,
    }


def _exact(number: float | None) -> str:
    assert number is not None
    return str(rational(number))


def _condition(survey: Questionnaire, question: SurveyQuestion) -> dict[str, Any] | None:
    """The condition with the number of the answer, which may be given in any language."""
    if question.ask_if is None:
        return None
    on = survey.question(question.ask_if.question)
    for language in survey.languages:
        labels = on.labels(language, survey.wording)
        if question.ask_if.answer in labels:
            return {"question": on.id, "answer": labels.index(question.ask_if.answer)}
    raise InvalidParameter(
        f"{question.id}: {on.id} has no answer {question.ask_if.answer!r}. Use one of its "
        "labels in `ask_if`."
    )
