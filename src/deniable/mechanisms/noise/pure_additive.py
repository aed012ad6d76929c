"""Shared by additive mechanisms with a pure loss: their parameters and their loss."""

from dataclasses import dataclass
from fractions import Fraction

from deniable.exact.rationals import Number, positive
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.named_arguments import check_arguments
from deniable.mechanisms.noise.additive import AdditiveMechanism
from deniable.privacy import PureLoss


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
