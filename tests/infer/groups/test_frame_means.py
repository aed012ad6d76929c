"""Sums over a population of a known number of units, of which some were drawn whole."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.infer.groups.frame_means import mean_of_drawn
from deniable.infer.groups.group_means import GroupMeans, NoisePart, UnitMoments
from deniable.infer.groups.readings import GroupAmounts, read
from deniable.mechanisms import Laplace
from deniable.query.margins.noise_quantiles import moments
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
        sparse=True,
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


@cache
def planned(epsilon, rows, bounds=(0, 1)):
    """One release of a sum by a frame, with the noise that the planner chose."""
    table = pa.table({"id": [n // rows for n in range(40)], "x": [bounds[1] * 1.0] * 40})
    data = dp.protect(
        table,
        name="v",
        unit="id",
        bounds={"x": bounds},
        epsilon=1000,
        max_rows_per_unit_per_group=rows,
        sample={"frame": 1000, "clustered": True},
    )
    release = data.sql("SELECT SUM(x) AS s FROM v FOR POPULATION", epsilon=epsilon)
    amounts = read(release, "s", None)
    assert isinstance(amounts, GroupAmounts)
    return mean_of_drawn(release, amounts)


def released_by_plan(rng, plan, *, amounts, sizes, drawn, releases):
    """Sums over `drawn` of all units, with that noise: `amounts` says what one unit adds."""
    counts = rng.multivariate_hypergeometric(sizes, drawn, releases)

    def draw(noise):
        scale = np.sqrt(moments(noise)[0] / 2)
        return rng.laplace(0, scale, releases)

    own = [(part, draw(part.noise)) for part in plan.parts]
    above = counts @ amounts + sum(float(part.above) * noise for part, noise in own)
    below = drawn + sum(float(part.below) * noise for part, noise in own)
    ((noise, weight),) = plan.moments.noises[0]
    squares = counts @ amounts**2 + weight * draw(noise)
    keys = tuple(range(releases))
    known = replace(plan.moments, sums=(squares, above, below))
    return replace(plan, groups=keys, above=above, below=below, moments=known)


# What units add, and how many of each kind are expected in the sample.
RARE = [
    *([(1.0, few)] for few in (2, 5, 10, 20, 80)),
    [(0.5, 10), (1.0, 2)],
    [(0.1, 200), (1.0, 3)],
]


def missed_sums(kinds, *, share, epsilon, rows, releases, sign=1):
    """For each release of 20,000 units that were drawn, of which few add something, whether
    the interval of the sum misses."""
    people, drawn = round(20_000 / share), 20_000
    adding = [round(few / share) for _, few in kinds]
    amounts = np.array([0.0, *(sign * rows * part for part, _ in kinds)])
    sizes = np.array([people - sum(adding), *adding])
    plan = planned(epsilon, rows, (0, 1) if sign > 0 else (-1, 0))
    means = released_by_plan(
        np.random.default_rng(5),
        plan,
        amounts=amounts,
        sizes=sizes,
        drawn=drawn,
        releases=releases,
    )
    fewest = means.row_limits((1 - LEVEL) / 50)[0]
    sampled = replace(means, sampled=np.minimum(fewest / people, 1.0))
    return ~covers(sampled, np.full(releases, sizes @ amounts / people), LEVEL)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("epsilon", [1, 5, 20, 100])
@pytest.mark.parametrize("share", [0.05, 0.6, 0.9])
@pytest.mark.parametrize("kinds", RARE)
def test_sums_to_which_few_units_add_are_covered(kinds, share, epsilon, rows, size, figure):
    releases = size(small=2_000, full=20_000, what="simulated samples of whole units")
    missed = missed_sums(kinds, share=share, epsilon=epsilon, rows=rows, releases=releases)
    assert few_errors(figure, missed)


@pytest.mark.parametrize("kinds", RARE[:3])
def test_few_units_may_add_what_is_negative(kinds, size, figure):
    releases = size(small=10_000, full=20_000, what="simulated samples of whole units")
    missed = missed_sums(kinds, share=0.05, epsilon=100, rows=1, releases=releases, sign=-1)
    assert few_errors(figure, missed)


def test_few_that_add_nothing_are_covered_too(size, figure):
    """All but a few units add the most."""
    releases = size(small=2_000, full=20_000, what="simulated samples of whole units")
    rng = np.random.default_rng(6)
    kinds = np.array([0.0, 1.0]), np.array([100, 399_900])
    drawn_means = released_by_plan(
        rng, planned(100, 1), amounts=kinds[0], sizes=kinds[1], drawn=20_000, releases=releases
    )
    right = np.full(releases, 1 - 100 / 400_000)
    sampled = replace(drawn_means, sampled=0.05)
    assert few_errors(figure, ~covers(sampled, right, LEVEL))


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
