"""Persons with several rows: their sums of squares, and what they say."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.infer.groups.readings import read
from deniable.infer.groups.unit_squares import numbers, rows_of_unit
from tests.infer.simulated import (
    covers,
    equal_rows,
    few_errors,
    released_clusters,
    true_mean,
)

LEVEL = Fraction(19, 20)
# Those who come often are sick more often, so sums and numbers of rows go together.
UNEVEN = [(0.5, 0, 1), (0.2, 1, 1), (0.1, 1, 5), (0.15, 5, 5), (0.05, 0, 8)]
DESIGNS = [
    (units, epsilon, most, kinds)
    for units in (50, 1000, 50_000)
    for epsilon in (0.1, 1, 5)
    for most, kinds in (
        (10, [(0.3, 10, 10), (0.7, 0, 10)]),
        (4, equal_rows(4, 0.05)),
        (8, UNEVEN),
    )
]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("units", "epsilon", "most", "kinds"), DESIGNS)
@pytest.mark.parametrize("moments", [True, False])
def test_persons_with_several_rows_are_covered(
    units, epsilon, most, kinds, moments, size, figure
):
    releases = size(small=1_000, full=10_000, what="simulated clusters")
    rng = np.random.default_rng(units + most)
    clusters = released_clusters(
        rng,
        kinds=kinds,
        units=units,
        most=most,
        epsilon=epsilon,
        releases=releases,
        moments=moments,
    )
    right = np.full(releases, true_mean(kinds))
    plain = replace(clusters, cluster=1.0, moments=None)  # all rows are independent
    assert few_errors(figure, ~covers(clusters, right, LEVEL), ~covers(plain, right, LEVEL))


def test_ten_equal_rows_taken_for_ten_persons_are_covered_half_of_the_time(size):
    releases = size(small=1_000, full=10_000, what="simulated clusters")
    kinds = [(0.3, 10, 10), (0.7, 0, 10)]
    rng = np.random.default_rng(3)
    clusters = released_clusters(
        rng, kinds=kinds, units=1000, most=10, epsilon=5, releases=releases, moments=False
    )
    naive = covers(replace(clusters, cluster=1.0), np.full(releases, 0.3), LEVEL).mean()
    assert 0.4 < naive < 0.55
    assert covers(clusters, np.full(releases, 0.3), LEVEL).mean() > 0.94


def test_moments_make_intervals_shorter_if_rows_of_a_person_differ():
    from deniable.infer.groups.mean_intervals import population_ends

    kinds = [(0.25, 1, 4), (0.5, 2, 4), (0.25, 3, 4)]
    widths = []
    for moments in (True, False):
        rng = np.random.default_rng(5)
        clusters = released_clusters(
            rng,
            kinds=kinds,
            units=50_000,
            most=4,
            epsilon=1,
            releases=20,
            moments=moments,
        )
        low, high = population_ends(clusters, LEVEL)
        widths.append(float((high - low).mean()))
    assert widths[0] < 0.6 * widths[1]


@pytest.fixture(scope="module")
def visits():
    people = np.repeat(np.arange(2000), 3)
    rows = pa.table(
        {
            "id": people,
            "ward": np.where(people % 2, "A", "B"),
            "cost": (people % 5 * 10).astype(float),
            "weight": (people % 3).astype(float),
        }
    )
    return dp.protect(
        rows,
        name="visits",
        unit="id",
        bounds={"cost": (0, 50), "weight": (0, 2)},
        keys={"ward": ["A", "B"]},
        max_rows_per_unit_per_group=4,
        epsilon=10_000,
    )


def test_the_sums_over_persons_are_what_the_rows_say(visits):
    text = "SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward FOR POPULATION"
    release = visits.sql(text, epsilon=1000)
    means = read(release, "cost", None)
    cost = np.arange(1, 2000, 2) % 5 * 10.0  # of ward A
    expected = [(9 * cost**2).sum(), (9 * cost).sum(), 9.0 * cost.size]
    assert [float(number[0]) for number in means.moments.sums] == pytest.approx(
        expected, rel=0.01
    )
    assert means.cluster == 4
    assert (means.low, means.high) == (0.0, 50.0)
    assert means.what == "AVG(cost)"
    assert rows_of_unit(release.plan) == 4
    assert numbers(release, "cost")[0] == pytest.approx(20, abs=0.1)


def test_one_person_moves_the_sums_by_what_is_declared(visits):
    """(m B)**2, m**2 B and m**2, checked by the kernel before anything runs."""
    text = "SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward FOR POPULATION"
    plan = visits.plan(text, epsilon=1)
    steps = [float(block.reach.high * block.mechanism.step) for block in plan.blocks]
    scales = {
        output.name: block for output, block in zip(plan.outputs[2:], plan.blocks, strict=True)
    }
    assert list(scales) == [
        "cost: sum",
        "cost: rows",
        "cost: sum sum",
        "cost: sum rows",
        "cost: rows rows",
    ]
    assert len(steps) == 5
    assert plan.max_rows_per_unit_per_group == 1
    shown = str(visits.explain(text, epsilon=1))
    for line in ("cut to 0 to 40000", "cut to 0 to 800 ", "cut to 0 to 16 "):
        assert line in shown


def test_weights_of_rows_are_bounded_sums(visits):
    text = "SELECT SUM(weight * cost) / SUM(weight) AS m FROM visits FOR POPULATION"
    release = visits.sql(text, epsilon=1000)
    people = np.arange(2000)
    weight, cost = people % 3, people % 5 * 10.0
    (estimate,) = release.population()
    right = float((weight * cost).sum() / weight.sum())
    assert estimate.low < right < estimate.high
    assert estimate.high - estimate.low < 4
    assert estimate.what == "(SUM((weight * cost)) / SUM(weight))"
