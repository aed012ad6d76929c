"""From the channels of a manifest back to designs, so that reports can be read.

Only the manifest is trusted: a questionnaire that was edited later changes nothing. A channel
that no design of ours draws is refused.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidData
from deniable.exact.foreign_text import read_rational
from deniable.mechanisms import OUE, Duchi, NumberOrNot, RandomizedResponse
from deniable.privacy import PureLoss
from deniable.surveys.questionnaire.channels import (
    BoxesChannel,
    DitherChannel,
    KeepChannel,
    TableChannel,
)
from deniable.surveys.questionnaire.designs import DesignedQuestion
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion
from deniable.surveys.questionnaire.survey_question import SurveyQuestion


@dataclass(frozen=True, slots=True)
class TableDesign:
    """A design that is known by its table alone; row y, column x of `matrix` is P(y | x)."""

    matrix: tuple[tuple[Fraction, ...], ...]
    loss: PureLoss

    @property
    def categories(self) -> int:
        """How many answers there are."""
        return len(self.matrix)


def design_of(question: ManifestQuestion) -> Any:
    """The design of a private question, or how many answers a public one has; None for a
    public number.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=2\\n[[questions]]\\nid="a"\\nkind="yes-no"\\n'
    ...     'text="?"\\ndesign="die"'
    ... )
    >>> design = design_of(make_manifest(survey).questions[0])
    >>> design.p, design.q
    (Fraction(5, 6), Fraction(1, 6))
    """
    if not question.private:
        return None if question.kind == "number" else question.answers
    channel = question.drawn_by
    match channel:
        case TableChannel():
            return _table_design(channel)
        case KeepChannel() if question.joint:
            return _boxes(
                question, RandomizedResponse(odds=channel.odds, categories=channel.any_of), True
            )
        case KeepChannel():
            return RandomizedResponse(odds=channel.odds, categories=channel.any_of)
        case BoxesChannel(ticks="any"):
            return _boxes(question, _table_design(channel.table), False)
        case BoxesChannel():
            bits = OUE(odds=channel.odds, categories=channel.boxes)
            return _agreeing(bits, _probabilities(channel.table) == (bits.p, bits.q))
        case DitherChannel():
            return _number_design(question, channel)
    raise _unknown()


def question_loss(question: ManifestQuestion) -> PureLoss:
    """What one report of a private question costs, from its weights."""
    return PureLoss(odds=question.drawn_by.odds)


def _table_design(channel: TableChannel) -> Any:
    if channel.answers == channel.reports == 2:
        return RandomizedResponse.channel(*_probabilities(channel))
    if channel.answers != channel.reports:
        raise _unknown()
    k = range(channel.answers)
    matrix = tuple(tuple(channel.probability(y, x) for x in k) for y in k)
    return TableDesign(matrix, PureLoss(odds=channel.odds))


def _probabilities(channel: TableChannel) -> tuple[Fraction, Fraction]:
    return channel.probability(1, 1), channel.probability(1, 0)


def _number_design(question: ManifestQuestion, channel: DitherChannel) -> Any:
    limits = {name: read_rational(getattr(question, name)) for name in ("low", "high", "step")}
    odds = channel.then.odds
    design: Any
    if isinstance(channel.then, KeepChannel):
        design = NumberOrNot(odds=odds, **limits)
        fits = channel.then.probability(0, 0) == design.response.p and channel.then.any_of == 3
    else:
        design = Duchi(odds=odds, **limits)
        p = odds / (odds + 1)
        fits = _probabilities(channel.then) == (p, 1 - p)
    return _agreeing(design, fits and design.steps == channel.steps)


def _boxes(question: ManifestQuestion, design: Any, joint: bool) -> DesignedQuestion:
    labels = next(iter(question.labels.values()))
    options: list[Any] = [*labels[: len(labels) - question.declines]]
    survey_question = SurveyQuestion(
        id=question.id,
        kind="multiple-choice",
        text=next(iter(question.text.values())),
        options=options,
        prefer_not_to_say=question.declines,
    )
    loss = design.loss if joint else design.loss * question.answers
    return DesignedQuestion(
        survey_question, design, loss, "by the manifest", question.answers, joint
    )


def _agreeing(design: Any, agrees: bool) -> Any:
    if not agrees:
        raise _unknown()
    return design


def _unknown() -> InvalidData:
    return InvalidData(
        "This version cannot estimate from a channel of the manifest. Use the "
        "version of deniable that made the manifest."
    )
