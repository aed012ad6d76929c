from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.infer.totals import projected_ends, total_ends
from deniable.mechanisms import Laplace
from tests.infer.simulated import (
    excludes,
    few_errors,
    laplace,
)

LEVEL = Fraction(19, 20)


def protect(*, times=1, **options):
    people = np.repeat(np.arange(3000), times)
    rows = {"id": people, "ward": np.where(people % 3, "A", "B"), "cost": people % 7 * 1.0}
    return dp.protect(
        pa.table(rows),
        name="visits",
        unit="id",
        bounds={"cost": (0, 6)},
        keys={"ward": ["A", "B"]},
        max_rows_per_unit_per_group=times,
        epsilon=1000,
        **options,
    )


@pytest.mark.parametrize(("people", "share", "epsilon"), [(40, 0.2, 0.5), (5000, 0.1, 0.1)])
def test_projected_counts_are_covered(people, share, epsilon, size, figure):
    releases = size(small=2_000, full=10_000, what="simulated counts")
    rng = np.random.default_rng(people)
    counts = rng.binomial(people, share, releases) + laplace(rng, epsilon, releases)
    noise = Laplace(epsilon=Fraction(str(epsilon))).margin()
    ends = [projected_ends(float(count), noise, share, LEVEL) for count in counts]
    assert few_errors(figure, excludes(np.array(ends).T, people))


@pytest.mark.parametrize(("people", "share", "epsilon"), [(800, 0.5, 1), (50_000, 0.05, 0.1)])
def test_projected_sums_are_covered(people, share, epsilon, size, figure):
    """Each of `people` adds 0 to 6 and is drawn with a chance of `share`."""
    releases = size(small=2_000, full=10_000, what="simulated sums")
    rng = np.random.default_rng(people)
    amounts = np.arange(7.0)
    each = people // 7
    drawn = rng.binomial(each, share, (releases, 7))
    sums = drawn @ amounts + laplace(rng, epsilon / 6, releases)
    squares = drawn @ amounts**2 + laplace(rng, epsilon / 36, releases)
    noise = Laplace(epsilon=Fraction(str(epsilon)), sensitivity=6)
    limit = Laplace(epsilon=Fraction(str(epsilon)), sensitivity=36).margin(0.998)
    ends = [
        total_ends(float(value), noise.margin(), max(square + limit, 0.0), share, LEVEL)
        for value, square in zip(sums, squares, strict=True)
    ]
    right = each * amounts.sum()
    assert few_errors(figure, excludes(np.array(ends).T, right))


@pytest.mark.parametrize("times", [1, 3])
def test_counts_and_sums_of_the_population(times):
    text = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward FOR POPULATION"
    release = protect(times=times, sample={"fraction": 0.1}).sql(text, epsilon=500)
    count, total = release.population().results[1][1], release.population().results[3][1]
    assert (count.what, total.what) == (
        "COUNT(*) of B of the population",
        "SUM(cost) of B of the population",
    )
    right = sum(person % 7 for person in range(0, 3000, 3)) * times * 10
    assert count.low < 10_000 * times < count.high
    assert total.low < right < total.high
    assert total.high - total.low < 0.3 * right
    assert "up to 3 rows" in total.target if times == 3 else "up to 1 row " in total.target


def test_sums_by_the_size_of_the_frame():
    text = "SELECT SUM(cost) AS s FROM visits FOR POPULATION"
    (found,) = protect(sample={"frame": 60_000}).sql(text, epsilon=500).population()
    assert found.low < 3 * 60_000 < found.high
    assert found.what == "SUM(cost) of the population"


def test_without_a_sample_nothing_is_charged():
    visits = protect()
    for text in ("SELECT COUNT(*) AS n", "SELECT SUM(cost) AS s"):
        with pytest.raises(InvalidQuery, match="sample of unknown size"):
            visits.sql(f"{text} FROM visits FOR POPULATION", epsilon=1)
    framed = protect(sample={"frame": 60_000})
    with pytest.raises(InvalidQuery, match="needs the `fraction`"):
        framed.sql("SELECT COUNT(*) AS n FROM visits FOR POPULATION", epsilon=1)
    assert str(visits.remaining) == str(framed.remaining) == "epsilon 1000, delta 0"


def test_what_is_missing_is_said():
    release = protect().sql("SELECT SUM(cost) AS s FROM visits", epsilon=1)
    with pytest.raises(InvalidParameter, match=r"asks for SUM\(\(cost \* cost\)\) beside it"):
        release.population(fraction=0.1)
    framed = protect(sample={"frame": 60_000}).sql(
        "SELECT SUM(cost) AS s FROM visits", epsilon=1
    )
    with pytest.raises(InvalidParameter, match="AVG and COUNT of the same"):
        framed.population()


def test_counts_of_groups_that_were_found_are_refused():
    rows = pa.table({"id": range(900), "ward": ["A", "B", "C"] * 300})
    visits = dp.protect(rows, name="visits", unit="id", epsilon=10, delta=1e-6)
    release = visits.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=5)
    with pytest.raises(InvalidParameter, match="were found in the data"):
        release.population(fraction=0.1)


def test_the_target_of_a_sum_over_units_claims_no_number_of_rows():
    rows = pa.table({"id": [n // 3 for n in range(900)], "cost": [5.0] * 900})
    people = dp.protect(
        rows,
        name="v",
        unit="id",
        bounds={"cost": (0, 10)},
        epsilon=10,
        max_rows_per_unit_per_group=3,
        sample={"fraction": 0.5},
    )
    (found,) = people.sql("SELECT SUM(cost) AS s FROM v FOR POPULATION", epsilon=5).population()
    assert found.target.endswith("one id counts with up to its limit of rows")
    (mean,) = people.sql("SELECT AVG(cost) AS m FROM v FOR POPULATION", epsilon=5).population()
    assert mean.target.endswith("one id counts with up to 3 rows in 1 group")
