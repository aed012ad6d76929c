"""What a run is charged, and the limits that its steps keep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from deniable.errors import InvalidParameter, InvalidStoppingRule
from deniable.exact.rationals import Number, probability
from deniable.ledger.accounts import (
    Amount,
    Charge,
    charge_from_json,
    charge_to_json,
    fraction_from_json,
    round_up,
)
from deniable.ledger.charges import Priced, charge_for, exact_charge, filter_limits
from deniable.ledger.journal import Body
from deniable.policy.budget import Budget
from deniable.privacy import ApproximateLoss, ConcentratedLoss, GaussianLoss, Loss, RenyiLoss
from deniable.privacy.filters.adaptive import WHY_NO_CHARGE, gaussian_charge, renyi_charge
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.plan import Plan

_MAX_BITS = 4096  # a sum of steps with a longer denominator is rounded up
_ANY, _ALL = "any", "all"  # how many of the limits a run must keep


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The loss of a run, its price in the pure sum, and the limits that its steps keep.

    >>> from deniable.privacy import PureLoss
    >>> request = RunRequest.of_loss(PureLoss(1), tables=("visits",))
    >>> request.epsilon, dict(request.limits)
    (Fraction(1, 1), {'pure': Amount(amount=Fraction(1, 1), slack=Fraction(0, 1))})
    """

    tables: tuple[str, ...]
    neighbors: Neighbors
    loss: Loss
    epsilon: Fraction
    delta: Fraction
    limits: Mapping[str, Amount | None]  # by filter; None: the filter cannot charge a step
    keeps: str = _ALL

    @classmethod
    def of_loss(
        cls,
        loss: Loss,
        *,
        tables: tuple[str, ...],
        neighbors: Neighbors = "add-remove",
        delta: Number | None = None,
        filters: Sequence[str] | None = None,
    ) -> "RunRequest":
        """A run whose steps add up to at most a loss.

        With `filters`, an (epsilon, delta) is kept by several sums at once. `delta` is that of
        the price, if the loss has no epsilon without one.
        """
        if not isinstance(loss, Loss):
            raise InvalidParameter(
                f"reserve_run() takes a loss, such as PureLoss(1); got {type(loss).__name__}."
            )
        share = None if delta is None else probability(delta, "delta")
        if filters is not None:
            return cls._of_several_sums(loss, tables, neighbors, tuple(filters))
        kind, limit = _unit_of(loss)
        promise = _promise(kind, limit)
        price = _price(promise, share)
        return cls(tables, neighbors, promise, *price, limits={kind: limit})

    @classmethod
    def _of_several_sums(
        cls,
        loss: Loss,
        tables: tuple[str, ...],
        neighbors: Neighbors,
        filters: tuple[str, ...],
    ) -> "RunRequest":
        if loss.exact_epsilon is None:
            raise InvalidParameter(
                "`filters` need a loss of epsilon and delta, such as ApproximateLoss(1, 1e-6). "
                f"Found {loss!r}. Nothing was spent."
            )
        limit = _unit_of(loss)[1]
        limits = filter_limits(Budget(*limit), filters)
        promise = ApproximateLoss(*limit)
        return cls(tables, neighbors, promise, *limit, limits=limits, keeps=_ANY)

    @classmethod
    def of_plans(cls, plans: Sequence[Plan], filters: tuple[str, ...]) -> "RunRequest":
        """A run whose steps cost at most what these plans cost together, in every filter."""
        tables = dict.fromkeys(name for plan in plans for name in plan.tables)
        limits: dict[str, Amount | None] = {}
        for kind in filters:
            charges = [step_charge(plan, (kind,))[kind] for plan in plans]
            limits[kind] = reduce(_add, charges)
        epsilon = sum((plan.epsilon for plan in plans), Fraction(0))
        delta = sum((plan.delta for plan in plans), Fraction(0))
        loss = reduce(add, (plan.loss for plan in plans))
        return cls(tuple(tables), plans[0].neighbors, loss, epsilon, delta, limits)

    def charge(self, filters: tuple[str, ...]) -> Charge:
        """What the run is charged in each filter of a budget."""
        if self.keeps == _ALL and set(filters) == set(self.limits):
            return {
                kind: None if limit is None else Amount(*map(round_up, limit))
                for kind, limit in self.limits.items()
            }
        return charge_for((self,), filters)

    def check(self) -> None:
        """Refuses a run whose loss is above its price."""
        if not self.loss.fits(ApproximateLoss(self.epsilon, self.delta)):
            raise InvalidParameter(
                f"The run's loss, {self.loss!r}, is above its price. Nothing was spent."
            )

    def to_json(self) -> dict[str, Any]:
        return {"keeps": self.keeps, "limits": charge_to_json(self.limits)}


def tables_of_run(tables: Sequence[str] | None, private: Sequence[str]) -> tuple[str, ...]:
    """The tables that a run is charged for: those that are named, or all private ones.

    >>> tables_of_run(None, ["visits", "staff"]), tables_of_run(["staff"], ["visits", "staff"])
    (('visits', 'staff'), ('staff',))
    """
    if tables is None:
        return tuple(private) or ("*",)  # a ledger that knows none charges any name alike
    named = (tables,) if isinstance(tables, str) else tuple(tables)
    unknown = [name for name in named if private and name not in private]
    if isinstance(tables, str) or not named or unknown:
        known = f" ({', '.join(private)})" if private else ""
        raise InvalidParameter(
            f"`tables` must be a list of names of private tables{known}. Found {tables!r}. "
            "Nothing was spent."
        )
    return named


def _unit_of(loss: Loss) -> tuple[str, Amount]:
    """The unit in which the steps of a run add up, and the most that they may add up to."""
    exact, slack = loss.exact_epsilon, loss.slack
    if exact is not None:
        return "pure", Amount(
            Fraction(loss.epsilon(slack)) if exact.logs else exact.rational, slack
        )
    square = gaussian_charge(loss)
    if square is not None:
        return "gdp", Amount(square, slack)
    if loss.rho is not None:
        return "zcdp", Amount(loss.rho, slack)
    curves = [part for part, _ in loss.parts if isinstance(part, RenyiLoss)]
    orders = {order for curve in curves for order, _ in curve.curve}
    if len(orders) == 1:
        charge = renyi_charge(loss, order := orders.pop())
        if charge is not None:
            return f"renyi:{order}", Amount(charge.amount.rational, slack)
    raise InvalidStoppingRule(f"{loss!r} cannot be the loss of a run. {WHY_NO_CHARGE}")


def _promise(kind: str, limit: Amount) -> Loss:
    """What steps cost together, at most, if they add up to a limit in some unit."""
    name, _, order = kind.partition(":")
    if name == "pure":
        return ApproximateLoss(*limit)
    whole: Loss
    if name == "zcdp":
        whole = ConcentratedLoss(limit.amount)
    elif name == "gdp":
        whole = GaussianLoss(mu_squared=limit.amount)
    else:
        whole = RenyiLoss({Fraction(order): limit.amount})
    return whole + ApproximateLoss(0, limit.slack) if limit.slack else whole


def _price(promise: Loss, delta: Fraction | None) -> tuple[Fraction, Fraction]:
    """What the sum of epsilons is charged for a run."""
    if promise.exact_epsilon is not None:
        return promise.exact_epsilon.rational, promise.slack
    if delta is None:
        raise InvalidParameter(
            f"{promise!r} has no epsilon without a delta. Give the delta of its price, for "
            "example   delta=1e-7. Nothing was spent."
        )
    epsilon = promise.epsilon(delta)
    if epsilon == float("inf"):
        raise InvalidParameter(
            f"{promise!r} has no finite epsilon at delta {delta}. Give a larger one. Nothing "
            "was spent."
        )
    exact, step = Fraction(epsilon), Fraction(1, 2**50)
    while not promise.fits(ApproximateLoss(exact, delta)):  # both are rounded against us
        exact, step = exact + step, 2 * step
    return exact, delta


def step_charge(plan: Priced, kinds: Sequence[str]) -> dict[str, Amount | None]:
    """What a step adds to each sum of its run, exactly."""
    return {kind: exact_charge(kind, plan.loss, plan.epsilon, plan.delta) for kind in kinds}


def _add(first: Amount | None, second: Amount | None) -> Amount | None:
    if first is None or second is None:
        return None
    return Amount(
        round_up(first.amount + second.amount, _MAX_BITS),
        round_up(first.slack + second.slack, _MAX_BITS),
    )


def fits(run: Body, spent: Charge) -> bool:
    """Whether the sums of a run's steps keep its limits: all of them, or any."""
    limits = charge_from_json(run["limits"])
    kept = [
        limit is None or (sum_ is not None and sum_.fits(limit))
        for sum_, limit in ((spent[kind], limit) for kind, limit in limits.items())
    ]
    return any(kept) if run["keeps"] == _ANY else all(kept)


def add_step(run: Body, spent: Charge | None, charge: Charge) -> Charge:
    """The sums of a run after another step; `spent` is None before the first."""
    if spent is None:
        return charge
    return {kind: _add(spent[kind], charge[kind]) for kind in run["limits"]}


class RunReplay:
    """Checks the runs of a ledger, entry by entry."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[Body, int, Charge | None]] = {}

    def add(self, number: int, body: Body) -> str | None:
        """What is wrong with an entry of a run, or None."""
        kind = body["kind"]
        if kind == "reserved" and "run" in body:
            self._open[number] = body["run"], 0, None
            return _reserved_fault(body)
        if kind in ("settled", "failed"):
            self._open.pop(body["of"], None)
        if kind not in ("step", "answered"):
            return None
        run, steps, spent = self._open.get(body["of"], (None, 0, None))
        if run is None:
            return "belongs to no open run"
        if kind == "answered":
            return None if 1 <= body["step"] <= steps else "answers a step that was not made"
        charge = charge_from_json(body["charge"])
        price = [fraction_from_json(body["plan"][side]) for side in ("epsilon", "delta")]
        if any(amount is not None and min(amount) < 0 for amount in charge.values()):
            return "refunds a step"
        if body["step"] != steps + 1 or set(charge) != set(run["limits"]):
            return "is not the next step of its run"
        if "pure" in charge and charge["pure"] != Amount(*price):
            return "does not charge its run what its plan costs"
        spent = add_step(run, spent, charge)
        if charge_from_json(body["spent"]) != spent or not fits(run, spent):
            return "passes the limit of its run"
        self._open[body["of"]] = run, steps + 1, spent
        return None


def _reserved_fault(body: Body) -> str | None:
    """Whether the limits of a run are within what was charged for it."""
    limits = charge_from_json(body["run"]["limits"])
    price = [fraction_from_json(body["plans"][0][side]) for side in ("epsilon", "delta")]
    if body["run"]["keeps"] == _ANY:
        if limits != filter_limits(Budget(*price), tuple(limits)):
            return "gives a run limits above its price"
        return None
    for kind, limit in limits.items():
        charged = [charge_from_json(charge).get(kind) for charge in body["charges"].values()]
        rounded = None if limit is None else Amount(*map(round_up, limit))
        in_filter = all(amount == rounded for amount in charged)
        if not in_filter and (
            limit is None or not _promise(kind, limit).fits(ApproximateLoss(*price))
        ):
            return "gives a run limits above its price"
    return None
