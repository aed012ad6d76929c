"""Several releases about the same people, taken together."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, whole
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, count_pairs
from deniable.privacy.arithmetic.floats import up
from deniable.privacy.arithmetic.intervals import INFINITY, ONE, ZERO
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.compose.forms import (
    FORMS,
    Form,
    alike,
    total_mu_squared,
    total_nats,
    total_plan,
    total_rho,
    total_slack,
)
from deniable.privacy.compose.numerical_loss import Numerical
from deniable.privacy.compose.repeated import Repeated
from deniable.privacy.compose.reserved import Reserved
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, delta_of, unmixed


@dataclass(frozen=True, slots=True, repr=False)
class Composition(Loss):
    """Losses added up, remembering its parts: `a + b`, `a * k`.

    At delta 0 it is the exact sum; elsewhere the least that any of `FORMS` can prove. It
    holds for parts fixed in advance, or chosen one after the other by public rules; it is no
    stopping rule for parts whose *losses* depend on earlier answers: that is a filter's work.

    >>> from deniable.privacy import PureLoss
    >>> ten = PureLoss(0.1) * 10
    >>> ten, ten.epsilon(), ten == PureLoss(1), ten.fits(PureLoss(1))
    (PureLoss(0.1) * 10, 1.0, False, True)
    >>> (PureLoss(0.1) * 100).form(1e-6).name
    'optimal'
    """

    parts: tuple[tuple[Loss, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _merged(self.parts))

    def __repr__(self) -> str:
        if not self.parts:
            return "Composition(())"
        return " + ".join(f"{part!r} * {n}" if n > 1 else repr(part) for part, n in self.parts)

    @property
    def slack(self) -> Fraction:
        """The probability that some part tells all."""
        return total_slack(self.parts)

    @property
    def nats(self) -> Nats | None:
        """The exact sum of epsilons, where every part has one."""
        return total_nats(self.parts)

    @property
    def rho(self) -> Fraction | None:
        """The sum of the zCDP charges."""
        return total_rho(self.parts)

    @property
    def mu_squared(self) -> Fraction | None:
        """The sum of the squared Gaussian charges, where every part has one."""
        return total_mu_squared(self.parts)

    @property
    def plan(self) -> CountedPairs | None:
        """The worst pairs of all parts, where every part has some."""
        return total_plan(self.parts)

    @property
    def witness(self) -> CountedPairs | None:
        """What the parts that have any surely allow."""
        known = [(part.witness, n) for part, n in self.parts]
        return tuple((pair, k * n) for plan, n in known if plan for pair, k in plan)

    def form(self, delta: Number = 0) -> Form:
        """The form that gives `epsilon(delta)`: its name, and why it is valid."""
        exact = delta_of(delta)
        priced = self._priced()
        if not priced:
            raise Unsupported(
                f"No form prices {self!r}: its parts have no charge in common. Nothing is "
                "promised of it but that each part keeps its own loss."
            )
        return min(priced, key=lambda one: one[1]._epsilon_above(exact))[0]

    def explain(self, delta: Number = 0) -> str:
        """What each form makes of this composition, the one that is used first.

        >>> from deniable.privacy import PureLoss
        >>> print((PureLoss(1) * 2).explain(1e-6))
        optimal: 1.999998128904084 (equal pure parts compose like randomized responses, exactly)
        sum: 1.9999988646640723 (epsilons add up, exactly)
        concentrated: 7.419554970886854 (every part has a zCDP charge, and rhos add up)
        """
        exact = delta_of(delta)
        found = [(loss._epsilon_above(exact), form) for form, loss in self._priced()]
        found.sort(key=lambda priced: priced[0])
        return "\n".join(f"{form.name}: {up(value)} ({form.why})" for value, form in found)

    def _priced(self) -> list[tuple[Form, Loss]]:
        priced = ((form, form.price(self.parts)) for form in FORMS)
        return [(form, loss) for form, loss in priced if loss is not None]

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        exact = self._closed()
        if exact is not None:  # then no form is tighter
            rest = unmixed(self.slack, delta)
            return INFINITY if rest is None else exact._epsilon_above(rest)
        return min((loss._epsilon_above(delta) for _, loss in self._priced()), default=INFINITY)

    def _epsilon_near(self, delta: Fraction, precision: float | None) -> Decimal:
        found = self._epsilon_above(delta)
        plan = self.plan
        if precision is None or plan is None or self._closed() is not None:
            return found
        rest = unmixed(self.slack, delta)
        if rest is None:
            return found
        return min(found, Numerical(count_pairs(plan))._epsilon_near(rest, precision))

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        sure = [
            (part.whole if isinstance(part, Reserved) else part, n) for part, n in self.parts
        ]
        rest = unmixed(total_slack(sure), delta)  # the price of a plan is an upper bound only
        if rest is None:
            return INFINITY
        closed = self._closed()
        if closed is not None:
            return closed._epsilon_below(rest)
        return Numerical(count_pairs(self.witness or ()))._epsilon_below(rest, precision)

    def _closed(self) -> Loss | None:
        """The loss of all parts, where a closed form is exact, if `slack` does not happen."""
        if self.mu_squared is not None:
            return GaussianLoss(mu_squared=self.mu_squared)
        each = alike(self.parts)
        if each is not None:
            return Repeated(each, sum(n for _, n in self.parts))
        return None

    def _delta_above(self, epsilon: Nats) -> Decimal:
        return min((loss._delta_above(epsilon) for _, loss in self._priced()), default=ONE)

    def _tradeoff_below(self, alpha: Fraction) -> Decimal:
        return max((loss._tradeoff_below(alpha) for _, loss in self._priced()), default=ZERO)

    def group(self, k: int) -> Loss:
        """The composition of its parts' groups.

        >>> from deniable.privacy import PureLoss
        >>> (PureLoss(0.1) * 10).group(2)
        PureLoss(0.2) * 10
        """
        return composed((part.group(k), n) for part, n in self.parts)


def composed(parts: Iterable[tuple[Loss, int]]) -> Loss:
    """The composition of parts with counts; one part, once, is itself."""
    whole_parts = _merged(parts)
    if len(whole_parts) == 1 and whole_parts[0][1] == 1:
        return whole_parts[0][0]
    return Composition(whole_parts)


def _merged(parts: Iterable[tuple[Loss, int]]) -> tuple[tuple[Loss, int], ...]:
    """Like parts counted together, compositions opened, in an order of their own."""
    counts: dict[Loss, int] = {}
    for loss, count in parts:
        if not isinstance(loss, Loss):
            raise InvalidParameter(f"A part must be a loss. Found {loss!r}.")
        whole(count, "count", least=0)
        for part, n in loss.parts if isinstance(loss, Composition) else ((loss, 1),):
            counts[part] = counts.get(part, 0) + n * count
    kept = [(part, n) for part, n in counts.items() if n]
    return tuple(sorted(kept, key=lambda counted: repr(counted[0])))
