from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.groups.mean_intervals import population_ends
from deniable.infer.groups.weighted_sums import weighted_ends
from tests.infer.simulated import (
    excludes,
    few_errors,
    laplace,
    released_shares,
)

ROWS = pa.table({"region": ["N", "S"] * 2000, "ill": [1, 0, 0, 0] * 1000})
TEXT = "SELECT region, COUNT(ill) AS n, AVG(ill) AS share FROM v GROUP BY region"


def protect(**options):
    keys = {"region": ["N", "S"]}
    return dp.protect(ROWS, name="v", bounds={"ill": (0, 1)}, keys=keys, epsilon=100, **options)


def test_strata_are_weighed_by_their_size():
    release = protect(sample={"by": "region", "frame": {"N": 9000, "S": 3000}}).sql(
        TEXT, epsilon=20
    )
    declared, given = infer.weighted(release), infer.weighted(release, {"N": 3, "S": 1})
    assert declared.interval == given.interval
    assert declared.low < 0.375 < declared.high
    assert declared.high - declared.low < 0.03
    free = infer.weighted(protect().sql(TEXT, epsilon=20), {"N": 3, "S": 1})
    assert declared.high - declared.low < 0.95 * (free.high - free.low)


def test_wrong_weights_are_refused():
    release = protect().sql(TEXT, epsilon=1)
    with pytest.raises(InvalidParameter, match="declare the frame"):
        infer.weighted(release)
    with pytest.raises(InvalidParameter, match="must not be negative"):
        infer.weighted(release, {"N": 2, "S": -1})
    with pytest.raises(InvalidParameter, match="`weights` must be finite"):
        infer.weighted(release, {"N": 2, "S": float("nan")})
    counts = protect().sql("SELECT region, COUNT(*) AS n FROM v GROUP BY region", epsilon=1)
    with pytest.raises(InvalidParameter, match="needs means or shares"):
        infer.weighted(counts, {"N": 1, "S": 1})


def test_frames_of_units_are_no_weights_of_rows():
    rows = pa.table(
        {
            "id": [n // 2 for n in range(4000)],
            "region": ["NS"[n // 2 % 2] for n in range(4000)],
            "ill": [int(n % 4 == 0) for n in range(4000)],
        }
    )
    people = dp.protect(
        rows,
        name="v",
        unit="id",
        bounds={"ill": (0, 1)},
        keys={"region": ["N", "S"]},
        max_rows_per_unit_per_group=2,
        epsilon=100,
        sample={"by": "region", "frame": {"N": 9000, "S": 3000}, "clustered": True},
    )
    release = people.sql(TEXT, epsilon=50)
    with pytest.raises(InvalidParameter, match="counts ids, and this mean is over rows"):
        infer.weighted(release)
    mean = infer.weighted(release, {"N": 1, "S": 1})
    assert mean.low < 0.25 < mean.high


def framed(rows=1):
    """More of the old are in S, and values are missing in N."""
    table = pa.table(
        {
            "id": [n // rows for n in range(4000)],
            "region": ["NS"[n // 2 % 2] for n in range(4000)],
            "age": [70 if n % (4 if n // 2 % 2 else 20) == 0 else 30 for n in range(4000)],
            "x": [None if n // 2 % 2 == 0 and n % 3 else 1.0 + n // 2 % 2 for n in range(4000)],
        }
    )
    return dp.protect(
        table,
        name="v",
        unit="id",
        max_rows_per_unit_per_group=rows,
        bounds={"x": (0, 6), "age": (0, 100)},
        keys={"region": ["N", "S"]},
        epsilon=1000,
        sample={"by": "region", "frame": {"N": 9000, "S": 3000}},
    )


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT region, AVG(x) AS s, COUNT(x) AS n FROM v WHERE age > 60 GROUP BY region",
        "SELECT region, AVG(x) AS s FROM v WHERE age > 60 GROUP BY region FOR POPULATION",
        "SELECT region, AVG(x) AS s FROM v WHERE x IS NOT NULL GROUP BY region FOR POPULATION",
        "SELECT region, AVG(x) AS s, COUNT(x) AS n FROM (SELECT * FROM v WHERE age > 60) AS t "
        "GROUP BY region",
    ],
)
def test_a_frame_gives_no_weights_of_some_of_its_rows(text, rows):
    release = framed(rows).sql(text, epsilon=50)
    with pytest.raises(InvalidParameter, match="this question leaves out some"):
        infer.weighted(release, value="s")
    mean = infer.weighted(release, {"N": 1, "S": 1}, value="s")
    assert mean.low < 1.5 < mean.high
    assert mean.target.endswith("each weighted by the weight that was given")


def test_a_frame_gives_no_weights_of_ratios():
    text = "SELECT region, SUM(age * x) / SUM(age) AS s FROM v GROUP BY region FOR POPULATION"
    release = framed().sql(text, epsilon=50)
    with pytest.raises(InvalidParameter, match="is no mean over rows"):
        infer.weighted(release)
    assert infer.weighted(release, {"N": 1, "S": 1}).value > 0


def test_what_is_weighted_is_said():
    """In N two thirds of the values are missing: the frame does not say so."""
    text = "SELECT region, AVG(x) AS s FROM v GROUP BY region FOR POPULATION"
    mean = infer.weighted(framed().sql(text, epsilon=50))
    assert mean.low < 0.75 * 1 + 0.25 * 2 < mean.high
    assert mean.target.endswith(
        "it is the mean of the groups' means, each weighted by its size in the frame"
    )


def missed_strata(rows, *, epsilon, releases, seed):
    """For each simulated release of strata (persons, those with the outcome, sampled ones),
    whether the interval of all strata together misses their share."""
    rng = np.random.default_rng(seed)
    strata = []
    for people, having, drawn in rows:
        ill = rng.hypergeometric(having, people - having, drawn, releases)
        above = (ill + laplace(rng, epsilon, releases)).astype(float)
        others = drawn - ill + laplace(rng, epsilon, releases)
        bare = released_shares(rng, units=1, share=0.5, epsilon=epsilon, releases=releases)
        strata.append(replace(bare, above=above, below=above + others, sampled=drawn / people))
    people, having, _ = np.array(rows, dtype=float).T
    weights, truth = people / people.sum(), having.sum() / people.sum()
    level = Fraction(19, 20)
    ends = [
        weighted_ends([part.at(i) for part in strata], weights, population_ends, level).ends
        for i in range(releases)
    ]
    return excludes(np.array(ends).T, truth)


@pytest.mark.parametrize("times", [1, 50])
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_stratified_samples_are_covered(epsilon, times, size, figure):
    """60 % of 1,000 persons and 5 % of 8,000, with different shares; or of 50 times as many."""
    releases = size(small=60, full=10_000, what="simulated stratified samples")
    rows = times * np.array([(1000, 700, 600), (8000, 800, 400)])
    missed = missed_strata(rows.tolist(), epsilon=epsilon, releases=releases, seed=8)
    assert few_errors(figure, missed)


@pytest.mark.parametrize("epsilon", [0.1, 1, 6])
@pytest.mark.parametrize("fractions", [(0.5, 0.75), (0.97, 0.97), (0.1, 0.8)])
def test_rare_outcomes_of_strata_are_covered(epsilon, fractions, size, figure):
    """Three of 1,000 persons and two of 400 have the outcome: often all are in the sample. At a
    small epsilon, noisy counts are often negative."""
    releases = size(small=50, full=2_000, what="simulated stratified samples")
    strata = ((1000, 3), (400, 2))
    rows = [(*s, round(s[0] * f)) for s, f in zip(strata, fractions, strict=True)]
    missed = missed_strata(rows, epsilon=epsilon, releases=releases, seed=9)
    assert few_errors(figure, missed)
