"""Whether a loss stays within a budget: exactly where both are exact, surely otherwise."""

from deniable.errors import Unsupported
from deniable.privacy.arithmetic.intervals import precision
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss
from deniable.privacy.losses.pure import PureLoss


def fits(loss: Loss, budget: Loss) -> bool:
    """Whether `loss` surely stays within `budget`; floats never decide.

    >>> fits(PureLoss(0.1) * 10, PureLoss(1)), fits(PureLoss(0.1) * 11, PureLoss(1))
    (True, False)
    >>> fits(PureLoss(odds=3) * 3, PureLoss(3.2958))
    False
    """
    p = precision(60)
    if isinstance(budget, PureLoss | ApproximateLoss):
        if loss.slack <= budget.slack and _at_most(loss.nats, budget.nats):
            return True
        return loss._delta_above(budget.nats) <= p(budget.slack).lo
    if isinstance(budget, ConcentratedLoss):
        return loss.slack == 0 and loss.rho is not None and loss.rho <= budget.rho
    if isinstance(budget, GaussianLoss):
        charge = loss.mu_squared
        return loss.slack == 0 and charge is not None and charge <= budget.mu_squared
    raise Unsupported(
        f"A budget must be a PureLoss, ApproximateLoss, ConcentratedLoss or GaussianLoss. "
        f"Found {budget!r}."
    )


def _at_most(spent: Nats | None, limit: Nats) -> bool:
    return spent is not None and spent <= limit
