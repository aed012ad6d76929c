"""What a loss means for one person, in short sentences. Every figure comes from the loss.

Frequencies have one denominator, 100, with and without the answer, because people read these
better than percentages or epsilons (Nanayakkara et al. 2023). A figure is an upper bound,
rounded up. No sentence calls a loss safe: the words say how far a guess can move, and the
reader judges. The unit (one person, or one row) and the whole (one answer, or all) are named.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from deniable.errors import InvalidParameter
from deniable.exact import enclosures
from deniable.exact.rationals import Number
from deniable.exact.text_formats import factor_up
from deniable.privacy.losses.hypothesis_testing import accuracy, exact_posterior, odds_factor
from deniable.privacy.losses.loss import Loss, delta_of

GUESSES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
PRIVATE_END = "more private: wider margins"
PRECISE_END = "more precise: says more about each person"

# What a loss is about. Reports are those of a survey: only the person knows the answers.
Whole = Literal["this answer", "all answers together", "all reports together"]
_EPSILON_DECIMALS = 10_000


@dataclass(frozen=True, slots=True)
class ScaleStop:
    """One of five labelled stops between private and precise.

    >>> [str(stop.odds) for stop in STOPS]
    ['11/10', '3/2', '3', '10', '100']
    >>> STOPS[2].epsilon, STOPS[2].label
    (Fraction(5493, 5000), 'in between')
    """

    odds: Fraction
    label: str
    meaning: str

    @property
    def epsilon(self) -> Fraction:
        """ln(odds) with four decimals, rounded down, so that the odds are not exceeded."""
        low, _ = enclosures.log(self.odds, 64)
        return Fraction(low * _EPSILON_DECIMALS >> 64, _EPSILON_DECIMALS)


STOPS = (
    ScaleStop(Fraction(11, 10), "very private", "A guess hardly moves."),
    ScaleStop(Fraction(3, 2), "private", "A guess moves a little."),
    ScaleStop(Fraction(3), "in between", "A guess moves clearly."),
    ScaleStop(Fraction(10), "precise", "A guess can move far."),
    ScaleStop(Fraction(100), "very precise", "A guess can become nearly sure."),
)
_BEYOND = "A guess can become sure."


@dataclass(frozen=True, slots=True)
class LossInWords:
    """A loss in words and figures: `right` and `guesses` are people of 100, rounded up.

    >>> from deniable.privacy import PureLoss
    >>> words = explain_loss(PureLoss(1), unit="patient")
    >>> words.right, words.guesses
    (74, ((1, 3), (10, 24), (50, 74)))
    >>> words.short
    'A guess of 10 of 100 about one patient becomes at most 24 of 100.'
    """

    unit: str | None  # the name of the column that says who; None for rows
    whole: Whole
    right: int  # of 100 who guess at even odds
    guesses: tuple[tuple[int, int], ...]  # before, and at most after
    odds: str | None  # the factor on odds; None if there is no limit
    delta: Fraction
    stop: ScaleStop | None  # the first stop that is at least as precise; None beyond the last

    @property
    def local(self) -> bool:
        """Whether chance was added before anybody else saw an answer."""
        return self.whole == "all reports together"

    @property
    def one_unit(self) -> str:
        """One unit, in two words."""
        return f"one {self.unit or 'row'}"

    @property
    def protected(self) -> str:
        """The unit and the whole."""
        with_rows = "" if self.unit is None or self.local else ", with all of its rows"
        return f"This is about {self.one_unit}{with_rows}, and {self.whole}."

    @property
    def short(self) -> str:
        """The one sentence for a preview."""
        before, after = self.guesses[1]
        return (
            f"A guess of {before} of 100 about {self.one_unit} becomes at most {after} of 100."
            f"{'' if not self.delta else ' ' + self.exception}"
        )

    @property
    def picture(self) -> str:
        """The caption of a picture of 100 people who guess at even odds."""
        return (
            f"Of 100 people who guess, at most {self.right} are right with {self.whole}; "
            "50 are right without."
        )

    @property
    def exception(self) -> str:
        """How often all this may not hold: delta, in words."""
        if not self.delta:
            return "This holds for every answer."
        return (
            f"There is one exception. With a chance of at most {chance_up(self.delta)}, "
            f"{self.whole} may tell everything about {self.one_unit}."
        )

    @property
    def place(self) -> str:
        """Where the loss lies on the scale, and what that means."""
        if self.stop is None:
            return f"On the scale from private to precise: beyond the last stop. {_BEYOND}"
        last = f"at most {_decimal(self.stop.odds)} times the odds"
        return (
            "On the scale from private to precise: "
            f"{self.stop.label} ({last}). {self.stop.meaning}"
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of it, the most important first."""
        moves = " ".join(
            f"At worst, a guess of {before} of 100 becomes at most {after} of 100."
            for before, after in self.guesses[:2]
        )
        limit = (
            f"In odds: {self.whole} can multiply anyone's odds by at most {self.odds}."
            if self.odds is not None
            else "There is no limit on the odds."
        )
        added = (
            f"Each other answer about the same {self.unit or 'row'} adds its own part."
            if self.whole == "this answer"
            else "Another survey of the same people adds its own part."
            if self.local
            else "No answer can go past this limit."
        )
        return (
            "No one but the person sees the true answers. Chance is added on their own phone."
            if self.local
            else "The owner of the data sees the true rows. Readers see numbers with noise.",
            self.protected,
            f"Say 100 people guess between two facts about {self.one_unit}, at even odds. "
            f"With {self.whole}, at most {self.right} of 100 guess right. Without, 50 of 100 "
            "guess right.",
            moves,
            limit,
            *([] if self.odds is None else [self.exception]),
            self.place,
            added,
        )


def explain_loss(
    loss: Loss, *, unit: str | None, whole: Whole = "this answer", delta: Number | None = None
) -> LossInWords:
    """What a loss means. Without a `delta` it is the probability of full disclosure that the
    loss itself has.

    >>> from deniable.privacy import GaussianLoss
    >>> words = explain_loss(GaussianLoss(1), unit=None, delta=1e-6)
    >>> words.exception.split(". ")[1]
    'With a chance of at most 1 in 1,000,000, this answer may tell everything about one row.'
    """
    at = loss.slack if delta is None else delta_of(delta)
    if loss.slack > at:
        raise InvalidParameter(
            f"`delta` must be at least that of the loss, {float(loss.slack):g}. Found {delta}."
        )
    bounded = math.isfinite(loss.epsilon(at))
    factor = odds_factor(loss, delta=at) if bounded else None
    return LossInWords(
        unit=unit,
        whole=whole,
        right=math.ceil(100 * accuracy(loss)),
        guesses=tuple(
            (int(100 * guess), of_100_up(loss, guess, delta=at)) for guess in GUESSES
        ),
        odds=None if factor is None else factor_up(factor),
        delta=at,
        stop=None if factor is None else find_stop(factor),
    )


def find_stop(factor: Fraction) -> ScaleStop | None:
    """The first stop of the scale that is at least as precise; None beyond the last.

    >>> find_stop(Fraction(2)).label, find_stop(Fraction(101))
    ('in between', None)
    """
    return next((stop for stop in STOPS if factor <= stop.odds), None)


def of_100_up(loss: Loss, guess: Fraction, *, delta: Number = 0) -> int:
    """How many of 100 a belief of `guess` can become at most, rounded up.

    >>> from deniable.privacy import PureLoss
    >>> of_100_up(PureLoss(1), Fraction(1, 2)), of_100_up(PureLoss(odds=3), Fraction(1, 10))
    (74, 25)
    """
    return math.ceil(100 * exact_posterior(loss, guess, delta=delta))


def chance_up(delta: Fraction) -> str:
    """A small probability in words, never as zero and never below the truth.

    >>> chance_up(Fraction(1, 10**6)), chance_up(Fraction(3, 10**6))
    ('1 in 1,000,000', '1 in 333,333')
    """
    return f"1 in {math.floor(1 / delta):,}"


def _decimal(odds: Fraction) -> str:
    return f"{float(odds):g}"
