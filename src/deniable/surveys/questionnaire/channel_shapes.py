"""From a design to its channel, and from the JSON of a manifest back to a channel."""

import math
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import enclosures
from deniable.mechanisms import OUE, Duchi, NumberOrNot, Ordinal, RandomizedResponse
from deniable.surveys.questionnaire.channels import (
    BoxesChannel,
    Channel,
    DitherChannel,
    KeepChannel,
    TableChannel,
)
from deniable.surveys.questionnaire.declared_designs import (
    BIRTHDAYS,
    PAPER_DESIGNS,
    PaperDesign,
    declared_response,
)
from deniable.surveys.questionnaire.designs import DesignedQuestion
from deniable.surveys.questionnaire.hand_tables import find_device

MOST_REPORTS = 12  # of a table
MOST_ANSWERS = 1000
_MOST_STEPS = 1 << 20
_MOST_DIGITS = 400
_BITS = 256


def channel_of(designed: DesignedQuestion) -> Channel:
    """The channel of a question, from its design.

    >>> from deniable.surveys.questionnaire.designs import design_question
    >>> from deniable.surveys.questionnaire.survey_question import SurveyQuestion
    >>> question = SurveyQuestion(id="a", kind="yes-no", text="?", design="die")
    >>> channel_of(design_question(question, Fraction(2))).to_json()
    {'table': [['5', '1'], ['1', '5']]}
    """
    design = designed.design
    if designed.options > 1 and not designed.joint:
        return BoxesChannel(designed.options, "any", _coins(design.p, design.q))
    match design:
        case RandomizedResponse():
            return _response(design)
        case Ordinal():
            k = range(design.categories)
            rows = ([design.matrix[y][x] for y in k] for x in k)
            return TableChannel(tuple(_whole(row) for row in rows))
        case OUE():
            return BoxesChannel(design.categories, "one", _coins(design.p, design.q))
        case Duchi():
            ends = RandomizedResponse(odds=design.odds)
            return DitherChannel(design.steps, _coins(ends.p, ends.q))
        case NumberOrNot():
            return DitherChannel(design.steps, _response(design.response))
    raise InvalidParameter(
        f"{designed.question.id}: {type(design).__name__} is not for devices. Offer at most "
        "1,000 options."
    )


def read_channel(shape: Any) -> Channel:
    """The channel that a manifest states. Refuses all that is not one of the four shapes.

    >>> read_channel({"keep": ["1", "2"], "any": "3"})
    KeepChannel(keep=Fraction(1, 2), any_of=3)
    """
    match shape:
        case {"table": list(rows), **rest} if not rest:
            return _read_table(rows)
        case {"keep": [top, bottom], "any": k, **rest} if not rest:
            keep = Fraction(_read_whole(top), _read_whole(bottom))
            if keep < 1 and str(keep) == f"{top}/{bottom}":
                return KeepChannel(keep, _read_whole(k, least=2, most=MOST_ANSWERS))
        case {"boxes": n, "ticks": "one" | "any" as ticks, "table": list(rows), **rest} if (
            not rest
        ):
            table = _read_table(rows)
            if table.answers == table.reports == 2:
                return BoxesChannel(_read_whole(n, least=2, most=MOST_ANSWERS), ticks, table)
        case {"dither": steps, "then": dict(then), **rest} if not rest:
            inner = read_channel(then)
            if isinstance(inner, TableChannel | KeepChannel) and inner.answers in (2, 3):
                return DitherChannel(_read_whole(steps, most=_MOST_STEPS), inner)
    raise InvalidData("The shape of a channel of the manifest is unknown.")


def costs_at_most(channel: Channel, epsilon: Fraction) -> bool:
    """Whether the channel's own weights keep this epsilon.

    >>> coins = TableChannel(((3, 1), (1, 3)))
    >>> costs_at_most(coins, Fraction("1.0987")), costs_at_most(coins, Fraction("1.0986"))
    (True, False)
    """
    _, high = enclosures.log(channel.odds, _BITS)
    return high <= epsilon * (1 << _BITS)


def paper_design_of(channel: Channel) -> PaperDesign | None:
    """What draws the channel by hand; None if nothing on paper does.

    >>> paper_design_of(KeepChannel(Fraction(1, 2), 3))
    'die'
    """
    return next((paper for paper in PAPER_DESIGNS if draws_on_paper(paper, channel)), None)


def draws_on_paper(paper: PaperDesign, channel: Channel) -> bool:
    """Whether this draws exactly the channel.

    >>> draws_on_paper("cards", TableChannel(((7, 3), (3, 7))))
    True
    """
    return find_device(channel, paper) is not None


def fits_design(name: str | None, device: bool, channel: Channel) -> bool:
    """Whether a declared design of this name can have this channel, and whether a device draws
    it as stated.

    >>> coins = TableChannel(((3, 1), (1, 3)))
    >>> fits_design("two-coins", True, coins), fits_design("die", True, coins)
    (True, False)
    """
    if device == (name in BIRTHDAYS):
        return False
    if name is None:
        return True
    if not isinstance(channel, TableChannel) or channel.answers != 2 or channel.reports != 2:
        return False
    p, q = channel.probability(1, 1), channel.probability(1, 0)
    match name:
        case "warner" | "crosswise":
            return p + q == 1
        case "unrelated":
            return p > q
    try:
        return channel == _response(declared_response(name))
    except InvalidParameter:
        return False


def _response(design: RandomizedResponse) -> TableChannel | KeepChannel:
    if design.categories == 2:
        return _coins(design.p, design.q)
    return KeepChannel(design.p - design.q, design.categories)


def _coins(p: Fraction, q: Fraction) -> TableChannel:
    """Two answers and two reports: p = P(1 | 1), q = P(1 | 0)."""
    return TableChannel((_whole([1 - q, q]), _whole([1 - p, p])))


def _whole(row: list[Fraction]) -> tuple[int, ...]:
    """The least whole weights in these proportions."""
    unit = math.lcm(*(part.denominator for part in row))
    return tuple(int(part * unit) for part in row)


def _read_table(rows: list[Any]) -> TableChannel:
    weights = tuple(
        tuple(_read_whole(weight) for weight in row) for row in rows if isinstance(row, list)
    )
    if len(weights) == len(rows) and 2 <= len(rows) <= MOST_REPORTS:
        reports = {len(row) for row in weights}
        if len(reports) == 1 and 2 <= min(reports) <= MOST_REPORTS:
            return TableChannel(weights)
    raise InvalidData("A table of the manifest must have 2 to 12 rows of the same length.")


def _read_whole(text: Any, *, least: int = 1, most: int | None = None) -> int:
    """A whole number, written as decimal text without leading zeros."""
    if (
        isinstance(text, str)
        and len(text) <= _MOST_DIGITS
        and text.isascii()
        and text.isdigit()
        and (text[0] != "0" or text == "0")
        and int(text) >= least
        and (most is None or int(text) <= most)
    ):
        return int(text)
    raise InvalidData("A whole number of the manifest is missing, too large or badly written.")
