"""The ways to compute the loss of a composition. The least of their results is used.

Each form turns the parts into one loss that is an upper bound for all parts together, or
`None` if it does not apply. All forms are valid for parts fixed in advance. A tighter form is
one more function and one more line in `FORMS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from deniable.errors import Unsupported
from deniable.exact.rationals import Number
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, count_pairs
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import INFINITY, precision
from deniable.privacy.compose.numerical_loss import NumericalLoss
from deniable.privacy.compose.repeated import RepeatedLoss
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, add_slack, remove_slack
from deniable.privacy.losses.pure import PureLoss
from deniable.privacy.losses.renyi import RenyiLoss, divergence_beside_slack

Parts: TypeAlias = Sequence[tuple[Loss, int]]
_SHORT = 64  # up to this many factors of a slack are multiplied exactly


@dataclass(frozen=True, slots=True)
class CompositionForm:
    """A named way to compute the loss of parts together, and why it is valid."""

    name: str
    why: str
    price: Callable[[Parts], Loss | None]


@dataclass(frozen=True, slots=True)
class ShiftedLoss(Loss):
    """`rest` plus a pure loss of `shift`, unless everything is disclosed (probability `slack`).

    A pure loss of s moves any delta curve by at most s: delta(e) <= rest.delta(e - s).
    """

    rest: Loss
    shift: ExactEpsilon
    slack: Fraction

    @property
    def _certain_delta(self) -> Fraction:
        return 1 - (1 - self.slack) * (1 - self.rest._certain_delta)

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        left = epsilon - self.shift
        if left.sign() >= 0:
            return add_slack(self.slack, self.rest._delta_above(left))
        # By exchanging the two neighbours: 1 - delta(-x) = e**-x (1 - delta(x)).
        p = precision(60)
        missing = 1 - p(self.rest._delta_above(left * -1))
        return add_slack(self.slack, (1 - left.interval(p).exp() * missing).hi)

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        left = remove_slack(self.slack, delta)
        if left is None:
            return INFINITY
        p = precision(60)
        return p.up.add(self.rest._epsilon_above(left), self.shift.interval(p).hi)

    def group(self, k: int) -> Loss:
        raise Unsupported(
            f"A composed loss has no group({k}). Take the group({k}) of its parts."
        )


def _shift(rest: Loss, shift: ExactEpsilon, slack: Fraction) -> Loss:
    return ShiftedLoss(rest, shift, slack) if slack or shift != ExactEpsilon() else rest


def total_slack(parts: Parts) -> Fraction:
    """1 - the product of (1 - slack): some part discloses everything. Rounded up."""
    risky = [(part.slack, count) for part, count in parts if part.slack]
    if sum(count for _, count in risky) <= _SHORT:
        none = Fraction(1)  # the probability that no part discloses everything
        for slack, count in risky:
            none *= (1 - slack) ** count
        return 1 - none
    if any(slack == 1 for slack, _ in risky):
        return Fraction(1)
    p = precision(400)  # more digits than any float delta needs, because 1 - e**logs cancels
    logs = p(0)
    for slack, count in risky:
        logs = logs + p(1 - slack).log() * count
    return min(Fraction(1), floats.ceiling((1 - logs.exp()).hi))


def total_epsilon(parts: Parts) -> ExactEpsilon | None:
    """The exact sum of epsilons."""
    total = ExactEpsilon()
    for part, count in parts:
        if part.exact_epsilon is None:
            return None
        total = total + part.exact_epsilon * count
    return total


def total_rho(parts: Parts) -> Fraction | None:
    """The sum of zCDP charges."""
    return _add_all([(part.rho, count) for part, count in parts])


def total_mu_squared(parts: Parts) -> Fraction | None:
    """The sum of squared Gaussian charges."""
    return _add_all([(part.mu_squared, count) for part, count in parts])


def _add_all(charges: Sequence[tuple[Fraction | None, int]]) -> Fraction | None:
    """The sum of all charges, or None if one is missing."""
    known = [(charge, count) for charge, count in charges if charge is not None]
    if len(known) < len(charges):
        return None
    return sum((charge * count for charge, count in known), Fraction(0))


def total_pairs(parts: Parts) -> CountedPairs | None:
    """The dominating pairs of all parts."""
    pairs_of_parts = [(part.dominating_pairs, n) for part, n in _add_gaussians(parts)]
    if any(pairs is None for pairs, _ in pairs_of_parts):
        return None
    return tuple((pair, k * n) for pairs, n in pairs_of_parts for pair, k in pairs or ())


def total_attained_pairs(parts: Parts) -> CountedPairs:
    """The attained pairs of all parts that have some."""
    attained = ((part.attained_pairs, n) for part, n in _add_gaussians(parts))
    return tuple((pair, k * n) for pairs, n in attained for pair, k in pairs or ())


def _add_gaussians(parts: Parts) -> Parts:
    """The parts; all Gaussian losses as one, exactly."""
    gaussians = [(part, n) for part, n in parts if isinstance(part, GaussianLoss)]
    mu_squared = total_mu_squared(gaussians)
    if not mu_squared:
        return parts
    others = [(part, n) for part, n in parts if not isinstance(part, GaussianLoss)]
    return [*others, (GaussianLoss(mu_squared=mu_squared), 1)]


def sum_of_epsilons(parts: Parts) -> Loss | None:
    """Epsilons add up, and deltas nearly do."""
    epsilon = total_epsilon(parts)
    return None if epsilon is None else ApproximateLoss.of(epsilon, total_slack(parts))


def optimal(parts: Parts) -> Loss | None:
    """One pure loss, repeated: the optimal composition, which is exact."""
    kinds = {part.exact_epsilon for part, _ in parts}
    if len(kinds) != 1:
        return None
    (each,) = kinds
    if each is None:
        return None
    return ShiftedLoss(
        RepeatedLoss(each, sum(n for _, n in parts)), ExactEpsilon(), total_slack(parts)
    )


def common_epsilon(parts: Parts) -> ExactEpsilon | None:
    """The epsilon of the parts, if all are pure or approximate losses of equal epsilon."""
    kinds = {
        part.exact_epsilon for part, _ in parts if isinstance(part, PureLoss | ApproximateLoss)
    }
    others = any(not isinstance(part, PureLoss | ApproximateLoss) for part, _ in parts)
    return None if others or len(kinds) != 1 else kinds.pop()


def gaussian(parts: Parts) -> Loss | None:
    """Gaussian parts as one Gaussian; the epsilons of the others are added."""
    gaussians = [(part, n) for part, n in parts if part.mu_squared is not None]
    others = [(part, n) for part, n in parts if part.mu_squared is None]
    mu_squared, shift = total_mu_squared(gaussians), total_epsilon(others)
    if not gaussians or mu_squared is None or shift is None:
        return None
    return _shift(GaussianLoss(mu_squared=mu_squared), shift, total_slack(parts))


def numerical(parts: Parts) -> Loss | None:
    """The loss distributions of all parts, convolved on a grid, if there is no closed form."""
    if total_mu_squared(parts) is not None or common_epsilon(parts) is not None:
        return None  # a closed form is exact
    pairs = total_pairs(parts)
    if pairs is None:
        return None
    return ShiftedLoss(NumericalLoss(count_pairs(pairs)), ExactEpsilon(), total_slack(parts))


def concentrated(parts: Parts) -> Loss | None:
    """The zCDP charges of all parts."""
    rho = total_rho(parts)
    if rho is None:
        return None
    return _shift(ConcentratedLoss(rho), ExactEpsilon(), total_slack(parts))


def concentrated_and_sum(parts: Parts) -> Loss | None:
    """The zCDP charges of the parts that are not pure, plus the epsilons of the pure parts."""
    pure = [(part, n) for part, n in parts if part.exact_epsilon is not None]
    others = [(part, n) for part, n in parts if part.exact_epsilon is None]
    rho, shift = total_rho(others), total_epsilon(pure)
    if not pure or not others or rho is None or shift is None:
        return None
    return _shift(ConcentratedLoss(rho), shift, total_slack(parts))


def renyi(parts: Parts) -> Loss | None:
    """Renyi divergences, at each order that some RenyiLoss has and all parts support, except
    with the probability of full disclosure."""
    orders = {a for part, _ in parts if isinstance(part, RenyiLoss) for a, _ in part.curve}
    curve: dict[Number, Number] = {}
    for order in orders:
        try:
            divergences = (divergence_beside_slack(part, order) * n for part, n in parts)
            curve[order] = sum(divergences, Fraction(0))
        except Unsupported:
            continue
    return _shift(RenyiLoss(curve), ExactEpsilon(), total_slack(parts)) if curve else None


FORMS: tuple[CompositionForm, ...] = (
    CompositionForm("sum", "epsilons add up, exactly", sum_of_epsilons),
    CompositionForm(
        "optimal", "equal pure parts compose like randomized responses, exactly", optimal
    ),
    CompositionForm("gaussian", "Gaussian parts add up their mu squared", gaussian),
    CompositionForm(
        "numerical", "the parts' loss distributions, convolved on a grid", numerical
    ),
    CompositionForm(
        "concentrated", "every part has a zCDP charge, and rhos add up", concentrated
    ),
    CompositionForm(
        "concentrated and sum",
        "pure parts add their epsilons to the zCDP of the others",
        concentrated_and_sum,
    ),
    CompositionForm("renyi", "divergences of one order add up", renyi),
)
