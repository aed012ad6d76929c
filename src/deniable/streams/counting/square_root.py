"""Running sums with Gaussian noise: one noisy number a step, by the square-root factorisation.

At step t we release u_t = sum of F_k x_(t-k) + z_t, with z_t rounded Gaussian noise of variance
s: post-processing of u_t with Gaussian noise. Given the past, an event of step t - k moves u_t
by F_k, whatever was chosen by then. So Gaussian losses add up: mu squared is (how far the
protected events move one column)**2 times the sum of all F squared, over s; also for inputs
that depend on the answers before them.

The noise is drawn once, when a step ends. Estimates are post-processing of u.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.streams.counting.coefficients import (
    Floats,
    Whole,
    coefficients,
    column_square,
    running_norms,
    step_weights,
    sum_weights,
)
from deniable.streams.counting.promise import Promise
from deniable.streams.counting.spread import Spread

LARGEST = 1 << 62  # inputs are cut to this: it moves nothing further apart
_HALF = 30  # bits of the lower part of a large input
_PIECE = 4096
_SMALL = 1 << 31  # inputs below this are added up in one go


@dataclass(frozen=True, slots=True)
class SquareRoot:
    """A segment of `length` steps under one factorisation, at a Gaussian loss.

    >>> design = SquareRoot(1024, Promise(), Fraction(1))  # mu squared 1: rho is 1/2
    >>> round(design.spread(1024).deviation, 3)
    3.273
    """

    length: int
    promise: Promise
    mu_squared: Fraction

    @property
    def noise(self) -> GaussianNoise:
        """The noise on each released number: the whole segment costs mu squared."""
        reach = self.promise.l2_squared * column_square(self.length)
        return GaussianNoise(reach / self.mu_squared)

    def begin(self) -> "SquareRootSums":
        return SquareRootSums(self)

    def spread(self, steps: int, last: int | None = None) -> Spread:
        """The error of the sum of all steps, or of the `last` ones, after a number of steps."""
        if not steps:
            return Spread(0.0)
        if last is None or last >= steps or last == 1:
            of_sums = last != 1 or steps == 1
            squares, sizes = running_norms(self.length, of_sums=of_sums)
            square, size = float(squares[steps - 1]), float(sizes[steps - 1])
        else:
            weights = self.weights(steps, last)
            square, size = float(np.sum(weights**2)), float(np.abs(weights).sum())
        return Spread(float(self.noise.variance) * square, fixed=size / 2)

    def weights(self, steps: int, last: int | None = None) -> Floats:
        """What the released numbers weigh in an estimate; the earliest comes first."""
        if last == 1:
            return step_weights(self.length)[:steps][::-1]
        weights = sum_weights(self.length)
        if last is None or last >= steps:
            return weights[:steps][::-1]
        both = weights[:steps].copy()
        both[last:] -= weights[: steps - last]
        return both[::-1]


class SquareRootSums:
    """The numbers of one segment: secret inputs, and what was released about them."""

    def __init__(self, design: SquareRoot) -> None:
        self.design, self.steps, self._largest = design, 0, 0
        self._inputs: Whole = np.zeros(min(design.length, 64), np.int64)
        self._released: Floats = np.zeros(min(design.length, 64))

    def add(self, value: int) -> tuple[int, ...]:
        """Ends a step: draws its noise, and returns what is released."""
        exact = self._measure(value)
        noisy = exact + int(self.design.noise.draw(1)[0])
        self._keep(value, noisy)
        return (noisy,)

    def restore(self, value: int, released: tuple[int, ...]) -> None:
        """Ends a step whose noise was drawn before."""
        self._keep(value, released[0])

    def estimate(self, last: int | None = None) -> float:
        """The sum of all steps, or of the last ones: post-processing."""
        weights, released = self.design.weights(self.steps, last), self._released[: self.steps]
        # In pieces, so that no library starts threads for it.
        return sum(
            float(np.dot(weights[at : at + _PIECE], released[at : at + _PIECE]))
            for at in range(0, self.steps, _PIECE)
        )

    def _measure(self, value: int) -> int:
        """The exact number of the next step."""
        past, large = self._inputs[: self.steps], max(self._largest, abs(value)) >= _SMALL
        series = coefficients(self.design.length)
        last = int(series[0]) * value
        later = series[1 : self.steps + 1][::-1]
        if not large:
            return last + int(np.dot(past, later))
        high, low = past >> _HALF, past & ((1 << _HALF) - 1)
        return last + (int(np.dot(high, later)) << _HALF) + int(np.dot(low, later))

    def _keep(self, value: int, noisy: int) -> None:
        if self.steps == len(self._inputs):
            size = min(2 * self.steps, self.design.length)
            self._inputs = np.concatenate([self._inputs, np.zeros(size - self.steps, np.int64)])
            self._released = np.concatenate([self._released, np.zeros(size - self.steps)])
        self._inputs[self.steps], self._released[self.steps] = value, noisy
        self.steps, self._largest = self.steps + 1, max(self._largest, abs(value))
