import math
from fractions import Fraction

import pytest
from scipy.stats import binom

from deniable.mechanisms import RandomizedResponse
from deniable.mechanisms.local.estimate import binomial_interval, estimate_share


def test_binomial_interval_inverts_the_binomial_tails():
    for successes, trials in [(1, 10), (400, 1000), (9, 10)]:
        low, high = binomial_interval(successes, trials, 0.95)
        assert binom.sf(successes - 1, trials, low) == pytest.approx(0.025, rel=1e-9)
        assert binom.cdf(successes, trials, high) == pytest.approx(0.025, rel=1e-9)
    assert binomial_interval(0, 10, 0.95)[0] == 0
    assert binomial_interval(10, 10, 0.95)[1] == 1


@pytest.mark.parametrize("prevalence", [0, 0.01, 0.1, 0.5])
@pytest.mark.parametrize("n", [20, 200, 2000])
@pytest.mark.parametrize(
    ("p", "q"),
    [
        (Fraction(3, 4), Fraction(1, 4)),
        (Fraction(19, 20), Fraction(1, 20)),
        (Fraction(1, 4), Fraction(3, 4)),
        (Fraction(1, 2), Fraction(1, 4)),
    ],
    ids=["coins", "odds 19", "crosswise", "OUE"],
)
def test_intervals_cover_by_exact_summation(prevalence, n, p, q):
    rate = float(q) + prevalence * float(p - q)
    covered = 0.0
    for reports in range(n + 1):
        weight = binom.pmf(reports, n, rate)
        if weight > 1e-12:
            estimate = estimate_share(reports, n, p=p, q=q, confidence=Fraction(19, 20))
            low, high = estimate.interval
            covered += weight * (low <= prevalence <= high)
    assert covered >= 0.95


def test_relabelling_yes_and_no_changes_nothing():
    forward = estimate_share(
        400, 1000, p=Fraction(3, 4), q=Fraction(1, 4), confidence=Fraction(19, 20)
    )
    swapped = estimate_share(
        600, 1000, p=Fraction(1, 4), q=Fraction(3, 4), confidence=Fraction(19, 20)
    )
    assert swapped.raw == forward.raw
    assert swapped.interval == pytest.approx(forward.interval, rel=1e-9)
    assert swapped.standard_error == forward.standard_error


def test_inconsistent_says_so_with_the_p_value():
    estimate = RandomizedResponse.warner(0.75).estimate(counts=(95, 5))
    assert not estimate.consistent
    assert estimate.p_value == pytest.approx(1.17e-7, rel=1e-2)
    assert all(map(math.isnan, estimate.interval))
    assert estimate.value == 0
    assert "inconsistent with the design" in str(estimate)
    assert "1.2e-07" in str(estimate)
    high = RandomizedResponse.warner(0.75).estimate(counts=(5, 95))
    assert (high.value, high.consistent) == (1, False)
    assert high.p_value == pytest.approx(estimate.p_value)


def test_printing():
    yes = RandomizedResponse.warner(0.75).estimate(counts=(600, 400))
    assert str(yes) == "0.300 ± 0.062 (95 %: 0.239 to 0.362)"
    many = RandomizedResponse.warner(0.75).estimate(counts=(6_000_000, 4_000_000))
    assert str(many) == "0.30000 ± 0.00061 (95 %: 0.29939 to 0.30061)"
    at_99_9 = RandomizedResponse.warner(0.75).estimate(counts=(600, 400), confidence=0.999)
    assert "(99.9 %:" in str(at_99_9)
