"""The operations that `Loss` uses without importing them.

The modules of `privacy.losses` do not import this folder. When `deniable.privacy` is imported,
it assigns a `LossAlgebra` to `Loss.algebra`.
"""

from collections.abc import Iterable

from deniable.errors import Unsupported
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import precision
from deniable.privacy.compose.composition import add, compose
from deniable.privacy.compose.numerical_loss import NumericalLoss
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss
from deniable.privacy.losses.pure import PureLoss


def fits(loss: Loss, budget: Loss) -> bool:
    """Whether `loss` certainly stays within `budget`. Floats never decide.

    >>> fits(PureLoss(0.1) * 10, PureLoss(1)), fits(PureLoss(0.1) * 11, PureLoss(1))
    (True, False)
    >>> fits(PureLoss(odds=3) * 3, PureLoss(3.2958))
    False
    """
    p = precision(60)
    if isinstance(budget, PureLoss | ApproximateLoss):
        if loss.slack <= budget.slack and _at_most(loss.exact_epsilon, budget.exact_epsilon):
            return True
        return loss._delta_above(budget.exact_epsilon) <= p(budget.slack).lo
    if isinstance(budget, ConcentratedLoss):
        return loss.slack == 0 and loss.rho is not None and loss.rho <= budget.rho
    if isinstance(budget, GaussianLoss):
        charge = loss.mu_squared
        return loss.slack == 0 and charge is not None and charge <= budget.mu_squared
    raise Unsupported(
        f"A budget must be a PureLoss, ApproximateLoss, ConcentratedLoss or GaussianLoss. "
        f"Found {budget!r}."
    )


def _at_most(spent: ExactEpsilon | None, limit: ExactEpsilon) -> bool:
    return spent is not None and spent <= limit


class LossAlgebra:
    """Sums of losses, comparisons with a budget, and numerical prices of pairs."""

    def compose(self, parts: Iterable[tuple[Loss, int]]) -> Loss:
        return compose(parts)

    def add(self, first: Loss, second: Loss) -> Loss:
        return add(first, second)

    def fits(self, loss: Loss, budget: Loss) -> bool:
        return fits(loss, budget)

    def price(self, pairs: CountedPairs) -> Loss:
        return NumericalLoss(pairs)
