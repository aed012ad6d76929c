"""What a counter costs, and which noise that buys."""

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.rationals import decimal_text, positive, rational
from deniable.exact.suggestions import suggest
from deniable.policy import Policy
from deniable.privacy import GaussianLoss, Loss, PureLoss
from deniable.query.planner.planner import DELTA_SHARE
from deniable.release.session.ask_options import StreamOptions
from deniable.streams.counting.design import CounterDesign
from deniable.streams.counting.drawable import can_draw, check_drawable
from deniable.streams.counting.promise import Promise

_A_LITTLE = 1 - Fraction(1, 1 << 40)
_CONFIDENCE = Fraction(19, 20)
_PURE = "Or take Laplace noise, whose grid is not as fine: give `epsilon` with delta=0."


@dataclass(frozen=True, slots=True)
class StreamPrice:
    """A design with its loss, and the epsilon and delta that it costs in the sum of
    epsilons."""

    design: CounterDesign
    loss: Loss
    delta: Fraction | None  # None: a pure epsilon
    words: str

    def __str__(self) -> str:
        return self.words


def read_options(options: StreamOptions) -> StreamOptions:
    """The options, after refusing unknown ones."""
    known = tuple(StreamOptions.__annotations__)
    for name in options:
        if name not in known:
            hint = suggest(name, known, "Options are")
            raise InvalidParameter(f"Unknown option `{name}`. {hint} Nothing was spent.")
    return options


def price_counter(
    policy: Policy, promise: Promise, horizon: int | None, options: StreamOptions
) -> StreamPrice:
    """The counter with the least noise at a price.

    Without a delta the noise is Laplace's. With one (a hundredth of the budget's unless given)
    it is Gaussian, or Laplace's if that is less.
    """
    epsilon, rho, delta = options.get("epsilon"), options.get("rho"), options.get("delta")
    window = options.get("window")
    if (epsilon is None) == (rho is None):
        raise InvalidParameter(
            "Give the price as `epsilon` (and `delta`), or as `rho`. Nothing was spent."
        )
    share = policy.delta * DELTA_SHARE if delta is None else rational(delta, "delta")
    if not 0 <= share < 1:
        raise InvalidParameter(f"`delta` must be from 0 to below 1. Found {delta}.")
    if rho is not None:
        return _at_rho(promise, positive(rho, "rho"), share, (horizon, window))
    exact = positive(epsilon or 0, "epsilon")
    pure = CounterDesign(promise, horizon, window, epsilon=exact)
    words = f"epsilon {decimal_text(exact)}"
    laplace = StreamPrice(pure, PureLoss(exact), None, words)
    if not share:
        check_drawable(pure.widest_noise)
        return laplace
    loss = _gaussian(exact, share)
    bell = replace(pure, epsilon=None, mu_squared=loss.mu_squared)
    gauss = StreamPrice(bell, loss, share, f"{words}, delta {decimal_text(share)}")
    fits = can_draw(pure.widest_noise)
    best = delta is None and fits
    if best and pure.worst_margin(_CONFIDENCE) < bell.worst_margin(_CONFIDENCE):
        return laplace
    check_drawable(bell.widest_noise, *([_PURE] if fits else []))
    return gauss


def _at_rho(
    promise: Promise, rho: Fraction, delta: Fraction, shape: tuple[int | None, int | None]
) -> StreamPrice:
    if not delta:
        raise InvalidParameter(
            "A price in `rho` needs a delta, at which it is charged in the sum of "
            "epsilons. Give the budget a delta, such as 1e-6, or name one with `delta`. "
            "Nothing was spent."
        )
    loss = GaussianLoss(mu_squared=2 * rho)
    design = CounterDesign(promise, *shape, mu_squared=loss.mu_squared)
    check_drawable(design.widest_noise)
    # In six digits, rounded up: what the ledger charges differs by less.
    epsilon = Context(prec=6, rounding=ROUND_CEILING).create_decimal(loss.epsilon(delta))
    charged = f"epsilon {float(epsilon):g}, delta {decimal_text(delta)}"
    words = f"rho {decimal_text(rho)} (in the sum of epsilons: {charged})"
    return StreamPrice(design, loss, delta, words)


def _gaussian(epsilon: Fraction, delta: Fraction) -> GaussianLoss:
    """The largest Gaussian loss that costs no more than this, as the ledger rounds it."""
    loss = GaussianLoss.calibrated(epsilon=epsilon, delta=delta)
    while Fraction(loss.epsilon(delta)) > epsilon:
        loss = GaussianLoss(mu_squared=loss.mu_squared * _A_LITTLE)
    return loss
