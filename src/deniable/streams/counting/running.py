"""A counter at work, without its storage: steps in, noisy numbers and estimates out."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from deniable.errors import UsedUp
from deniable.streams.counting.binary_tree import TreeSums
from deniable.streams.counting.design import CounterDesign
from deniable.streams.counting.square_root import LARGEST, SquareRootSums


class EndedStep(NamedTuple):
    """A step that has ended: its secret input, and what was released about it."""

    value: int
    released: tuple[int, ...]


@dataclass(slots=True)
class RunningCount:
    """The segments of one counter. Only the current one and the one before it are kept.

    >>> from deniable.streams.counting.promise import Promise
    >>> counter = RunningCount(CounterDesign(Promise(), horizon=8, epsilon=Fraction(100)))
    >>> for visits in (3, 0, 4):
    ...     _ = counter.add(visits)
    >>> counter.steps, round(counter.total()), round(counter.latest())
    (3, 7, 4)
    """

    design: CounterDesign
    steps: int = 0
    _segment: int = 0
    _current: SquareRootSums | TreeSums | None = None
    _before: SquareRootSums | TreeSums | None = None
    _closed: float | Fraction = Fraction(0)  # the sum of all closed segments

    def check_room(self, steps: int = 1) -> None:
        """Refuses to go on beyond the horizon: the noise was made for that many steps."""
        horizon = self.design.horizon
        if horizon is not None and self.steps + steps > horizon:
            raise UsedUp(
                f"This counter was charged for {horizon} steps, and {self.steps} of them are "
                "over. Begin another one under another name. Nothing was read."
            )

    def add(self, value: int) -> EndedStep:
        """Ends a step with this input: draws its noise, once."""
        sums, kept = self._next(), max(-LARGEST, min(LARGEST, value))
        return EndedStep(kept, sums.add(kept))

    def restore(self, step: EndedStep) -> None:
        """Ends a step whose noise was drawn before."""
        self._next().restore(*step)

    def total(self) -> float | Fraction:
        """The sum over all steps, or over the window, estimated; in grid steps."""
        current, window = self._current, self.design.window
        if current is None:
            return 0.0
        if window is None:
            return self._closed + current.estimate()
        if self._before is None or current.steps >= window:
            return current.estimate()
        return self._before.estimate(window - current.steps) + current.estimate()

    def latest(self) -> float | Fraction:
        """The last step alone, estimated; in grid steps."""
        return 0.0 if self._current is None else self._current.estimate(1)

    def _next(self) -> SquareRootSums | TreeSums:
        """The segment of the next step."""
        self.check_room()
        current = self._current
        if current is None:
            current = self._current = self.design.segment(0).begin()
        elif current.steps == current.design.length:
            if self.design.window is None:
                self._closed += current.estimate()
            self._before, self._segment = current, self._segment + 1
            current = self._current = self.design.segment(self._segment).begin()
        self.steps += 1
        return current
