"""What all losses have in common.

A loss is a guarantee about any two neighbouring tables: from the output, an attacker can
hardly tell which of the two tables was used. There are three ways to read it:

- `delta(epsilon)`: the probability of any event under one table is at most e**epsilon times
  its probability under the other, plus `delta(epsilon)`;
- `epsilon(delta)`: the least such epsilon for a given delta;
- `tradeoff(alpha)`: a test of "was this person in the table?" with false-alarm rate alpha
  misses the person at least with probability `tradeoff(alpha)`.

Epsilons and deltas are rounded up and trade-offs down, so no number promises too much. A loss
has no neighbouring relation: functions that depend on the relation have a parameter for it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Protocol

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, probability, rational, whole
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import (
    INFINITY,
    ONE,
    ZERO,
    precision,
)
from deniable.privacy.losses.tradeoff_search import TradeoffSearch

_NEARLY_ONE = Fraction(999, 1000)


class Algebra(Protocol):
    """Operations that involve several kinds of loss; see `privacy.compose.algebra`."""

    def compose(self, parts: "Iterable[tuple[Loss, int]]") -> "Loss":
        """The loss of all parts together, each repeated `count` times."""

    def add(self, first: "Loss", second: "Loss") -> "Loss":
        """The loss of both together."""

    def fits(self, loss: "Loss", budget: "Loss") -> bool:
        """Whether `loss` stays within `budget`."""

    def price(self, pairs: CountedPairs) -> "Loss":
        """The loss of dominating pairs together, computed on a grid."""


class Loss(ABC):
    """The privacy that one release, or many, may cost.

    A subclass defines `_epsilon_above` and `_delta_above`, certified upper bounds in long
    decimals, and the charges that it has: `exact_epsilon`, `rho`, `mu_squared`,
    `dominating_pairs`. A charge is what the loss adds to a composition. `None` means that it
    has no charge of that kind.
    """

    __slots__ = ()

    algebra: ClassVar[Algebra]  # set by `deniable.privacy`

    @property
    def slack(self) -> Fraction:
        """The probability of full disclosure. The charges hold if it does not happen."""
        return Fraction(0)

    @property
    def _certain_delta(self) -> Fraction:
        """An upper bound on the probability of outputs that reveal the table for certain."""
        return self.slack

    @property
    def exact_epsilon(self) -> ExactEpsilon | None:
        """The exact epsilon at `delta = slack`."""
        return None

    @property
    def rho(self) -> Fraction | None:
        """The zCDP charge, rounded up."""
        return None

    @property
    def mu_squared(self) -> Fraction | None:
        """The square of the Gaussian (GDP) charge."""
        return None

    @property
    def dominating_pairs(self) -> CountedPairs | None:
        """Pairs of distributions, with counts, that together cost at least as much as this
        loss does if `slack` does not happen."""
        return None

    @property
    def attained_pairs(self) -> CountedPairs | None:
        """Pairs that this loss certainly allows, for lower bounds."""
        return self.dominating_pairs

    @abstractmethod
    def _epsilon_above(self, delta: Fraction) -> Decimal:
        """An upper bound on the least epsilon at 0 <= delta < 1, or INFINITY."""

    @abstractmethod
    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        """An upper bound on the least delta at epsilon >= 0."""

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        """A lower bound on the least epsilon of the worst mechanism with this loss."""
        return ZERO

    @abstractmethod
    def group(self, k: int) -> "Loss":
        """The loss for k people at once, for example a household."""

    def epsilon(self, delta: Number = 0) -> float:
        """The least epsilon at this delta, rounded up, or `math.inf`."""
        exact = delta_of(delta)
        return floats.up(max(self._epsilon_above(exact), ZERO))

    def epsilon_bounds(
        self, delta: Number = 0, *, precision: float | None = None
    ) -> tuple[float, float]:
        """A lower and an upper bound on the least epsilon; the upper is `epsilon(delta)`.

        If a closed form is exact, they differ only by rounding. If the number was computed on
        a grid, they differ by at most `precision` or, without one, by at most 1e-4 (1e-4
        epsilon, if epsilon is above 1) at a delta of 1e-14 or more. If that is not reached, it
        is a `PrecisionNotReached`, which says what is; `epsilon(delta)` is never refused. Where
        the loss is only bounded from above, like the zCDP of an unknown mechanism, the lower
        bound is lower, down to 0.
        """
        exact = delta_of(delta)
        if precision is not None:
            precision = float(positive(precision, "precision"))
        above = self._epsilon_at_precision(exact, precision)
        below = min(self._epsilon_below(exact, precision), above)
        self._check_precision(exact, precision, above)
        low = math.inf if below == INFINITY else floats.down(max(below, ZERO))
        return low, floats.up(max(above, ZERO))

    def _epsilon_at_precision(self, delta: Fraction, precision: float | None) -> Decimal:
        """`_epsilon_above`, on a grid of this precision if it needs a grid."""
        return self._epsilon_above(delta)

    def _check_precision(
        self, delta: Fraction, precision: float | None, above: Decimal
    ) -> None:
        """Raises PrecisionNotReached if a grid left `above` too far from the exact number."""
        return

    def _renyi_divergence(self, order: Fraction) -> Fraction | None:
        """A bound on the Renyi divergence that follows from none of the charges."""
        return None

    def delta(self, epsilon: Number) -> float:
        """The least delta at this epsilon, rounded up."""
        exact = ExactEpsilon(nonnegative(epsilon, "epsilon"))
        return floats.up(min(max(self._delta_above(exact), ZERO), ONE))

    def tradeoff(self, alpha: Number) -> float:
        """The least miss rate of any test with false-alarm rate alpha, rounded down.

        0 would mean that a test always finds the person; 1 - alpha is blind guessing.
        """
        return floats.down(max(self._tradeoff_below(probability(alpha, "alpha")), ZERO))

    def _tradeoff_below(self, alpha: Fraction, known: Decimal = ZERO) -> Decimal:
        """A lower bound on the trade-off. `known` is another one: if no greater bound is found,
        the result may be any number up to `known`."""
        if alpha == 0:
            return precision(60)(1 - self._certain_delta).lo
        if alpha == 1:
            return ZERO

        def delta(epsilon: float) -> Decimal:
            return self._delta_above(ExactEpsilon(Fraction(epsilon)))

        half = self._epsilon_above((1 - alpha) / 2)
        far = float(half) + 0.7 if half.is_finite() else 0.0
        near = float(self._epsilon_above(max(self.slack, _NEARLY_ONE)))
        # If `near` is large, the curve below it is too flat to guide a search from 0.
        starts = (0.0, near) if near > 5 else (0.0,)
        return TradeoffSearch(delta, alpha).greatest(starts=starts, far=far, known=known)

    def fits(self, budget: "Loss") -> bool:
        """Whether this loss certainly stays within `budget`; pure sums are compared exactly."""
        return self.algebra.fits(self, budget)

    @property
    def parts(self) -> "tuple[tuple[Loss, int], ...]":
        """The losses of the single releases, each with its count."""
        return ((self, 1),)

    def __add__(self, other: "Loss") -> "Loss":
        if not isinstance(other, Loss):
            return NotImplemented
        return self.algebra.add(self, other)

    def __radd__(self, other: object) -> "Loss":  # so that sum(losses) works
        if isinstance(other, int) and other == 0:
            return self
        return NotImplemented

    def __mul__(self, count: int) -> "Loss":
        times = whole(count, "count", least=0)
        return self.algebra.compose((part, n * times) for part, n in self.parts)

    __rmul__ = __mul__


def delta_of(delta: Number) -> Fraction:
    """`rational(delta)`, which must lie in [0, 1)."""
    exact = rational(delta, "delta")
    if not 0 <= exact < 1:
        raise InvalidParameter(f"`delta` must be at least 0 and below 1. Found {delta}.")
    return exact


def nonnegative(value: Number, name: str) -> Fraction:
    """`rational(value)`, which must not be negative. Zero means that no privacy is lost."""
    exact = rational(value, name)
    if exact < 0:
        raise InvalidParameter(f"`{name}` must not be negative. Found {value}.")
    return exact


def add_slack(slack: Fraction, delta: Decimal) -> Decimal:
    """The delta of a mechanism that discloses everything with probability `slack`."""
    if slack == 0:
        return delta
    p = precision(60)
    return (p(slack) + p(1 - slack) * delta).hi


def remove_slack(slack: Fraction, delta: Fraction) -> Fraction | None:
    """The delta left for the rest of such a mechanism; None if `slack` is greater."""
    return None if delta < slack else (delta - slack) / (1 - slack)
