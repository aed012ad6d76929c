"""Three ways to ask several questions: split epsilon, one question each, or all at once.

With d yes/no questions and a total epsilon, n times the variance of one prevalence is

* split: V(epsilon / d), because every person answers all d questions;
* one each: d V(epsilon), because each question has n / d people at the whole epsilon;
* jointly: randomized response over all 2**d answers, which allows cross-tabs.

V grows about as 1 / epsilon**2, so splitting costs d**2 and one question each costs d. One
question each wins unless d is very small. The question that a person gets must be drawn
independently of the person's answers, on the device or in public.
"""

import math
from dataclasses import dataclass

from deniable.exact.rationals import Number, positive, probability, whole

_LARGEST = 20


@dataclass(frozen=True, slots=True)
class WaysToAsk:
    """n times the variance of one prevalence, for the three ways to ask d questions."""

    questions: int
    epsilon: float
    prevalence: float
    split: float
    one_each: float
    jointly: float

    @property
    def best(self) -> str:
        """The way with the least variance: "split", "one each" or "jointly".

        >>> compare_ways_to_ask(5, epsilon=2, prevalence=0.1).best
        'one each'
        """
        variances = {"split": self.split, "one each": self.one_each, "jointly": self.jointly}
        return min(variances, key=lambda way: variances[way])

    @property
    def why(self) -> str:
        """The choice and its reason, in a sentence."""
        return (
            f"{self.questions} questions at a total epsilon of {self.epsilon:g}, at a "
            f"prevalence of {self.prevalence:g}: n times the variance is {self.split:.2f} if "
            f"epsilon is split, {self.one_each:.2f} if each person gets one question at "
            f"random, {self.jointly:.2f} if all are answered at once. Best: {self.best}."
        )


def compare_ways_to_ask(
    questions: int, *, epsilon: Number, prevalence: Number = 0.1
) -> WaysToAsk:
    """Compares the three ways.

    >>> margins = compare_ways_to_ask(5, epsilon=2, prevalence=0.1)
    >>> round(margins.split, 3), round(margins.one_each, 3), round(margins.jointly, 3)
    (6.257, 1.355, 8.866)
    """
    d = whole(questions, "questions")
    total, share = (
        float(positive(epsilon, "epsilon")),
        float(probability(prevalence, "prevalence")),
    )
    return WaysToAsk(
        questions=d,
        epsilon=total,
        prevalence=share,
        split=_spread(math.tanh(total / d / 2), share),
        one_each=d * _spread(math.tanh(total / 2), share),
        jointly=_spread(_joint_slope(d, total), share) if d <= _LARGEST else math.inf,
    )


def _spread(slope: float, share: float) -> float:
    rate = (1 - slope) / 2 + slope * share
    return rate * (1 - rate) / slope**2


def _joint_slope(d: int, epsilon: float) -> float:
    gain = math.expm1(epsilon)
    return gain / (gain + float(2**d))
