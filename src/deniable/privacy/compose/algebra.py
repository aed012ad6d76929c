"""The operations that `Loss` uses without importing them.

The modules of `privacy.losses` do not import this folder. When `deniable.privacy` is imported,
it assigns a `LossAlgebra` to `Loss.algebra`.
"""

from collections.abc import Iterable

from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.compose.composition import compose
from deniable.privacy.compose.fits import fits
from deniable.privacy.compose.numerical_loss import NumericalLoss
from deniable.privacy.losses.loss import Loss


class LossAlgebra:
    """Sums of losses, comparisons with a budget, and numerical prices of pairs."""

    def compose(self, parts: Iterable[tuple[Loss, int]]) -> Loss:
        return compose(parts)

    def fits(self, loss: Loss, budget: Loss) -> bool:
        return fits(loss, budget)

    def price(self, pairs: CountedPairs) -> Loss:
        return NumericalLoss(pairs)
