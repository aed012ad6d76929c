"""Sums of shares that are rare in each group, by all that the samples may hold."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import hypergeom

from deniable.infer.groups.group_means import GroupMeans
from deniable.infer.groups.mean_intervals import contrast_ends, sampling_ends
from deniable.infer.groups.weighted_sums import weighted_ends

LEVEL = Fraction(19, 20)

# For each stratum its persons, how many of them were sampled, and how many have the outcome.
RARE = [
    ((1000, 500, 3), (400, 300, 2)),
    ((1000, 500, 1), (1000, 500, 2)),
    ((1000, 800, 4), (400, 300, 4)),
    ((1000, 970, 5), (400, 388, 3)),
    ((400, 300, 398), (1000, 500, 997)),
    ((1000, 500, 2), (400, 300, 1), (500, 400, 2)),
    ((100, 50, 12), (1000, 600, 5)),
    ((1000, 970, 8), (1000, 970, 992)),
]


def stratum(units, having, sampled):
    """A group without noise."""
    return GroupMeans(
        ("A",),
        np.array([float(having)]),
        np.array([float(units)]),
        (),
        "share",
        sampled=sampled,
    )


def shown_ends(*options):
    """As they are shown."""
    return weighted_ends(*options).ends


def missed(strata, ends_of):
    """The chance that the interval of all strata together misses their share, exactly."""
    people = np.array([row[0] for row in strata], dtype=float)
    truth = sum(having for _, _, having in strata) / people.sum()
    laws = [hypergeom(size, having, units) for size, units, having in strata]
    ranges = [range(int(law.ppf(1e-6)), int(law.isf(1e-6)) + 1) for law in laws]
    total = 0.0
    for counts in itertools.product(*ranges):
        parts = [
            stratum(units, count, units / size)
            for count, (size, units, _) in zip(counts, strata, strict=True)
        ]
        low, high = ends_of(parts, people / people.sum(), sampling_ends, LEVEL)
        if not low - 1e-9 <= truth <= high + 1e-9:
            total += math.prod(law.pmf(k) for law, k in zip(laws, counts, strict=True))
    return total


@pytest.mark.parametrize("strata", RARE)
def test_rare_outcomes_in_several_strata_are_covered(strata, figure):
    """Distances in squares miss in 7 to 78 % of all samples in most of these designs."""
    share = missed(strata, shown_ends)
    figure(f"missed in {share:.4f}, in squares {missed(strata, contrast_ends):.4f}")
    assert share <= 0.05


def test_distances_in_squares_would_miss_more_often():
    assert missed(RARE[0], contrast_ends) == pytest.approx(0.0703, abs=0.0005)
    assert missed(RARE[2], contrast_ends) > 0.12


def test_many_strata_with_one_each_are_no_worse_than_squares():
    """Fifty groups with one person each: the sum is 50, and its error is near 7."""
    parts = [stratum(500, 1, 0.0)] * 50
    low, high = shown_ends(parts, [500.0] * 50, sampling_ends, LEVEL)
    assert 30 < low < 43.1
    assert high < 90


@pytest.mark.parametrize("having", [10, 30, 200])
def test_frequent_outcomes_are_added_in_squares(having):
    """Nothing is lost where errors are nearly normal."""
    parts = [stratum(1000, having, 0.4), stratum(600, having, 0.1), stratum(800, having, 0.0)]
    weights = [0.5, 0.3, 0.2]
    ends = shown_ends(parts, weights, sampling_ends, LEVEL)
    assert ends == pytest.approx(contrast_ends(parts, weights, sampling_ends, LEVEL), rel=1e-9)
