"""The result of a test: its p-value, and the hypothesis that it speaks about."""

from dataclasses import dataclass

from deniable.infer.inferred import POPULATION


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
