from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.groups.mean_intervals import combine_ends, population_ends
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


@pytest.mark.parametrize("times", [1, 50])
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_stratified_samples_are_covered(epsilon, times, size, figure):
    """60 % of 1,000 persons and 5 % of 8,000, with different shares; or of 50 times as many."""
    releases = size(small=500, full=10_000, what="simulated stratified samples")
    rng = np.random.default_rng(8)
    strata = []
    for row in ((1000, 700, 600), (8000, 800, 400)):
        people, having, drawn = (times * number for number in row)
        ill = rng.hypergeometric(having, people - having, drawn, releases)
        above = (ill + laplace(rng, epsilon, releases)).astype(float)
        others = drawn - ill + laplace(rng, epsilon, releases)
        bare = released_shares(rng, units=1, share=0.5, epsilon=epsilon, releases=releases)
        found = replace(bare, above=above, below=above + others, sampled=drawn / people)
        strata.append((found.values, *population_ends(found, Fraction(19, 20))))
    values, low, high = (np.array(parts).T for parts in zip(*strata, strict=True))
    ends = [combine_ends([1 / 9, 8 / 9], *row) for row in zip(values, low, high, strict=True)]
    assert few_errors(figure, excludes(np.array(ends).T, 1500 / 9000))
