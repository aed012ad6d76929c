"""The unrelated question whose own share of yeses nobody knows.

Two random halves are asked with different chances P_1 and P_2 of the real question. Their
report rates r_i = P_i x + (1 - P_i) a have two unknowns, the prevalence x and the innocuous
rate a, so both can be solved for: Greenberg, Abul-Ela, Simmons & Horvitz, "The unrelated
question randomized response model", 1969. It is private only against those who do not know
the innocuous trait.
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
    """Reads two halves, each (chance of the real question, (no, yes) counts).

    >>> found = unrelated_question((0.7, (710, 290)), (0.3, (590, 410)))
    >>> round(found.prevalence, 6), round(found.innocuous, 6)
    (0.2, 0.5)
    """
    one, other = (float(probability(chance, "chance")) for chance, _ in (first, second))
    if one == other:
        raise InvalidParameter(
            f"The two halves must have different chances of the real question. Found {one}."
        )
    tallies = [read_tally(counts, None, 2) for _, counts in (first, second)]
    r, s = (tally[1] / tally.respondents for tally in tallies)
    spread = [
        rate * (1 - rate) / tally.respondents
        for rate, tally in zip((r, s), tallies, strict=True)
    ]
    gap = one - other
    return UnrelatedEstimate(
        prevalence=(r * (1 - other) - s * (1 - one)) / gap,
        standard_error=math.sqrt((1 - other) ** 2 * spread[0] + (1 - one) ** 2 * spread[1])
        / abs(gap),
        innocuous=(one * s - other * r) / gap,
    )
