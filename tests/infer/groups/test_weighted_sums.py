from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from deniable.infer.groups.group_means import GroupMeans
from deniable.infer.groups.mean_intervals import (
    contrast_ends,
    noise_ends,
    population_ends,
    sampling_ends,
)
from deniable.infer.groups.weighted_sums import weighted_ends
from tests.infer.simulated import few_errors, laplace, share_parts

LEVEL = Fraction(19, 20)


def noisy(rng, having, units, epsilon, releases):
    """Numbers of rows with an outcome, of rows that are the same in every release."""
    above = having + laplace(rng, epsilon, releases)
    others = units - having + laplace(rng, epsilon, releases)
    keys = tuple(range(releases))
    both = above.astype(float), (above + others).astype(float)
    return GroupMeans(keys, *both, share_parts(epsilon), "share")


def missed_shares(groups, weights, truth, releases):
    """For each release, whether the interval of the noise misses, and whether cut ends do."""
    sides = []
    for place in range(releases):
        parts = [group.at(place) for group in groups]
        for low, high in (
            weighted_ends(parts, weights, noise_ends, LEVEL).ends,
            contrast_ends(parts, weights, noise_ends, LEVEL),
        ):
            sides.append(not low <= truth <= high)
    return np.array(sides).reshape(-1, 2).T


@pytest.mark.parametrize("shared", [False, True])
def test_noise_of_rare_outcomes_in_several_strata_is_covered(shared, size, figure):
    """Of three groups one row each has the outcome, and the noise is of ten rows. That a unit
    may be in several groups does not make their noises depend on each other."""
    releases = size(small=300, full=5_000, what="simulated noises")
    rng = np.random.default_rng(4)
    groups = [
        replace(noisy(rng, 1, units, 0.1, releases), shared=shared) for units in (800, 500, 700)
    ]
    weights = [0.4, 0.25, 0.35]
    missed, cut = missed_shares(groups, weights, 3 / 2000, releases)
    assert few_errors(figure, missed, cut)
    assert cut.mean() > 0.15


def test_a_group_of_which_nothing_is_known_is_added_as_it_is():
    rng = np.random.default_rng(2)
    known = noisy(rng, 300, 1000, 1, 1)
    lost = GroupMeans(("B",), np.array([3.0]), np.array([5.0]), share_parts(0.1), "share")
    together = weighted_ends([known, lost], [0.9, 0.1], population_ends, LEVEL)
    alone = weighted_ends([known], [1.0], population_ends, LEVEL)
    widths = [ends[1] - ends[0] for ends in (together.ends, alone.ends)]
    assert widths[0] == pytest.approx(0.9 * widths[1] + 0.1, abs=1e-6)
    assert together.ends[0] <= together.value <= together.ends[1]


def test_the_sum_is_cut_to_its_limits():
    low = GroupMeans(("A",), np.array([-9.0]), np.array([400.0]), share_parts(0.1), "share")
    together = weighted_ends([low, low], [0.5, 0.5], population_ends, LEVEL)
    assert together.value == together.ends[0] == 0.0
    assert together.ends[1] > 0.01


@pytest.mark.parametrize("of", [population_ends, noise_ends, sampling_ends])
def test_a_group_without_weight_may_be_unknown(of):
    rng = np.random.default_rng(2)
    known = noisy(rng, 300, 1000, 1, 1)
    empty = np.array([0.0]), np.array([-3.0])
    endless = GroupMeans(("B",), *empty, share_parts(1), "mean", low=-np.inf, high=np.inf)
    known_alone = weighted_ends([known, endless], [1.0, 0.0], of, LEVEL)
    assert known_alone == weighted_ends([known], [1.0], of, LEVEL)
