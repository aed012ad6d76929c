"""What all mechanisms share that add symmetric whole-numbered noise on a grid.

A number x becomes step * (floor(x / step + 1/2) + Z) with fresh Z for each. Everything is
read from the law of Z: an exact sampler, certified enclosures of P(Z = z) and P(|Z| > c).
Integers on a grid that holds them are not rounded; reals are, so two neighbouring vectors of
d of them may end up d steps further apart (sqrt(d) in the L2 norm), and the noise grows to
cover that at the same loss.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact import enclosures
from deniable.exact.enclosures import Enclosure
from deniable.exact.least_integer import least
from deniable.exact.rationals import Number, probability, whole
from deniable.mechanisms.grid import Gridded, Numbers, gridded
from deniable.privacy.arithmetic import floats

_MOST_BITS = 4096
_LEAST_FLOAT = 1080  # half of 2**-1074 and less is 0.0


class Noise(Protocol):
    """The law of a symmetric random integer Z. Enclosures are scaled by 2**bits."""

    def draw(self, size: int) -> NDArray[Any]: ...

    def pmf(self, z: int, bits: int) -> Enclosure: ...

    def outside(self, c: int, bits: int) -> Enclosure:
        """Encloses P(|Z| > c), for c >= 0."""
        ...


class Additive(ABC):
    """Release, margin and probabilities, given the noise."""

    __slots__ = ()

    sensitivity: Fraction
    step: Fraction

    @abstractmethod
    def noise(self, values: int = 1, *, real: bool = False) -> Noise:
        """The law of each noise, in steps, in a release of so many integers or reals."""

    @overload
    def release(self, values: int | float) -> int | float: ...
    @overload
    def release(self, values: NDArray[Any]) -> NDArray[Any]: ...
    @overload
    def release(self, values: Numbers) -> Any: ...
    def release(self, values: Numbers) -> Any:
        """The values with noise: a number for a number, a list for a list, else an array.

        They come back as multiples of `step`: integers if it is whole, else floats. Whether
        the values count as integers or reals follows from their types, which are taken to be
        public: do not let a type depend on somebody's record.

        >>> from deniable.mechanisms import Laplace
        >>> noisy = Laplace(epsilon=1).release(np.zeros((2, 3), dtype=int))
        >>> noisy.shape, noisy.dtype
        ((2, 3), dtype('int64'))
        """
        on_grid = gridded(values, self.step)
        law = self.noise(on_grid.steps.size, real=on_grid.real)
        return on_grid.plus(law.draw(on_grid.steps.size))

    def margin(
        self,
        confidence: Number = 0.95,
        *,
        values: int = 1,
        real: bool | None = None,
        jointly: bool = False,
    ) -> int | float:
        """The least m with P(|released - true| <= m) >= confidence, for each single value.

        Say what will be released: how many `values`, and whether they are `real` (floats) or
        integers. Unless said, they are taken for integers at step 1 and for reals on other
        grids. Rounding reals moves each by up to half a step and widens the noise; the margin
        covers both, wherever a value lies between grid points. So it does for integers on a
        grid that does not hold them all, such as 5. With `jointly` it holds for all values at
        once. If it is not whole it is rounded up.

        >>> from deniable.mechanisms import Laplace
        >>> count = Laplace(epsilon=0.1)
        >>> count.margin(0.95), count.margin(0.95, values=12, jointly=True)
        (30, 55)
        >>> count.margin(0.95, real=True), Laplace(epsilon=0.1, step=0.01).margin(0.95)
        (60, 30.26)
        """
        level = _level(confidence)
        rounded = self.step != 1 if real is None else real or self.step.numerator != 1
        law = self.noise(whole(values, "values"), real=rounded)
        allowed = _allowance(level, values if jointly else 1)
        if rounded:
            margin = Fraction(_least(lambda h: _misses_half(law, h), allowed), 2) * self.step
        else:
            margin = _least(lambda c: lambda bits: law.outside(c, bits), allowed) * self.step
        return int(margin) if margin.denominator == 1 else floats.up(margin)

    def pmf(self, output: Numbers, value: Numbers) -> float:
        """P(release(value) = output), right to the last digit; for lists, of all at once.

        >>> from deniable.mechanisms import Laplace
        >>> coins = Laplace(odds=3)
        >>> coins.pmf(0, 0), coins.pmf([0, 1], [0, 0])
        (0.5, 0.08333333333333333)
        """
        found, on_grid = self._pair(output, value)
        law = self.noise(on_grid.steps.size, real=on_grid.real)
        result = 1.0
        for end, start in zip(found, on_grid.steps, strict=True):
            result *= 0.0 if end is None else _as_float(law, end - int(start))
        return result

    def pmf_bounds(self, output: Numbers, value: Numbers, bits: int = 256) -> Enclosure:
        """Encloses 2**bits * pmf(output, value) between two integers, with certainty.

        >>> from deniable.mechanisms import Laplace
        >>> Laplace(epsilon=1).pmf_bounds(0, 0, 16)  # tanh(1/2) is 30285.3 / 2**16
        (30285, 30286)
        """
        found, on_grid = self._pair(output, value)
        law = self.noise(on_grid.steps.size, real=on_grid.real)
        lo = hi = 1 << bits
        for end, start in zip(found, on_grid.steps, strict=True):
            one = (0, 0) if end is None else law.pmf(end - int(start), bits)
            lo, hi = lo * one[0] >> bits, -(-hi * one[1] >> bits)
        return lo, hi

    def _pair(self, output: Numbers, value: Numbers) -> tuple[list[int | None], Gridded]:
        on_grid = gridded(value, self.step)
        if isinstance(output, np.ndarray):
            output = output.tolist()
        return on_grid.find(output), on_grid


def least_margin(law: Noise, confidence: Number) -> int:
    """The least c with P(|Z| <= c) >= confidence, in steps.

    >>> from deniable.mechanisms import Laplace
    >>> least_margin(Laplace(epsilon=0.1).noise(), 0.95)
    30
    """
    return _least(
        lambda c: lambda bits: law.outside(c, bits), _allowance(_level(confidence), 1)
    )


def _level(confidence: Number) -> Fraction:
    level = probability(confidence, "confidence")
    if not 0 < level < 1:
        raise InvalidParameter(
            f"`confidence` must lie between 0 and 1. Found {confidence}: noise has no "
            "bound, so no margin is certain."
        )
    return level


def _as_float(law: Noise, z: int) -> float:
    bits = 128
    while True:
        lo, hi = law.pmf(z, bits)
        if (hi - lo) << 60 <= lo or bits - hi.bit_length() > _LEAST_FLOAT:
            return float(Fraction(lo + hi, 2 << bits))
        bits *= 2


def _misses_half(law: Noise, h: int) -> Callable[[int], Enclosure]:
    """P(|Z + r| > h/2) for the worst rounding error r in (-1/2, 1/2].

    At h = 2c + 1 the worst is r = 0, where |Z| <= c counts; at h = 2c it is r = 1/2, where
    -c <= Z < c does.
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
    """Encloses 1 - level**(1 / values), how often a single value may miss."""

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
        return False  # too close to call: the wider margin is the honest one

    return least(enough, start=0)
