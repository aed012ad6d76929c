"""What `Loss` calls without importing it: sums, comparisons with a budget, numerical prices.

The kinds of loss know nothing of this room. `deniable.privacy` puts an instance of
`LossAlgebra` into `Loss.algebra` when it is imported.
"""

from collections.abc import Iterable

from deniable.privacy.arithmetic.dominating_pairs import CountedPairs
from deniable.privacy.compose.composition import composed
from deniable.privacy.compose.fits import fits
from deniable.privacy.compose.numerical_loss import Numerical
from deniable.privacy.losses.loss import Loss


class LossAlgebra:
    """The three operations, by the modules of this room."""

    def compose(self, parts: Iterable[tuple[Loss, int]]) -> Loss:
        return composed(parts)

    def fits(self, loss: Loss, budget: Loss) -> bool:
        return fits(loss, budget)

    def price(self, pairs: CountedPairs) -> Loss:
        return Numerical(pairs)
