"""A channel as whole numbers: what a device needs to draw a report, in four shapes.

| shape | the report |
|---|---|
| `{"table": [[w, ...], ...]}` | one row for each answer: report y with weight w[y] |
| `{"keep": [a, b], "any": k}` | the answer with probability a/b, else any of k |
| `{"boxes": n, "ticks": "one" or "any", "table": ...}` | n boxes, each by the same table |
| `{"dither": n, "then": channel}` | a number, rounded to an end at random, then as an answer |

All draws use two primitives, on words of 64 bits. A coin compares the digits of a uniform
number with those of rationals, and takes more words until it is certain. `draw_below` takes as
many bits as its limit has and rejects what is too large. Every coin falls, whatever the answer
is; only the last selection depends on it. So the number of words, and the time, say nothing
about the answer. `coins.js` does the same with the same words.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from deniable.exact.bits import SYSTEM, BitSource, draw_integer

WORD = 64
_NOT_SAID = 2  # the report after low (0) and high (1)


@dataclass(frozen=True, slots=True)
class TableChannel:
    """Report y has probability weights[x][y] / sum(weights[x]) after answer x.

    >>> coins = TableChannel(((3, 1), (1, 3)))
    >>> coins.probability(1, 1), coins.odds
    (Fraction(3, 4), Fraction(3, 1))
    """

    weights: tuple[tuple[int, ...], ...]

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return len(self.weights)

    @property
    def reports(self) -> int:
        """How many reports there are."""
        return len(self.weights[0])

    def probability(self, report: int, answer: int) -> Fraction:
        """P(report | answer), exactly."""
        return Fraction(self.weights[answer][report], sum(self.weights[answer]))

    @property
    def odds(self) -> Fraction:
        """The greatest ratio of the probabilities of one report under two answers."""
        columns = (
            [self.probability(y, x) for x in range(self.answers)] for y in range(self.reports)
        )
        return max(max(column) / min(column) for column in columns)

    def randomize(self, answer: int, *, source: BitSource = SYSTEM) -> int:
        """One report. The row of every answer is drawn, from the last to the first."""
        drawn = {
            x: draw_weighted(self.weights[x], source) for x in reversed(range(self.answers))
        }
        return drawn[answer]

    def to_json(self) -> dict[str, Any]:
        """The shape, with weights as decimal text."""
        return {"table": [[str(weight) for weight in row] for row in self.weights]}


@dataclass(frozen=True, slots=True)
class KeepChannel:
    """Keeps the answer with probability `keep`, else reports any of `any_of` answers.

    >>> KeepChannel(Fraction(1, 2), 3).odds
    Fraction(4, 1)
    """

    keep: Fraction
    any_of: int

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.any_of

    @property
    def reports(self) -> int:
        """How many reports there are."""
        return self.any_of

    def probability(self, report: int, answer: int) -> Fraction:
        """P(report | answer), exactly."""
        return (1 - self.keep) / self.any_of + (self.keep if report == answer else 0)

    @property
    def odds(self) -> Fraction:
        """The greatest ratio of the probabilities of one report under two answers."""
        return 1 + self.any_of * self.keep / (1 - self.keep)

    def randomize(self, answer: int, *, source: BitSource = SYSTEM) -> int:
        """One report, from one coin and one uniform draw."""
        rest = self.keep.denominator - self.keep.numerator
        keep = draw_weighted((rest, self.keep.numerator), source)
        other = draw_below(self.any_of, source)
        return answer if keep else other

    def to_json(self) -> dict[str, Any]:
        """The shape, with whole numbers as decimal text."""
        keep = [str(self.keep.numerator), str(self.keep.denominator)]
        return {"keep": keep, "any": str(self.any_of)}


@dataclass(frozen=True, slots=True)
class BoxesChannel:
    """Every box goes through one table of two answers and two reports.

    `ticks` says whether an answer ticks exactly one box or any of them.
    """

    boxes: int
    ticks: Literal["one", "any"]
    table: TableChannel

    @property
    def odds(self) -> Fraction:
        """The greatest ratio: of two boxes if one is ticked, of all boxes otherwise.

        >>> BoxesChannel(9, "one", TableChannel(((3, 1), (1, 1)))).odds
        Fraction(3, 1)
        """
        if self.ticks == "any":
            return self.table.odds**self.boxes
        columns = [
            [self.table.probability(report, answer) for answer in (0, 1)] for report in (0, 1)
        ]
        ratios = [column[1] / column[0] for column in columns]
        return max(ratios) / min(ratios)

    def randomize(self, answer: list[int], *, source: BitSource = SYSTEM) -> list[int]:
        """One report for each box, the first box first."""
        return [self.table.randomize(tick, source=source) for tick in answer]

    def to_json(self) -> dict[str, Any]:
        """The shape, with whole numbers as decimal text."""
        return {"boxes": str(self.boxes), "ticks": self.ticks, **self.table.to_json()}


@dataclass(frozen=True, slots=True)
class DitherChannel:
    """A number `place` steps above the low end goes to the high end with probability place /
    steps, else to the low end; then through a channel. Place -1 declines: the third answer."""

    steps: int
    then: TableChannel | KeepChannel

    @property
    def reports(self) -> int:
        """How many reports there are: low, high, and not said where one may decline."""
        return self.then.reports

    def probability(self, report: int, place: int) -> Fraction:
        """P(report | place), exactly.

        >>> DitherChannel(4, TableChannel(((3, 1), (1, 3)))).probability(1, 1)
        Fraction(3, 8)
        """
        if place < 0:
            return self.then.probability(report, _NOT_SAID)
        up, (low, high) = (
            Fraction(place, self.steps),
            (self.then.probability(report, end) for end in (0, 1)),
        )
        return up * high + (1 - up) * low

    @property
    def odds(self) -> Fraction:
        """The greatest ratio. A mixture of rows has no greater one than the rows."""
        return self.then.odds

    def randomize(self, place: int, *, source: BitSource = SYSTEM) -> int:
        """One report, from one uniform draw and then the coins."""
        up = draw_below(self.steps, source) < place
        return self.then.randomize(_NOT_SAID if place < 0 else int(up), source=source)

    def to_json(self) -> dict[str, Any]:
        """The shape, with whole numbers as decimal text."""
        return {"dither": str(self.steps), "then": self.then.to_json()}


Channel: TypeAlias = TableChannel | KeepChannel | BoxesChannel | DitherChannel


def draw_weighted(weights: tuple[int, ...], source: BitSource) -> int:
    """An index, drawn with these weights from words of 64 bits.

    A uniform number U below (w_last + ... + w_y) / total, and not below the same without w_y,
    means y. So of two weights the last is a coin: U < w_1 / total.

    >>> from deniable.exact.bits import ScriptedBits
    >>> (
    ...     draw_weighted((1, 3), ScriptedBits([3 * 2**62])),
    ...     draw_weighted((1, 3), ScriptedBits([0])),
    ... )
    (0, 1)
    """
    total, word, bits = sum(weights), 0, 0
    while True:
        word, bits = word << WORD | draw_integer(source, WORD), bits + WORD
        below = 0
        for y in range(len(weights) - 1, -1, -1):
            before, below = below, below + weights[y]
            # [word, word + 1) / 2**bits lies in [before, below) / total
            if before << bits <= word * total and (word + 1) * total <= below << bits:
                return y


def draw_below(limit: int, source: BitSource) -> int:
    """A uniform number below the limit. A limit of 1 takes no bits.

    >>> from deniable.exact.bits import ScriptedBits
    >>> draw_below(3, ScriptedBits([3, 2]))
    2
    """
    bits = (limit - 1).bit_length()
    while (value := draw_integer(source, bits)) >= limit:
        pass
    return value
