"""Sums over a population of a known number of units, of which some were drawn whole."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from deniable.infer.groups.group_means import GroupMeans, NoisePart, UnitMoments
from deniable.mechanisms import Laplace
from tests.infer.simulated import covers, few_errors, laplace

LEVEL = Fraction(19, 20)
MOST = 5  # rows of one person, with values up to 1
# What a person adds, and how many of 100 do so; those who come often have high values.
EVEN = [(0.0, 40), (1.0, 30), (3.0, 20), (5.0, 10)]
UNEVEN = [(0.0, 70), (0.5, 18), (5.0, 12)]


def released_totals(rng, *, kinds, people, drawn, epsilon, releases):
    """Sums over `drawn` of `people` persons, their number, and the sum of squares: as many
    releases as `mean_of_drawn` reads from as many groups."""
    amounts = np.array([amount for amount, _ in kinds])
    sizes = np.array([share * people // 100 for _, share in kinds])
    counts = rng.multivariate_hypergeometric(sizes, drawn, releases)

    def noisy(exact, most, part):
        noise = Laplace(epsilon=Fraction(str(epsilon)) * part, sensitivity=most).noise()
        return exact + laplace(rng, epsilon * float(part) / most, releases), noise

    above, of_sum = noisy(counts @ amounts, MOST, Fraction(2, 5))
    below, of_units = noisy(np.full(releases, float(drawn)), 1, Fraction(2, 5))
    squares, of_squares = noisy(counts @ amounts**2, MOST**2, Fraction(1, 5))
    all_of_it, none = Fraction(1), Fraction(0)
    means = GroupMeans(
        tuple(range(releases)),
        above,
        below,
        (NoisePart(of_sum, all_of_it, none), NoisePart(of_units, none, all_of_it)),
        "SUM(x)",
        0.0,
        float(MOST),
        moments=UnitMoments(
            (squares, above, below),
            tuple(((noise, 1.0),) for noise in (of_squares, of_sum, of_units)),
        ),
    )
    return means, float(sizes @ amounts / people)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize(
    ("people", "drawn"), [(400, 200), (1000, 50), (2000, 1800), (9000, 900)]
)
@pytest.mark.parametrize("kinds", [EVEN, UNEVEN])
def test_sums_over_units_of_a_frame_are_covered(kinds, people, drawn, epsilon, size, figure):
    releases = size(small=1_000, full=10_000, what="simulated samples of whole units")
    rng = np.random.default_rng(people)
    means, truth = released_totals(
        rng, kinds=kinds, people=people, drawn=drawn, epsilon=epsilon, releases=releases
    )
    fewest = means.row_limits((1 - LEVEL) / 50)[0]
    right = np.full(releases, truth)
    missed = np.array(
        [
            not covers(replace(means.at(i), sampled=min(share, 1.0)), right[:1], LEVEL)[0]
            for i, share in enumerate(fewest / people)
        ]
    )
    assert few_errors(figure, missed)


def test_half_of_a_frame_makes_the_interval_shorter_and_no_more():
    rng = np.random.default_rng(1)
    means, truth = released_totals(
        rng, kinds=EVEN, people=2000, drawn=1000, epsilon=50, releases=2_000
    )
    right = np.full(2_000, truth)
    as_said = covers(replace(means, sampled=0.5), right, LEVEL).mean()
    assert 0.935 < as_said < 0.97
    assert covers(means, right, LEVEL).mean() > 0.985
    assert covers(replace(means, sampled=0.9), right, LEVEL).mean() < 0.8
