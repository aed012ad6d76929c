"""Lower bounds for choosing one of many, for a threshold, and for the rank of a quantile.

**Choosing.** A mechanism for scores of a stated sensitivity must be private for any two lists
of scores that the change of one record can connect. A mechanism that *treats candidates alike*
gives a candidate the same probability at every place of the list. There are two arguments, and
the stronger bound is returned:

* *Swap* the best candidate with one that lies g behind: g / sensitivity changes (twice as many
  if scores move one way only). So a candidate's probability is at least e**(-epsilon changes)
  times the best one's, and all probabilities add up to 1: packing, Hardt & Talwar, "On the
  geometry of differential privacy", 2010; Steinke & Ullman, "Tight lower bounds for
  differentially private selection", 2017.
* *Tie* the best candidate with all that lie at most g behind: half as many changes, because the
  best falls while they rise. Among m + 1 equal candidates it has probability 1 / (m + 1), so it
  is missed with probability at least e**(-epsilon changes) m / (m + 1). Between two candidates
  permute-and-flip attains this: McKenna & Sheldon, "Permute-and-flip", 2020.

**A threshold.** A number on the threshold is reported as above with some probability y. A
number m below is m / sensitivity changes away, so it is reported as above with probability
e**(-epsilon changes) y or more, and a number m above as below with e**(-epsilon changes)
(1 - y). At the worse of the two this is at least half of e**(-epsilon changes). Ghosh,
Roughgarden & Sundararajan, "Universally utility-maximizing privacy mechanisms", 2009, have the
optimum for counts, which is at most twice as large.

**A quantile's rank.** Put 2 m + 2 rows into one inner cell and all others into the lowest and
the highest cell, so that only the inner cell is within m ranks of the quantile. There are
`cells` - 2 such tables, each 2 m + 2 replaced rows (twice as many if rows come and go) from
each other, and their right answers differ: packing again, as in Bun, Nissim, Stemmer & Vadhan,
"Differentially private release and learning of threshold functions", 2015.
"""

import math
from collections.abc import Iterable
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, probability, rational, whole
from deniable.price.lower_bounds import Bound
from deniable.privacy import Neighbors, neighboring

_FAR = 700.0
_PACKING = "packing: Hardt & Talwar 2010; Steinke & Ullman 2017"
_TIES = "by ties: McKenna & Sheldon 2020"


def selection(gaps: Iterable[Number], epsilon: Number, *, monotone: bool = False) -> Bound:
    """The least probability of missing the best candidate, for every mechanism that treats
    candidates alike.

    `gaps` are how far each lies behind the best, in units of the sensitivity, 0 for the best.

    >>> print(selection([0, 4], 1))  # permute-and-flip has exactly this probability
    error probability >= 0.0676676 (by ties: McKenna & Sheldon 2020; at 2 changes)
    >>> round(selection([0] + [5] * 999, 1).value, 4)
    0.8707
    """
    eps = float(positive(epsilon, "epsilon"))
    behind = sorted(rational(gap, "gaps") for gap in gaps)
    if len(behind) < 2 or behind[0] != 0:
        raise InvalidParameter(
            "`gaps` must be two or more numbers: 0 for the best, and no negative ones."
        )
    best = sum(gap == 0 for gap in behind)
    swaps = [math.ceil(gap) * (2 if monotone else 1) for gap in behind]
    total = sum(math.exp(-min(eps * changes, _FAR)) for changes in swaps)
    nearest = min((changes for changes in swaps if changes), default=0)
    bounds = [Bound(1 - best / total, "error probability", _PACKING, nearest)]
    for place in range(best, len(behind)):
        ties = math.ceil(behind[place] if monotone else behind[place] / 2)
        missed = math.exp(-min(eps * ties, _FAR)) * (1 - best / (place + 1))
        bounds.append(Bound(missed, "error probability", _TIES, ties))
    return max(bounds, key=lambda bound: bound.value)


def threshold(distance: Number, epsilon: Number) -> Bound:
    """The least probability of reporting the wrong side of a threshold, at the worse of two
    numbers: `distance` below and above it, in units of the sensitivity.

    >>> print(threshold(2, 1))
    error probability >= 0.0676676 (two points; Ghosh et al. 2009 for counts; at 2 changes)
    """
    changes = math.ceil(positive(distance, "distance"))
    missed = math.exp(-min(float(positive(epsilon, "epsilon")) * changes, _FAR)) / 2
    reference = "two points; Ghosh et al. 2009 for counts"
    return Bound(missed, "error probability", reference, changes)


def rank_margin(
    *,
    rows: int,
    cells: int,
    epsilon: Number,
    neighbors: Neighbors,
    quantile: Number = 0.5,
    confidence: Number = 0.95,
) -> Bound:
    """The least margin in ranks that any method can guarantee for a quantile of every column
    with this many rows and cells.

    >>> print(rank_margin(rows=1000, cells=20_001, epsilon=1, neighbors="replace"))
    ranks >= 6 (packing: Hardt & Talwar 2010; Bun et al. 2015; at 12 changes)
    """
    n, size = whole(rows, "rows"), whole(cells, "cells")
    q, level = probability(quantile, "quantile"), float(probability(confidence, "confidence"))
    eps, twice = float(positive(epsilon, "epsilon")), 1 + (neighboring(neighbors) != "replace")
    room = min(math.ceil(q * n), n - math.ceil(q * n)) - 2
    m = 0
    while m <= room:
        changes = twice * (2 * m + 2)
        if level <= 1 / (1 + max(size - 3, 0) * math.exp(-min(eps * changes, _FAR))):
            break
        m += 1
    reference = "packing: Hardt & Talwar 2010; Bun et al. 2015"
    return Bound(float(m), "ranks", reference, twice * 2 * max(m, 1))


def kept(units: int, epsilon: Number, delta: Number) -> Bound:
    """The highest probability with which a group of this many units can be shown.

    pi(0) = 0, and pi(n) is at most e**epsilon pi(n - 1) + delta and 1 - e**-epsilon
    (1 - pi(n - 1) - delta): Desfontaines, Voss, Gipson & Mandayam, "Differentially private
    partition selection", 2022, who also attain it.

    >>> print(kept(11, 1, 1e-5))
    probability <= 0.348448 (Desfontaines et al. 2022; at 1 change)
    """
    grow, slack = math.exp(float(positive(epsilon, "epsilon"))), float(positive(delta, "delta"))
    shown = 0.0
    for _ in range(whole(units, "units", least=0)):
        shown = min(grow * shown + slack, 1 - (1 - shown - slack) / grow, 1.0)
    return Bound(shown, "probability", "Desfontaines et al. 2022")


def behind(scores: Any, sensitivity: Any) -> list[Any]:
    """How far each score lies behind the best, in units of the sensitivity.

    >>> behind([3, 5], 2)
    [Fraction(1, 1), Fraction(0, 1)]
    """
    listed = list(scores.values()) if hasattr(scores, "values") else list(scores)
    exact = [rational(score if isinstance(score, int) else float(score)) for score in listed]
    return [(max(exact) - score) / rational(sensitivity) for score in exact]
