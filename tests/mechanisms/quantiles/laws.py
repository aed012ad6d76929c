"""The laws of all quantile methods on tiny tables, listed whole, by definition and not by the
code that draws: every way to break ties, every tuple of places, in certified integers.

A law is a dict from released cells to (lo, hi), enclosing 2**BITS times their probability.
"""

from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations_with_replacement, pairwise, product

import numpy as np

from deniable.exact.enclosures import exp_neg
from deniable.exact.rationals import rational
from deniable.mechanisms.histogram import Histogram

BITS = 160


@lru_cache(maxsize=100_000)
def decay(x):
    return exp_neg(x, BITS)


def histogram(records, size):
    cells, counts = np.unique(np.array(records, dtype=np.int64), return_counts=True)
    return Histogram(size, cells, counts)


def tables(size, most):
    """All multisets of at most `most` records."""
    for n in range(most + 1):
        yield from combinations_with_replacement(range(size), n)


def neighbors(relation, size, most):
    """All unordered pairs of neighbouring tables."""
    for table in tables(size, most):
        for i in range(len(table)):
            rest = table[:i] + table[i + 1 :]
            if relation == "add-remove":
                yield rest, table
            else:
                for new in range(size):
                    other = tuple(sorted((*rest, new)))
                    if other > table:
                        yield table, other


def normalised(weights):
    """Probabilities from a dict of enclosed weights."""
    lows, highs = (sum(w[end] for w in weights.values()) for end in (0, 1))
    return {
        key: ((lo << BITS) // highs, -(-(hi << BITS) // lows))
        for key, (lo, hi) in weights.items()
    }


def mixed(laws):
    """The even mixture of several laws."""
    total = {}
    for law in laws:
        for key, (lo, hi) in law.items():
            low, high = total.get(key, (0, 0))
            total[key] = (low + lo, high + hi)
    return {key: (lo // len(laws), -(-hi // len(laws))) for key, (lo, hi) in total.items()}


def spread_by_chance(records, place_bits):
    """Every way to give the records places."""
    for drawn in product(range(1 << place_bits), repeat=len(records)):
        pairs = zip(records, drawn, strict=True)
        yield sorted((cell << place_bits) + place for cell, place in pairs)


def spread_by_rank(records, place_bits):
    """The classic mistake: ties are spread evenly over their cell."""
    width = 1 << place_bits
    places = []
    for cell in set(records):
        c = records.count(cell)
        places += [cell * width + (2 * k + 1) * width // (2 * c) for k in range(c)]
    yield sorted(places)


def missed(ranks, targets, rows):
    """D of a tuple with these ranks."""
    gaps = [b - a for a, b in pairwise([0, *ranks, rows])]
    return sum(abs(gap - target) for gap, target in zip(gaps, targets, strict=True))


def below(places, place):
    return sum(record < place for record in places)


def cells_of(law, place_bits):
    """The law of cells, from that of places."""
    total = {}
    for key, (lo, hi) in law.items():
        cells = tuple(place >> place_bits for place in key)
        low, high = total.get(cells, (0, 0))
        total[cells] = (low + lo, high + hi)
    return total


def of_places(places, targets, unit, total):
    """The joint law of tuples out of `total` places, given the records' places."""
    ranks = [below(places, place) for place in range(total)]
    count = len(targets) - 1
    far = {
        chosen: missed([ranks[o] for o in chosen], targets, len(places))
        for chosen in combinations_with_replacement(range(total), count)
    }
    least = min(far.values())  # a common factor, so that none vanishes for want of bits
    return normalised({chosen: decay(unit * (d - least)) for chosen, d in far.items()})


def of_joint(method, records, rows=None, spread=spread_by_chance):
    """`JointQuantiles`, or `FixedTargetQuantiles` given its noisy number of rows."""
    targets = [share * (len(records) if rows is None else rows) for share in method.shares]
    total = method.size << method.place_bits
    laws = {}
    for places in spread(records, method.place_bits):
        key = tuple(places)
        laws.setdefault(key, [of_places(places, targets, method.unit, total), 0])[1] += 1
    every = [
        cells_of(law, method.place_bits) for law, times in laws.values() for _ in range(times)
    ]
    return mixed(every)


def of_rank(records, size, quantile, unit, *, offset=0, outside=0):
    """One cell for a target rank, with `outside` public rows at each bound. The offset counts
    from the first of them."""
    target = quantile * len(records) + offset
    every = [*[0] * outside, *records, *[size - 1] * outside]
    weights = {}
    for cell in range(size):
        less, most = (sum(r < cell + end for r in every) for end in (0, 1))
        weights[cell] = decay(unit * max(0, target - most, less - target))
    return normalised(weights)


def of_independent(method, records):
    """All quantiles, each for itself."""
    law = {(): (1 << BITS, 1 << BITS)}
    for q in method.quantiles:
        target = q * len(records)
        weights = {}
        for cell in range(method.size):
            less, most = (sum(r < cell + end for r in records) for end in (0, 1))
            weights[cell] = decay(method.unit(q) * max(0, target - most, less - target))
        law = {
            (*key, cell): (a * lo >> BITS, -(-b * hi >> BITS))
            for key, (a, b) in law.items()
            for cell, (lo, hi) in normalised(weights).items()
        }
    total = {}  # the cells are handed over in ascending order
    for key, (lo, hi) in law.items():
        low, high = total.get(tuple(sorted(key)), (0, 0))
        total[tuple(sorted(key))] = (low + lo, high + hi)
    return total


def of_recursive(method, records):
    """A cut, then both halves."""
    ends = [Fraction(0), *method.quantiles, Fraction(1)]

    @cache
    def node(places, lowest, highest, low, high):
        if low == high:
            return {(): (1 << BITS, 1 << BITS)}
        middle = (low + high) // 2
        within = (ends[middle + 1] - ends[low]) / (ends[high + 1] - ends[low])
        unit = method.unit(within, root=high - low == len(method.quantiles))
        target = within * len(places)
        law = {}
        cuts = normalised(
            {
                (o,): decay(unit * abs(below(places, o) - target))
                for o in range(lowest, highest + 1)
            }
        )
        for (o,), (lo, hi) in cuts.items():
            left = node(tuple(p for p in places if p < o), lowest, o, low, middle)
            right = node(tuple(p for p in places if p >= o), o, highest, middle + 1, high)
            for (a, (a_lo, a_hi)), (b, (b_lo, b_hi)) in product(left.items(), right.items()):
                key = (*a, o >> method.place_bits, *b)
                low_, high_ = law.get(key, (0, 0))
                law[key] = (
                    low_ + (lo * a_lo * b_lo >> 2 * BITS),
                    high_ + -(-hi * a_hi * b_hi >> 2 * BITS),
                )
        return law

    last = (method.size << method.place_bits) - 1
    return mixed(
        [
            node(tuple(places), 0, last, 0, len(method.quantiles))
            for places in spread_by_chance(records, method.place_bits)
        ]
    )


def ratio(law, rival):
    """Bounds on the greatest odds of an output between two laws, in both directions."""
    least, most = Fraction(0), Fraction(0)
    for key in law.keys() | rival.keys():
        (a, b), (c, d) = law.get(key, (0, 0)), rival.get(key, (0, 0))
        least = max(least, Fraction(a, max(d, 1)), Fraction(c, max(b, 1)))
        most = max(most, Fraction(b, max(c, 1)), Fraction(d, max(a, 1)))
    return least, most


def greatest(law_of, pairs):
    """Bounds on the greatest odds over all pairs of neighbours."""
    known = {}
    least, most = Fraction(0), Fraction(0)
    for pair in pairs:
        for table in pair:
            if table not in known:
                known[table] = law_of(table)
        low, high = ratio(known[pair[0]], known[pair[1]])
        least, most = max(least, low), max(most, high)
    return least, most


def limit(epsilon):
    """e**epsilon, from above, up to what rounding of the laws can add."""
    bound = 1 / Fraction(exp_neg(rational(epsilon), 512)[0], 1 << 512)
    return bound * (1 + Fraction(1, 1 << 60))
