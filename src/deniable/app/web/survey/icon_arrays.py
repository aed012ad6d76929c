"""Two arrays of 100 people for each private question: who sends an answer that is true for
them, and who sends it though it is not."""

import json
from dataclasses import dataclass
from fractions import Fraction

from deniable.app.web.survey.html_elements import Html, beside, element
from deniable.surveys.questionnaire.channels import BoxesChannel, DitherChannel
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion
from deniable.surveys.questionnaire.phrases import Phrases

_CELL = 20
_PERSON = (
    "M10 2.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8M3.6 18c0-4.6 2.5-7 6.4-7s6.4 2.4 6.4 7z"
)


@dataclass(frozen=True, slots=True)
class Illustration:
    """What a question's coins do, in a few reports: how often `label` is sent by those for whom
    it is true, and by those for whom it is not."""

    reports: tuple[str, ...]
    label: str
    if_true: Fraction
    if_not: Fraction


def illustrate(question: ManifestQuestion, words: Phrases, language: str) -> Illustration:
    """The illustration of a private question.

    Of boxes one is shown, of a number its two ends. For a choice it is the first answer, for
    yes/no it is yes.
    """
    channel, labels = question.drawn_by, tuple(question.labels[language])
    boxes = tuple(words.say(name, language) for name in ("page_not_ticked", "page_ticked"))
    if isinstance(channel, BoxesChannel):
        chances = [channel.table.probability(1, tick) for tick in (1, 0)]
        return Illustration(boxes, boxes[1], *chances)
    if isinstance(channel, DitherChannel):
        ends = (
            words.say("page_low_end", language, number=_decimal(question.low)),
            words.say("page_high_end", language, number=_decimal(question.high)),
        )
        chances = [channel.then.probability(1, end) for end in (1, 0)]
        return Illustration((*ends, *labels), ends[1], *chances)
    if question.kind == "multiple-choice":  # of all sets at once, one box
        sets = range(1, 2 ** (question.answers - question.declines), 2)
        chances = [sum((channel.probability(y, x) for y in sets), Fraction(0)) for x in (1, 0)]
        return Illustration(boxes, boxes[1], *chances)
    answer = 1 if question.kind == "yes-no" else 0
    others = [channel.probability(answer, x) for x in range(len(labels)) if x != answer]
    return Illustration(
        labels, labels[answer], channel.probability(answer, answer), min(others)
    )


def draw_arrays(question: ManifestQuestion, words: Phrases, language: str) -> Html:
    """Both arrays with their captions, and the names of the reports for "try it"."""
    illustration = illustrate(question, words, language)
    figures = [
        _draw_array(chance, *_caption(name, chance, illustration.label, words, language))
        for name, chance in (
            ("page_array_same", illustration.if_true),
            ("page_array_other", illustration.if_not),
        )
    ]
    return element(
        "div",
        *figures,
        class_="arrays",
        data_figure=question.id,
        data_reports=json.dumps(illustration.reports, ensure_ascii=False),
        hidden=True,
    )


def _caption(
    name: str, chance: Fraction, label: str, words: Phrases, language: str
) -> tuple[str, str]:
    """The caption, and the English one that stands beside it, if any."""
    number = _people(chance, words, language)
    figures = {"label": label, "number": _people(chance, Phrases(), "en")}
    english = words.english_beside(name, language, **figures)
    return words.say(name, language, label=label, number=number), english


def draw_patterns() -> Html:
    """The two people that all arrays are made of: one filled, one outlined."""
    patterns = [
        element(
            "pattern",
            element("path", d=_PERSON, class_=name),
            id=f"person-{name}",
            width=_CELL,
            height=_CELL,
            patternUnits="userSpaceOnUse",
        )
        for name in ("on", "off")
    ]
    return element("svg", element("defs", *patterns), width=0, height=0, aria_hidden="true")


def _draw_array(chance: Fraction, caption: str, english: str) -> Html:
    full, rest = divmod(round(100 * chance), 10)
    side = 10 * _CELL
    step = f"H{_CELL * rest}V{_CELL * (full + 1)}" if rest else ""
    filled = f"M0 0H{side if full else _CELL * rest}V{_CELL * full}{step}H0Z"
    picture = element(
        "svg",
        element("rect", width=side, height=side, fill="url(#person-off)"),
        element("path", d=filled, fill="url(#person-on)"),
        viewBox=f"0 0 {side} {side}",
        role="img",
        aria_label=f"{caption} {english}".strip(),
    )
    figure_caption = element("figcaption", beside(caption, english), aria_hidden="true")
    return element("figure", picture, figure_caption)


def _people(chance: Fraction, words: Phrases, language: str) -> str:
    people = 100 * chance
    if people.denominator == 1:
        return str(people)
    return words.say("about", language, number=round(people))


def _decimal(number: str | None) -> str:
    return f"{float(Fraction(number or 0)):g}"
