"""Shared by all mechanisms that add symmetric integer noise on a grid.

A number x becomes step * (floor(x / step + 1/2) + Z), with a new Z for each number. All results
follow from the distribution of Z: an exact sampler, and certified enclosures of P(Z = z) and
P(|Z| > c). Integers that lie on the grid are not rounded. Reals are rounded, so two
neighbouring vectors of d reals may end up d steps further apart (sqrt(d) in the L2 norm). The
noise is made wider to cover that at the same loss.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from deniable.exact import enclosures
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure
from deniable.exact.least_integer import find_least
from deniable.exact.rationals import Number, confidence_level, positive, whole
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.grid import GridNumbers, Numbers, put_on_grid
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import PureLoss
from deniable.privacy.arithmetic import floats

_MOST_BITS = 4096
_LEAST_FLOAT = 1080  # half of 2**-1074 and less is 0.0


class Noise(Protocol):
    """The distribution of a symmetric random integer Z. Enclosures are scaled by 2**bits."""

    def draw(self, size: int, *, source: BitSource = SYSTEM) -> NDArray[Any]: ...

    def pmf(self, z: int, bits: int) -> Enclosure: ...

    def outside(self, c: int, bits: int) -> Enclosure:
        """Encloses P(|Z| > c), for c >= 0."""
        ...


class AdditiveMechanism(ABC):
    """Release, margin and probabilities, given the noise."""

    __slots__ = ()

    sensitivity: Fraction
    step: Fraction

    @abstractmethod
    def noise(self, values: int = 1, *, real: bool = False) -> Noise:
        """The noise on each number, in steps, when `values` numbers are released."""

    @overload
    def release(self, values: int | float) -> int | float: ...
    @overload
    def release(self, values: NDArray[Any]) -> NDArray[Any]: ...
    @overload
    def release(self, values: Numbers) -> Any: ...
    def release(self, values: Numbers) -> Any:
        """The values with noise: a number for a number, a list for a list, else an array.

        The results are multiples of `step`: integers if `step` is whole, else floats. The types
        of the values decide whether they count as integers or reals. Types are treated as
        public: do not let a type depend on a record.

        >>> from deniable.mechanisms import Laplace
        >>> noisy = Laplace(epsilon=1).release(np.zeros((2, 3), dtype=int))
        >>> noisy.shape, noisy.dtype
        ((2, 3), dtype('int64'))
        """
        on_grid = put_on_grid(values, self.step)
        law = self.noise(on_grid.steps.size, real=on_grid.real)
        return on_grid.add_noise(law.draw(on_grid.steps.size))

    def margin(
        self,
        confidence: Number = 0.95,
        *,
        values: int = 1,
        real: bool | None = None,
        jointly: bool = False,
    ) -> int | float:
        """The least m with P(|released - true| <= m) >= confidence, for each single value.

        State what will be released: how many `values`, and whether they are `real` (floats) or
        integers. The default is integers at step 1 and reals at other steps. Rounding moves a
        real by up to half a step and widens the noise; the margin covers both, wherever a value
        lies between grid points. The same holds for integers that are not all on the grid (for
        example at step 5). With `jointly` the margin holds for all values at once. A margin
        that is not whole is rounded up.

        >>> from deniable.mechanisms import Laplace
        >>> count = Laplace(epsilon=0.1)
        >>> count.margin(0.95), count.margin(0.95, values=12, jointly=True)
        (30, 55)
        >>> count.margin(0.95, real=True), Laplace(epsilon=0.1, step=0.01).margin(0.95)
        (60, 30.26)
        """
        level = confidence_level(confidence)
        rounded = self.step != 1 if real is None else real or self.step.numerator != 1
        law = self.noise(whole(values, "values"), real=rounded)
        allowed = _allowance(level, values if jointly else 1)
        if rounded:
            margin = (
                Fraction(_least(lambda h: _miss_after_rounding(law, h), allowed), 2) * self.step
            )
        else:
            margin = _least(lambda c: lambda bits: law.outside(c, bits), allowed) * self.step
        return int(margin) if margin.denominator == 1 else floats.up(margin)

    def pmf(self, output: Numbers, value: Numbers) -> float:
        """P(release(value) = output), correct to the last digit; for lists, of all together.

        >>> from deniable.mechanisms import Laplace
        >>> coins = Laplace(odds=3)
        >>> coins.pmf(0, 0), coins.pmf([0, 1], [0, 0])
        (0.5, 0.08333333333333333)
        """
        ends, on_grid = self._pair(output, value)
        law = self.noise(on_grid.steps.size, real=on_grid.real)
        result = 1.0
        for end, start in zip(ends, on_grid.steps, strict=True):
            result *= 0.0 if end is None else _float_pmf(law, end - int(start))
        return result

    def pmf_bounds(self, output: Numbers, value: Numbers, bits: int = 256) -> Enclosure:
        """Encloses 2**bits * pmf(output, value) between two integers, with certainty.

        >>> from deniable.mechanisms import Laplace
        >>> Laplace(epsilon=1).pmf_bounds(0, 0, 16)  # tanh(1/2) is 30285.3 / 2**16
        (30285, 30286)
        """
        ends, on_grid = self._pair(output, value)
        law = self.noise(on_grid.steps.size, real=on_grid.real)
        lo = hi = 1 << bits
        for end, start in zip(ends, on_grid.steps, strict=True):
            factor = (0, 0) if end is None else law.pmf(end - int(start), bits)
            lo, hi = lo * factor[0] >> bits, -(-hi * factor[1] >> bits)
        return lo, hi

    def _pair(self, output: Numbers, value: Numbers) -> tuple[list[int | None], GridNumbers]:
        on_grid = put_on_grid(value, self.step)
        if isinstance(output, np.ndarray):
            output = output.tolist()
        return on_grid.steps_of(output), on_grid


def least_margin(law: Noise, confidence: Number) -> int:
    """The least c with P(|Z| <= c) >= confidence, in steps.

    >>> from deniable.mechanisms import Laplace
    >>> least_margin(Laplace(epsilon=0.1).noise(), 0.95)
    30
    """
    return _least(
        lambda c: lambda bits: law.outside(c, bits), _allowance(confidence_level(confidence), 1)
    )


def _float_pmf(law: Noise, z: int) -> float:
    bits = 128
    while True:
        lo, hi = law.pmf(z, bits)
        if (hi - lo) << 60 <= lo or bits - hi.bit_length() > _LEAST_FLOAT:
            return float(Fraction(lo + hi, 2 << bits))
        bits *= 2


def _miss_after_rounding(law: Noise, h: int) -> Callable[[int], Enclosure]:
    """P(|Z + r| > h/2) for the worst rounding error r in (-1/2, 1/2].

    At h = 2c + 1 the worst error is r = 0: Z is within the margin if |Z| <= c. At h = 2c it is
    r = 1/2: Z is within the margin if -c <= Z < c.
    """
    c, odd = divmod(h, 2)

    def missed(bits: int) -> Enclosure:
        lo, hi = law.outside(c, bits)
        if odd:
            return lo, hi
        at = law.pmf(c, bits)
        return lo + at[0], hi + at[1]

    return missed


def _allowance(level: Fraction, values: int) -> Callable[[int], Enclosure]:
    """Encloses 1 - level**(1 / values): the probability with which a single value may miss."""

    def allowed(bits: int) -> Enclosure:
        if values == 1:
            scaled = (1 - level) * (1 << bits)
            return scaled.__floor__(), scaled.__ceil__()
        lo, hi = enclosures.log(level, bits)
        one = 1 << bits
        most = enclosures.exp_neg(Fraction(-hi, values << bits), bits)[1]
        least = enclosures.exp_neg(Fraction(-lo, values << bits), bits)[0]
        return one - most, one - least

    return allowed


def _least(
    missed: Callable[[int], Callable[[int], Enclosure]], allowed: Callable[[int], Enclosure]
) -> int:
    """The least n >= 0 whose `missed(n)` is at most `allowed`; it falls as n grows."""

    def enough(n: int) -> bool:
        bits = 128
        while bits <= _MOST_BITS:
            lo, hi = missed(n)(bits)
            low, most = allowed(bits)
            if hi <= low:
                return True
            if lo > most:
                return False
            bits *= 2
        return False  # too close to decide: take the wider margin

    return find_least(enough, start=0)


@dataclass(frozen=True, slots=True, init=False)
class PureAdditiveMechanism(AdditiveMechanism):
    """Adds noise on a grid. The loss is given by `epsilon=` or by `odds=`."""

    epsilon: Fraction | None
    odds: Fraction | None
    sensitivity: Fraction
    step: Fraction

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        sensitivity: Number = 1,
        step: Number = 1,
    ) -> None:
        exact_epsilon, exact_odds = epsilon_or_odds.read(epsilon, odds)
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "odds", exact_odds)
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "step", positive(step, "step"))

    @property
    def loss(self) -> PureLoss:
        """What one release costs, for any number of values.

        >>> from deniable.mechanisms import Laplace
        >>> Laplace(epsilon=0.5).loss.epsilon()
        0.5
        """
        return epsilon_or_odds.loss(self.epsilon, self.odds)

    @property
    def rate(self) -> Fraction:
        """The rational epsilon that the noise is drawn with.

        >>> from deniable.mechanisms import Laplace
        >>> float(Laplace(odds=3).rate)
        1.0986122886681098
        """
        return epsilon_or_odds.rate(self.epsilon, self.odds)
