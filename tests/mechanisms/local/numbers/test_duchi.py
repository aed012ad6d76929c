from fractions import Fraction

import pytest

from deniable.mechanisms import Duchi, RandomizedResponse
from tests.mechanisms.numeric_contract import MeanContract


class TestDuchi(MeanContract):
    design = Duchi


@pytest.mark.parametrize(
    ("epsilon", "middle", "end"), [(1, 4.68269, 3.68269), (4, 1.07602, 0.07602)]
)
def test_variance_is_the_published_one(epsilon, middle, end):
    design = Duchi(epsilon=epsilon, low=-1, high=1)
    assert design.variance(0, respondents=1) == pytest.approx(middle, abs=5e-6)
    assert design.variance(1, respondents=1) == pytest.approx(end, abs=5e-6)


def test_of_yes_and_no_it_is_randomized_response():
    design, coins = Duchi(odds=3, low=0, high=1), RandomizedResponse(odds=3)
    assert [design.pmf(1, x) for x in (0, 1)] == [coins.q, coins.p]
    estimate, other = design.estimate([0] * 60 + [1] * 40), coins.estimate(counts=(60, 40))
    assert estimate.interval == pytest.approx(other.interval)
    assert Fraction(estimate.raw) == Fraction(other.raw)
