"""The ways to price a composition; the least of their numbers is the one to quote.

Each form turns the parts into one loss that is at least theirs together, or `None` where it
does not apply. All are valid for parts fixed in advance. A tighter form is one more function
and one more line in `FORMS`.
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
from deniable.privacy.arithmetic.intervals import INFINITY, precision
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.compose.numerical_loss import Numerical
from deniable.privacy.compose.repeated import Repeated
from deniable.privacy.losses.approximate import ApproximateLoss
from deniable.privacy.losses.concentrated import ConcentratedLoss
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, mixed, unmixed
from deniable.privacy.losses.pure import PureLoss
from deniable.privacy.losses.renyi import RenyiLoss, divergence

Parts: TypeAlias = Sequence[tuple[Loss, int]]
_SHORT = 64  # so many factors of a slack are multiplied exactly


@dataclass(frozen=True, slots=True)
class Form:
    """A named way to price parts together, and why it is valid."""

    name: str
    why: str
    price: Callable[[Parts], Loss | None]


@dataclass(frozen=True, slots=True)
class Charged(Loss):
    """`rest`, after `shift` nats of pure loss, unless all is told (probability `slack`).

    A pure loss of s nats moves any delta curve by at most s: delta(e) <= rest.delta(e - s).
    """

    rest: Loss
    shift: Nats
    slack: Fraction

    @property
    def _told(self) -> Fraction:
        return 1 - (1 - self.slack) * (1 - self.rest._told)

    def _delta_above(self, epsilon: Nats) -> Decimal:
        left = epsilon - self.shift
        if left.sign() >= 0:
            return mixed(self.slack, self.rest._delta_above(left))
        # Seen from the other neighbour: 1 - delta(-x) = e**-x (1 - delta(x)).
        p = precision(60)
        kept = 1 - p(self.rest._delta_above(left * -1))
        return mixed(self.slack, (1 - left.interval(p).exp() * kept).hi)

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        left = unmixed(self.slack, delta)
        if left is None:
            return INFINITY
        p = precision(60)
        return p.up.add(self.rest._epsilon_above(left), self.shift.interval(p).hi)

    def group(self, k: int) -> Loss:
        raise Unsupported(f"A priced composition has no groups: take its parts' group({k}).")


def _charged(rest: Loss, shift: Nats, slack: Fraction) -> Loss:
    return Charged(rest, shift, slack) if slack or shift != Nats() else rest


def total_slack(parts: Parts) -> Fraction:
    """1 - the product of (1 - slack): the probability that some part tells all, rounded up."""
    risky = [(part.slack, count) for part, count in parts if part.slack]
    if sum(count for _, count in risky) <= _SHORT:
        kept = Fraction(1)
        for slack, count in risky:
            kept *= (1 - slack) ** count
        return 1 - kept
    if any(slack == 1 for slack, _ in risky):
        return Fraction(1)
    p = precision(400)  # beyond any float's delta, as 1 - kept cancels
    logs = p(0)
    for slack, count in risky:
        logs = logs + p(1 - slack).log() * count
    return min(Fraction(1), floats.ceiling((1 - logs.exp()).hi))


def total_nats(parts: Parts) -> Nats | None:
    """The exact sum of epsilons."""
    total = Nats()
    for part, count in parts:
        if part.nats is None:
            return None
        total = total + part.nats * count
    return total


def total_rho(parts: Parts) -> Fraction | None:
    """The sum of zCDP charges."""
    total = Fraction(0)
    for part, count in parts:
        if part.rho is None:
            return None
        total += part.rho * count
    return total


def total_mu_squared(parts: Parts) -> Fraction | None:
    """The sum of squared Gaussian charges."""
    total = Fraction(0)
    for part, count in parts:
        if part.mu_squared is None:
            return None
        total += part.mu_squared * count
    return total


def total_plan(parts: Parts) -> CountedPairs | None:
    """The worst pairs of all parts."""
    plans = [(part.plan, count) for part, count in parts]
    if any(plan is None for plan, _ in plans):
        return None
    return tuple((pair, k * n) for plan, n in plans for pair, k in plan or ())


def sum_of_epsilons(parts: Parts) -> Loss | None:
    """Epsilons add up, and so, nearly, do deltas."""
    nats = total_nats(parts)
    return None if nats is None else ApproximateLoss.of(nats, total_slack(parts))


def optimal(parts: Parts) -> Loss | None:
    """One pure loss, repeated: the optimal composition, exactly."""
    kinds = {part.nats for part, _ in parts}
    if len(kinds) != 1:
        return None
    (each,) = kinds
    if each is None:
        return None
    return Charged(Repeated(each, sum(n for _, n in parts)), Nats(), total_slack(parts))


def alike(parts: Parts) -> Nats | None:
    """The one epsilon of parts that are randomized responses at worst, all of them equal."""
    kinds = {part.nats for part, _ in parts if isinstance(part, PureLoss | ApproximateLoss)}
    others = any(not isinstance(part, PureLoss | ApproximateLoss) for part, _ in parts)
    return None if others or len(kinds) != 1 else kinds.pop()


def gaussian(parts: Parts) -> Loss | None:
    """Gaussian parts as one Gaussian; the others' epsilons are added."""
    bells = [(part, n) for part, n in parts if part.mu_squared is not None]
    others = [(part, n) for part, n in parts if part.mu_squared is None]
    mu_squared, shift = total_mu_squared(bells), total_nats(others)
    if not bells or mu_squared is None or shift is None:
        return None
    return _charged(GaussianLoss(mu_squared=mu_squared), shift, total_slack(parts))


def numerical(parts: Parts) -> Loss | None:
    """The loss distributions of all parts, convolved on a grid; where no closed form is."""
    if total_mu_squared(parts) is not None or alike(parts) is not None:
        return None  # a closed form is exact
    plan = total_plan(parts)
    if plan is None:
        return None
    return Charged(Numerical(count_pairs(plan)), Nats(), total_slack(parts))


def concentrated(parts: Parts) -> Loss | None:
    """The zCDP charges of all parts."""
    rho = total_rho(parts)
    if rho is None:
        return None
    return _charged(ConcentratedLoss(rho), Nats(), total_slack(parts))


def concentrated_and_sum(parts: Parts) -> Loss | None:
    """The zCDP charges of what is not pure; the epsilons of what is are added."""
    pure = [(part, n) for part, n in parts if part.nats is not None]
    others = [(part, n) for part, n in parts if part.nats is None]
    rho, shift = total_rho(others), total_nats(pure)
    if not pure or not others or rho is None or shift is None:
        return None
    return _charged(ConcentratedLoss(rho), shift, total_slack(parts))


def renyi(parts: Parts) -> Loss | None:
    """Renyi divergences, at each order that some part names and all of them know."""
    named = {a for part, _ in parts if isinstance(part, RenyiLoss) for a, _ in part.curve}
    known: dict[Number, Number] = {}
    for order in named:
        try:
            known[order] = sum((divergence(part, order) * n for part, n in parts), Fraction(0))
        except Unsupported:
            continue
    return RenyiLoss(known) if known else None


FORMS: tuple[Form, ...] = (
    Form("sum", "epsilons add up, exactly", sum_of_epsilons),
    Form("optimal", "equal pure parts compose like randomized responses, exactly", optimal),
    Form("gaussian", "Gaussian parts add up their mu squared", gaussian),
    Form("numerical", "the parts' loss distributions, convolved on a grid", numerical),
    Form("concentrated", "every part has a zCDP charge, and rhos add up", concentrated),
    Form(
        "concentrated and sum",
        "pure parts add their epsilons to the zCDP of the others",
        concentrated_and_sum,
    ),
    Form("renyi", "divergences of one order add up", renyi),
)
