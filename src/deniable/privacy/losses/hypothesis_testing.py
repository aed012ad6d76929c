"""What a loss means for one person: how much an attacker can learn about them.

Suppose an attacker believes with probability `prior` that the data is one of two neighbouring
tables, and otherwise the other. The odds are prior : 1 - prior. By Bayes' rule an output
multiplies these odds by the ratio of its two probabilities, which is at most e**epsilon. Every
number here is an upper bound, and exact if the odds are rational.

With a delta: an attacker learns no more than from a mechanism that discloses everything with
probability delta and otherwise multiplies the odds by at most e**epsilon. Every mechanism of
that loss is post-processing of such a mechanism (Kairouz, Oh & Viswanath, "The composition
theorem for differential privacy", 2015).
"""

import math
from fractions import Fraction

from deniable.errors import Unsupported
from deniable.exact.rationals import Number, probability, rational
from deniable.privacy.arithmetic import floats
from deniable.privacy.arithmetic.exact_epsilon import ExactEpsilon
from deniable.privacy.arithmetic.intervals import precision
from deniable.privacy.losses.loss import Loss, nonnegative
from deniable.privacy.losses.pure import PureLoss

_LARGEST_POWER = 64


class Probability(float):
    """A probability as a float, rounded up, with its `exact` value."""

    exact: Fraction

    def __new__(cls, exact: Fraction) -> "Probability":
        instance = super().__new__(cls, min(1.0, floats.up(exact)))
        instance.exact = exact
        return instance


def posterior(loss: Loss | Number, prior: Number, *, delta: Number = 0) -> Probability:
    """The greatest probability that a belief of `prior` can become after the output is seen.

    The loss is that of a mechanism or a release; a number is an epsilon. The answer is a float,
    rounded up; `.exact` is the bound itself.

    >>> from deniable.privacy import PureLoss
    >>> posterior(PureLoss(odds=3), 0.1)
    0.25
    >>> posterior(1.1, prior=0.1)
    0.25026028613346335
    >>> posterior(PureLoss(odds=2), prior=0.1).exact
    Fraction(2, 11)
    """
    known = loss if isinstance(loss, Loss) else PureLoss(loss)
    return Probability(exact_posterior(known, prior, delta=delta))


def exact_posterior(loss: Loss, prior: Number, *, delta: Number = 0) -> Fraction:
    """The same, as a rational."""
    guess = probability(prior, "prior")
    epsilon = _exact_epsilon(loss, delta)
    if epsilon is None:
        return Fraction(guess > 0)
    odds = _odds(epsilon)
    return odds * guess / (1 - guess + odds * guess)


def odds_factor(loss: Loss, *, delta: Number = 0) -> Fraction:
    """The greatest factor by which an output can multiply an attacker's odds.

    >>> from deniable.privacy import PureLoss
    >>> odds_factor(PureLoss(odds=3) * 2)
    Fraction(9, 1)
    """
    epsilon = _exact_epsilon(loss, delta)
    if epsilon is None:
        raise Unsupported(
            f"{loss!r} does not bound the odds at delta {delta}: a rare output could reveal "
            "a person for certain. Use a larger delta, for example "
            "odds_factor(loss, delta=1e-6)."
        )
    return _odds(epsilon)


def accuracy(loss: Loss) -> Fraction:
    """How often the best attacker is right about which of two equally likely neighbours it was.

    It is (1 + the total variation distance) / 2. One half is blind guessing.

    >>> from deniable.privacy import PureLoss
    >>> accuracy(PureLoss(odds=3))
    Fraction(3, 4)
    """
    distance = Fraction(repr(loss.delta(0)))
    if loss.exact_epsilon is not None:  # exact, unlike the float above
        odds = _odds(loss.exact_epsilon)
        distance = min(distance, loss.slack + (1 - loss.slack) * (odds - 1) / (odds + 1))
    return (1 + distance) / 2


def posterior_odds(loss: Loss, prior_odds: Number, *, delta: Number = 0) -> Fraction:
    """The greatest odds that `prior_odds` to 1 can become after the output is seen.

    >>> from deniable.privacy import PureLoss
    >>> posterior_odds(PureLoss(odds=3), Fraction(1, 9))
    Fraction(1, 3)
    """
    return odds_factor(loss, delta=delta) * nonnegative(prior_odds, "prior_odds")


def detection(loss: Loss, false_alarms: Number) -> float:
    """The ROC bound: the greatest detection rate of any test with this false-alarm rate.

    >>> from deniable.privacy import GaussianLoss, PureLoss
    >>> detection(PureLoss(odds=3), 0.05)
    0.15
    >>> round(detection(GaussianLoss(1), 0.05), 3)
    0.26
    """
    return floats.up(1 - Fraction(repr(loss.tradeoff(false_alarms))))


def _exact_epsilon(loss: Loss, delta: Number) -> ExactEpsilon | None:
    """The epsilon of the loss at delta, exact if it is known exactly; None if infinite."""
    if loss.exact_epsilon is not None and rational(delta, "delta") == loss.slack:
        return loss.exact_epsilon
    epsilon = loss.epsilon(delta)
    return ExactEpsilon(Fraction(repr(epsilon))) if math.isfinite(epsilon) else None


def _odds(epsilon: ExactEpsilon) -> Fraction:
    """e**epsilon, exact if that is rational and short, else rounded up."""
    if epsilon.rational == 0 and all(0 < count <= _LARGEST_POWER for _, count in epsilon.logs):
        return math.prod((odds**count for odds, count in epsilon.logs), start=Fraction(1))
    return Fraction(epsilon.odds(precision(60)).hi)
