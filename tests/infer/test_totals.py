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
    (estimate,) = protect(sample={"frame": 60_000}).sql(text, epsilon=500).population()
    assert estimate.low < 3 * 60_000 < estimate.high
    assert estimate.what == "SUM(cost) of the population"


def test_without_a_sample_nothing_is_charged():
    visits = protect()
    for text in ("SELECT COUNT(*) AS n", "SELECT SUM(cost) AS s"):
        with pytest.raises(InvalidQuery, match="sample of unknown size"):
            visits.sql(f"{text} FROM visits FOR POPULATION", epsilon=1)
    framed = protect(sample={"frame": 60_000})
    with pytest.raises(InvalidQuery, match="is the `frame` of visits, which is declared"):
        framed.sql("SELECT COUNT(*) AS n FROM visits FOR POPULATION", epsilon=1)
    assert str(visits.remaining) == str(framed.remaining) == "epsilon 1000, delta 0"


def test_what_is_missing_is_said():
    release = protect().sql("SELECT SUM(cost) AS s FROM visits", epsilon=1)
    with pytest.raises(InvalidParameter, match=r"asks for SUM\(\(cost \* cost\)\) beside it"):
        release.population(fraction=0.1)
    framed = protect(sample={"frame": 60_000}).sql(
        "SELECT SUM(cost) AS s FROM visits", epsilon=1
    )
    with pytest.raises(InvalidParameter, match="all that were drawn are counted beside it"):
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
    (estimate,) = people.sql(
        "SELECT SUM(cost) AS s FROM v FOR POPULATION", epsilon=5
    ).population()
    assert estimate.target.endswith("one id counts with up to its limit of rows")
    (mean,) = people.sql("SELECT AVG(cost) AS m FROM v FOR POPULATION", epsilon=5).population()
    assert mean.target.endswith("one id counts with up to 3 rows in 1 group")


def framed_sum(question, *, times=1, epsilon=1000, **options):
    sample = {"frame": 60_000, **options}
    data = protect(times=times, sample=sample)
    return list(data.sql(f"{question} FOR POPULATION", epsilon=epsilon).population())


@pytest.mark.parametrize("times", [1, 4])
def test_sums_and_counts_of_whole_units_by_the_number_of_units(times):
    """3,000 of 60,000 persons were drawn, with `times` rows each that are alike."""
    (cost,) = framed_sum("SELECT SUM(cost) AS s FROM visits", times=times, clustered=True)
    spread = 60_000 * np.std(np.arange(3000) % 7) * times / np.sqrt(3000)
    assert cost.value == pytest.approx(20 * times * (np.arange(3000) % 7).sum(), rel=0.001)
    assert cost.margin == pytest.approx(1.98 * spread * np.sqrt(1 - 0.05), rel=0.03)
    assert "are a random sample of whole units" in cost.target
    if times > 1:
        (rows,) = framed_sum("SELECT COUNT(*) AS n FROM visits", times=times, clustered=True)
        assert rows.what == "COUNT(*) of the population"
        assert rows.low <= 240_000 <= rows.high
        assert rows.margin < 4000  # all have as many


@pytest.mark.parametrize("times", [1, 2])
def test_a_large_part_of_the_frame_makes_the_error_of_a_sum_smaller(times):
    """3,000 of 5,000 units were drawn: with no noise to speak of, the error is sqrt(0.4) times
    that of a small part, and what few units that were not drawn may add."""
    text = "SELECT SUM(cost) AS s FROM visits FOR POPULATION"
    data = protect(times=times, sample={"frame": 5000, "clustered": True})
    (cost,) = data.sql(text, epsilon=900).population()
    spread = 5000 * np.std(np.arange(3000) % 7) * times / np.sqrt(3000)
    few = 1.96 * (1 + 0.4) / 2 * 3 * times * 5000 / 3000
    assert cost.margin == pytest.approx(1.99 * spread * np.sqrt(0.4) + few, rel=0.02)


@pytest.mark.parametrize("sign", [1, -1])
def test_missing_values_add_0_also_if_the_bounds_do_not_hold_it(sign):
    """Half of 4,000 values are missing, and the others are 5: the mean of all is 2.5. What one
    row adds to the second sum is noisy by itself, and known to be from 4 to 6."""
    x = [sign * 5.0 if n % 2 else None for n in range(4000)]
    bounds = (4, 6) if sign > 0 else (-6, -4)
    data = dp.protect(
        pa.table({"id": range(4000), "x": x, "y": x}),
        name="v",
        unit="id",
        bounds={"x": bounds, "y": bounds},
        epsilon=3000,
        sample={"frame": 8000},
    )
    question = "SELECT SUM(x) AS s, SUM(y) AS t FROM v FOR POPULATION"
    totals = list(data.sql(question, epsilon=2000).population())
    assert [result.what[:6] for result in totals] == ["SUM(x)", "SUM(y)"]
    for result in totals:
        assert result.value == pytest.approx(sign * 20_000, rel=0.001)
        assert result.low < sign * 20_000 < result.high
        assert result.margin == pytest.approx(1.99 * 8000 * 2.5 * np.sqrt(0.5 / 4000), rel=0.1)


def test_a_frame_may_be_known_for_each_stratum():
    text = "SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward"
    by = {"frame": {"A": 20_000, "B": 4_000}, "by": "ward", "clustered": True}
    totals = framed_sum(text, times=2, **by)
    for result, frame, people in zip(
        totals,
        (20_000, 4_000),
        (np.arange(3000) % 3 > 0, np.arange(3000) % 3 == 0),
        strict=True,
    ):
        mean = 2 * (np.arange(3000) % 7)[people].mean()
        assert result.low < frame * mean < result.high
        assert result.value == pytest.approx(frame * mean, rel=0.01)


def test_rows_without_a_value_add_nothing_to_the_sum_of_a_frame():
    """Half of all costs are missing: the population's sum is that of the others."""
    rows = pa.table(
        {
            "id": range(3000),
            "cost": [float(n % 7) if n % 2 else None for n in range(3000)],
        }
    )
    data = dp.protect(
        rows,
        name="v",
        unit="id",
        bounds={"cost": (0, 6)},
        epsilon=900,
        sample={"frame": 60_000},
    )
    (cost,) = data.sql("SELECT SUM(cost) AS s FROM v FOR POPULATION", epsilon=300).population()
    assert cost.low < 20 * sum(n % 7 for n in range(1, 3000, 2)) < cost.high < 100_000
    (known,) = data.sql(
        "SELECT COUNT(cost) AS n FROM v FOR POPULATION", epsilon=300
    ).population()
    assert 28_500 < known.low < 30_000 < known.high < 31_500


def test_some_rows_of_a_frame_are_refused_before_the_charge():
    visits = protect(sample={"frame": 60_000, "clustered": True})
    for text, advice in (
        (
            "SELECT SUM(cost) AS s FROM visits WHERE ward = 'A'",
            r"SUM\(cost\) .* THEN cost ELSE",
        ),
        ("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", r"SUM\(cost\)"),
        ("SELECT SUM(1) AS s FROM visits WHERE ward = 'A'", r"SUM\(1\) .* COUNT\(CASE WHEN"),
        ("SELECT COUNT(*) AS s FROM visits WHERE ward = 'A'", r".* COUNT\(CASE WHEN"),
    ):
        with pytest.raises(InvalidQuery, match=f"write into {advice}"):
            visits.sql(f"{text} FOR POPULATION", epsilon=1)
    assert str(visits.remaining) == "epsilon 1000, delta 0"
    text = "SELECT SUM(CASE WHEN ward = 'A' THEN cost ELSE 0 END) AS s FROM visits"
    (total,) = visits.sql(f"{text} FOR POPULATION", epsilon=500).population()
    assert total.low < 20 * sum(n % 7 for n in range(3000) if n % 3) < total.high
    rows = protect(times=2, sample={"frame": 60_000})
    with pytest.raises(InvalidQuery, match="needs the `fraction`"):
        rows.sql("SELECT SUM(cost) AS s FROM visits FOR POPULATION", epsilon=1)
