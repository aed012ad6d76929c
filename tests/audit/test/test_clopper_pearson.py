"""The bounds cover as often as they say, by exact summation."""

import numpy as np
import pytest
from scipy.stats import binom, poisson

from deniable.audit.test.clopper_pearson import clopper_pearson


@pytest.mark.parametrize("error", [0.05, 1e-3, 1e-9])
@pytest.mark.parametrize("p", [0.001, 0.1, 0.5, 0.97])
def test_each_side_misses_seldom_enough_and_not_never(p, error):
    n = 400
    k = np.arange(n + 1)
    law = binom.pmf(k, n, p)
    low, high = clopper_pearson(k, n, error)
    assert law[low > p].sum() <= error * (1 + 1e-6)
    assert law[high < p].sum() <= error * (1 + 1e-6)
    # Sharp: one hit more would have missed too often, wherever that can be.
    first = int(np.argmax(low > p)) if (low > p).any() else n
    assert law[max(first - 1, 0) :].sum() > error


def test_the_ends():
    low, high = clopper_pearson(np.array([0, 10]), 10, 0.01)
    assert low[0] == 0
    assert high[1] == 1
    assert float(high[0]) == pytest.approx(1 - 0.01 ** (1 / 10))


@pytest.mark.parametrize(("first", "second"), [(30.0, 10.0), (5.0, 5.0), (60.0, 3.0)])
def test_the_ratio_of_poissons_is_covered(first, second):
    """Given their sum, hits are binomial: the bound that the jury uses for rare events."""
    error = 0.02
    x, y = np.meshgrid(np.arange(150), np.arange(150), indexing="ij")
    law = poisson.pmf(x, first) * poisson.pmf(y, second)
    shares = np.zeros(x.shape)
    for total in range(1, 299):
        on = x + y == total
        shares[on] = clopper_pearson(x[on], total, error)[0]
    missed = shares / (1 - shares) > first / second
    assert 0.01 * error < law[missed].sum() <= error
