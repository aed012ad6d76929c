"""Texts that are not part of a question: labels such as "yes", and what an answer proves.

The questionnaire's `[words]` come first, then the built-in language (see `languages`), then
English, and `lint` warns. Sentences are templates. Their figures come from the design, so a
translation cannot promise other odds than the coins give. A template that leaves a figure out
is refused.

What happens to an answer, and what it proves, is a promise. The pollster cannot rewrite it in a
language that is built in. In any other language the English text stands beside the pollster's,
because nothing can check a translation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from deniable.errors import InvalidParameter
from deniable.surveys.questionnaire.languages import ENGLISH, built_in
from deniable.surveys.questionnaire.page_words.english import PAGE

Text = str | dict[str, str]
_PROMISES = (  # the label, the quiz, and what is said of a report that was sent
    "page_tap",
    "page_leaves",
    "page_leaks",
    "page_link",
    "page_public",
    "page_process",
    "page_array",
    "page_quiz",
    "page_undo",
    "page_sent",
    "page_bytes",
    "page_mark",
    "proof_",
    "about",
)


def figures_in(template: str) -> set[str]:
    """The figures in a template. A figure with a format or an attribute counts as wrong.

    >>> figures_in("at most {odds} to 1")
    {'odds'}
    """
    try:
        parts = list(Formatter().parse(template))
    except ValueError:  # an unmatched brace
        return set()
    fields = [part for part in parts if part[1] is not None]
    if any(form or how for _, _, form, how in fields):
        return set()
    return {str(field) for _, field, _, _ in fields}


FIGURES = {
    "about": {"number"},
    "respondents": {"number"},
    "reports": {"number"},
    "careless": {"label", "value", "margin"},
    "if_denied": {"list"},
    "if_lied": {"label", "list"},
    "range": {"low", "high"},
    "inconsistent": {"value", "raw", "p_value"},
    "attention": {"question", "share", "margin"},
    "proof_yes_no": {"yes", "no", "p", "q", "odds"},
    "proof_choice": {"p", "q", "others", "odds"},
    "proof_boxes": {"p", "q", "box_odds", "boxes", "odds"},
    "proof_other": {"odds"},
} | {name: figures for name, text in PAGE.items() if (figures := figures_in(text))}


@dataclass(frozen=True, slots=True)
class Phrases:
    """Labels and sentences. Each is a text, or one text for each language. Texts that are not
    given are built in.

    In the sentences `{p}` and `{q}` are how many of 100 people send an answer that is, or is
    not, true. `{odds}` is the most by which a report multiplies odds.

    >>> words = Phrases({"yes": {"en": "yes", "de": "ja"}})
    >>> words.say("yes", "de"), words.say("no", "fr"), words.say("about", "pl", number=73)
    ('ja', 'non', 'about 73')
    """

    given: Mapping[str, Text] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, text in self.given.items():
            if name not in ENGLISH:
                raise InvalidParameter(
                    f"`words` has no entry {name!r}. Use one of {', '.join(ENGLISH)}."
                )
            figures = FIGURES.get(name)
            for template in [text] if isinstance(text, str) else text.values():
                if figures is not None and figures_in(template) != figures:
                    listed = ", ".join(f"{{{figure}}}" for figure in sorted(figures))
                    raise InvalidParameter(
                        f"`{name}` must hold exactly these figures: {listed}."
                    )

    def say(self, name: str, language: str, **figures: Any) -> str:
        """A label, or a sentence with its figures. A promise cannot be rewritten in a language
        that is built in."""
        known = built_in(language)
        if name in self.given and not (known and is_promise(name)):
            text = in_language(self.given[name], language)
        else:
            text = (known or ENGLISH)[name]
        return text.format(**figures) if name in FIGURES else text

    def english_beside(self, name: str, language: str, **figures: Any) -> str:
        """The English text of a promise that is in the pollster's own words; "" if it is not.

        >>> Phrases({"page_undo": "Nie ma powrotu."}).english_beside("page_undo", "pl")
        'Once it is sent, a report cannot be taken back.'
        """
        own = is_promise(name) and name in self.given and built_in(language) is None
        english = _IN_ENGLISH.say(name, "en", **figures) if own else ""
        return "" if english == self.say(name, language, **figures) else english


_IN_ENGLISH = Phrases()


def is_promise(name: str) -> bool:
    """Whether a text says what happens to an answer, or what it proves.

    >>> is_promise("page_link_token"), is_promise("page_begin")
    (True, False)
    """
    return name.startswith(_PROMISES)


def in_language(text: Text, language: str) -> str:
    """A text in one language.

    >>> in_language({"en": "age", "de": "Alter"}, "de")
    'Alter'
    """
    return text if isinstance(text, str) else text[language]
