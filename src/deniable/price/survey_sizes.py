"""How many people to ask, when every answer is randomized.

A channel says "yes" with probability p to a yes and q to a no. With slope c = p - q and report
rate r = q + c * prevalence, the unbiased estimate of the prevalence from n reports has variance
r (1 - r) / (n c**2), which includes the sampling error: Warner, "Randomized response", 1965.
All sizes follow from this formula and the normal approximation or, for a guarantee, from
Hoeffding's inequality ("Probability inequalities for sums of bounded random variables", 1963),
which holds for every n. Numbers of people are rounded up.

A mechanism is anything with `p` and `q`, such as `RandomizedResponse`; None stands for a
direct question, answered honestly.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability, rational, whole
from deniable.exact.text_formats import percent


class Channel(Protocol):
    """A mechanism that randomizes a yes/no answer."""

    @property
    def p(self) -> Fraction:
        """P(yes | yes)."""
        ...

    @property
    def q(self) -> Fraction:
        """P(yes | no)."""
        ...


def sample_size(
    mechanism: Channel | None,
    *,
    margin: Number,
    confidence: Number = 0.95,
    prevalence: Number | None = None,
    guaranteed: bool = False,
    response_rate: Number = 1,
) -> int:
    """The least n whose estimate lies within `margin` of the prevalence, at `confidence`.

    Without a `prevalence`, n is that of the worst one. With `guaranteed`, the margin holds for
    every n and every prevalence, by Hoeffding's inequality, which takes more people. With a
    `response_rate` below 1, n counts the people to ask.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> sample_size(RandomizedResponse(odds=3), margin=0.03)
    4269
    >>> sample_size(None, margin=0.03)
    1068
    """
    half = inside(margin, "margin")
    miss = 1 - inside(confidence, "confidence")
    slope = float(_slope(mechanism))
    if guaranteed:
        need = math.log(2 / miss) / (2 * slope**2 * half**2)
    else:
        need = (normal_quantile(miss / 2) / half) ** 2 * float(_spread(mechanism, prevalence))
    return _people(need, response_rate)


@dataclass(frozen=True, slots=True)
class SurveyPrice:
    """How many people a survey with randomized answers takes.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> print(survey(RandomizedResponse(odds=3), margin=0.03))
    4269 people for ± 0.03 at 95 % confidence, at the worst prevalence.
    A direct question, answered honestly, needs 1068: randomized answers need 4 times as many.
    8198 people guarantee it, whatever the prevalence and without approximation.
    """

    people: int
    direct: int
    guaranteed: int
    margin: float
    confidence: float
    prevalence: float | None

    @property
    def factor(self) -> float:
        """How many times more people than a direct question.

        >>> from deniable.mechanisms import RandomizedResponse
        >>> round(survey(RandomizedResponse(odds=3), margin=0.03, prevalence=0.1).factor, 1)
        9.3
        """
        return self.people / self.direct

    def __str__(self) -> str:
        where = (
            "at the worst prevalence"
            if self.prevalence is None
            else f"at a prevalence of {self.prevalence:g}"
        )
        return (
            f"{self.people} people for ± {self.margin:g} at {percent(self.confidence)} "
            f"confidence, {where}.\nA direct question, answered honestly, needs {self.direct}: "
            f"randomized answers need {self.factor:.3g} times as many.\n{self.guaranteed} "
            "people guarantee it, whatever the prevalence and without approximation."
        )


def survey(
    mechanism: Channel | None,
    *,
    margin: Number,
    confidence: Number = 0.95,
    prevalence: Number | None = None,
) -> SurveyPrice:
    """How many people a margin takes: with randomized answers, directly, and guaranteed.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> survey(RandomizedResponse(epsilon=1), margin=0.03).people
    4997
    """
    return SurveyPrice(
        people=sample_size(
            mechanism, margin=margin, confidence=confidence, prevalence=prevalence
        ),
        direct=sample_size(None, margin=margin, confidence=confidence, prevalence=prevalence),
        guaranteed=sample_size(
            mechanism, margin=margin, confidence=confidence, guaranteed=True
        ),
        margin=float(inside(margin, "margin")),
        confidence=float(inside(confidence, "confidence")),
        prevalence=None if prevalence is None else float(prevalence),
    )


def expected_margin(
    mechanism: Channel | None,
    *,
    n: int,
    confidence: Number = 0.95,
    prevalence: Number | None = None,
) -> float:
    """The half-width of n respondents; without a `prevalence`, at the worst one.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> round(expected_margin(RandomizedResponse(odds=3), n=4269), 4)
    0.03
    """
    miss = 1 - inside(confidence, "confidence")
    return normal_quantile(miss / 2) * _error(mechanism, prevalence, whole(n, "n"))


def design_effect(mechanism: Channel | None, prevalence: Number) -> float:
    """How many times more people than a direct question, answered honestly.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> [round(design_effect(RandomizedResponse(odds=3), pi), 1) for pi in (0.5, 0.1, 0.02)]
    [4.0, 9.3, 39.3]
    """
    share = inside(prevalence, "prevalence")
    return float(_spread(mechanism, share) / (share * (1 - share)))


def power(
    mechanism: Channel | None,
    *,
    n: int,
    prevalence: Number,
    null: Number = 0,
    significance: Number = 0.05,
    two_sided: bool = True,
    groups: int = 1,
) -> float:
    """The probability that a survey of n people finds that the prevalence is not `null`.

    The test rejects if the estimate is more than z standard errors (at `null`) away. With two
    groups of n people each, `prevalence` and `null` are the prevalences of the two groups, and
    the test is about their difference.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> forced = RandomizedResponse.from_coins(truth=Fraction(2, 3))  # forced yes, no: 1/6 each
    >>> detected = power(forced, n=200, prevalence=0.2, significance=0.01, two_sided=False)
    >>> round(detected, 7)
    0.9868872
    """
    from scipy.special import ndtr

    before, after, gap, level = _test(
        mechanism, prevalence, null, significance, two_sided, groups
    )
    root = math.sqrt(whole(n, "n"))
    return float(ndtr((gap - level * before / root) / (after / root)))


def sample_size_for_power(
    mechanism: Channel | None,
    *,
    prevalence: Number,
    null: Number = 0,
    power: Number = 0.8,
    significance: Number = 0.05,
    two_sided: bool = True,
    groups: int = 1,
    response_rate: Number = 1,
) -> int:
    """The least n, in each group, at which `power` is reached.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> sample_size_for_power(RandomizedResponse(odds=3), prevalence=0.1, null=0.05)
    2544
    """
    before, after, gap, level = _test(
        mechanism, prevalence, null, significance, two_sided, groups
    )
    needed = level * before + normal_quantile(1 - inside(power, "power")) * after
    return _people((max(needed, 0.0) / gap) ** 2, response_rate)


def inside(value: Number, name: str) -> Fraction:
    """A probability strictly between 0 and 1.

    >>> inside(0.25, "margin")
    Fraction(1, 4)
    """
    exact = rational(value, name)
    if not 0 < exact < 1:
        raise InvalidParameter(f"`{name}` must lie strictly between 0 and 1. Found {value}.")
    return exact


def _test(
    mechanism: Channel | None,
    prevalence: Number,
    null: Number,
    significance: Number,
    two_sided: bool,
    groups: int,
) -> tuple[float, float, float, float]:
    """Standard errors at n = 1 under both hypotheses, their distance, and the test's z."""
    true, other = probability(prevalence, "prevalence"), probability(null, "null")
    if true == other:
        raise InvalidParameter(
            f"`prevalence` and `null` must differ, or there is nothing to find. Found "
            f"{prevalence} for both."
        )
    if groups not in (1, 2):
        raise InvalidParameter(f"`groups` must be 1 or 2. Found {groups}.")
    level = inside(significance, "significance")
    z = normal_quantile(level / 2 if two_sided else level)
    if groups == 1:
        before, after = _spread(mechanism, other), _spread(mechanism, true)
    else:
        before = 2 * _spread(mechanism, (true + other) / 2)
        after = _spread(mechanism, true) + _spread(mechanism, other)
    if after == 0:
        raise InvalidParameter(
            "Direct answers of people who are all alike do not vary, so there is no power to "
            "compute. Choose a prevalence strictly between 0 and 1."
        )
    return math.sqrt(before), math.sqrt(after), float(abs(true - other)), z


def _error(mechanism: Channel | None, prevalence: Number | None, n: int) -> float:
    return math.sqrt(_spread(mechanism, prevalence) / n)


def _spread(mechanism: Channel | None, prevalence: Number | None) -> Fraction:
    """n times the variance of the estimate; without a prevalence, the worst one's."""
    p, q = (Fraction(1), Fraction(0)) if mechanism is None else (mechanism.p, mechanism.q)
    if prevalence is None:
        rate = min(max(Fraction(1, 2), min(p, q)), max(p, q))
    else:
        rate = q + (p - q) * probability(prevalence, "prevalence")
    return rate * (1 - rate) / _slope(mechanism) ** 2


def _slope(mechanism: Channel | None) -> Fraction:
    slope = Fraction(1) if mechanism is None else mechanism.p - mechanism.q
    if slope == 0:
        raise InvalidParameter(
            "`p` and `q` of the mechanism are equal: its reports say nothing about answers, "
            "however many people are asked."
        )
    return slope


def normal_quantile(miss: Fraction) -> float:
    """The point above which `miss` of the normal mass lies.

    >>> round(normal_quantile(Fraction(1, 40)), 6)
    1.959964
    """
    from scipy.special import ndtri  # slow to import

    return -float(ndtri(float(miss)))


def _people(need: float, response_rate: Number) -> int:
    rate = probability(response_rate, "response_rate")
    if rate == 0:
        raise InvalidParameter("`response_rate` must be above 0, or no one answers. Found 0.")
    return max(1, math.ceil(math.ceil(need) / rate))
