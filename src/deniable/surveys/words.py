"""What a questionnaire says by itself: labels such as "yes", and what an answer proves.

English unless the questionnaire's `[words]` give them in its own languages. Sentences are
templates: figures come from the design when the sentence is made, so a translation cannot
promise other odds than the coins keep. A template that leaves a figure out is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from deniable.errors import InvalidParameter

Text = str | dict[str, str]

ENGLISH = {
    "yes": "yes",
    "no": "no",
    "prefer_not_to_say": "prefer not to say",
    "mean": "mean",
    "about": "about {number}",
    "proof_yes_no": (
        "Of 100 people whose true answer is {yes}, {p} send {yes}; of 100 whose true answer is "
        "{no}, {q} send {yes}. A {yes} from you is not proof: it moves anybody's odds about "
        "you by at most {odds} to 1."
    ),
    "proof_choice": (
        "Of 100 people, {p} send their true answer, and {q} each of the {others} others. What "
        "you send is not proof: it moves anybody's odds about you by at most {odds} to 1."
    ),
    "proof_boxes": (
        "Of 100 people who tick a box, {p} send it ticked; of 100 who do not, {q} do. What you "
        "send is not proof: a box moves anybody's odds about you by at most {box_odds} to 1, "
        "all {boxes} of them by at most {odds} to 1."
    ),
    "proof_other": (
        "What you send is drawn by chance around your answer. It is not proof: it moves "
        "anybody's odds about you by at most {odds} to 1."
    ),
}
_FIGURES = {
    "about": {"number"},
    "proof_yes_no": {"yes", "no", "p", "q", "odds"},
    "proof_choice": {"p", "q", "others", "odds"},
    "proof_boxes": {"p", "q", "box_odds", "boxes", "odds"},
    "proof_other": {"odds"},
}


@dataclass(frozen=True, slots=True)
class Words:
    """Labels and sentences, each a text or one for each language; English if not given.

    In the sentences `{p}` and `{q}` are how many of 100 send an answer that is, or is not,
    theirs, and `{odds}` is the most by which a report moves odds.

    >>> words = Words({"yes": {"en": "yes", "de": "ja"}})
    >>> words.say("yes", "de"), words.say("no", "de"), words.say("about", "de", number=73)
    ('ja', 'no', 'about 73')
    """

    given: Mapping[str, Text] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, text in self.given.items():
            if name not in ENGLISH:
                raise InvalidParameter(
                    f"No word is called {name!r}. There are {', '.join(ENGLISH)}."
                )
            wanted = _FIGURES.get(name)
            for one in [text] if isinstance(text, str) else text.values():
                if wanted is not None and _fields(one) != wanted:
                    listed = ", ".join(f"{{{figure}}}" for figure in sorted(wanted))
                    raise InvalidParameter(f"`{name}` must hold just these figures: {listed}.")

    def say(self, name: str, language: str, **figures: Any) -> str:
        """A label, or a sentence with its figures."""
        text = said(self.given.get(name, ENGLISH[name]), language)
        return text.format(**figures) if name in _FIGURES else text


def said(text: Text, language: str) -> str:
    """A text in one language.

    >>> said({"en": "age", "de": "Alter"}, "de")
    'Alter'
    """
    return text if isinstance(text, str) else text[language]


def _fields(template: str) -> set[str]:
    """The figures in a template; anything but a plain name counts as a wrong one."""
    try:
        parts = list(Formatter().parse(template))
    except ValueError:  # a brace too many
        return set()
    fields = [part for part in parts if part[1] is not None]
    if any(form or how for _, _, form, how in fields):
        return set()
    return {str(field) for _, field, _, _ in fields}
