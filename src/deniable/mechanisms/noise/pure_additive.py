"""What additive mechanisms of pure loss share: their parameters, and what a release costs."""

from dataclasses import dataclass
from fractions import Fraction

from deniable.exact.rationals import Number, positive
from deniable.mechanisms import strength
from deniable.mechanisms.noise.additive import Additive
from deniable.privacy import PureLoss


@dataclass(frozen=True, slots=True, init=False)
class PureAdditive(Additive):
    """Noise on a grid whose loss is stated by `epsilon=` or by `odds=`."""

    epsilon: Fraction | None
    odds: Fraction | None
    sensitivity: Fraction
    step: Fraction

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        sensitivity: Number = 1,
        step: Number = 1,
    ) -> None:
        exact_epsilon, exact_odds = strength.one_of(epsilon, odds)
        object.__setattr__(self, "epsilon", exact_epsilon)
        object.__setattr__(self, "odds", exact_odds)
        object.__setattr__(self, "sensitivity", positive(sensitivity, "sensitivity"))
        object.__setattr__(self, "step", positive(step, "step"))

    @property
    def loss(self) -> PureLoss:
        """What one release costs, whatever its length.

        >>> from deniable.mechanisms import Laplace
        >>> Laplace(epsilon=0.5).loss.epsilon()
        0.5
        """
        return strength.loss(self.epsilon, self.odds)

    @property
    def rate(self) -> Fraction:
        """The rational epsilon that the noise is drawn with.

        >>> from deniable.mechanisms import Laplace
        >>> float(Laplace(odds=3).rate)
        1.0986122886681098
        """
        return strength.rate(self.epsilon, self.odds)
