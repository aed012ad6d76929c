"""Designs that a question may declare by name, and what a hand can throw.

A device draws any channel of whole numbers. Paper needs a channel that coins, a die, cards or a
spinner with at most 36 fields can draw. Crosswise and unrelated questions use a birthday in
place of a coin, so a device has no use for them, and anyone who knows the birthday reads the
answer: they are for paper and for reports that were collected elsewhere.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, get_args

from deniable.errors import InvalidParameter
from deniable.exact import enclosures
from deniable.exact.foreign_text import read_rational
from deniable.exact.rationals import rational
from deniable.mechanisms import RandomizedResponse

PaperDesign = Literal["two-coins", "die", "cards", "two-dice", "spinner"]
PAPER_DESIGNS: tuple[PaperDesign, ...] = get_args(PaperDesign)
BIRTHDAYS = ("crosswise", "unrelated")  # designs without a throw
MOST_FIELDS = 36  # of a spinner, or of two dice

_DECIMALS = 10**12
_SIXTH = Fraction(1, 6)
_NAMED: dict[str, Callable[[], Any]] = {
    "two-coins": RandomizedResponse.from_coins,
    "die": lambda: RandomizedResponse.forced(4 * _SIXTH, yes=_SIXTH, no=_SIXTH),
    "cards": lambda: RandomizedResponse.warner(Fraction(7, 10)),
}
_WITH_RATES: dict[str, tuple[Callable[..., Any], int]] = {
    "warner": (RandomizedResponse.warner, 1),
    "crosswise": (RandomizedResponse.crosswise, 1),
    "unrelated": (RandomizedResponse.unrelated, 2),
}


def declared_response(design: Any) -> RandomizedResponse:
    """The coins of a design that is declared by name, or by name and rates.

    `{warner = "3/4"}` is the share of cards that ask the question as it is. `{crosswise =
    "1/4"}` and `{unrelated = ["1/2", "1/12"]}` state the rate of the innocuous trait; the
    latter begins with how often the question itself is answered.

    >>> declared_response("die").p, declared_response({"warner": "3/4"}).q
    (Fraction(5, 6), Fraction(1, 4))
    """
    if isinstance(design, str) and design in _NAMED:
        named: RandomizedResponse = _NAMED[design]()
        return named
    if isinstance(design, dict) and len(design) == 1:
        ((name, rates),) = design.items()
        if name in _WITH_RATES:
            make, count = _WITH_RATES[name]
            listed = rates if isinstance(rates, list) else [rates]
            if len(listed) == count:
                response: RandomizedResponse = make(*map(_read_rate, listed))
                return response
    raise InvalidParameter(
        'A design is "two-coins", "die", "cards", {warner = "3/4"}, {crosswise = "1/4"} or '
        '{unrelated = ["1/2", "1/12"]}. Without one, give `epsilon` or `odds`.'
    )


def fits_device(design: Any) -> bool:
    """Whether a device can draw the design: all but those that use a birthday.

    >>> fits_device(declared_response("die"))
    True
    >>> fits_device(declared_response({"crosswise": 0.25}))
    False
    """
    return not getattr(design, "caveat", "")


def epsilon_above(odds: Fraction) -> Fraction:
    """ln(odds), rounded up to twelve decimals.

    >>> epsilon_above(Fraction(3))
    Fraction(1098612288669, 1000000000000)
    """
    _, high = enclosures.log(odds, 64)
    return Fraction(-(-high * _DECIMALS >> 64), _DECIMALS)


def _read_rate(rate: Any) -> Fraction:
    try:
        return read_rational(rate) if isinstance(rate, str) else rational(rate, "design")
    except ValueError as problem:
        raise InvalidParameter(f"`design`: {problem}.") from None
