"""Losses that one exact number of nats describes: pure ones, and bounded ranges."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Self

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.intervals import Interval
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.losses.loss import Loss, nonnegative


@dataclass(frozen=True, slots=True, init=False, repr=False)
class NatsLoss(Loss):
    """Subclasses give the curve, and `_least`, its inverse."""

    nats: Nats

    def __init__(self, epsilon: Number | None = None, *, odds: Number | None = None) -> None:
        object.__setattr__(self, "nats", nats_of(epsilon, odds))

    @classmethod
    def of(cls, nats: Nats) -> Self:
        """The loss of an exact number of nats."""
        self = cls(0)
        object.__setattr__(self, "nats", nats)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({show_nats(self.nats)})"

    @abstractmethod
    def _least(self, delta: Fraction) -> Interval:
        """The least epsilon at a delta."""

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return self._least(delta).hi

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        return self._least(delta).lo


def nats_of(epsilon: Number | None, odds: Number | None) -> Nats:
    """The exact loss behind `epsilon=` or `odds=`, of which one must be given."""
    if (epsilon is None) == (odds is None):
        found = "neither" if epsilon is None else "both"
        raise InvalidParameter(
            f"Give exactly one of `epsilon` and `odds` (e**epsilon). Found {found}."
        )
    if math.inf in (epsilon, odds):
        raise InvalidParameter(
            "A loss must be finite: at infinite odds some output gives its subject away, and "
            "the design is not private. Found inf."
        )
    if epsilon is not None:
        return Nats(nonnegative(epsilon, "epsilon"))
    assert odds is not None
    exact = rational(odds, "odds")
    if exact < 1:
        raise InvalidParameter(f"`odds` must be at least 1, as e**epsilon is. Found {odds}.")
    return Nats.of_odds(exact)


def show_nats(nats: Nats) -> str:
    """The arguments that make these nats again, or the sum written out."""
    if not nats.logs:
        return floats.show(nats.rational)
    if nats.rational == 0 and len(nats.logs) == 1 and nats.logs[0][1] == 1:
        return f"odds={floats.show(nats.logs[0][0])}"
    terms = [f"{n} ln {odds}" for odds, n in nats.logs]
    return " + ".join([str(nats.rational)] * (nats.rational != 0) + terms)
