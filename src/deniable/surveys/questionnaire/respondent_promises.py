"""What may be promised to a respondent, written from the design's own numbers.

Never "anonymous", never "proves nothing": an answer changes the odds, by at most a stated
factor.
"""

from fractions import Fraction
from typing import Any

from deniable.exact.text_formats import factor_up
from deniable.mechanisms import RandomizedResponse
from deniable.privacy import Loss
from deniable.privacy.losses.hypothesis_testing import odds_factor
from deniable.surveys.questionnaire.phrases import FIGURES, Phrases

_ENGLISH = Phrases()
_NO_FIGURES = {name: "" for names in FIGURES.values() for name in names}


def what_an_answer_proves(
    design: Any,
    labels: tuple[str, str] | None = None,
    *,
    boxes: int = 1,
    words: Phrases = _ENGLISH,
    language: str = "en",
) -> str:
    """The promise for a question. For designs without a sentence of their own it states only
    the odds. A promise in the pollster's own words has the English one behind it.

    `boxes` is how many boxes of one person go through the design one by one.

    >>> print(what_an_answer_proves(RandomizedResponse(odds=3)))
    Of 100 people whose true answer is yes, 75 send yes; of 100 whose true answer is no, 25 send
    yes. A yes from you is not proof: it multiplies anyone's odds about you by at most 3.
    """
    promise = _prove(design, labels, boxes, words, language)
    if not words.english_beside(template_name(design, boxes), language, **_NO_FIGURES):
        return promise
    return f"{promise} (English: {_prove(design, None, boxes, _ENGLISH, 'en')})"


def _prove(
    design: Any, labels: tuple[str, str] | None, boxes: int, words: Phrases, language: str
) -> str:
    name = template_name(design, boxes)
    if name == "proof_other":
        return words.say(name, language, odds=odds_text(design.loss))
    no, yes = labels or (words.say("no", language), words.say("yes", language))
    figures: dict[str, Any] = {
        "p": _of_100(design.p, words, language),
        "q": _of_100(design.q, words, language),
        "odds": odds_text(design.loss * boxes),
    }
    match name:
        case "proof_yes_no":
            figures |= {"yes": yes, "no": no}
        case "proof_choice":
            figures["others"] = design.categories - 1
        case "proof_boxes":
            figures |= {"box_odds": odds_text(design.loss), "boxes": boxes}
    caveat = f" It is {design.caveat}." if design.caveat else ""
    return words.say(name, language, **figures) + caveat


def template_name(design: Any, boxes: int = 1) -> str:
    """The name of the sentence (see `Phrases`) for a design.

    >>> (
    ...     template_name(RandomizedResponse(odds=3)),
    ...     template_name(RandomizedResponse(odds=3), boxes=4),
    ... )
    ('proof_yes_no', 'proof_boxes')
    """
    if not isinstance(design, RandomizedResponse):
        return "proof_other"
    if boxes > 1:
        return "proof_boxes"
    return "proof_yes_no" if design.categories == 2 else "proof_choice"


def odds_text(loss: Loss) -> str:
    """The largest factor on the odds, rounded up, as text.

    >>> from deniable.privacy import PureLoss
    >>> odds_text(PureLoss(odds=3)), odds_text(PureLoss(1))
    ('3', '2.72')
    """
    return factor_up(odds_factor(loss))


def _of_100(chance: Fraction, words: Phrases, language: str) -> str:
    people = 100 * chance
    if people.denominator == 1:
        return f"{people.numerator}"
    return words.say("about", language, number=f"{float(people):.0f}")
