"""Dominating pairs: two distributions at least as easy to distinguish as any neighbours.

A pair P, Q is described by the privacy loss L = ln(P / Q) of an output, under P and under Q.
A `DiscretePair` has finitely many losses. A `ContinuousPair` gives its distribution functions
with a relative error of at most `tail_accuracy`, in both tails. `reverse` swaps P and Q. A pair
that equals its reverse is `symmetric`: then one direction serves for both.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.floats import UNIT

Floats: TypeAlias = NDArray[Any]  # of float64
UnderPAndQ: TypeAlias = tuple[Floats, Floats]  # under P, under Q


def tail_accuracy(tail: Floats) -> Floats:
    """An upper bound on the relative error of a probability that a `ContinuousPair` gives.

    The tail of a normal distribution is computed as exp(-x**2 / 2) times a rational function,
    so its error grows with x**2 / 2, which is at most -ln(tail).
    """
    bound: Floats = (32 - 8 * np.log(np.maximum(tail, 1e-300))) * UNIT
    return bound


class ContinuousPair(Protocol):
    """A pair whose loss may be continuous."""

    @property
    def symmetric(self) -> bool: ...

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest loss, or infinities."""

    def above(self, loss: Floats) -> UnderPAndQ:
        """P(L > loss) and Q(L > loss)."""

    def within(self, loss: Floats) -> UnderPAndQ:
        """P(L <= loss) and Q(L <= loss)."""

    def reverse(self) -> "ContinuousPair": ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class DiscretePair:
    """Losses, in increasing order, with their probabilities under P.

    `infinite` is the probability under P of outputs that are impossible under Q. If all losses
    are integer multiples of one exact number, `unit` is that number.
    """

    losses: tuple[float, ...]
    weights: tuple[float, ...]
    infinite: float = 0.0
    lost: float = 0.0  # the probability under Q of outputs that are impossible under P
    unit: ExactEpsilon | None = None

    def __hash__(self) -> int:
        return hash((self.losses, self.weights))  # floats only: fractions take long

    @classmethod
    @lru_cache(maxsize=4096)
    def randomized_response(cls, exact: ExactEpsilon) -> "DiscretePair":
        """Randomized response: the dominating pair of a pure loss."""
        epsilon = float(exact.enclose(80)[1])
        lie = 1 / (1 + math.exp(epsilon)) if epsilon < 700 else math.exp(-epsilon)
        unit = exact if exact.sign() > 0 else None
        return cls((-epsilon, epsilon), (lie, 1 - lie), unit=unit)

    @classmethod
    def of(cls, p: Sequence[Number], q: Sequence[Number]) -> "DiscretePair":
        """Two distributions over the same outputs, as exact probabilities."""
        first = [probability(value, "p") for value in p]
        second = [probability(value, "q") for value in q]
        if len(first) != len(second) or not first:
            raise InvalidParameter(
                f"`p` and `q` must list the probabilities of the same outputs. Found "
                f"{len(first)} and {len(second)} probabilities."
            )
        for name, probabilities in (("p", first), ("q", second)):
            if (total := sum(probabilities)) != 1:
                raise InvalidParameter(
                    f"The probabilities of `{name}` must add up to 1. Found {float(total)}. "
                    "Use Fraction or Decimal for exact numbers."
                )
        return cls._grouped(first, second)

    @classmethod
    def _grouped(cls, first: list[Fraction], second: list[Fraction]) -> "DiscretePair":
        weights: dict[Fraction, Fraction] = {}
        infinite = lost = Fraction(0)
        for a, b in zip(first, second, strict=True):
            if a and b:
                weights[a / b] = weights.get(a / b, Fraction(0)) + a
            elif a:
                infinite += a
            else:
                lost += b
        ratios = sorted(weights or {Fraction(1): Fraction(0)})
        losses = tuple(_log(ratio) for ratio in ratios)
        shares = tuple(float(weights.get(ratio, 0)) for ratio in ratios)
        return cls(losses, shares, float(infinite), float(lost), _common_unit(ratios))

    @property
    def symmetric(self) -> bool:
        return self == self.reverse()

    def reverse(self) -> "DiscretePair":
        return _reverse(self)

    @cached_property
    def arrays(self) -> UnderPAndQ:
        return np.array(self.losses), np.array(self.weights)


def _common_unit(ratios: list[Fraction]) -> ExactEpsilon | None:
    """ln(r) if all ratios are integer powers of one ratio r, else None."""
    root = min((max(ratio, 1 / ratio) for ratio in ratios if ratio != 1), default=None)
    if root is None:
        return None
    for ratio in ratios:
        power = round(_log(ratio) / _log(root))
        if abs(power) > 64 or root**power != ratio:
            return None
    return ExactEpsilon.from_odds(root)


def _log(ratio: Fraction) -> float:
    """ln(ratio) with a small relative error, also near 1."""
    if abs(ratio - 1) < Fraction(1, 2):
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _reverse(pair: DiscretePair) -> DiscretePair:
    losses = tuple(-loss for loss in reversed(pair.losses))
    mirrored = losses == pair.losses and pair.infinite == pair.lost
    if mirrored and len(losses) == 2:  # randomized response is symmetric
        return pair
    both = zip(reversed(pair.losses), reversed(pair.weights), strict=True)
    weights = tuple(math.exp(-loss) * weight for loss, weight in both)
    return DiscretePair(losses, weights, pair.lost, pair.infinite, pair.unit)


@dataclass(frozen=True)
class GaussianPair:
    """N(mu, 1) against N(0, 1): L is N(mu**2/2, mu**2) under P, N(-mu**2/2, mu**2) under Q."""

    mu: float
    symmetric: bool = True

    @property
    def span(self) -> tuple[float, float]:
        return -math.inf, math.inf

    def above(self, loss: Floats) -> UnderPAndQ:
        from scipy.special import ndtr

        return ndtr(self.mu / 2 - loss / self.mu), ndtr(-self.mu / 2 - loss / self.mu)

    def within(self, loss: Floats) -> UnderPAndQ:
        from scipy.special import ndtr

        return ndtr(loss / self.mu - self.mu / 2), ndtr(loss / self.mu + self.mu / 2)

    def reverse(self) -> "GaussianPair":
        return self


@dataclass(frozen=True)
class LaplacePair:
    """Laplace noise on the real line, shifted by epsilon times its scale."""

    epsilon: float
    symmetric: bool = True

    @property
    def span(self) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    def above(self, loss: Floats) -> UnderPAndQ:
        return LaplaceRows(np.array(self.epsilon)).above(loss)

    def within(self, loss: Floats) -> UnderPAndQ:
        return LaplaceRows(np.array(self.epsilon)).within(loss)

    def reverse(self) -> "LaplacePair":
        return self


@dataclass(frozen=True, eq=False)
class LaplaceRows:
    """The tails of several Laplace pairs at once: a row for each, if `epsilon` is a column."""

    epsilon: Floats

    def above(self, loss: Floats) -> UnderPAndQ:
        p, q = self._halves(loss)
        low, high = loss < -self.epsilon, loss < self.epsilon
        return np.where(low, 1.0, (1 - p) * high), np.where(low, 1.0, q * high)

    def within(self, loss: Floats) -> UnderPAndQ:
        p, q = self._halves(loss)
        low, high = loss >= -self.epsilon, loss >= self.epsilon
        return np.where(high, 1.0, p * low), np.where(high, 1.0, (1 - q) * low)

    def _halves(self, loss: Floats) -> UnderPAndQ:
        """P(L <= loss) and Q(L > loss), which are at most 1/2, between the two atoms."""
        inside = np.minimum(np.maximum(loss, -self.epsilon), self.epsilon) / 2
        half = self.epsilon / 2
        return 0.5 * np.exp(inside - half), 0.5 * np.exp(-inside - half)


@dataclass(frozen=True)
class RangePair:
    """The losses above zero of a pair whose delta curve is that of a bounded range.

    From delta(x) = c (1 - s)**2 with s = e**((x - epsilon) / 2) and c = 1 / (1 - e**-epsilon)
    follow Q(L > x) = -delta'(x) e**-x and P(L > x) = delta(x) + e**x Q(L > x).
    """

    epsilon: float
    symmetric: bool = False

    @property
    def span(self) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    def above(self, loss: Floats) -> UnderPAndQ:
        gap = np.maximum(self.epsilon - loss, 0.0)
        p = np.expm1(-gap / 2) / math.expm1(-self.epsilon)
        return p, p * np.exp(-gap / 2 - loss)

    def within(self, loss: Floats) -> UnderPAndQ:
        # Only the losses above zero are used, by `SymmetrizedPair`.
        p, q = self.above(loss)
        return 1 - p, 1 - q

    def reverse(self) -> "ContinuousPair":
        return ReversedPair(self)


@dataclass(frozen=True)
class ReversedPair:
    """A pair with P and Q swapped, so every loss changes its sign."""

    pair: ContinuousPair
    symmetric: bool = False

    @property
    def span(self) -> tuple[float, float]:
        least, greatest = self.pair.span
        return -greatest, -least

    def above(self, loss: Floats) -> UnderPAndQ:
        p, q = self.pair.within(-loss)
        return q, p

    def within(self, loss: Floats) -> UnderPAndQ:
        p, q = self.pair.above(-loss)
        return q, p

    def reverse(self) -> ContinuousPair:
        return self.pair


@dataclass(frozen=True)
class SubsampledPair:
    """(1 - rate) Q + rate P against Q: the record is sampled with probability `rate`."""

    pair: ContinuousPair
    rate: float
    symmetric: bool = False

    @property
    def span(self) -> tuple[float, float]:
        least, greatest = self.pair.span
        return _subsampled_loss(least, self.rate), _subsampled_loss(greatest, self.rate)

    def _inner(self, loss: Floats) -> Floats:
        """The loss of the inner pair at which this pair has `loss`."""
        grown = np.expm1(np.minimum(loss, 700.0)) + self.rate
        with np.errstate(divide="ignore"):
            inner = np.log(np.maximum(grown, 0.0) / self.rate)
        return np.where(loss > 700.0, loss - math.log(self.rate), inner)

    def above(self, loss: Floats) -> UnderPAndQ:
        p, q = self.pair.above(self._inner(loss))
        return (1 - self.rate) * q + self.rate * p, q

    def within(self, loss: Floats) -> UnderPAndQ:
        p, q = self.pair.within(self._inner(loss))
        return (1 - self.rate) * q + self.rate * p, q

    def reverse(self) -> ContinuousPair:
        return ReversedPair(self)


@dataclass(frozen=True)
class SymmetrizedPair:
    """A symmetric pair with the given pair's losses above zero; the rest has loss zero."""

    pair: ContinuousPair
    symmetric: bool = True

    @property
    def span(self) -> tuple[float, float]:
        greatest = max(self.pair.span[1], 0.0)
        return -greatest, greatest

    def above(self, loss: Floats) -> UnderPAndQ:
        p, q = self.pair.above(np.abs(loss))
        return np.where(loss >= 0, p, 1 - q), np.where(loss >= 0, q, 1 - p)

    def within(self, loss: Floats) -> UnderPAndQ:
        p, q = self.pair.above(np.abs(loss))
        return np.where(loss >= 0, 1 - p, q), np.where(loss >= 0, 1 - q, p)

    def reverse(self) -> "SymmetrizedPair":
        return self


Pair: TypeAlias = DiscretePair | ContinuousPair
CountedPairs: TypeAlias = tuple[tuple[Pair, int], ...]  # how often each pair occurs


def _subsampled_loss(loss: float, rate: float) -> float:
    """ln(1 - rate + rate e**loss)."""
    if loss > 700:
        return loss + math.log(rate)
    return math.log1p(rate * math.expm1(loss))


def subsample(pair: Pair, rate: Fraction) -> Pair:
    """The pair of a mechanism that sees each record with probability `rate`."""
    share = float(rate)
    if not isinstance(pair, DiscretePair):
        return SubsampledPair(pair, share)
    losses, weights = pair.arrays
    grown = [_subsampled_loss(loss, share) for loss in pair.losses]
    under_q = weights[::-1] if pair.symmetric else np.exp(-losses) * weights
    mass = ((1 - share) * under_q + share * weights).tolist()
    if pair.lost:
        grown, mass = [math.log1p(-share), *grown], [(1 - share) * pair.lost, *mass]
    return DiscretePair(tuple(grown), tuple(mass), share * pair.infinite)


def symmetrize(pair: Pair) -> Pair:
    """The symmetric pair with the given pair's losses above zero."""
    if not isinstance(pair, DiscretePair):
        return SymmetrizedPair(pair)
    positive = [(y, w) for y, w in zip(pair.losses, pair.weights, strict=True) if y > 0]
    back = [(-y, w * math.exp(-y)) for y, w in reversed(positive)]
    rest = 1 - math.fsum(w for _, w in (*positive, *back)) - pair.infinite
    atoms = [*back, (0.0, max(rest, 0.0)), *positive]
    return DiscretePair(
        tuple(y for y, _ in atoms), tuple(w for _, w in atoms), pair.infinite, pair.infinite
    )


class HashedPairs(tuple[tuple[Any, int], ...]):
    """Counted pairs whose hash is computed once: caches look up sums of many pairs by it."""

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()


def count_pairs(pairs: Iterable[tuple[Pair, int]]) -> CountedPairs:
    """Equal pairs counted together; all Gaussian pairs as one."""
    counts: dict[Pair, int] = {}
    squares = []
    for pair, count in pairs:
        if isinstance(pair, GaussianPair):
            squares.append(pair.mu**2 * count)
        else:
            counts[pair] = counts.get(pair, 0) + count
    mu_squared = math.fsum(squares)
    if mu_squared:
        counts[GaussianPair(math.sqrt(mu_squared) * (1 + 4 * UNIT))] = 1
    return HashedPairs(counts.items())
