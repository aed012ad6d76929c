"""Discrete Laplace noise, for pure differential privacy.

P(Z = z) is proportional to exp(-|z| * epsilon / D) on all integers, where D is the sensitivity
in grid steps. If the input moves by at most D steps (in the L1 norm), the sum of |z| changes by
at most D, and any output's probability changes by at most a factor exp(epsilon). It is optimal
for counts, for every prior and every monotone loss: Ghosh, Roughgarden & Sundararajan,
"Universally utility-maximizing privacy mechanisms", 2009.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact import discrete_laplace
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.rationals import Number, positive
from deniable.mechanisms.named_arguments import check_arguments
from deniable.mechanisms.noise.additive import PureAdditiveMechanism

if TYPE_CHECKING:
    from deniable.privacy.arithmetic.dominating_pairs import DiscretePair


@dataclass(frozen=True, slots=True, init=False)
class Laplace(PureAdditiveMechanism):
    """Adds independent discrete Laplace noise to every number.

    `sensitivity` is how far one privacy unit can move all released numbers together (L1).
    `step` is the grid of the released numbers. `odds=` may be given instead of `epsilon=`: then
    the noise uses ln(odds) rounded down, and the loss is stated in odds. `scale=` may be given
    instead of both: the scale of the noise, sensitivity / epsilon.

    >>> count = Laplace(epsilon=1)
    >>> count.loss.epsilon(), count.margin(0.95), round(count.pmf(0, 0), 11)
    (1.0, 3, 0.46211715726)
    >>> len(count.release([120, 7, 55]))
    3
    >>> Laplace(scale=2, sensitivity=3).loss.epsilon()
    1.5
    """

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        scale: Number | None = None,
        sensitivity: Number = 1,
        step: Number = 1,
    ) -> None:
        if scale is not None:
            if epsilon is not None or odds is not None:
                raise InvalidParameter(
                    "Give only one of `epsilon`, `odds` and `scale`: the scale of the noise is "
                    "sensitivity / epsilon."
                )
            epsilon = positive(sensitivity, "sensitivity") / positive(scale, "scale")
        PureAdditiveMechanism.__init__(
            self, epsilon=epsilon, odds=odds, sensitivity=sensitivity, step=step
        )

    def worst_pair(self, *, values: int = 1, real: bool = False) -> "DiscretePair | None":
        """Two inputs that differ by the sensitivity; known for a release of one number.

        >>> Laplace(epsilon=1, sensitivity=2).worst_pair().losses
        (-1.0, 0.0, 1.0)
        """
        from deniable.mechanisms.noise import worst_pairs

        steps = math.floor(self.sensitivity / self.step + real)
        noise = self.noise(1, real=real)
        return None if values > 1 else worst_pairs.laplace(noise.scale, steps)

    def noise(self, values: int = 1, *, real: bool = False) -> "LaplaceNoise":
        """The noise on each number, in steps, when `values` numbers are released.

        >>> Laplace(epsilon=0.5).noise().scale, Laplace(epsilon=0.5).noise(real=True).scale
        (Fraction(2, 1), Fraction(4, 1))
        """
        reach = self.sensitivity / self.step + (values if real else 0)
        return LaplaceNoise(reach / self.rate)


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """P(Z = z) = (1 - a) / (1 + a) * a**|z| with a = exp(-1 / scale)."""

    scale: Fraction

    def draw(self, size: int, *, source: BitSource = SYSTEM) -> NDArray[Any]:
        return discrete_laplace(self.scale, size, source=source)

    def pmf(self, z: int, bits: int) -> Enclosure:
        one = 1 << bits + 8
        a_lo, a_hi = exp_neg(1 / self.scale, bits + 8)
        lo, hi = exp_neg(abs(z) / self.scale, bits + 8)
        return (
            lo * (one - a_hi) // (one + a_hi) >> 8,
            -(-hi * (one - a_lo) // (one + a_lo) >> 8),
        )

    def outside(self, c: int, bits: int) -> Enclosure:
        """P(|Z| > c) = 2 a**(c + 1) / (1 + a)."""
        one = 1 << bits + 8
        a_lo, a_hi = exp_neg(1 / self.scale, bits + 8)
        lo, hi = exp_neg((c + 1) / self.scale, bits + 8)
        return (
            2 * one * lo // (one + a_hi) >> 8,
            -(-2 * one * hi // (one + a_lo) >> 8),
        )
