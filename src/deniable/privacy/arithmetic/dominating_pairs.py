"""Worst pairs: two distributions that are at least as easy to tell apart as any neighbours.

A pair is described by its privacy loss L = ln(P / Q) of an output, under P and under Q.
`Atoms` are pairs on finitely many losses; a `Tails` gives its distribution functions to within
a relative error of `ACCURACY`, in whichever tail is asked for. `reverse` swaps P and Q: a
pair whose reverse is itself is `symmetric`, and one direction serves for both.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability
from deniable.privacy.arithmetic.floats import UNIT
from deniable.privacy.arithmetic.nats import Nats

Floats: TypeAlias = NDArray[Any]  # of float64
Both: TypeAlias = tuple[Floats, Floats]  # under P, under Q

ACCURACY = 2.0**-44  # of the normal distribution's tails and of what is built from them


class Tails(Protocol):
    """A pair whose loss may be continuous."""

    @property
    def symmetric(self) -> bool: ...

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest loss; infinite where there is none."""

    def above(self, loss: Floats) -> Both:
        """P(L > loss) and Q(L > loss)."""

    def within(self, loss: Floats) -> Both:
        """P(L <= loss) and Q(L <= loss)."""

    def reverse(self) -> "Tails": ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Atoms:
    """Losses, in increasing order, with their probabilities under P.

    `infinite` is the probability under P of outputs that are impossible under Q. Where the
    losses are whole multiples of one exact number, `unit` is it.
    """

    losses: tuple[float, ...]
    weights: tuple[float, ...]
    infinite: float = 0.0
    lost: float = 0.0  # the probability under Q of outputs that are impossible under P
    unit: Nats | None = None

    @classmethod
    def response(cls, nats: Nats) -> "Atoms":
        """Randomized response: the worst pair of a pure loss."""
        epsilon = float(nats._enclosure(80)[1])
        lie = 1 / (1 + math.exp(epsilon)) if epsilon < 700 else math.exp(-epsilon)
        unit = nats if nats.sign() > 0 else None
        return cls((-epsilon, epsilon), (lie, 1 - lie), unit=unit)

    @classmethod
    def of(cls, p: Sequence[Number], q: Sequence[Number]) -> "Atoms":
        """Two distributions over the same outputs, given as exact probabilities."""
        first = [probability(one, "p") for one in p]
        second = [probability(one, "q") for one in q]
        if len(first) != len(second) or not first:
            raise InvalidParameter(
                f"`p` and `q` must give the same outputs their probabilities. Found "
                f"{len(first)} and {len(second)} of them."
            )
        for name, law in (("p", first), ("q", second)):
            if sum(law) != 1:
                raise InvalidParameter(
                    f"The probabilities of `{name}` must add up to 1. Found {float(sum(law))}; "
                    "Fractions or decimals say them exactly."
                )
        return cls._grouped(first, second)

    @classmethod
    def _grouped(cls, first: list[Fraction], second: list[Fraction]) -> "Atoms":
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
        return cls(losses, shares, float(infinite), float(lost), _unit(ratios))

    @property
    def symmetric(self) -> bool:
        return self == self.reverse()

    def reverse(self) -> "Atoms":
        return _reverse(self)

    @cached_property
    def arrays(self) -> Both:
        return np.array(self.losses), np.array(self.weights)


def _unit(ratios: list[Fraction]) -> Nats | None:
    """ln of a ratio of which all are whole powers; None where there is none."""
    root = min((max(ratio, 1 / ratio) for ratio in ratios if ratio != 1), default=None)
    if root is None:
        return None
    for ratio in ratios:
        power = round(_log(ratio) / _log(root))
        if abs(power) > 64 or root**power != ratio:
            return None
    return Nats.of_odds(root)


def _log(ratio: Fraction) -> float:
    """ln(ratio) with a small relative error, near 1 too."""
    if abs(ratio - 1) < Fraction(1, 2):
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _reverse(pair: Atoms) -> Atoms:
    losses = tuple(-loss for loss in reversed(pair.losses))
    alike = losses == pair.losses and pair.infinite == pair.lost
    if alike and len(losses) == 2:  # randomized response, both ways
        return pair
    both = zip(reversed(pair.losses), reversed(pair.weights), strict=True)
    weights = tuple(math.exp(-loss) * weight for loss, weight in both)
    return Atoms(losses, weights, pair.lost, pair.infinite, pair.unit)


@dataclass(frozen=True)
class Bell:
    """N(mu, 1) against N(0, 1): the loss is N(mu**2/2, mu**2) under P, its mirror under Q."""

    mu: float
    symmetric: bool = True

    @property
    def span(self) -> tuple[float, float]:
        return -math.inf, math.inf

    def above(self, loss: Floats) -> Both:
        from scipy.special import ndtr

        return ndtr(self.mu / 2 - loss / self.mu), ndtr(-self.mu / 2 - loss / self.mu)

    def within(self, loss: Floats) -> Both:
        from scipy.special import ndtr

        return ndtr(loss / self.mu - self.mu / 2), ndtr(loss / self.mu + self.mu / 2)

    def reverse(self) -> "Bell":
        return self


@dataclass(frozen=True)
class Peak:
    """Laplace noise on the real line, moved by epsilon times its scale."""

    epsilon: float
    symmetric: bool = True

    @property
    def span(self) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    def above(self, loss: Floats) -> Both:
        inside = np.clip(loss, -self.epsilon, self.epsilon)
        low, high = loss < -self.epsilon, loss >= self.epsilon
        p = 1 - 0.5 * np.exp((inside - self.epsilon) / 2)
        q = 0.5 * np.exp(-(inside + self.epsilon) / 2)
        return (
            np.where(low, 1.0, np.where(high, 0.0, p)),
            np.where(low, 1.0, np.where(high, 0.0, q)),
        )

    def within(self, loss: Floats) -> Both:
        inside = np.clip(loss, -self.epsilon, self.epsilon)
        low, high = loss < -self.epsilon, loss >= self.epsilon
        p = 0.5 * np.exp((inside - self.epsilon) / 2)
        q = 1 - 0.5 * np.exp(-(inside + self.epsilon) / 2)
        return (
            np.where(low, 0.0, np.where(high, 1.0, p)),
            np.where(low, 0.0, np.where(high, 1.0, q)),
        )

    def reverse(self) -> "Peak":
        return self


@dataclass(frozen=True)
class Range:
    """The losses above zero of a pair whose delta curve is that of a bounded range.

    From delta(x) = c (1 - s)**2 with s = e**((x - epsilon) / 2) and c = 1 / (1 - e**-epsilon)
    follow Q(L > x) = -delta'(x) e**-x and P(L > x) = delta(x) + e**x Q(L > x).
    """

    epsilon: float
    symmetric: bool = False

    @property
    def span(self) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    def above(self, loss: Floats) -> Both:
        gap = np.maximum(self.epsilon - loss, 0.0)
        p = np.expm1(-gap / 2) / math.expm1(-self.epsilon)
        return p, p * np.exp(-gap / 2 - loss)

    def within(self, loss: Floats) -> Both:  # only its upper half serves, through `Mirrored`
        p, q = self.above(loss)
        return 1 - p, 1 - q

    def reverse(self) -> "Tails":
        return Flipped(self)


@dataclass(frozen=True)
class Flipped:
    """A pair with P and Q swapped, so that every loss changes its sign."""

    pair: Tails
    symmetric: bool = False

    @property
    def span(self) -> tuple[float, float]:
        least, greatest = self.pair.span
        return -greatest, -least

    def above(self, loss: Floats) -> Both:
        p, q = self.pair.within(-loss)
        return q, p

    def within(self, loss: Floats) -> Both:
        p, q = self.pair.above(-loss)
        return q, p

    def reverse(self) -> Tails:
        return self.pair


@dataclass(frozen=True)
class Thinned:
    """(1 - rate) Q + rate P against Q: P's record takes part with probability `rate`."""

    pair: Tails
    rate: float
    symmetric: bool = False

    @property
    def span(self) -> tuple[float, float]:
        least, greatest = self.pair.span
        return _thin(least, self.rate), _thin(greatest, self.rate)

    def _inner(self, loss: Floats) -> Floats:
        """The loss of the pair within at which this one's is `loss`."""
        grown = np.expm1(np.minimum(loss, 700.0)) + self.rate
        with np.errstate(divide="ignore"):
            found = np.log(np.maximum(grown, 0.0) / self.rate)
        return np.where(loss > 700.0, loss - math.log(self.rate), found)

    def above(self, loss: Floats) -> Both:
        p, q = self.pair.above(self._inner(loss))
        return (1 - self.rate) * q + self.rate * p, q

    def within(self, loss: Floats) -> Both:
        p, q = self.pair.within(self._inner(loss))
        return (1 - self.rate) * q + self.rate * p, q

    def reverse(self) -> Tails:
        return Flipped(self)


@dataclass(frozen=True)
class Mirrored:
    """A symmetric pair with the given pair's losses above zero; what is left loses nothing."""

    pair: Tails
    symmetric: bool = True

    @property
    def span(self) -> tuple[float, float]:
        greatest = max(self.pair.span[1], 0.0)
        return -greatest, greatest

    def above(self, loss: Floats) -> Both:
        p, q = self.pair.above(np.abs(loss))
        return np.where(loss >= 0, p, 1 - q), np.where(loss >= 0, q, 1 - p)

    def within(self, loss: Floats) -> Both:
        p, q = self.pair.above(np.abs(loss))
        return np.where(loss >= 0, 1 - p, q), np.where(loss >= 0, 1 - q, p)

    def reverse(self) -> "Mirrored":
        return self


def _thin(loss: float, rate: float) -> float:
    """ln(1 - rate + rate e**loss)."""
    if loss > 700:
        return loss + math.log(rate)
    return math.log1p(rate * math.expm1(loss))


def thinned(pair: "Atoms | Tails", rate: Fraction) -> "Atoms | Tails":
    """The pair of a mechanism that each record reaches with probability `rate`."""
    share = float(rate)
    if not isinstance(pair, Atoms):
        return Thinned(pair, share)
    losses, weights = pair.arrays
    grown = [_thin(loss, share) for loss in pair.losses]
    under_q = weights[::-1] if pair.symmetric else np.exp(-losses) * weights
    mass = ((1 - share) * under_q + share * weights).tolist()
    if pair.lost:
        grown, mass = [math.log1p(-share), *grown], [(1 - share) * pair.lost, *mass]
    return Atoms(tuple(grown), tuple(mass), share * pair.infinite)


def mirrored(pair: "Atoms | Tails") -> "Atoms | Tails":
    """The symmetric pair with the given pair's losses above zero."""
    if not isinstance(pair, Atoms):
        return Mirrored(pair)
    kept = [(y, w) for y, w in zip(pair.losses, pair.weights, strict=True) if y > 0]
    back = [(-y, w * math.exp(-y)) for y, w in reversed(kept)]
    rest = 1 - math.fsum(w for _, w in (*kept, *back)) - pair.infinite
    atoms = [*back, (0.0, max(rest, 0.0)), *kept]
    return Atoms(
        tuple(y for y, _ in atoms), tuple(w for _, w in atoms), pair.infinite, pair.infinite
    )


Pair: TypeAlias = Atoms | Tails
CountedPairs: TypeAlias = tuple[tuple[Pair, int], ...]


def count_pairs(pairs: Iterable[tuple[Pair, int]]) -> CountedPairs:
    """Equal pairs counted together; all Gaussian pairs as one."""
    counts: dict[Pair, int] = {}
    mu_squared = 0.0
    for pair, count in pairs:
        if isinstance(pair, Bell):
            mu_squared += pair.mu**2 * count
        else:
            counts[pair] = counts.get(pair, 0) + count
    bells = ((Bell(math.sqrt(mu_squared) * (1 + 4 * UNIT)), 1),) if mu_squared else ()
    return (*counts.items(), *bells)
