import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.mechanisms import HadamardResponse
from deniable.mechanisms.local.hadamard import walsh
from tests.mechanisms.oracle_contract import OracleContract


class TestHadamardResponse(OracleContract):
    design = HadamardResponse


def test_variance_is_the_published_one():
    design = HadamardResponse(epsilon=1, categories=8)
    assert design.variance(0, respondents=1) == pytest.approx(4.68269, abs=5e-6)


def test_the_transform_is_the_matrix():
    n = 16
    signs = [[(-1) ** (i & j).bit_count() for i in range(n)] for j in range(n)]
    values = np.arange(n) ** 2 - 7
    assert walsh(values).tolist() == (np.array(signs) @ values).tolist()


def test_impossible_reports_are_refused():
    design = HadamardResponse(odds=3, categories=3)
    for bad in ([4, 0], [0, 2], [-1, 0], [0, -1]):
        with pytest.raises(InvalidData):
            design.aggregate(np.array([bad]))
        assert design.pmf(bad, 0) == 0
