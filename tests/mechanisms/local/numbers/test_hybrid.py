from fractions import Fraction

import pytest

from deniable.mechanisms import Duchi, Hybrid
from tests.mechanisms.numeric_contract import MeanContract


class TestHybrid(MeanContract):
    design = Hybrid


@pytest.mark.parametrize(("epsilon", "variance"), [(1, 4.28899), (4, 0.21898)])
def test_variance_is_near_the_published_one_wherever_the_answer_is(epsilon, variance):
    design = Hybrid(epsilon=epsilon, low=-1, high=1, step=Fraction(1, 1000))
    for value in (0, 0.5, 1):
        assert design.variance(value, respondents=1) == pytest.approx(variance, rel=0.01)


def test_a_small_epsilon_leaves_the_bit_alone():
    design = Hybrid(epsilon=0.5, low=0, high=10)
    assert design.share == 0
    assert design.variance(3, respondents=1) == Duchi(epsilon=0.5, low=0, high=10).variance(
        3, respondents=1
    )
    assert min(design.randomize([3] * 1000)) >= design.piecewise.outputs
