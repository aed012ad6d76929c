"""A summary of many reports: how many support each answer, and how many there are.

An estimate needs only a tally, so reports can be counted as they arrive and then deleted.
Tallies of one design can be added. Tallies of two designs cannot, because each must be read
through its own channel (see `deniable.surveys.pool`).
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
                "Only tallies of one design can be added, because each design has its own "
                f"channel. Found {self.design!r} and {other.design!r}. "
                "Pool their estimates with `deniable.surveys.pool`."
            )
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return Tally(self.design, counts, self.respondents + other.respondents)

    def __radd__(self, other: object) -> "Tally":
        """Makes `sum(tallies)` work."""
        return self if other == 0 else NotImplemented


def read_tally(counts: Any, design: Any, answers: int) -> Tally:
    """Checks counts ("no" or 0 first) and returns them as a tally of `design`.

    >>> read_tally((6, 4), None, 2).respondents
    10
    """
    if isinstance(counts, Tally):
        if counts.design != design:
            raise InvalidParameter(
                f"These counts were made through {counts.design!r}, not through {design!r}."
            )
        return check_not_empty(counts)
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
    exact = tuple(whole(count, "counts", least=0) for count in counts)
    return check_not_empty(Tally(design, exact, sum(exact)))


def check_not_empty(tally: Tally) -> Tally:
    """Returns the tally; raises if it has no responses."""
    if tally.respondents == 0:
        raise InvalidData("There are no responses to estimate from: every count is 0.")
    return tally
