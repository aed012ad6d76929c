"""What is inferred from a release: a value, and its error from noise and from sampling."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from deniable.public_methods import implementation

Ends: TypeAlias = tuple[float, float]

POPULATION = "the population, of which the rows are independent draws"
THESE_ROWS = "these rows (the error of the noise alone)"


@dataclass(frozen=True, slots=True)
class Inferred:
    """A number with its interval, apart for noise and sampling, and what it is a number of.

    >>> share = Inferred(
    ...     "share of A", 0.412, (0.401, 0.423), (0.409, 0.415), (0.402, 0.422), 0.95
    ... )
    >>> print(share)
    share of A: 0.412 ± 0.0030 from noise, ± 0.010 from sampling; 0.401 to 0.423 in all, at 95 %
    """

    what: str
    value: float
    interval: Ends  # of both errors together
    noise: Ends  # if only the noise counts: what it may be for these very rows
    sampling: Ends | None  # if only the sampling counts; None if it was left out
    confidence: float
    target: str = POPULATION  # what the interval covers
    p_value: float | None = None  # of no difference: an upper limit, from a ladder of levels
    notes: tuple[str, ...] = ()
    null: float = 0.0  # the value of no difference: 1 for a ratio

    @property
    def margin(self) -> float:
        """How far the farther end is away, in all."""
        return max(self.value - self.low, self.high - self.value)

    @property
    def low(self) -> float:
        """The lower end, in all."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """The upper end, in all."""
        return self.interval[1]

    def __str__(self) -> str:
        parts = [f"± {_half(self.value, self.noise)} from noise"]
        if self.sampling is not None:
            parts.append(f"± {_half(self.value, self.sampling)} from sampling")
        level = f"{100 * self.confidence:.4g} %"
        ends = f"{_short(self.low)} to {_short(self.high)} in all, at {level}"
        tested = "" if self.p_value is None else f"; {describe_p(self.p_value)}"
        line = f"{self.what}: {_short(self.value)} {', '.join(parts)}; {ends}{tested}"
        return "\n".join([line, *self.notes])


def plot(results: Iterable[Inferred]) -> Any:
    """A picture of intervals, such as a population's.

    >>> share = Inferred("share of A", 0.41, (0.38, 0.44), (0.40, 0.42), (0.39, 0.43), 0.95)
    >>> import deniable as dp
    >>> figure = dp.infer.plot([share])
    """
    return implementation("infer.plot")(results)


def plot_differences(results: Iterable[Inferred]) -> Any:
    """A picture of differences or ratios: those that may be nothing are grey.

    >>> pair = Inferred("A less B", 0.2, (0.1, 0.3), (0.15, 0.25), (0.12, 0.28), 0.95)
    >>> import deniable as dp
    >>> figure = dp.infer.plot_differences([pair])
    """
    return implementation("infer.plot_differences")(results)


def describe_p(p: float) -> str:
    """A p-value from the ladder, as text.

    >>> describe_p(0.01), describe_p(1.0)
    ('p at most 0.01', 'p above 0.5')
    """
    return f"p at most {p:g}" if p < 1 else "p above 0.5"


def _half(value: float, ends: Ends) -> str:
    if not all(map(math.isfinite, (value, *ends))):
        return "inf"
    half = max(value - ends[0], ends[1] - value)
    return f"{half:,.0f}" if half >= 10 else f"{half:#.2g}"


def _short(number: float) -> str:
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3f}" if abs(number) >= 0.01 else f"{number:.3g}"
