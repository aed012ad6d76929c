"""Parallel composition: a partition of the table, and one release for each part.

The loss of each part must hold if one record is added to, removed from or changed within that
part. Which part a record belongs to must not depend on the data of other people.
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
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import ZERO
from deniable.privacy.compose.composition import compose
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss
from deniable.privacy.losses.pure import PureLoss
from deniable.privacy.neighbors import Neighbors, neighboring

_MANY = 20_000


def parallel(*losses: Loss, neighbors: Neighbors | None = None) -> "Parallel":
    """The loss of one release for each part of a partition: the loss of the worst part.

    Under "replace" a record can move from one part to another: then the worst two parts count.

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
    """The greatest loss, at each epsilon, over all parts that `people` records can affect."""

    cells: tuple[Loss, ...]
    neighbors: Neighbors
    people: int = 1

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.cells))
        shown = f"parallel({inside}, neighbors={self.neighbors!r})"
        return shown if self.people == 1 else f"{shown}.group({self.people})"

    @property
    def touched(self) -> tuple[Loss, ...]:
        """The losses of all combinations of parts that the records can affect."""
        return _touched(self.cells, self.neighbors, self.people)

    @property
    def slack(self) -> Fraction:
        """The greatest slack."""
        return max(loss.slack for loss in self.touched)

    @property
    def exact_epsilon(self) -> ExactEpsilon | None:
        """The greatest epsilon, if every part has one."""
        worst = ExactEpsilon()
        for loss in self.touched:
            if loss.exact_epsilon is None:
                return None
            worst = loss.exact_epsilon if worst < loss.exact_epsilon else worst
        return worst

    @property
    def rho(self) -> Fraction | None:
        """The greatest zCDP charge, if every part has one."""
        return _greatest([loss.rho for loss in self.touched])

    @property
    def mu_squared(self) -> Fraction | None:
        """The greatest squared Gaussian charge, if every part has one."""
        return _greatest([loss.mu_squared for loss in self.touched])

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return max(loss._epsilon_above(delta) for loss in self.touched)

    def _epsilon_at_precision(self, delta: Fraction, precision: float | None) -> Decimal:
        return max(loss._epsilon_at_precision(delta, precision) for loss in self.touched)

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        return max(loss._epsilon_below(delta, precision) for loss in self.touched)

    def _check_precision(
        self, delta: Fraction, precision: float | None, above: Decimal
    ) -> None:
        for loss in self.touched:
            greatest = loss._epsilon_at_precision(delta, precision)
            loss._check_precision(delta, precision, greatest)

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        return max(loss._delta_above(epsilon) for loss in self.touched)

    def _tradeoff_below(self, alpha: Fraction, known: Decimal = ZERO) -> Decimal:
        return min(loss._tradeoff_below(alpha) for loss in self.touched)

    def group(self, k: int) -> "Parallel":
        """The loss for k records, spread over the parts in any way.

        >>> parallel(PureLoss(1), PureLoss(0.5), neighbors="add-remove").group(2).epsilon()
        2.0
        """
        return Parallel(self.cells, self.neighbors, self.people * whole(k, "k"))


def _greatest(charges: list[Fraction | None]) -> Fraction | None:
    present = [charge for charge in charges if charge is not None]
    return max(present) if len(present) == len(charges) else None


@lru_cache(maxsize=64)
def _touched(cells: tuple[Loss, ...], neighbors: Neighbors, people: int) -> tuple[Loss, ...]:
    """The losses of all combinations of parts that `people` records can affect: that many parts
    or, if records can move, twice as many. A record that leaves and enters the same part is one
    change."""
    touches = people if neighbors == "add-remove" else 2 * people
    worst = _heaviest(cells, touches)
    if math.comb(len(worst) + touches - 1, touches) > _MANY:
        raise Unsupported(
            f"The losses of {len(worst)} different parts can be combined in too many ways. "
            "Round them up so that fewer different losses remain."
        )
    ways = combinations_with_replacement(range(len(worst)), touches)
    return tuple(dict.fromkeys(_compose_touched(worst, Counter(way), people) for way in ways))


def _compose_touched(cells: tuple[Loss, ...], touches: Counter[int], people: int) -> Loss:
    return compose((cells[i].group(min(n, people)), 1) for i, n in touches.items())


def _heaviest(cells: tuple[Loss, ...], touches: int) -> tuple[Loss, ...]:
    """Enough parts to contain the worst: the greatest of each ordered kind, all others."""
    pure = [loss for loss in cells if isinstance(loss, PureLoss)]
    pure.sort(key=cmp_to_key(lambda a, b: (b.exact_epsilon - a.exact_epsilon).sign()))
    rho = [loss for loss in cells if isinstance(loss, ConcentratedLoss)]
    rho.sort(key=lambda loss: -loss.rho)
    gaussians = [loss for loss in cells if isinstance(loss, GaussianLoss)]
    gaussians.sort(key=lambda loss: -loss.mu_squared)
    ordered = PureLoss | ConcentratedLoss | GaussianLoss
    others = Counter(loss for loss in cells if not isinstance(loss, ordered))
    rest = [loss for loss, n in others.items() for _ in range(min(n, touches))]
    return (*pure[:touches], *rho[:touches], *gaussians[:touches], *rest)
