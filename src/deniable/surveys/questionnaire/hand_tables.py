"""Coins, dice, cards and spinners that draw a channel by hand.

Every channel here is a mixture: with some probability the person says the truth (or its
opposite), else a forced answer, whatever is true. A device is a list of what one can see, how
many of its equally likely outcomes show it, and what to say then. Its channel is computed from
that list alone, and a device whose channel is not the manifest's, exactly, is refused.

| device | outcomes |
|---|---|
| `two-coins` | 4: heads first means the truth, else the second coin answers |
| `die` | 6: for yes and no, 1 is no, 6 is yes, all else the truth |
| `cards` | a deck of 10: some ask for the truth, the others for its opposite |
| `warner` | the same with the smallest deck, of at most 36 |
| `two-dice` | 36: sums of two dice |
| `spinner` | the fewest fields that fit, at most 36 |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal, get_args

from deniable.surveys.questionnaire.channels import KeepChannel, TableChannel
from deniable.surveys.questionnaire.declared_designs import MOST_FIELDS

DeviceName = Literal["two-coins", "die", "cards", "warner", "two-dice", "spinner"]
DEVICES: tuple[DeviceName, ...] = get_args(DeviceName)
# An int is the number of a forced answer; "first" and "second" are questions to answer.
Say = int | Literal["truth", "opposite", "first", "second"]

_DIE, _DECK = 6, 10
_SUMS = {total: 6 - abs(total - 7) for total in range(2, 13)}


@dataclass(frozen=True, slots=True)
class HandRow:
    """What is seen, in how many of the equally likely outcomes, and what is said then.

    `see` names the outcomes: coins, the faces of a die, sums, or how many cards or fields.
    """

    see: tuple[str | int, ...]
    outcomes: int
    say: Say


@dataclass(frozen=True, slots=True)
class HandDevice:
    """A device with its table "you see, you say"."""

    name: DeviceName
    answers: int
    rows: tuple[HandRow, ...]

    @property
    def outcomes(self) -> int:
        """How many equally likely outcomes there are."""
        return sum(row.outcomes for row in self.rows)

    def probability(self, report: int, answer: int) -> Fraction:
        """P(report | answer), from the table alone.

        >>> rows = HandRow((1,), 1, 0), HandRow((6,), 1, 1), HandRow((2, 3, 4, 5), 4, "truth")
        >>> HandDevice("die", 2, rows).probability(1, 1)
        Fraction(5, 6)
        """
        said = {"truth": answer, "opposite": 1 - answer}
        hits = sum(
            row.outcomes
            for row in self.rows
            if (row.say if isinstance(row.say, int) else said[row.say]) == report
        )
        return Fraction(hits, self.outcomes)


def find_device(channel: Any, name: str | None = None) -> HandDevice | None:
    """The device that draws a channel exactly; without a name, the simplest that does. None if
    there is no such device.

    >>> device = find_device(TableChannel(((5, 1), (1, 5))), "die")
    >>> [(row.see, row.say) for row in device.rows]
    [((1,), 0), ((2, 3, 4, 5), 'truth'), ((6,), 1)]
    """
    if not isinstance(channel, TableChannel | KeepChannel) or channel.answers > MOST_FIELDS:
        return None
    mixture = _read_mixture(channel)
    for candidate in DEVICES if name is None else (name,):
        device = None if mixture is None else _MAKERS[candidate](mixture)
        if device is not None and draws(device, channel):
            return device
    return None


def draws(device: HandDevice, channel: Any) -> bool:
    """Whether the device's table gives exactly this channel."""
    k = range(channel.answers)
    return device.answers == channel.answers == channel.reports and all(
        device.probability(report, answer) == channel.probability(report, answer)
        for report in k
        for answer in k
    )


@dataclass(frozen=True, slots=True)
class _Mixture:
    """Forced answers with these probabilities, else the truth or its opposite."""

    forced: tuple[Fraction, ...]
    rest: Literal["truth", "opposite"]

    @property
    def chance(self) -> Fraction:
        """The probability of what is not forced."""
        return 1 - sum(self.forced, Fraction(0))

    @property
    def fields(self) -> int:
        """The least number of equally likely outcomes."""
        return math.lcm(*(x.denominator for x in (*self.forced, self.chance)))

    @property
    def mirrored(self) -> Fraction | None:
        """P(truth) if forced answers can be replaced by the opposite of the truth."""
        if len(self.forced) != 2 or self.forced[0] != self.forced[1]:
            return None
        chance = self.forced[0] + self.chance
        return chance if self.rest == "truth" else 1 - chance

    def split(self, outcomes: int) -> tuple[list[int], int] | None:
        """How many of these outcomes force each answer, and how many force none."""
        if outcomes % self.fields:
            return None
        return [int(x * outcomes) for x in self.forced], int(self.chance * outcomes)


def _read_mixture(channel: Any) -> _Mixture | None:
    k = range(channel.answers)
    table = [[channel.probability(y, x) for y in k] for x in k]
    forced = tuple(min(table[x][y] for x in k) for y in k)
    left = [[table[x][y] - forced[y] for y in k] for x in k]
    chance = 1 - sum(forced, Fraction(0))
    if all(left[x][x] == chance for x in k):
        return _Mixture(forced, "truth")
    if channel.answers == 2 and left[0][1] == left[1][0] == chance:
        return _Mixture(forced, "opposite")
    return None


def _two_coins(mixture: _Mixture) -> HandDevice | None:
    rows = (
        HandRow(("heads",), 2, "truth"),
        HandRow(("tails", "heads"), 1, 1),
        HandRow(("tails", "tails"), 1, 0),
    )
    return HandDevice("two-coins", 2, rows) if len(mixture.forced) == 2 else None


def _die(mixture: _Mixture) -> HandDevice | None:
    parts = mixture.split(_DIE)
    if parts is None:
        return None
    faces = list(range(1, _DIE + 1))
    return HandDevice("die", len(parts[0]), _share_out(faces, parts, mixture.rest))


def _two_dice(mixture: _Mixture) -> HandDevice | None:
    parts = mixture.split(36)
    if parts is None:
        return None
    rows, left = [], sorted(_SUMS)
    for answer, ways in sorted(enumerate(parts[0]), reverse=True):
        chosen = _choose_sums(left, ways)
        if chosen is None:
            return None
        left = [total for total in left if total not in chosen]
        rows.append(HandRow(chosen, ways, answer))
    rows.append(HandRow((*left,), parts[1], mixture.rest))
    return HandDevice("two-dice", len(parts[0]), tuple(row for row in rows if row.outcomes))


def _choose_sums(left: list[int], ways: int) -> tuple[int, ...] | None:
    """The fewest sums of two dice that come up in this many of 36 ways."""
    for size in range(len(left) + 1):
        for chosen in combinations(left, size):
            if sum(_SUMS[total] for total in chosen) == ways:
                return chosen
    return None


def _spinner(mixture: _Mixture) -> HandDevice | None:
    parts = mixture.split(mixture.fields)
    if parts is None or mixture.fields > MOST_FIELDS:
        return None
    rows = [HandRow((n,), n, answer) for answer, n in enumerate(parts[0]) if n]
    rows.append(HandRow((parts[1],), parts[1], mixture.rest))
    return HandDevice("spinner", len(parts[0]), (*rows,))


def _cards(mixture: _Mixture) -> HandDevice | None:
    return _deck(mixture, "cards", _DECK)


def _warner(mixture: _Mixture) -> HandDevice | None:
    truth = mixture.mirrored
    return None if truth is None else _deck(mixture, "warner", truth.denominator)


def _deck(mixture: _Mixture, name: DeviceName, size: int) -> HandDevice | None:
    truth = mixture.mirrored
    if truth is None or size > MOST_FIELDS or (truth * size).denominator != 1:
        return None
    n = int(truth * size)
    rows = HandRow((n,), n, "truth"), HandRow((size - n,), size - n, "opposite")
    return HandDevice(name, 2, rows)


def _share_out(
    faces: list[int], parts: tuple[list[int], int], rest: Literal["truth", "opposite"]
) -> tuple[HandRow, ...]:
    """Faces from the lowest for the first answers, and from the highest for the last."""
    forced, _ = parts
    low: list[HandRow] = []
    high: list[HandRow] = []
    for answer, n in enumerate(forced):
        if not n:
            continue
        if answer < len(forced) - 1:
            low.append(HandRow((*faces[:n],), n, answer))
            faces = faces[n:]
        else:
            high.append(HandRow((*faces[-n:],), n, answer))
            faces = faces[:-n]
    return (*low, HandRow((*faces,), len(faces), rest), *high)


_MAKERS: dict[str, Callable[[_Mixture], HandDevice | None]] = {
    "two-coins": _two_coins,
    "die": _die,
    "cards": _cards,
    "warner": _warner,
    "two-dice": _two_dice,
    "spinner": _spinner,
}
