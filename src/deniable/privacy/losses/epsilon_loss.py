"""What losses with one exact epsilon have in common: pure losses and bounded ranges."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Self

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import Interval
from deniable.privacy.losses.loss import Loss, nonnegative


@dataclass(frozen=True, slots=True, init=False, repr=False)
class EpsilonLoss(Loss):
    """Subclasses define the delta curve and `_least`, its inverse."""

    exact_epsilon: ExactEpsilon

    def __init__(self, epsilon: Number | None = None, *, odds: Number | None = None) -> None:
        object.__setattr__(self, "exact_epsilon", epsilon_of(epsilon, odds))

    @classmethod
    def of(cls, exact: ExactEpsilon) -> Self:
        """The loss of an exact epsilon."""
        self = cls(0)
        object.__setattr__(self, "exact_epsilon", exact)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({show_epsilon(self.exact_epsilon)})"

    @abstractmethod
    def _least(self, delta: Fraction) -> Interval:
        """Encloses the least epsilon at a delta."""

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return self._least(delta).hi

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        return self._least(delta).lo


def epsilon_of(epsilon: Number | None, odds: Number | None) -> ExactEpsilon:
    """The exact epsilon from `epsilon=` or `odds=`, exactly one of which must be given."""
    if (epsilon is None) == (odds is None):
        count = "neither" if epsilon is None else "both"
        raise InvalidParameter(
            f"Give exactly one of `epsilon` and `odds` (e**epsilon). Found {count}."
        )
    if math.inf in (epsilon, odds):
        raise InvalidParameter(
            "A loss must be finite. Found inf: some output would reveal a person for certain, "
            "so the design is not private."
        )
    if epsilon is not None:
        return ExactEpsilon(nonnegative(epsilon, "epsilon"))
    assert odds is not None
    exact = rational(odds, "odds")
    if exact < 1:
        raise InvalidParameter(
            f"`odds` are e**epsilon, so they must be at least 1. Found {odds}."
        )
    return ExactEpsilon.from_odds(exact)


def show_epsilon(exact: ExactEpsilon) -> str:
    """The arguments that make this epsilon again, or the sum written out."""
    if not exact.logs:
        return floats.show(exact.rational)
    if exact.rational == 0 and len(exact.logs) == 1 and exact.logs[0][1] == 1:
        return f"odds={floats.show(exact.logs[0][0])}"
    terms = [f"{n} ln {odds}" for odds, n in exact.logs]
    return " + ".join([str(exact.rational)] * (exact.rational != 0) + terms)
