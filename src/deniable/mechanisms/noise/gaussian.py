"""Rounded Gaussian noise, for zero-concentrated and Gaussian differential privacy.

The noise is round(N(0, variance)) in grid steps, so a release of whole steps k is
round(k + N(0, variance)). That is post-processing of a release with ideal Gaussian noise, so it
costs no more. Two inputs at L2 distance D are at least as hard to distinguish as N(0, 1) and
N(mu, 1) with mu = D / sigma: mu-GDP (Dong, Roth & Su 2019). This implies rho-zCDP with
rho = mu**2 / 2, and the exact (epsilon, delta) curve of Balle & Wang, "Improving the Gaussian
mechanism", 2018.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact import enclosures, rounded_gaussian
from deniable.exact.bits import SYSTEM, BitSource
from deniable.exact.enclosures import Enclosure
from deniable.exact.rationals import Number, positive, rational
from deniable.mechanisms.named_arguments import check_arguments, check_call
from deniable.mechanisms.noise.additive import AdditiveMechanism
from deniable.privacy import GaussianLoss
from deniable.privacy.arithmetic import floats


@dataclass(frozen=True, slots=True, init=False)
class Gaussian(AdditiveMechanism):
    """Adds independent rounded Gaussian noise to every number.

    Give exactly one of `rho`, `mu`, `sigma` and `variance`, or `epsilon` and `delta`, which
    take the least noise that is (epsilon, delta)-private, as `Gaussian.calibrated` does.
    `sensitivity` is how far one privacy unit can move all released numbers together (L2).
    `step` is the grid of the released numbers.

    >>> table = Gaussian(rho=0.02, sensitivity=2)
    >>> table.sigma, table.loss.mu_squared, table.margin(0.95)
    (10.0, Fraction(1, 25), 20)
    """

    variance: Fraction
    sensitivity: Fraction
    step: Fraction

    @check_arguments
    def __init__(
        self,
        *,
        rho: Number | None = None,
        mu: Number | None = None,
        sigma: Number | None = None,
        variance: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        sensitivity: Number = 1,
        step: Number = 1,
    ) -> None:
        calibrated = epsilon is not None and delta is not None
        given = sum(value is not None for value in (rho, mu, sigma, variance)) + calibrated
        if given != 1 or (epsilon is None) != (delta is None):
            raise InvalidParameter(
                "Give exactly one of `rho`, `mu`, `sigma` and `variance`, or `epsilon` and "
                "`delta` together, as in Gaussian(epsilon=1, delta=1e-6)."
            )
        exact_sensitivity = positive(sensitivity, "sensitivity")
        if epsilon is not None and delta is not None:
            loss = GaussianLoss.calibrated(epsilon=epsilon, delta=delta)
            exact = exact_sensitivity**2 / loss.mu_squared
        elif rho is not None:
            exact = exact_sensitivity**2 / (2 * positive(rho, "rho"))
        elif mu is not None:
            exact = (exact_sensitivity / positive(mu, "mu")) ** 2
        elif sigma is not None:
            exact = positive(sigma, "sigma") ** 2
        else:
            assert variance is not None
            exact = positive(variance, "variance")
        object.__setattr__(self, "variance", exact)
        object.__setattr__(self, "sensitivity", exact_sensitivity)
        object.__setattr__(self, "step", positive(step, "step"))

    @classmethod
    @check_call
    def calibrated(
        cls, *, epsilon: Number, delta: Number, sensitivity: Number = 1, step: Number = 1
    ) -> "Gaussian":
        """The least noise that is (epsilon, delta)-private.

        >>> round(Gaussian.calibrated(epsilon=1, delta=1e-6).sigma, 11)
        4.22467888933
        """
        return cls(epsilon=epsilon, delta=delta, sensitivity=sensitivity, step=step)

    @property
    def loss(self) -> GaussianLoss:
        """What one release costs, for any number of values.

        >>> Gaussian(mu=0.5).loss.mu_squared
        Fraction(1, 4)
        """
        return GaussianLoss(mu_squared=self.sensitivity**2 / self.variance)

    @property
    def rho(self) -> Fraction:
        """The zero-concentrated loss, mu**2 / 2.

        >>> Gaussian(rho=0.1).rho
        Fraction(1, 10)
        """
        return self.sensitivity**2 / (2 * self.variance)

    @property
    def sigma(self) -> float:
        """The standard deviation before rounding to the grid, for integers; rounded up.

        >>> Gaussian(sigma=0.3).sigma
        0.3
        """
        near = math.sqrt(self.variance)
        if rational(near) ** 2 == self.variance:
            return near
        bits = 128 + self.variance.denominator.bit_length()
        root = Fraction(enclosures.sqrt(self.variance, bits)[1], 1 << bits)
        return max(floats.up(root), enclosures.float_up(root))  # in decimals and in binary

    def noise(self, values: int = 1, *, real: bool = False) -> "GaussianNoise":
        """The noise on each number, in steps, when `values` numbers are released.

        >>> law = Gaussian(sigma=3)
        >>> law.noise().variance, law.noise(4, real=True).variance
        (Fraction(9, 1), Fraction(81, 1))
        """
        variance = self.variance / self.step**2
        if real:
            root = Fraction(enclosures.sqrt(Fraction(values), 80)[1], 1 << 80)  # rounded up
            variance *= (1 + root * self.step / self.sensitivity) ** 2
        return GaussianNoise(variance)


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """The integer nearest to a draw of N(0, variance)."""

    variance: Fraction

    def draw(self, size: int, *, source: BitSource = SYSTEM) -> NDArray[Any]:
        return rounded_gaussian(self.variance, size, source=source)

    def _within(self, edge: int, bits: int) -> Enclosure:
        """P(|N| < edge / 2) = erf(edge / (2 sigma sqrt(2)))."""
        return enclosures.erf(edge * edge / (8 * self.variance), bits)

    def pmf(self, z: int, bits: int) -> Enclosure:
        z = abs(z)
        if z == 0:
            return self._within(1, bits)
        inner, outer = self._within(2 * z - 1, bits + 4), self._within(2 * z + 1, bits + 4)
        return max(0, outer[0] - inner[1]) >> 5, -(-(outer[1] - inner[0]) >> 5)

    def outside(self, c: int, bits: int) -> Enclosure:
        lo, hi = self._within(2 * c + 1, bits)
        return (1 << bits) - hi, (1 << bits) - lo
