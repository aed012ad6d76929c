from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.errors import InvalidData
from deniable.mechanisms import OUE, SubsetSelection
from deniable.mechanisms.local.subset_selection import draw_subsets
from tests.mechanisms.oracle_contract import OracleContract


class TestSubsetSelection(OracleContract):
    design = SubsetSelection


@pytest.mark.parametrize(("k", "size", "variance"), [(16, 4, 3.11072), (64, 17, 3.53719)])
def test_variance_is_the_published_one(k, size, variance):
    design = SubsetSelection(epsilon=1, categories=k)
    assert design.size == size
    assert design.variance(0, respondents=1) == pytest.approx(variance, abs=5e-6)
    assert design.variance(0, respondents=1) < OUE(epsilon=1, categories=k).variance(
        0, respondents=1
    )


def test_subsets_are_uniform():
    counts = Counter(map(tuple, draw_subsets(30_000, 5, 2).tolist()))
    assert len(counts) == 10
    assert chisquare(list(counts.values())).pvalue > 1e-9


def test_sets_of_another_size_are_refused():
    design = SubsetSelection(odds=1.5, categories=5)
    assert design.size == 2
    with pytest.raises(InvalidData, match="name 2"):
        design.aggregate(np.array([[0b11100000]]))
    assert design.pmf((0b11100000,), 0) == 0
