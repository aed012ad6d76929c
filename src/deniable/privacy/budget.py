"""Whether a loss stays within a budget: exactly where both are exact, surely otherwise."""

from deniable.errors import Unsupported
from deniable.privacy.approximate import ApproximateLoss
from deniable.privacy.concentrated import ConcentratedLoss
from deniable.privacy.gaussian import GaussianLoss
from deniable.privacy.intervals import precision
from deniable.privacy.loss import Loss
from deniable.privacy.nats import Nats
from deniable.privacy.pure import PureLoss


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
