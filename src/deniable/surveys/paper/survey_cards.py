"""What the card of a question says, line by line, in one language.

Everything is written from the device's own table, which was checked against the manifest. So a
card cannot promise other odds than the coins in the hand give.
"""

from dataclasses import dataclass

from deniable.surveys.paper.card_words import card_words
from deniable.surveys.paper.hand_devices import make_device
from deniable.surveys.questionnaire.hand_tables import HandDevice, HandRow
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion


@dataclass(frozen=True, slots=True)
class SurveyCard:
    """The texts of one card. `rows` are pairs: what one sees, what one says."""

    question: ManifestQuestion
    device: HandDevice
    language: str
    text: str
    throw: str
    rows: tuple[tuple[str, str], ...]
    reassurance: str
    promise: str
    labels: tuple[str, ...]

    @property
    def words(self) -> dict[str, str]:
        """The words around the texts."""
        return card_words(self.language)


def write_cards(
    manifest: Manifest, *, device: str | None = None, language: str | None = None
) -> tuple[SurveyCard, ...]:
    """One card for each private question. Refuses a question that no device, or not this one,
    draws exactly.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=2\\n[[questions]]\\nid="a"\\nkind="yes-no"\\n'
    ...     'text="Have you doped?"\\ndesign="die"'
    ... )
    >>> for see, say in write_cards(make_manifest(survey), device="die")[0].rows:
    ...     print(f"{see}: {say}")
    1: “no”, whatever is true
    2, 3, 4, 5: the truth
    6: “yes”, whatever is true
    """
    chosen = language or manifest.languages[0]
    return tuple(
        _write_card(question, make_device(question, device), chosen)
        for question in manifest.private
    )


def _write_card(question: ManifestQuestion, device: HandDevice, language: str) -> SurveyCard:
    words, labels = card_words(language), question.labels[language]
    kind = "cards" if device.name == "warner" else device.name
    if len(labels) == 2:
        reassurance = words["reassurance"].format(label=labels[1])
    else:
        reassurance = words["reassurance_choice"]
    return SurveyCard(
        question=question,
        device=device,
        language=language,
        text=question.text[language],
        throw=words[f"throw_{kind}"].format(outcomes=device.outcomes),
        rows=tuple(
            (_seen(device, row, words, labels), _said(row, words, labels))
            for row in device.rows
        ),
        reassurance=reassurance,
        promise=(question.promise or {}).get(language, ""),
        labels=(*labels,),
    )


def _said(row: HandRow, words: dict[str, str], labels: list[str]) -> str:
    if isinstance(row.say, int):
        return words["forced"].format(label=labels[row.say])
    return words[row.say]


def field_name(row: HandRow, words: dict[str, str], labels: list[str] | tuple[str, ...]) -> str:
    """What is written on a field of a spinner.

    >>> field_name(HandRow((3,), 3, 1), card_words("en"), ["no", "yes"])
    'yes'
    """
    return labels[row.say] if isinstance(row.say, int) else words[f"field_{row.say}"]


def _seen(device: HandDevice, row: HandRow, words: dict[str, str], labels: list[str]) -> str:
    listed = ", ".join(str(see) for see in row.see)
    counted = {"count": row.outcomes, "outcomes": device.outcomes}
    match device.name:
        case "two-coins":
            return words[f"see_{'_'.join(str(side) for side in row.see)}"]
        case "die":
            return listed
        case "two-dice":
            return words["see_sum"].format(list=listed)
        case "spinner":
            return words["see_field"].format(say=field_name(row, words, labels), **counted)
    return words[f"see_{row.say}_card"].format(**counted)
