"""The privacy-loss distribution of a mechanism: the tightest account of fixed releases.

For the worst neighbours, with output laws P and Q, the loss L = ln(P / Q) of an output drawn
from P decides everything: delta(x) = E (1 - e**(x - L))+, and losses of independent releases
add up. So does a distribution (Dwork & Rothblum 2016; Sommer, Meiser & Mohammadi 2019), and
unlike a charge it wastes nothing.

It holds for releases that are fixed in advance. Composing distributions and stopping when the
curve crosses a budget is *invalid* where the next loss depends on the last answer: filters are
for that, and they refuse it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, positive
from deniable.privacy.arithmetic.dominating_pairs import (
    Atoms,
    CountedPairs,
    Pair,
    Peak,
    count_pairs,
)
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.arithmetic.symmetric_pairs import either
from deniable.privacy.losses.loss import Loss


class MechanismLike(Protocol):
    """A mechanism, as far as an account of it needs."""

    @property
    def loss(self) -> Loss: ...


@dataclass(frozen=True, repr=False)
class LossDistribution(Loss):
    """What the worst pair of outputs' distributions loses, as a distribution.

    Numbers are upper bounds, found on a grid that dominates the pair; `epsilon_bounds` has the
    lower bound beside them. Sums and products convolve.

    >>> coin = LossDistribution.from_pair([0.75, 0.25], [0.25, 0.75])
    >>> round((coin * 10).epsilon(1e-6), 6)
    10.986105
    >>> from deniable.privacy import PureLoss
    >>> tenth = LossDistribution.of(PureLoss(0.1))
    >>> round((tenth * 100).epsilon(1e-6), 9)
    4.774567588
    """

    worst: CountedPairs

    @classmethod
    def of(
        cls, source: "Loss | MechanismLike", *, values: int = 1, real: bool = False
    ) -> "LossDistribution":
        """The distribution of a loss or of a mechanism, at the worst pair it names.

        For a mechanism say of how many `values` a release consists, and whether they are
        `real` (off the grid): its noise may depend on both.

        >>> from deniable.privacy import GaussianLoss
        >>> round((LossDistribution.of(GaussianLoss(0.1)) * 100).epsilon(1e-5), 5)
        4.37718
        """
        worst_pair = getattr(source, "worst_pair", None)
        if worst_pair is not None:
            pair = worst_pair(values=values, real=real)
            if pair is not None:
                return cls(((pair, 1),))
        loss = source if isinstance(source, Loss) else getattr(source, "loss", None)
        if not isinstance(loss, Loss):
            raise InvalidParameter(
                f"A loss distribution is made of a loss or of a mechanism. Found {source!r}."
            )
        if loss.plan is None:
            raise Unsupported(
                f"{loss!r} names no worst pair of distributions, so it has no distribution. "
                "Pure, approximate and Gaussian losses have one, and sampled ones of these."
            )
        slack = float(loss.slack)
        told = ((Atoms((0.0,), (1 - slack,), slack, slack), 1),) if slack else ()
        return cls(count_pairs((*loss.plan, *told)))

    @classmethod
    def from_pair(cls, p: Sequence[Number], q: Sequence[Number]) -> "LossDistribution":
        """Two laws over the same outputs: the worst that neighbours can have, both ways.

        Releases of it that stand opposite ways are covered too: see `privacy.either`.

        >>> LossDistribution.from_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]).epsilon()
        0.9162907318741583
        """
        return cls(((either(p, q), 1),))

    @classmethod
    def laplace(cls, epsilon: Number) -> "LossDistribution":
        """Laplace noise on the real line, of scale sensitivity / epsilon.

        Our own Laplace noise lives on a grid: use `LossDistribution.of(dp.Laplace(...))`.

        >>> round((LossDistribution.laplace(0.1) * 100).epsilon(1e-6), 4)
        4.6927
        """
        return cls(((Peak(float(positive(epsilon, "epsilon"))), 1),))

    def __repr__(self) -> str:
        shown = ", ".join(_shown(pair) + (f" * {n}" if n > 1 else "") for pair, n in self.worst)
        return f"LossDistribution({shown})"

    @property
    def plan(self) -> CountedPairs:
        """The worst pairs."""
        return self.worst

    @property
    def _priced(self) -> Loss:
        return self.algebra.price(self.worst)

    @property
    def _told(self) -> Fraction:
        return self._priced._told

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return self._priced._epsilon_above(delta)

    def _epsilon_near(self, delta: Fraction, precision: float | None) -> Decimal:
        return self._priced._epsilon_near(delta, precision)

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        return self._priced._epsilon_below(delta, precision)

    def _delta_above(self, epsilon: Nats) -> Decimal:
        return self._priced._delta_above(epsilon)

    def group(self, k: int) -> Loss:
        """Unknown: a worst pair says nothing about pairs that differ in more people."""
        return self._priced.group(k)


def _shown(pair: Pair) -> str:
    if isinstance(pair, Atoms) and len(pair.losses) > 4:
        return f"{len(pair.losses)} losses from {pair.losses[0]:g} to {pair.losses[-1]:g}"
    return repr(pair)
