"""How far an estimate lies from the truth: from the law of the noise, not by trial."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist

from deniable.streams.counting.tree_errors import NodeError, certified_quantile

_SAFE = 1 + 1e-9  # covers the rounding of floats


@dataclass(frozen=True, slots=True)
class Spread:
    """The law of an error: its variance, a fixed part, and the nodes of trees that it is the
    sum of (none: normal).

    Rounded Gaussian noise is Gaussian noise plus at most a half. So a weighted sum of such
    noises is normal, plus at most half the sum of the absolute weights: that is `fixed`.

    >>> Spread(4.0).margin(Fraction(19, 20))
    3.91992797...
    """

    variance: float
    fixed: float = 0.0
    nodes: tuple[NodeError, ...] = ()

    def __add__(self, other: "Spread") -> "Spread":
        """The law of the sum of two independent errors."""
        return Spread(
            self.variance + other.variance,
            self.fixed + other.fixed,
            tuple(sorted(self.nodes + other.nodes)),
        )

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(self.variance)

    def margin(self, confidence: Fraction) -> float:
        """The error is at most this, with that probability or more."""
        if self.nodes:
            return certified_quantile(self.nodes, confidence) + self.fixed
        if not self.variance:
            return self.fixed
        far = NormalDist().inv_cdf(float((1 + confidence) / 2)) * self.deviation
        return far * _SAFE + self.fixed
