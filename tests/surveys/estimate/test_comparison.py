import numpy as np
import pytest
from scipy.stats import binom

from deniable.mechanisms import RandomizedResponse
from deniable.surveys import compare

COINS = RandomizedResponse(odds=3)


def test_variances_add_up():
    difference = compare((COINS, (600, 400)), (COINS, (650, 350)))
    first, other = (COINS.estimate(counts=counts) for counts in ((600, 400), (650, 350)))
    assert difference.value == pytest.approx(first.raw - other.raw)
    assert difference.standard_error == pytest.approx(
        np.hypot(first.standard_error, other.standard_error)
    )
    assert "p-value" in str(difference)


@pytest.mark.parametrize(("first", "second"), [(0.1, 0.1), (0.0, 0.3), (0.5, 0.2)])
@pytest.mark.parametrize("n", [20, 60])
def test_coverage_by_exact_summation(n, first, second):
    laws = [binom.pmf(np.arange(n + 1), n, 0.25 + 0.5 * x) for x in (first, second)]
    covered = 0.0
    for a in range(n + 1):
        for b in range(n + 1):
            if (weight := laws[0][a] * laws[1][b]) > 1e-7:
                low, high = compare((COINS, (n - a, a)), (COINS, (n - b, b))).interval
                covered += weight * (low <= first - second <= high)
    assert covered > 0.94


def test_groups_may_have_their_own_designs():
    crosswise = RandomizedResponse.crosswise(0.25)
    difference = compare((COINS, (600, 400)), (crosswise, (400, 600)))
    assert difference.value == pytest.approx(0, abs=1e-12)
    assert difference.p_value > 0.9
