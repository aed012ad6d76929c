from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.infer.mean_intervals import covers
from deniable.infer.population import projected_ends
from deniable.mechanisms import Laplace
from tests.infer.simulated import at_most, laplace, released_shares

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
    found = protect().sql(SHARES, epsilon=5).population()
    assert len(found) == 2
    assert found["A"].low < 0.5 < found["A"].high
    assert found["B"].low == pytest.approx(0, abs=1e-6)
    assert found["A"].high - found["A"].low == pytest.approx(0.063, abs=0.004)
    assert str(found).splitlines()[-1] == (
        "Target: the population, of which the rows are independent draws."
    )
    table = found.to_arrow()
    assert table["value"].to_pylist() == [one.value for one in found]
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
    with pytest.raises(InvalidParameter, match="need the sampling fraction"):
        release.population("n")
    found = release.population(fraction=0.1)["A"]
    assert found.low < 10_000 < found.high
    assert found.noise[1] - found.noise[0] < 0.1 * (found.high - found.low)
    with pytest.raises(InvalidParameter, match=r"at most 1\. Found 2"):
        release.population(fraction=2)


def test_sums_and_several_rows_are_refused_in_words():
    text = "SELECT ward, SUM(sick) AS s FROM visits GROUP BY ward"
    with pytest.raises(InvalidParameter, match="Ask for AVG and COUNT"):
        protect().sql(text, epsilon=1).population(fraction=0.5)
    visits = protect(max_rows_per_unit_per_group=2)
    with pytest.raises(InvalidParameter, match="One id may have 2 rows"):
        visits.sql(SHARES, epsilon=1).population()
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    with pytest.raises(InvalidParameter, match="One id may have 2 rows"):
        visits.sql(text, epsilon=1).population(fraction=0.5)


def test_the_finite_population_is_covered(size):
    """A simple random sample of 60 % of 1,000 persons: the correction is not too large."""
    from dataclasses import replace

    releases = size(small=2_000, full=10_000, what="simulated samples")
    rng = np.random.default_rng(3)
    having = rng.hypergeometric(300, 700, 600, releases)
    found = released_shares(rng, units=600, share=0.3, epsilon=1, releases=releases)
    above = having + laplace(rng, 1, releases)
    below = above + 600 - having + laplace(rng, 1, releases)
    found = replace(found, above=above.astype(float), below=below.astype(float), sampled=0.6)
    covered = covers(found, np.full(releases, 0.3), LEVEL).mean()
    assert at_most(1 - covered, releases)
    assert covered < 0.99


@pytest.mark.parametrize(("people", "share", "epsilon"), [(40, 0.2, 0.5), (5000, 0.1, 0.1)])
def test_projected_counts_are_covered(people, share, epsilon, size):
    releases = size(small=2_000, full=10_000, what="simulated counts")
    rng = np.random.default_rng(people)
    counts = rng.binomial(people, share, releases) + laplace(rng, epsilon, releases)
    noise = Laplace(epsilon=Fraction(str(epsilon))).margin()
    ends = [projected_ends(float(count), noise, share, LEVEL) for count in counts]
    missed = np.mean([not low <= people <= high for low, high in ends])
    assert at_most(missed, releases)
