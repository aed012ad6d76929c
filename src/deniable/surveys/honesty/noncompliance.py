"""When people do not follow the design: careless answers, denials, forged reports.

A device flips the coins correctly, but it cannot prevent lies. These functions measure or bound
their effect.

* `attentive_prevalence`: an anchor question to which everyone's true answer is no. If a share g
  of respondents follow the design and the others answer at random, its report rate is
  g q + (1 - g) / 2, which gives g. The same mixture is then removed from the real question
  (Atsusaka & Stevenson, "A bias-corrected estimator for the crosswise model", 2021).
* `two_devices`: two random halves with different designs. Honest yeses report yes with
  probability p_i, honest noes with q_i, evaders never. r_i = a p_i + b q_i gives the honest
  yeses a, the honest noes b and the evaders 1 - a - b (Clark & Desharnais, "Honest answers to
  embarrassing questions", 1998).
* `if_some_deny`: the prevalence if a share of the people concerned denied it.
* `if_some_lie`: the range of any share or mean if a share of all people gave any false answer.
* `forgery`: how far a number of forged reports can move the estimate, on average.

`deniable.surveys.honesty.carelessness` removes careless answers from questions of any design.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability, whole
from deniable.mechanisms import Estimate, Tally
from deniable.mechanisms.local.tally import read_tally
from deniable.surveys.estimate.among_respondents import YesNo

Counts = Sequence[int] | Tally
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class AttentiveEstimate:
    """The prevalence (or mean) among attentive respondents, and their share. Errors are to
    first order."""

    prevalence: float
    standard_error: float
    attentive: float
    attentive_error: float


def attentive_prevalence(
    design: YesNo,
    counts: Counts,
    *,
    anchor: YesNo,
    anchor_counts: Counts,
    careless: Number = 0.5,
) -> AttentiveEstimate:
    """The prevalence without careless answers, from an anchor whose true answer is always no.

    `careless` is how often a random answer to the question is yes: 1/k for one of k answers.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> coins = RandomizedResponse(odds=3)  # honest noes say yes 25 %; here 30 % did
    >>> shares = attentive_prevalence(coins, (580, 420), anchor=coins, anchor_counts=(700, 300))
    >>> round(shares.attentive, 6), round(shares.prevalence, 6)
    (0.8, 0.3)
    """
    q_anchor = float(anchor.q)
    if q_anchor == 0.5:
        raise InvalidParameter(
            "With this design of the anchor honest people report yes half of the time, and so "
            "do careless people: they cannot be distinguished. Choose another design for it."
        )
    (rate, n), (anchored, m) = _rate(design, counts), _rate(anchor, anchor_counts)
    share = (anchored - 0.5) / (q_anchor - 0.5)
    if share <= 0:
        raise InvalidParameter(
            f"The anchor's rate of yeses is {anchored:.3f}, as if all people answered at "
            "random. Such reports say nothing about the question."
        )
    p, q, by_chance = float(design.p), float(design.q), float(probability(careless, "careless"))
    prevalence = ((rate - by_chance) / share + by_chance - q) / (p - q)
    share_error = _error(anchored, m) / abs(q_anchor - 0.5)
    pull = (rate - by_chance) / (share**2 * (p - q))
    error = math.hypot(_error(rate, n) / (share * (p - q)), pull * share_error)
    return AttentiveEstimate(prevalence, error, share, share_error)


@dataclass(frozen=True, slots=True)
class TwoDevices:
    """Shares of honest yeses, honest noes and people who always say no."""

    yes: float
    no: float
    evading: float
    yes_error: float


def two_devices(first: tuple[YesNo, Counts], second: tuple[YesNo, Counts]) -> TwoDevices:
    """How many people evade, from two random halves with different designs.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> first = RandomizedResponse.forced(0.7, yes=0.2, no=0.1)
    >>> second = RandomizedResponse.forced(0.6, yes=0.1, no=0.3)
    >>> estimate = two_devices((first, (680, 320)), (second, (790, 210)))
    >>> round(estimate.yes, 6), round(estimate.no, 6), round(estimate.evading, 6)
    (0.2, 0.7, 0.1)
    """
    (p1, q1), (p2, q2) = ((float(design.p), float(design.q)) for design, _ in (first, second))
    area = p1 * q2 - p2 * q1
    if abs(area) < 1e-12:
        raise InvalidParameter(
            "The two designs are too similar: their ratios of p to q must differ."
        )
    (r1, n1), (r2, n2) = _rate(*first), _rate(*second)
    yes, no = (r1 * q2 - r2 * q1) / area, (p1 * r2 - p2 * r1) / area
    error = math.hypot(q2 * _error(r1, n1), q1 * _error(r2, n2)) / abs(area)
    return TwoDevices(yes, no, 1 - yes - no, error)


def if_some_deny(
    estimate: Estimate, denying: Sequence[Number] = (0, 0.05, 0.1, 0.2, 0.3)
) -> dict[float, float]:
    """The prevalence if these shares of the people concerned denied it: value / (1 - share).

    >>> from deniable.mechanisms import RandomizedResponse
    >>> estimate = RandomizedResponse(odds=3).estimate(counts=(600, 400))
    >>> {share: round(truth, 3) for share, truth in if_some_deny(estimate, (0, 0.25)).items()}
    {0.0: 0.3, 0.25: 0.4}
    """
    shares = [float(probability(share, "denying")) for share in denying]
    if any(share == 1 for share in shares):
        raise InvalidParameter("`denying` must be below 1: if all deny, nothing can be learnt.")
    return {share: min(estimate.value / (1 - share), 1.0) for share in shares}


def if_some_lie(
    estimate: Estimate,
    low: float = 0.0,
    high: float = 1.0,
    lying: Sequence[Number] = (0, 0.05, 0.1, 0.2),
) -> dict[float, Range]:
    """The range of a share, or of a mean between `low` and `high`, if these shares of all
    people gave any false answer. A liar moves the sum by at most the whole width.

    >>> from deniable.mechanisms import Duchi
    >>> pay = Duchi(odds=3, low=0, high=100).estimate([0] * 600 + [1] * 400)
    >>> if_some_lie(pay, 0, 100, (0, 0.1))
    {0.0: (30.0, 30.0), 0.1: (20.0, 40.0)}
    """
    shares = [float(probability(share, "lying")) for share in lying]
    value, width = estimate.value, high - low
    return {
        share: (max(low, value - share * width), min(high, value + share * width))
        for share in shares
    }


def forgery(design: Any, *, respondents: int, forged: int) -> float:
    """How far forged reports can move the estimate of a share, on average over the coins,
    compared with honest reports of the same people. For a number it is the estimate of the
    mean, in its own unit.

    >>> from deniable.mechanisms import Duchi, RandomizedResponse
    >>> forgery(RandomizedResponse(odds=3), respondents=1000, forged=10)
    0.015
    >>> forgery(Duchi(odds=3, low=0, high=100), respondents=1000, forged=10)
    1.5
    """
    n, bad = whole(respondents, "respondents"), whole(forged, "forged", least=0)
    if bad > n:
        raise InvalidParameter(f"`forged` must be at most `respondents`. Found {bad} of {n}.")
    return bad / n * _reach(design)


def _reach(design: Any) -> float:
    """How far the reading of a report can lie from the true answer."""
    if hasattr(design, "readings"):
        readings, ends = design.readings(), (float(design.low), float(design.high))
        return max(float(readings.max()) - ends[0], ends[1] - float(readings.min()))
    if hasattr(design, "p"):
        p, q = design.p, design.q
        return float(max(p, 1 - p, q, 1 - q) / abs(p - q))
    if hasattr(design, "matrix"):
        back = np.linalg.inv(np.array(design.matrix, dtype=float))
        return max(float(np.abs(back).max()), float(np.abs(back - 1).max()))
    raise InvalidParameter(
        f"The effect of forged reports is not known for {type(design).__name__}."
    )


def _rate(design: YesNo, counts: Counts) -> tuple[float, int]:
    tally = read_tally(counts, design, 2)
    return tally[1] / tally.respondents, tally.respondents


def _error(rate: float, n: int) -> float:
    return math.sqrt(rate * (1 - rate) / n)
