from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from tests.infer.simulated import (
    covers,
    few_errors,
    laplace,
    released_shares,
)

LEVEL = Fraction(19, 20)
SHARES = "SELECT ward, COUNT(sick) AS n, AVG(sick) AS s FROM visits GROUP BY ward"


def protect(**options):
    rows = {"id": list(range(2000)), "ward": ["A", "B"] * 1000, "sick": [1, 0, 0, 0] * 500}
    return dp.protect(
        pa.table(rows),
        name="visits",
        unit="id",
        bounds={"sick": (0, 1)},
        keys={"ward": ["A", "B"]},
        epsilon=100,
        **options,
    )


def test_shares_of_the_population_with_both_errors():
    estimates = protect().sql(SHARES, epsilon=5).population()
    assert len(estimates) == 2
    assert estimates["A"].low < 0.5 < estimates["A"].high
    assert estimates["B"].low == pytest.approx(0, abs=1e-6)
    assert estimates["A"].high - estimates["A"].low == pytest.approx(0.063, abs=0.004)
    assert str(estimates).splitlines()[-1] == (
        "Target: the population, of which the ids are independent draws; values are cut as "
        "declared, and one id counts with up to 1 row in 1 group."
    )
    table = estimates.to_arrow()
    assert table["value"].to_pylist() == [estimate.value for estimate in estimates]
    assert table.column_names[-1] == "sampling_high"


def test_a_large_sample_has_less_error():
    release = protect().sql(SHARES, epsilon=5)
    free, half, whole = (
        release.population(fraction=share)["A"] for share in (None, Fraction(3, 4), 1)
    )
    assert half.high - half.low < 0.6 * (free.high - free.low)
    assert whole.high - whole.low < 0.2 * (free.high - free.low)
    assert "simple random sample" in half.target
    strata = release.population(fraction={"A": 0.75, "B": 0.1})
    assert strata["A"].interval == half.interval


def test_counts_need_the_fraction():
    release = protect().sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=5)
    with pytest.raises(InvalidParameter, match="need the sampling fraction"):
        release.population()
    with pytest.raises(InvalidParameter, match="needs the sampling fraction"):
        release.population("n")
    estimate = release.population(fraction=0.1)["A"]
    assert estimate.low < 10_000 < estimate.high
    assert estimate.noise[1] - estimate.noise[0] < 0.1 * (estimate.high - estimate.low)
    with pytest.raises(InvalidParameter, match=r"at most 1\. Found 2"):
        release.population(fraction=2)


def test_several_rows_of_a_person_count_as_if_they_were_equal():
    single, double = (
        protect(max_rows_per_unit_per_group=rows).sql(SHARES, epsilon=20).population()["A"]
        for rows in (1, 2)
    )
    assert double.high - double.low == pytest.approx(
        2**0.5 * (single.high - single.low), rel=0.1
    )
    assert "One unit may have 2 rows here" in double.notes[0]
    counts = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    single, double = (
        protect(max_rows_per_unit_per_group=rows)
        .sql(counts, epsilon=20)
        .population(fraction=0.5)["A"]
        for rows in (1, 2)
    )
    assert double.high - double.low == pytest.approx(
        2**0.5 * (single.high - single.low), rel=0.1
    )


def test_strata_of_the_policy_have_fractions_of_their_own():
    strata = {"by": "ward", "fraction": {"A": 0.75, "B": 0.1}}
    declared = protect(sample=strata).sql(SHARES, epsilon=20).population()
    given = protect().sql(SHARES, epsilon=20).population(fraction={"A": 0.75, "B": 0.1})
    for ward in "AB":
        assert declared[ward].high - declared[ward].low == pytest.approx(
            given[ward].high - given[ward].low, rel=0.05
        )
    assert "in strata of ward" in declared["A"].target
    text = "SELECT COUNT(sick) AS n, AVG(sick) AS s FROM visits"
    with pytest.raises(InvalidParameter, match="Group by ward"):
        protect(sample=strata).sql(text, epsilon=1).population()


def test_the_printed_answer_says_what_was_asked_for_the_population():
    text = "SELECT ward, AVG(sick) AS s FROM visits GROUP BY ward FOR POPULATION"
    release = protect().sql(text, epsilon=5)
    assert release.for_population
    assert str(release).endswith(str(release.population()))
    assert "AVG(sick) of A" in str(release)
    assert not protect().sql(SHARES, epsilon=5).for_population


def test_the_finite_population_is_covered(size, figure):
    """A simple random sample of 60 % of 1,000 persons: the correction is not too large."""
    from dataclasses import replace

    releases = size(small=2_000, full=10_000, what="simulated samples")
    rng = np.random.default_rng(3)
    having = rng.hypergeometric(300, 700, 600, releases)
    shares = released_shares(rng, units=600, share=0.3, epsilon=1, releases=releases)
    above = having + laplace(rng, 1, releases)
    below = above + 600 - having + laplace(rng, 1, releases)
    shares = replace(shares, above=above.astype(float), below=below.astype(float), sampled=0.6)
    covered = covers(shares, np.full(releases, 0.3), LEVEL)
    assert few_errors(figure, ~covered)
    assert covered.mean() < 0.99
