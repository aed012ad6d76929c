"""The loss of several releases about the same people."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, whole
from deniable.privacy.arithmetic.dominating_pairs import CountedPairs, count_pairs
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.floats import up
from deniable.privacy.arithmetic.intervals import INFINITY, ONE, ZERO
from deniable.privacy.compose.composition_forms import (
    FORMS,
    CompositionForm,
    common_epsilon,
    total_attained_pairs,
    total_epsilon,
    total_mu_squared,
    total_pairs,
    total_rho,
    total_slack,
)
from deniable.privacy.compose.numerical_loss import NumericalLoss
from deniable.privacy.compose.repeated import RepeatedLoss
from deniable.privacy.compose.reserved import Reserved
from deniable.privacy.losses.gaussian import GaussianLoss
from deniable.privacy.losses.loss import Loss, delta_of, remove_slack


class _Sum(Loss):
    """Holds two losses whose parts are not counted yet; no field, since it says nothing new."""

    __slots__ = ("_summands",)

    _summands: tuple[Loss, Loss] | None


@dataclass(frozen=True, slots=True, repr=False)
class Composition(_Sum):
    """A sum of losses that remembers its parts: `a + b`, `a * k`.

    At delta 0 it is the exact sum. At other deltas it is the least number that any of `FORMS`
    proves. It is valid for parts fixed in advance, or chosen one after the other by public
    rules. It is not valid as a stopping rule if the *losses* of later parts depend on earlier
    answers: use a filter for that.

    >>> from deniable.privacy import PureLoss
    >>> ten = PureLoss(0.1) * 10
    >>> ten, ten.epsilon(), ten == PureLoss(1), ten.fits(PureLoss(1))
    (PureLoss(0.1) * 10, 1.0, False, True)
    >>> (PureLoss(0.1) * 100).form(1e-6).name
    'optimal'
    """

    parts: tuple[tuple[Loss, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _merge_parts(self.parts))
        object.__setattr__(self, "_summands", None)

    @classmethod
    def _join(cls, first: Loss, second: Loss) -> "Composition":
        """The sum of two losses. Its parts are counted and sorted when they are first needed,
        so that a sum of many losses takes no longer than they do."""
        joined = object.__new__(cls)
        object.__setattr__(joined, "_summands", (first, second))
        return joined

    def __getattr__(self, name: str) -> Any:
        if name != "parts":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        parts = _count_parts((loss, 1) for loss in _open_sums(self))
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "_summands", None)
        return parts

    def __repr__(self) -> str:
        if not self.parts:
            return "Composition(())"
        return " + ".join(f"{part!r} * {n}" if n > 1 else repr(part) for part, n in self.parts)

    @property
    def slack(self) -> Fraction:
        """The probability that some part discloses everything."""
        return total_slack(self.parts)

    @property
    def exact_epsilon(self) -> ExactEpsilon | None:
        """The exact sum of epsilons, if every part has one."""
        return total_epsilon(self.parts)

    @property
    def rho(self) -> Fraction | None:
        """The sum of the zCDP charges, if every part has one."""
        return total_rho(self.parts)

    @property
    def mu_squared(self) -> Fraction | None:
        """The sum of the squared Gaussian charges, if every part has one."""
        return total_mu_squared(self.parts)

    @property
    def dominating_pairs(self) -> CountedPairs | None:
        """The pairs of all parts, if every part has some."""
        return total_pairs(self.parts)

    @property
    def attained_pairs(self) -> CountedPairs | None:
        """The attained pairs of all parts that have some."""
        return total_attained_pairs(self.parts)

    def form(self, delta: Number = 0) -> CompositionForm:
        """The form that gives `epsilon(delta)`: its name, and why it is valid."""
        exact = delta_of(delta)
        priced = self._price_by_form()
        if not priced:
            raise Unsupported(
                f"{self!r} has no total loss: its parts have no kind of charge in common. Only "
                "the loss of each single part is known."
            )
        return min(priced, key=lambda option: option[1]._epsilon_above(exact))[0]

    def explain(self, delta: Number = 0) -> str:
        """The epsilon by each form, the best first.

        >>> from deniable.privacy import PureLoss
        >>> print((PureLoss(1) * 2).explain(1e-6))
        optimal: 1.999998128904084 (equal pure parts compose like randomized responses, exactly)
        sum: 1.9999988646640723 (epsilons add up, exactly)
        concentrated: 7.419554970886854 (every part has a zCDP charge, and rhos add up)
        """
        exact = delta_of(delta)
        prices = [(loss._epsilon_above(exact), form) for form, loss in self._price_by_form()]
        prices.sort(key=lambda price: price[0])
        return "\n".join(f"{form.name}: {up(value)} ({form.why})" for value, form in prices)

    def _price_by_form(self) -> list[tuple[CompositionForm, Loss]]:
        priced = ((form, form.price(self.parts)) for form in FORMS)
        return [(form, loss) for form, loss in priced if loss is not None]

    def _epsilon_above(self, delta: Fraction) -> Decimal:
        return self._epsilon_at_precision(delta, None)

    def _epsilon_at_precision(self, delta: Fraction, precision: float | None) -> Decimal:
        rest = remove_slack(self.slack, delta)
        exact = self._closed_form()
        if exact is not None:  # then no form is tighter
            return INFINITY if rest is None else exact._epsilon_above(rest)
        grid = self._on_grid()
        if grid is None or rest is None:
            return min(
                (loss._epsilon_above(delta) for _, loss in self._price_by_form()),
                default=INFINITY,
            )
        epsilon = grid._epsilon_at_precision(rest, precision)
        if rest and self._is_attained(grid):
            return epsilon  # then no form is tighter by more than the grid's precision
        others = (form.price(self.parts) for form in FORMS if form.name != "numerical")
        return min(
            (epsilon, *(loss._epsilon_above(delta) for loss in others if loss is not None))
        )

    def _check_precision(
        self, delta: Fraction, precision: float | None, above: Decimal
    ) -> None:
        rest, grid = remove_slack(self.slack, delta), self._on_grid()
        if self._closed_form() is None and grid is not None and rest is not None:
            grid._check_precision(rest, precision, above)

    def _on_grid(self) -> NumericalLoss | None:
        pairs = self.dominating_pairs
        return None if pairs is None else NumericalLoss(count_pairs(pairs))

    def _is_attained(self, grid: NumericalLoss) -> bool:
        return count_pairs(self.attained_pairs or ()) == grid.pairs

    def _epsilon_below(self, delta: Fraction, precision: float | None = None) -> Decimal:
        certain = [
            (part.whole if isinstance(part, Reserved) else part, n) for part, n in self.parts
        ]
        rest = remove_slack(
            total_slack(certain), delta
        )  # a reserved price is only an upper bound
        if rest is None:
            return INFINITY
        closed = self._closed_form()
        if closed is not None:
            return closed._epsilon_below(rest)
        return NumericalLoss(count_pairs(self.attained_pairs or ()))._epsilon_below(
            rest, precision
        )

    def _closed_form(self) -> Loss | None:
        """The loss of all parts without `slack`, if an exact closed form exists."""
        if self.mu_squared is not None:
            return GaussianLoss(mu_squared=self.mu_squared)
        each = common_epsilon(self.parts)
        if each is not None:
            return RepeatedLoss(each, sum(n for _, n in self.parts))
        return None

    def _delta_above(self, epsilon: ExactEpsilon) -> Decimal:
        return min(
            (loss._delta_above(epsilon) for _, loss in self._price_by_form()), default=ONE
        )

    def _tradeoff_below(self, alpha: Fraction, known: Decimal = ZERO) -> Decimal:
        losses = [loss for _, loss in self._price_by_form()]
        losses.sort(key=lambda loss: loss._delta_above(ExactEpsilon()))  # the tightest first
        for loss in losses:
            known = max(known, loss._tradeoff_below(alpha, known))
        return known

    def group(self, k: int) -> Loss:
        """The composition of the groups of its parts.

        >>> from deniable.privacy import PureLoss
        >>> (PureLoss(0.1) * 10).group(2)
        PureLoss(0.2) * 10
        """
        return compose((part.group(k), n) for part, n in self.parts)


def compose(parts: Iterable[tuple[Loss, int]]) -> Loss:
    """The composition of parts with counts. A single part with count 1 is returned as it is."""
    whole_parts = _merge_parts(parts)
    if len(whole_parts) == 1 and whole_parts[0][1] == 1:
        return whole_parts[0][0]
    return Composition(whole_parts)


def add(first: Loss, second: Loss) -> Loss:
    """The sum of two losses."""
    if _is_nothing(first) or _is_nothing(second):
        return compose((*first.parts, *second.parts))
    return Composition._join(first, second)


def _is_nothing(loss: Loss) -> bool:
    """Whether a composition has no parts."""
    return isinstance(loss, Composition) and loss._summands is None and not loss.parts


def _open_sums(whole: Loss) -> Iterator[Loss]:
    """The losses that sums were made of, where their parts are not counted yet."""
    left = [whole]
    while left:
        loss = left.pop()
        if isinstance(loss, Composition) and loss._summands is not None:
            left += loss._summands
        else:
            yield loss


def _merge_parts(parts: Iterable[tuple[Loss, int]]) -> tuple[tuple[Loss, int], ...]:
    """The parts, checked and counted."""
    counted = tuple(parts)
    for loss, count in counted:
        if not isinstance(loss, Loss):
            raise InvalidParameter(f"A part must be a loss. Found {loss!r}.")
        whole(count, "count", least=0)
    return _count_parts(counted)


def _count_parts(parts: Iterable[tuple[Loss, int]]) -> tuple[tuple[Loss, int], ...]:
    """Equal parts counted together, compositions replaced by their parts, sorted."""
    counts: dict[Loss, int] = {}
    for loss, count in parts:
        for part, n in loss.parts if isinstance(loss, Composition) else ((loss, 1),):
            counts[part] = counts.get(part, 0) + n * count
    positive = [(part, n) for part, n in counts.items() if n]
    return tuple(sorted(positive, key=lambda counted: repr(counted[0])))
