"""Releases about different people: a partition of the table, one release per part.

Each part's loss must already hold when one record appears in, vanishes from or changes
within that part, and who is in which part must not depend on other people's data.
"""

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key, lru_cache
from itertools import combinations_with_replacement

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import whole
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.compose.composition import composed
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss
from deniable.privacy.losses.pure import PureLoss
from deniable.privacy.neighbors import Neighbors, neighboring

_MANY = 20_000


def parallel(*losses: Loss, neighbors: Neighbors | None = None) -> "Parallel":
    """The loss of one release per part of a partition: that of the worst part.

    Under "replace" a record can move, which touches two parts: then it is the worst pair's.

    >>> year = [PureLoss(1), PureLoss(0.5), PureLoss(0.25)]
    >>> parallel(*year, neighbors="add-remove").epsilon()
    1.0
    >>> parallel(*year, neighbors="replace").epsilon()
    1.5
    """
    relation = neighboring(neighbors)
    if not losses:
        raise InvalidParameter("`parallel` needs at least one loss. Found none.")
    for loss in losses:
        if not isinstance(loss, Loss):
            raise InvalidParameter(f"A part must be a loss. Found {loss!r}.")
    return Parallel(tuple(sorted(losses, key=repr)), relation)


@dataclass(frozen=True, slots=True, repr=False)
class Parallel(Loss):
    """The worst, at each epsilon, over what `people` changed records can touch."""

    cells: tuple[Loss, ...]
    neighbors: Neighbors
    people: int = 1

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.cells))
        shown = f"parallel({inside}, neighbors={self.neighbors!r})"
        return shown if self.people == 1 else f"{shown}.group({self.people})"

    @property
    def touched(self) -> tuple[Loss, ...]:
        """The losses of which the worst counts."""
        return _touched(self.cells, self.neighbors, self.people)

    @property
    def slack(self) -> Fraction:
        """The worst part's."""
        return max(loss.slack for loss in self.touched)

    @property
    def nats(self) -> Nats | None:
        """The greatest epsilon, where every part has one."""
        worst = Nats()
        for loss in self.touched:
            if loss.nats is None:
                return None
            worst = loss.nats if worst < loss.nats else worst
        return worst

    @property
    def rho(self) -> Fraction | None:
        """The greatest zCDP charge, where every part has one."""
        charges = [loss.rho for loss in self.touched]
        known = [charge for charge in charges if charge is not None]
        return max(known) if len(known) == len(charges) else None

    @property
    def mu_squared(self) -> Fraction | None:
        """The greatest squared Gaussian charge, where every part has one."""
        charges = [loss.mu_squared for loss in self.touched]
        known = [charge for charge in charges if charge is not None]
        return max(known) if len(known) == len(charges) else None

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return max(loss._epsilon_above(delta) for loss in self.touched)

    def _epsilon_near(self, delta: Fraction, precision: float | None) -> Decimal:
        return max(loss._epsilon_near(delta, precision) for loss in self.touched)

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        return max(loss._epsilon_below(delta, precision) for loss in self.touched)

    def _delta_above(self, epsilon: Nats) -> Decimal:
        return max(loss._delta_above(epsilon) for loss in self.touched)

    def _tradeoff_below(self, alpha: Fraction) -> Decimal:
        return min(loss._tradeoff_below(alpha) for loss in self.touched)

    def group(self, k: int) -> "Parallel":
        """k records may be spread over the parts in any way.

        >>> parallel(PureLoss(1), PureLoss(0.5), neighbors="add-remove").group(2).epsilon()
        2.0
        """
        return Parallel(self.cells, self.neighbors, self.people * whole(k, "k"))


@lru_cache(maxsize=64)
def _touched(cells: tuple[Loss, ...], neighbors: Neighbors, people: int) -> tuple[Loss, ...]:
    """What `people` records can touch: as many parts, or, if they move, twice as many. Two
    touches by one record within a part are one change of it."""
    touches = people if neighbors == "add-remove" else 2 * people
    worst = _heaviest(cells, touches)
    if math.comb(len(worst) + touches - 1, touches) > _MANY:
        raise Unsupported(
            f"{len(worst)} different parts can be touched in too many ways to compare. "
            "Round their losses up to fewer different ones."
        )
    ways = combinations_with_replacement(range(len(worst)), touches)
    return tuple(dict.fromkeys(_together(worst, Counter(way), people) for way in ways))


def _together(cells: tuple[Loss, ...], touches: Counter[int], people: int) -> Loss:
    return composed((cells[i].group(min(n, people)), 1) for i, n in touches.items())


def _heaviest(cells: tuple[Loss, ...], touches: int) -> tuple[Loss, ...]:
    """Enough parts to hold the worst: of each ordered kind the greatest, of others all."""
    pure = [loss for loss in cells if isinstance(loss, PureLoss)]
    pure.sort(key=cmp_to_key(lambda a, b: (b.nats - a.nats).sign()))
    rho = [loss for loss in cells if isinstance(loss, ConcentratedLoss)]
    rho.sort(key=lambda loss: -loss.rho)
    bells = [loss for loss in cells if isinstance(loss, GaussianLoss)]
    bells.sort(key=lambda loss: -loss.mu_squared)
    ordered = PureLoss | ConcentratedLoss | GaussianLoss
    others = Counter(loss for loss in cells if not isinstance(loss, ordered))
    rest = [loss for loss, n in others.items() for _ in range(min(n, touches))]
    return (*pure[:touches], *rho[:touches], *bells[:touches], *rest)
