from fractions import Fraction

import pytest

from deniable.mechanisms import Piecewise
from tests.mechanisms.numeric_contract import MeanContract


class TestPiecewise(MeanContract):
    design = Piecewise


@pytest.mark.parametrize(
    ("epsilon", "middle", "end"), [(1, 3.68210, 5.22360), (4, 0.08484, 0.24135)]
)
def test_variance_is_near_the_published_one(epsilon, middle, end):
    design = Piecewise(epsilon=epsilon, low=-1, high=1, step=Fraction(1, 10_000))
    assert design.variance(0, respondents=1) == pytest.approx(middle, rel=1e-3)
    assert design.variance(1, respondents=1) == pytest.approx(end, rel=1e-3)
