"""The unrelated question design when the innocuous question's share of yeses is unknown.

Two random halves get the real question with different chances P_1 and P_2. Their report rates
r_i = P_i x + (1 - P_i) a have two unknowns, the prevalence x and the innocuous rate a, so both
can be solved for: Greenberg, Abul-Ela, Simmons & Horvitz, "The unrelated question randomized
response model", 1969. It is private only against people who do not know the innocuous trait.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, probability
from deniable.mechanisms.local.tally import read_tally


@dataclass(frozen=True, slots=True)
class UnrelatedEstimate:
    """The prevalence and the innocuous rate, both unbiased, with the prevalence's error."""

    prevalence: float
    standard_error: float
    innocuous: float


def unrelated_question(
    first: tuple[Number, Sequence[int]], second: tuple[Number, Sequence[int]]
) -> UnrelatedEstimate:
    """Estimates from two halves, each (chance of the real question, (no, yes) counts).

    >>> shares = unrelated_question((0.7, (710, 290)), (0.3, (590, 410)))
    >>> round(shares.prevalence, 6), round(shares.innocuous, 6)
    (0.2, 0.5)
    """
    p1, p2 = (float(probability(chance, "chance")) for chance, _ in (first, second))
    if p1 == p2:
        raise InvalidParameter(
            f"The two halves must have different chances of the real question. Found {p1}."
        )
    tallies = [read_tally(counts, None, 2) for _, counts in (first, second)]
    r, s = (tally[1] / tally.respondents for tally in tallies)
    spread = [
        rate * (1 - rate) / tally.respondents
        for rate, tally in zip((r, s), tallies, strict=True)
    ]
    gap = p1 - p2
    return UnrelatedEstimate(
        prevalence=(r * (1 - p2) - s * (1 - p1)) / gap,
        standard_error=math.sqrt((1 - p2) ** 2 * spread[0] + (1 - p1) ** 2 * spread[1])
        / abs(gap),
        innocuous=(p1 * s - p2 * r) / gap,
    )
