"""When people do not follow the design: careless answers, denials, forged reports.

Coins on a device take away mistakes with the coins, not lies. What can be done is to measure
and to show how much they could matter.

* `attentive`: an anchor question to which everybody's true answer is no. With a share g of
  respondents who follow the design, and others who answer at random, its report rate is
  g q + (1 - g) / 2, which gives g; the same mixture is then taken out of the real question
  (Atsusaka & Stevenson, "A bias-corrected estimator for the crosswise model", 2021).
* `two_devices`: two random halves asked through different designs. Honest yeses report yes with
  probability p_i, honest noes with q_i, evaders never: r_i = a p_i + b q_i gives the honest
  yeses a, the honest noes b and the rest, 1 - a - b (Clark & Desharnais, "Honest answers to
  embarrassing questions", 1998).
* `if_some_deny`: what the truth would be if a share of those concerned had denied.
* `if_some_lie`: the range of any share or mean, if a share of all had said anything whatever.
* `forgery`: how far a number of forged reports can move the estimate, on average.

`deniable.surveys.honesty.carelessness` takes careless answers out of questions of any design.
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
    """The prevalence (or mean) among attentive respondents, and their share; errors by
    linearisation."""

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
    """The prevalence with careless answers taken out, by an anchor whose truth is always no.

    `careless` is how often a random answer to the question is yes: 1/k for one of k answers.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> coins = RandomizedResponse(odds=3)  # honest noes say yes 25 %; here 30 % did
    >>> found = attentive_prevalence(coins, (580, 420), anchor=coins, anchor_counts=(700, 300))
    >>> round(found.attentive, 6), round(found.prevalence, 6)
    (0.8, 0.3)
    """
    q_anchor = float(anchor.q)
    if q_anchor == 0.5:
        raise InvalidParameter(
            "The anchor's design makes honest noes say yes half of the time, which careless "
            "answers do too: it cannot tell them apart. Choose another design for it."
        )
    (rate, n), (anchored, m) = _rate(design, counts), _rate(anchor, anchor_counts)
    share = (anchored - 0.5) / (q_anchor - 0.5)
    if share <= 0:
        raise InvalidParameter(
            f"The anchor's rate of yeses, {anchored:.3f}, is that of people who all answer at "
            "random: nothing about the question can be learnt from them."
        )
    p, q, by_chance = float(design.p), float(design.q), float(probability(careless, "careless"))
    prevalence = ((rate - by_chance) / share + by_chance - q) / (p - q)
    share_error = _error(anchored, m) / abs(q_anchor - 0.5)
    pull = (rate - by_chance) / (share**2 * (p - q))
    error = math.hypot(_error(rate, n) / (share * (p - q)), pull * share_error)
    return AttentiveEstimate(prevalence, error, share, share_error)


@dataclass(frozen=True, slots=True)
class TwoDevices:
    """Shares of honest yeses, honest noes and those who say no whatever the coins tell them."""

    yes: float
    no: float
    evading: float
    yes_error: float


def two_devices(first: tuple[YesNo, Counts], second: tuple[YesNo, Counts]) -> TwoDevices:
    """How many evade, from two random halves that were asked through different designs.

    >>> from deniable.mechanisms import RandomizedResponse
    >>> one = RandomizedResponse.forced(0.7, yes=0.2, no=0.1)
    >>> two = RandomizedResponse.forced(0.6, yes=0.1, no=0.3)
    >>> found = two_devices((one, (680, 320)), (two, (790, 210)))
    >>> round(found.yes, 6), round(found.no, 6), round(found.evading, 6)
    (0.2, 0.7, 0.1)
    """
    (p1, q1), (p2, q2) = ((float(one.p), float(one.q)) for one in (first[0], second[0]))
    area = p1 * q2 - p2 * q1
    if abs(area) < 1e-12:
        raise InvalidParameter(
            "The two designs are too much alike: their ratios of p to q must differ."
        )
    (r1, n1), (r2, n2) = _rate(*first), _rate(*second)
    yes, no = (r1 * q2 - r2 * q1) / area, (p1 * r2 - p2 * r1) / area
    error = math.hypot(q2 * _error(r1, n1), q1 * _error(r2, n2)) / abs(area)
    return TwoDevices(yes, no, 1 - yes - no, error)


def if_some_deny(
    estimate: Estimate, denying: Sequence[Number] = (0, 0.05, 0.1, 0.2, 0.3)
) -> dict[float, float]:
    """The prevalence, if these shares of the people concerned had denied: value / (1 - share).

    >>> from deniable.mechanisms import RandomizedResponse
    >>> found = RandomizedResponse(odds=3).estimate(counts=(600, 400))
    >>> {share: round(truth, 3) for share, truth in if_some_deny(found, (0, 0.25)).items()}
    {0.0: 0.3, 0.25: 0.4}
    """
    shares = [float(probability(one, "denying")) for one in denying]
    if any(one == 1 for one in shares):
        raise InvalidParameter("`denying` must be below 1: if all deny, nothing can be learnt.")
    return {one: min(estimate.value / (1 - one), 1.0) for one in shares}


def if_some_lie(
    estimate: Estimate,
    low: float = 0.0,
    high: float = 1.0,
    lying: Sequence[Number] = (0, 0.05, 0.1, 0.2),
) -> dict[float, Range]:
    """The range of a share, or of a mean between `low` and `high`, if these shares of all
    people had answered anything whatever: no liar moves it by more than its whole width.

    >>> from deniable.mechanisms import Duchi
    >>> pay = Duchi(odds=3, low=0, high=100).estimate([0] * 600 + [1] * 400)
    >>> if_some_lie(pay, 0, 100, (0, 0.1))
    {0.0: (30.0, 30.0), 0.1: (20.0, 40.0)}
    """
    shares = [float(probability(one, "lying")) for one in lying]
    value, width = estimate.value, high - low
    return {
        one: (max(low, value - one * width), min(high, value + one * width)) for one in shares
    }


def forgery(design: Any, *, respondents: int, forged: int) -> float:
    """The most by which forged reports can move the estimate of a share (of a number: of its
    mean, in its own unit), on average over the coins, compared with honest reports of the same
    people.

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
    """How far a reading can lie from the truth."""
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
        f"What forged reports of {type(design).__name__} can do is not known here."
    )


def _rate(design: YesNo, counts: Counts) -> tuple[float, int]:
    tally = read_tally(counts, design, 2)
    return tally[1] / tally.respondents, tally.respondents


def _error(rate: float, n: int) -> float:
    return math.sqrt(rate * (1 - rate) / n)
