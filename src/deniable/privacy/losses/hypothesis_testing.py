"""What a loss means for one person: how far a guess about her can move.

Whoever believes with probability `prior` that the data is one of two neighbours, and else
the other, has odds prior : 1 - prior. By Bayes' rule an output multiplies these odds by the
ratio of its two probabilities, which is at most e**epsilon. Every number here is an upper
bound, and exact where the odds are rational.

With a delta, read it so: nobody learns more than from a mechanism that tells all with
probability delta and otherwise keeps the odds within e**epsilon, because every mechanism of
that loss is post-processing of such a one (Kairouz, Oh & Viswanath, "The composition theorem
for differential privacy", 2015).
"""

import math
from fractions import Fraction

from deniable.errors import Unsupported
from deniable.exact.rationals import Number, probability, rational
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.intervals import precision
from deniable.privacy.arithmetic.nats import Nats
from deniable.privacy.losses.loss import Loss, nonnegative

_LARGEST_POWER = 64


def posterior(loss: Loss, prior: Number, *, delta: Number = 0) -> Fraction:
    """The most that a guess of `prior` can become, once the output is seen.

    >>> from deniable.privacy import PureLoss
    >>> posterior(PureLoss(odds=3), 0.1)
    Fraction(1, 4)
    >>> float(posterior(PureLoss(epsilon=1.1), 0.1))
    0.25026028613346335
    """
    guess = probability(prior, "prior")
    nats = _nats(loss, delta)
    if nats is None:
        return Fraction(guess > 0)
    odds = _power(nats)
    return odds * guess / (1 - guess + odds * guess)


def odds_factor(loss: Loss, *, delta: Number = 0) -> Fraction:
    """The most by which an output can multiply anyone's odds.

    >>> from deniable.privacy import PureLoss
    >>> odds_factor(PureLoss(odds=3) * 2)
    Fraction(9, 1)
    """
    nats = _nats(loss, delta)
    if nats is None:
        raise Unsupported(
            f"{loss!r} bounds no odds at delta {delta}: some outputs, however rare, could give "
            "anyone away. Ask at a delta above it, for example odds_factor(loss, delta=1e-6)."
        )
    return _power(nats)


def accuracy(loss: Loss) -> Fraction:
    """How often the best attacker is right who must tell two equally likely neighbours apart.

    One half is blind guessing. It is (1 + the total variation distance) / 2.

    >>> from deniable.privacy import PureLoss
    >>> accuracy(PureLoss(odds=3))
    Fraction(3, 4)
    """
    apart = Fraction(repr(loss.delta(0)))
    if loss.nats is not None:  # exactly, where the float above was rounded up
        odds = _power(loss.nats)
        apart = min(apart, loss.slack + (1 - loss.slack) * (odds - 1) / (odds + 1))
    return (1 + apart) / 2


def posterior_odds(loss: Loss, prior_odds: Number, *, delta: Number = 0) -> Fraction:
    """The most that odds of `prior_odds` to 1 can become, once the output is seen.

    >>> from deniable.privacy import PureLoss
    >>> posterior_odds(PureLoss(odds=3), Fraction(1, 9))
    Fraction(1, 3)
    """
    return odds_factor(loss, delta=delta) * nonnegative(prior_odds, "prior_odds")


def detection(loss: Loss, false_alarms: Number) -> float:
    """The ROC bound: how often a test can find the person, at most, at this false-alarm rate.

    >>> from deniable.privacy import GaussianLoss, PureLoss
    >>> detection(PureLoss(odds=3), 0.05)
    0.15
    >>> round(detection(GaussianLoss(1), 0.05), 3)
    0.26
    """
    return floats.up(1 - Fraction(repr(loss.tradeoff(false_alarms))))


def _nats(loss: Loss, delta: Number) -> Nats | None:
    """The loss's epsilon at delta, exactly where it is known so; None where there is none."""
    if loss.nats is not None and rational(delta, "delta") == loss.slack:
        return loss.nats
    epsilon = loss.epsilon(delta)
    return Nats(Fraction(repr(epsilon))) if math.isfinite(epsilon) else None


def _power(nats: Nats) -> Fraction:
    """e**nats: exactly where that is rational and short, else rounded up."""
    if nats.rational == 0 and all(0 < count <= _LARGEST_POWER for _, count in nats.logs):
        return math.prod((odds**count for odds, count in nats.logs), start=Fraction(1))
    return Fraction(nats.odds(precision(60)).hi)
