"""The result of a test: its p-value, and the hypothesis that it speaks about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.infer.inferred import POPULATION, Ends

# Levels at which it is tried whether an interval rejects.
LADDER = tuple(Fraction(1, k) for k in (2, 5, 10, 20, 50, 100, 200, 1000, 10000))


@dataclass(frozen=True, slots=True)
class Significance:
    """A p-value that is at most as small as it says, whatever the unknown numbers are.

    >>> print(Significance("no difference", 2.4, 0.031))
    If no difference: p = 0.031 (statistic 2.4)
    """

    hypothesis: str
    statistic: float
    p_value: float
    target: str = POPULATION
    notes: tuple[str, ...] = ()

    def rejects(self, level: float = 0.05) -> bool:
        """Whether the hypothesis is rejected at this level."""
        return self.p_value <= level

    def __str__(self) -> str:
        line = f"If {self.hypothesis}: p = {self.p_value:.2g} (statistic {self.statistic:,.4g})"
        return "\n".join([line, *self.notes])


def least_level(
    rejects: Callable[[Fraction], bool], ladder: Sequence[Fraction] = LADDER
) -> float:
    """The least level of the ladder up to which an interval rejects; 1 if it never does.

    >>> least_level(lambda level: level >= Fraction(3, 100))
    0.05
    """
    least = 1.0
    for level in ladder:
        if not rejects(level):
            break
        least = float(level)
    return least


def ladder_p(ends: Callable[[Fraction], Ends], null: float, pairs: int = 1) -> float:
    """The least level of the ladder at which the interval excludes `null`, times the number of
    pairs; 1 if none does."""

    def excludes(level: Fraction) -> bool:
        low, high = ends(1 - level)
        return not low <= null <= high

    return min(1.0, least_level(excludes) * pairs)
