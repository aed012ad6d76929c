"""What is kept of many reports: how many speak for each answer, and how many there are.

A tally is all that an estimate needs, so reports can be counted as they come in and then
forgotten. Tallies of one design add up; those of two designs do not, because each has to be
read through its own channel (see `deniable.surveys.pool`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import whole


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of `respondents` reports, made through `design`.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> coins = RandomizedResponse(odds=3)
    >>> monday, tuesday = coins.aggregate([True, False]), coins.aggregate([True])
    >>> (monday + tuesday).counts
    (1, 2)
    """

    design: Any
    counts: tuple[int, ...]
    respondents: int

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[int]:
        return iter(self.counts)

    def __getitem__(self, answer: int) -> int:
        return self.counts[answer]

    def __add__(self, other: "Tally") -> "Tally":
        if not isinstance(other, Tally):
            return NotImplemented
        if self.design != other.design or len(self) != len(other):
            raise InvalidParameter(
                "Only tallies of one design add up: each has to be read through its own "
                f"channel. Found {self.design!r} and {other.design!r}. "
                "Pool their estimates with `deniable.surveys.pool`."
            )
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return Tally(self.design, counts, self.respondents + other.respondents)

    def __radd__(self, other: object) -> "Tally":
        """So that `sum(tallies)` works."""
        return self if other == 0 else NotImplemented


def tally_of(counts: Any, design: Any, answers: int) -> Tally:
    """Counts of one report each ("no" or 0 first), checked, as a tally of `design`.

    >>> tally_of((6, 4), None, 2).respondents
    10
    """
    if isinstance(counts, Tally):
        if counts.design != design:
            raise InvalidParameter(
                f"These counts were made through {counts.design!r}, not through {design!r}."
            )
        return some(counts)
    if not hasattr(counts, "__len__"):
        raise InvalidData(
            f"`counts` needs a list of {answers} numbers, one for each category, "
            f'"no" or 0 first. Found {type(counts).__name__}.'
        )
    if len(counts) != answers:
        raise InvalidData(
            f"`counts` needs one number for each of {answers} categories, "
            f'"no" or 0 first. Found {len(counts)}.'
        )
    exact = tuple(whole(one, "counts", least=0) for one in counts)
    return some(Tally(design, exact, sum(exact)))


def some(tally: Tally) -> Tally:
    """A tally, refused if nobody answered."""
    if tally.respondents == 0:
        raise InvalidData("There are no responses to estimate from: every count is 0.")
    return tally
