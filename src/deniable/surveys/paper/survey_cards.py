"""What the card of a question says, line by line, in one language.

Everything is written from the device's own table, which was checked against the manifest. So a
card cannot promise other odds than the coins in the hand give. Crosswise and unrelated
questions have a second, harmless question on the card.
"""

from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.exact.text_formats import factor_up
from deniable.surveys.paper.birthday_designs import BirthdayDesign, find_birthday
from deniable.surveys.paper.card_words import card_words
from deniable.surveys.paper.hand_devices import make_device
from deniable.surveys.questionnaire.hand_tables import HandDevice, HandRow
from deniable.surveys.questionnaire.manifest import Manifest
from deniable.surveys.questionnaire.manifest_question import ManifestQuestion


@dataclass(frozen=True, slots=True)
class SurveyCard:
    """The texts of one card. `rows` are pairs: what one sees, what one says.

    `device` is None for crosswise questions. `harmless` is the second question, if any.
    `answers` are what people may say, in the order of the codes that are keyed in.
    """

    question: ManifestQuestion
    device: HandDevice | None
    language: str
    text: str
    throw: str
    rows: tuple[tuple[str, str], ...]
    reassurance: str
    promise: str
    labels: tuple[str, ...]
    answers: tuple[str, ...]
    secret: str
    harmless: str = ""

    @property
    def words(self) -> dict[str, str]:
        """The words around the texts."""
        return card_words(self.language)


def write_cards(
    manifest: Manifest,
    *,
    device: str | None = None,
    language: str | None = None,
    harmless: str | None = None,
) -> tuple[SurveyCard, ...]:
    """One card for each private question. Refuses a question that no device, or not this one,
    draws exactly.

    `harmless` is the harmless question of crosswise and unrelated questions. Without it the
    card asks for the month of a birthday.

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
        if question.device
        else _write_birthday(question, find_birthday(question, device), chosen, harmless)
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
        answers=(*labels,),
        secret=words["secret"],
    )


def _write_birthday(
    question: ManifestQuestion, design: BirthdayDesign, language: str, harmless: str | None
) -> SurveyCard:
    """The card of a question that has a harmless one beside it."""
    words, labels = card_words(language), question.labels[language]
    no, yes = labels
    same, different = words["same"], words["different"]
    rows = [(words[f"see_{said}"], words[f"say_{said}"]) for said in ("same", "different")]
    throw, reassurance = words["throw_crosswise"], words["reassurance_crosswise"]
    device, answers = design.device, (different, same)
    if device is not None:
        rows = [(_seen(device, row, words, labels), words[str(row.say)]) for row in device.rows]
        throw, reassurance = words[f"throw_{device.name}"], words["reassurance"]
        answers = no, yes
    said = {"same": same, "different": different, "label": yes}
    return SurveyCard(
        question=question,
        device=device,
        language=language,
        text=question.text[language],
        throw=throw.format(outcomes=device.outcomes if device else 0),
        rows=tuple((see.format(yes=yes, no=no), say) for see, say in rows),
        reassurance=reassurance.format(**said),
        promise=words["odds_birthday"].format(odds=factor_up(question.drawn_by.odds)),
        labels=(*labels,),
        answers=answers,
        secret=words["secret_birthday"],
        harmless=harmless or _ask_month(question, design, words),
    )


def _ask_month(
    question: ManifestQuestion, design: BirthdayDesign, words: dict[str, str]
) -> str:
    months = design.months
    if months is None:
        raise InvalidParameter(
            f"{question.id} needs a harmless question to which {design.rate} of all people say "
            "yes. Cards ask for the month of a birthday if that is a number of twelfths. Give "
            "another question as `harmless` (`--harmless`), or another rate."
        )
    names = words["months"].split()
    name = "harmless_month" if months == 1 else "harmless_months"
    return words[name].format(first=names[0], last=names[months - 1])


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
