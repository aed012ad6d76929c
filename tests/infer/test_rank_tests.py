import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.rank_tests import ranks_p
from tests.infer.simulated import ENOUGH, at_most, noisy_counts

EVEN, RARE = [0.2] * 5, [0.9, 0.05, 0.03, 0.01, 0.01]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("shares", [EVEN, RARE], ids=["even", "rare"])
@pytest.mark.parametrize(("units", "epsilon"), [(60, 0.1), (60, 5), (1000, 0.1), (50_000, 2)])
def test_equal_groups_seldom_seem_to_differ(units, epsilon, shares, size):
    releases = size(small=30, full=10_000, what="simulated histograms")
    rng = np.random.default_rng(units)
    wrong = 0
    for _ in range(releases):
        cells = [rng.multinomial(many, shares) for many in (units // 4, units)]
        counts = noisy_counts(rng, cells, epsilon)
        table = counts.values.reshape(2, 5)
        wrong += ranks_p(table, counts, enough=ENOUGH)[1] <= 0.05
    assert at_most(wrong / releases, releases)


def test_a_shift_is_found():
    rng = np.random.default_rng(3)
    cells = [rng.multinomial(500, EVEN), rng.multinomial(500, [0.1, 0.15, 0.2, 0.25, 0.3])]
    counts = noisy_counts(rng, cells, 0.2)
    assert ranks_p(counts.values.reshape(2, 5), counts)[1] < 0.01


def test_a_release_with_two_groups_is_needed():
    rows = pa.table({"ward": ["A", "B", "C"] * 200, "pain": [0, 1, 1, 0] * 150})
    keys = {"ward": ["A", "B", "C"], "pain": [0, 1]}
    visits = dp.protect(rows, name="visits", keys=keys, epsilon=10)
    text = "SELECT ward, pain, COUNT(*) AS n FROM visits GROUP BY ward, pain"
    with pytest.raises(InvalidParameter, match="The first key has 3 values"):
        infer.rank_test(visits.sql(text, epsilon=5))
