import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.mechanisms import OUE, RandomizedResponse
from deniable.mechanisms.local.oue import crossover
from tests.mechanisms.oracle_contract import OracleContract


class TestOUE(OracleContract):
    design = OUE


def test_variance_is_the_published_one():
    assert OUE(epsilon=1, categories=9).variance(0, respondents=1) == pytest.approx(
        3.68269, abs=5e-6
    )


def test_it_beats_randomized_response_from_the_crossover_on():
    odds = 3
    for k, better in ((crossover(odds) - 1, False), (crossover(odds) + 1, True)):
        unary = OUE(odds=odds, categories=k).variance(0, respondents=1)
        direct = RandomizedResponse(odds=odds, categories=k).variance(0, respondents=1)
        assert (unary < direct) is better


def test_spare_bits_and_wide_numbers_are_refused():
    design = OUE(odds=3, categories=4)
    for bad in (1, 256 + 16, -1):
        with pytest.raises(InvalidData):
            design.aggregate(np.array([[bad]]))
    assert design.pmf((1,), 0) == 0
