"""Staircase noise, for pure differential privacy with a sensitivity of many grid steps.

Let D be the sensitivity in whole steps and b = exp(-epsilon). Then |z| = k D + j has weight
b**k for j < r, and b**(k + 1) for the rest of its stair. The weight falls as |z| grows, by
exactly b over D steps, so moving a number by up to D steps changes any output's probability by
at most a factor exp(epsilon). Of all noise added to one number this shape has the least
expected error, and much less than others at large epsilon: Geng & Viswanath, "The optimal
mechanism in differential privacy", 2014.

Several numbers need another shape. If one privacy unit moves each number by one step, every
number may cross the edge of a stair, and each crossing costs a factor exp(epsilon). With stairs
of one step, each step costs epsilon / D, however the D steps are shared among the numbers. That
is Laplace noise, so a release of two or more numbers uses Laplace noise.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.exact import bernoulli, categorical, geometric, uniform_below
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.mechanisms.noise.additive import PureAdditiveMechanism

if TYPE_CHECKING:
    from deniable.privacy.arithmetic.dominating_pairs import DiscretePair

_LONG = 10**12  # steps; from here on one step more or less makes no difference


@dataclass(frozen=True, slots=True, init=False)
class Staircase(PureAdditiveMechanism):
    """Adds staircase noise to a number (and Laplace noise to a list of two or more).

    `sensitivity` is how far one privacy unit can move the number (for a list, all together:
    L1). Use it when that is many steps and epsilon is 2 or more. The distribution is not
    bell-shaped: do not build an interval from a standard deviation. `margin` inverts the
    distribution itself.

    >>> total = Staircase(epsilon=4, sensitivity=100)
    >>> total.loss.epsilon(), total.noise().flat, total.margin(0.9)
    (4.0, 12, 40)
    """

    def worst_pair(self, *, values: int = 1, real: bool = False) -> "DiscretePair | None":
        """The shift that loses epsilon most often; known for a release of one number.

        >>> Staircase(epsilon=2, sensitivity=10).worst_pair().losses
        (-2.0, 0.0, 2.0)
        """
        from deniable.mechanisms.noise import worst_pairs

        law = self.noise(1, real=real)
        return None if values > 1 else worst_pairs.staircase(law.epsilon, law.stair, law.flat)

    def noise(self, values: int = 1, *, real: bool = False) -> "StaircaseNoise":
        """The noise on each number, in steps, when `values` numbers are released.

        >>> Staircase(epsilon=3, sensitivity=10).noise(2).epsilon
        Fraction(3, 10)
        """
        reach = self.sensitivity / self.step + (values if real else 0)
        epsilon = self.rate
        if values > 1:
            return StaircaseNoise(epsilon / reach, 1, 1)
        stair = max(1, math.floor(reach))  # on the grid, all moves are whole steps
        return StaircaseNoise(epsilon, stair, _best_flat(epsilon, stair))


def _best_flat(epsilon: Fraction, stair: int) -> int:
    """The length of the upper part of a stair that makes the expected |noise| least.

    With b = exp(-epsilon), E|Z| is (x r**2 + y r + z) / (u r + v) as a function of the length
    r: it first falls, then rises. Every length is private, so floats may choose. On long stairs
    the best share is 1 / (1 + exp(epsilon / 2)), as Geng & Viswanath find for real numbers.
    """
    epsilon = min(epsilon, Fraction(1400))  # exp(-1400) is zero already
    if stair > _LONG or epsilon < Fraction(1, _LONG):
        share = Fraction(1 / (1 + math.exp(epsilon / 2)))
        return max(1, math.ceil(stair * share))
    b, fall = math.exp(-epsilon), -math.expm1(-epsilon)
    x, y = fall, 2 * stair * b - fall
    z = stair * b * (stair - 1 + 2 * stair * b / fall)
    u, v = 2 * x, y
    root = -v / u + math.sqrt(max(0.0, (v / u) ** 2 - (y * v - z * u) / (x * u)))
    near = min(max(1, math.floor(root)), stair)
    return min(
        (near, min(near + 1, stair)), key=lambda r: (x * r * r + y * r + z) / (u * r + v)
    )


@dataclass(frozen=True, slots=True)
class StaircaseNoise:
    """Stairs `stair` steps long, of which `flat` belong to the upper part."""

    epsilon: Fraction
    stair: int
    flat: int

    def draw(self, size: int, *, source: BitSource = SYSTEM) -> NDArray[Any]:
        drawn = self._draw_signed(size, source)
        while (short := size - drawn.size) > 0:
            drawn = np.concatenate([drawn, self._draw_signed(short, source)])
        return drawn

    def _draw_signed(self, size: int, source: BitSource) -> NDArray[Any]:
        """Up to `size` draws. A negative zero is dropped; otherwise zero would count twice."""
        stairs = geometric(1 / self.epsilon, size, source=source)
        if int(stairs.max()) * self.stair + self.stair >= 2**62:
            stairs = stairs.astype(object)
        distance = stairs * self.stair + self._draw_position(size, source)
        negative = bernoulli(Fraction(1, 2), size, source=source)
        valid = ~(negative & (distance == 0))
        return np.asarray(np.where(negative, -distance, distance)[valid])

    def _draw_position(self, size: int, source: BitSource) -> NDArray[Any]:
        """Positions on the stair: `flat` steps of weight 1, the others of exp(-epsilon)."""
        rest = self.stair - self.flat
        upper = uniform_below(self.flat, size, source=source)
        if rest == 0:
            return upper
        lower = self.flat + uniform_below(rest, size, source=source)
        weights, exponents = [self.flat, rest], [Fraction(0), self.epsilon]
        part = categorical(weights, exponents, size, source=source)
        return np.where(part == 0, upper, lower)

    def pmf(self, z: int, bits: int) -> Enclosure:
        k, j = divmod(abs(z), self.stair)
        (p_lo, p_hi), b, norm, work = self._parts(k + (j >= self.flat), bits)
        one = 1 << work
        return (
            p_lo * (one - b[1]) // norm[1] >> 16,
            -(-p_hi * (one - b[0]) // norm[0] >> 16),
        )

    def outside(self, c: int, bits: int) -> Enclosure:
        """P(|Z| > c), with c = k D + j: twice b**k * (b0 + b1 b + b2 b**2) over the norm."""
        k, j = divmod(c, self.stair)
        (p_lo, p_hi), b, norm, work = self._parts(k, bits)
        upper, lower = min(j + 1, self.flat), max(0, j + 1 - self.flat)
        terms = self.flat - upper, self.stair - self.flat - lower + upper, lower  # all >= 0
        lo, hi = (
            (terms[0] << work) + terms[1] * one_b + (terms[2] * one_b * one_b >> work)
            for one_b in b
        )
        return 2 * p_lo * lo // norm[1] >> 16, -(-2 * p_hi * (hi + 1) // norm[0] >> 16)

    def _parts(self, k: int, bits: int) -> tuple[Enclosure, Enclosure, Enclosure, int]:
        """Encloses b**k, b and the sum of all weights times 1 - b, at bits + 16 bits."""
        work = bits + 16
        b_lo, b_hi = exp_neg(self.epsilon, work)
        upper, lower = 2 * self.flat - 1, 2 * (self.stair - self.flat) + 1
        norm = (upper << work) + lower * b_lo, (upper << work) + lower * b_hi
        return exp_neg(k * self.epsilon, work), (b_lo, b_hi), norm, work
