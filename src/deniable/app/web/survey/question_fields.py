"""The fields of one question. They have a name, so that radios exclude each other, belong to no
form, and are never filled in by the browser."""

from fractions import Fraction

from deniable.app.web.survey.html_elements import Html, beside, element
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion
from deniable.surveys.questionnaire.phrases import Phrases

_MOST_LISTED = 15  # longer lists are a menu


def write_question(
    question: ManifestQuestion, number: int, words: Phrases, language: str
) -> Html:
    """A question with its answers and its promise."""
    missing = words.say("page_missing", language)
    if question.kind == "number":
        missing = f"{missing} {_number_hint(question, words, language)}."
    note = (
        element(
            "details",
            element("summary", words.say("page_promise", language)),
            element("p", (question.promise or {})[language]),
        )
        if question.private
        else element(
            "p",
            beside(
                words.say("page_public", language),
                words.english_beside("page_public", language),
            ),
            class_="public",
        )
    )
    return element(
        "fieldset",
        element(
            "legend", element("span", f"{number}", class_="place"), question.text[language]
        ),
        _write_answers(question, words, language),
        element("p", missing, class_="missing", data_missing=True, role="alert", hidden=True),
        note,
        data_question=question.id,
        data_kind=question.kind,
    )


def _write_answers(question: ManifestQuestion, words: Phrases, language: str) -> Html:
    labels = question.labels[language]
    if question.kind == "number":
        return _write_number(question, words, language)
    if question.kind != "multiple-choice" and len(labels) > _MOST_LISTED:
        return _write_menu(question, words, language)
    kind = "checkbox" if question.kind == "multiple-choice" else "radio"
    return element(
        "div",
        *(_write_option(question, kind, i, label) for i, label in enumerate(labels)),
        class_="options",
    )


def _write_option(question: ManifestQuestion, kind: str, place: int, label: str) -> Html:
    declines = question.declines and place == question.answers - 1
    field = element(
        "input",
        type=kind,
        name=f"q-{question.id}",
        value=place,
        autocomplete="off",
        data_declines=declines,
    )
    css = "declines" if declines else None
    return element("label", field, element("span", label), data_option=True, class_=css)


def _write_menu(question: ManifestQuestion, words: Phrases, language: str) -> Html:
    options = [
        element("option", label, value=i, data_option=True)
        for i, label in enumerate(question.labels[language])
    ]
    return element(
        "select",
        element("option", words.say("page_choose", language), value=""),
        *options,
        name=f"q-{question.id}",
        autocomplete="off",
        aria_label=question.text[language],
    )


def _write_number(question: ManifestQuestion, words: Phrases, language: str) -> Html:
    hint = f"hint-{question.id}"
    field = element(
        "input",
        type="text",
        inputmode="decimal",
        name=f"q-{question.id}",
        autocomplete="off",
        spellcheck="false",
        aria_label=question.text[language],
        aria_describedby=hint,
    )
    declined = [
        _write_option(question, "checkbox", 0, label) for label in question.labels[language]
    ]
    return element(
        "div",
        field,
        element("p", _number_hint(question, words, language), id=hint, class_="hint"),
        *declined,
        class_="options",
    )


def _number_hint(question: ManifestQuestion, words: Phrases, language: str) -> str:
    low, high = (f"{float(Fraction(end or 0)):g}" for end in (question.low, question.high))
    return words.say("page_number_hint", language, low=low, high=high)
