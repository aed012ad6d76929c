"""The privacy-loss distribution of a mechanism: the tightest account of fixed releases.

Let P and Q be the output distributions of the worst neighbours. The loss L = ln(P / Q) of an
output drawn from P determines everything: delta(x) = E (1 - e**(x - L))+. The losses of
independent releases add up, so their distributions are convolved (Dwork & Rothblum 2016;
Sommer, Meiser & Mohammadi 2019). Unlike a charge, a distribution loses no tightness.

It is valid for releases that are fixed in advance. If the next loss depends on the last answer,
it is *invalid* to compose distributions and to stop when the curve crosses a budget. Filters
handle that case, and they refuse loss distributions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, positive
from deniable.privacy.arithmetic.dominating_pairs import (
    CountedPairs,
    DiscretePair,
    LaplacePair,
    Pair,
    count_pairs,
)
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.symmetric_pairs import symmetric_pair
from deniable.privacy.losses.loss import Loss


class MechanismLike(Protocol):
    """The part of a mechanism that a loss distribution needs."""

    @property
    def loss(self) -> Loss: ...


@dataclass(frozen=True, repr=False)
class LossDistribution(Loss):
    """The distribution of the privacy loss, for a dominating pair of output distributions.

    Numbers are upper bounds, computed on a grid that dominates the pair; `epsilon_bounds` gives
    lower bounds too. Sums and products are convolutions.

    >>> coin = LossDistribution.from_pair([0.75, 0.25], [0.25, 0.75])
    >>> round((coin * 10).epsilon(1e-6), 6)
    10.986105
    >>> from deniable.privacy import PureLoss
    >>> tenth = LossDistribution.of(PureLoss(0.1))
    >>> round((tenth * 100).epsilon(1e-6), 9)
    4.774567588
    """

    pairs: CountedPairs

    @classmethod
    def of(
        cls, source: "Loss | MechanismLike", *, values: int = 1, real: bool = False
    ) -> "LossDistribution":
        """The distribution of a loss or of a mechanism, for its dominating pair.

        For a mechanism, state how many `values` a release has, and whether they are `real`
        (off the grid): its noise may depend on both.

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
                f"LossDistribution.of() takes a loss or a mechanism. Found {source!r}."
            )
        if loss.dominating_pairs is None:
            raise Unsupported(
                f"{loss!r} has no dominating pair, so it has no loss distribution. Pure, "
                "approximate and Gaussian losses have one, also when they are sampled."
            )
        slack = float(loss.slack)
        disclosed = ((DiscretePair((0.0,), (1 - slack,), slack, slack), 1),) if slack else ()
        return cls(count_pairs((*loss.dominating_pairs, *disclosed)))

    @classmethod
    def from_pair(cls, p: Sequence[Number], q: Sequence[Number]) -> "LossDistribution":
        """Two output distributions: the worst that neighbours can have, in both directions.

        Releases in opposite directions are covered too: see `symmetric_pairs`.

        >>> LossDistribution.from_pair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]).epsilon()
        0.9162907318741583
        """
        return cls(((symmetric_pair(p, q), 1),))

    @classmethod
    def laplace(cls, epsilon: Number) -> "LossDistribution":
        """Laplace noise on the real line, of scale sensitivity / epsilon.

        The noise of `dp.Laplace` is on a grid: use `LossDistribution.of(dp.Laplace(...))`.

        >>> round((LossDistribution.laplace(0.1) * 100).epsilon(1e-6), 4)
        4.6927
        """
        return cls(((LaplacePair(float(positive(epsilon, "epsilon"))), 1),))

    def __repr__(self) -> str:
        shown = ", ".join(_show(pair) + (f" * {n}" if n > 1 else "") for pair, n in self.pairs)
        return f"LossDistribution({shown})"

    @property
    def dominating_pairs(self) -> CountedPairs:
        """The pairs themselves."""
        return self.pairs

    @property
    def _numerical(self) -> Loss:
        return self.algebra.price(self.pairs)

    @property
    def _certain_delta(self) -> Fraction:
        return self._numerical._certain_delta

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return self._numerical._epsilon_above(delta)

    def _epsilon_at_precision(self, delta: Fraction, precision: float | None) -> Decimal:
        return self._numerical._epsilon_at_precision(delta, precision)

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        return self._numerical._epsilon_below(delta, precision)

    def _check_precision(
        self, delta: Fraction, precision: float | None, above: Decimal
    ) -> None:
        self._numerical._check_precision(delta, precision, above)

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        return self._numerical._delta_above(epsilon)

    def group(self, k: int) -> Loss:
        """Unsupported: the pair says nothing about tables that differ in more people."""
        return self._numerical.group(k)


def _show(pair: Pair) -> str:
    if isinstance(pair, DiscretePair) and len(pair.losses) > 4:
        return f"{len(pair.losses)} losses from {pair.losses[0]:g} to {pair.losses[-1]:g}"
    return repr(pair)
