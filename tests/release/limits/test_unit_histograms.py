"""The shares that noisy histograms imply: their intervals cover, and are not padded."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from deniable.mechanisms import Laplace
from deniable.release.limits.unit_histograms import UnitHistogram, UnitHistograms

LEVEL = Fraction(19, 20)
LAWS = {  # units by their numbers of rows in each group: a table of tuples
    "few": [(1,)] * 60 + [(2, 1)] * 30 + [(5, 5, 5)] * 10,
    "many": [(1,)] * 4000 + [(3, 1)] * 2000 + [(9, 2, 2)] * 500 + [(40, 1, 1, 1)] * 30,
    "long tail": [(i % 12 + 1,) * (i % 4 + 1) for i in range(3000)],
}


def exact(units, groups_cap, rows_cap):
    """Both histograms without noise, and every unit within the caps."""
    groups, rows = [0] * groups_cap, [0] * rows_cap
    kept = [tuple(min(n, rows_cap) for n in unit[:groups_cap]) for unit in units]
    for unit in kept:
        groups[len(unit) - 1] += 1
        for n in unit:
            rows[n - 1] += 1
    return groups, rows, kept


def lost(kept, groups, rows, *, largest):
    """The share of rows that limits leave out; the largest one keeps the smallest pairs."""
    whole = sum(map(sum, kept))
    left = 0
    for unit in kept:
        ordered = sorted(unit, reverse=not largest)
        left += sum(unit) - sum(min(n, rows) for n in ordered[:groups])
    return left / whole


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_intervals_cover_what_is_left_out_whichever_pairs_are_kept(law, epsilon, size, figure):
    runs = size(small=60, full=2000, what="noisy histograms of each law")
    caps = 4, 10
    groups, rows, kept = exact(LAWS[law], *caps)
    noises = Laplace(epsilon=epsilon / 4), Laplace(epsilon=3 * epsilon / 4, sensitivity=4)
    limits = [(1, 1), (1, 3), (2, 2), (4, 1), (4, 4)]
    least_lost = {limit: lost(kept, *limit, largest=False) for limit in limits}
    most_lost = {limit: lost(kept, *limit, largest=True) for limit in limits}
    covered = dict.fromkeys(limits, 0)
    pairs = 0
    dropped = sum(len(unit) - 2 for unit in kept if len(unit) > 2) / sum(map(len, kept))
    for _ in range(runs):
        noisy = [
            UnitHistogram(name, tuple(map(int, noise.release(counts))), noise.noise())
            for name, noise, counts in zip(
                ("groups", "rows"), noises, (groups, rows), strict=True
            )
        ]
        both = UnitHistograms(*noisy, keys=4, confidence=LEVEL)
        share = both.pairs_left_out(2)
        pairs += share.low <= dropped <= share.high
        for limit in limits:
            interval = both.rows_left_out(*limit)
            assert 0 <= interval.low <= interval.value <= interval.high <= 1
            covered[limit] += (
                interval.low <= least_lost[limit] <= most_lost[limit] <= interval.high
            )
    least = runs * (0.95 - 5 * sqrt(0.95 * 0.05 / runs))
    figure(f"covered at least {min(*covered.values(), pairs) / runs:.4f} of {runs:,}")
    assert min(*covered.values(), pairs) >= least


def test_ends_that_noise_has_crossed_are_in_order():
    """These counts cannot all be true: by the first, more pairs are left out than there are."""
    groups = UnitHistogram("groups", (43, 54, 30, 58), Laplace(epsilon=Fraction(1, 4)).noise())
    counts = (9, 44, 7, -5, -10, -1, -12, -3, 10, 17)
    noise = Laplace(epsilon=Fraction(3, 4), sensitivity=4).noise()
    share = UnitHistograms(
        groups, UnitHistogram("rows", counts, noise), 4, LEVEL
    ).rows_left_out(2, 2)
    assert share.ranged
    assert 0 <= share.low < share.value < share.high <= 1


def test_noise_below_zero_is_not_said_to_be_nothing():
    """The tail is all noise, and its sum is far below 0: nothing is known to be nothing."""
    rows = UnitHistogram("rows", (900, 300, -9, -8, -7), Laplace(epsilon=1).noise())
    share = UnitHistograms(None, rows, 1, LEVEL).rows_left_out(1, 3)
    assert share.low == 0
    assert 0 < share.high < 0.05


def test_intervals_shrink_with_epsilon():
    groups, rows, _ = exact(LAWS["many"], 4, 10)
    widths = []
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(10)):
        law = Laplace(epsilon=epsilon).noise()
        both = UnitHistograms(
            UnitHistogram("groups", tuple(groups), law),
            UnitHistogram("rows", tuple(rows), law),
            4,
            LEVEL,
        )
        share = both.rows_left_out(4, 3)
        assert not share.ranged
        widths.append(share.high - share.low)
    assert widths[0] > 5 * widths[1] > 10 * widths[2]


def test_a_share_is_a_range_where_the_rows_of_pairs_left_out_are_not_known():
    law = Laplace(epsilon=100).noise()
    groups = UnitHistogram("groups", (100, 100), law)
    rows = UnitHistogram("rows", (200, 0, 0, 100), law)
    both = UnitHistograms(groups, rows, 2, LEVEL)
    share = both.rows_left_out(1, 4)
    assert share.ranged
    assert share.low == pytest.approx(100 / 600, abs=0.01)
    assert share.high == pytest.approx(400 / 600, abs=0.01)
    few = UnitHistograms(groups, UnitHistogram("rows", (299, 0, 0, 1), law), 2, LEVEL)
    assert few.rows_left_out(1, 4).high == pytest.approx(103 / 303, abs=0.01)
    assert not both.rows_left_out(1, 1).ranged
    assert not both.rows_left_out(2, 3).ranged


def test_quantiles_are_ranges_as_wide_as_the_noise():
    counts = tuple(int(n) for n in 1000 * 0.5 ** np.arange(8))
    quiet = UnitHistogram("rows", counts, Laplace(epsilon=10).noise())
    loud = UnitHistogram("rows", counts, Laplace(epsilon=Fraction(1, 100)).noise())
    assert quiet.quantile(Fraction(9, 10), LEVEL) == (4, 4)
    low, high = loud.quantile(Fraction(9, 10), LEVEL)
    assert low < 4
    assert high is None
    assert quiet.quantile(Fraction(9999, 10000), LEVEL)[1] is None  # beyond the cap
