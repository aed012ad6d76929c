from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.mechanisms import OLH
from deniable.mechanisms.local.olh import count_support_slowly, least_prime
from tests.mechanisms.oracle_contract import OracleContract


class TestOLH(OracleContract):
    design = OLH


def test_variance_is_near_the_published_one():
    design = OLH(odds=Fraction(3), categories=1000)  # odds + 1 buckets: the optimum
    assert design.variance(0, respondents=1) == pytest.approx(4 * 3 / 4, rel=1e-3)


@pytest.mark.parametrize(("k", "people"), [(5, 1000), (37, 500), (120, 4000)])
def test_both_ways_of_counting_agree(k, people):
    design = OLH(epsilon=1, categories=k)
    reports = design.randomize(np.arange(people) % k)
    a, b, bucket = reports.T
    assert (
        design._count_by_table(a, b, bucket).tolist()
        == count_support_slowly(design, reports).tolist()
    )


@pytest.mark.parametrize("k", [3, 5, 8])
def test_the_family_is_pairwise_independent(k):
    design = OLH(odds=3, categories=k)
    prime = design.prime
    for u, v in [(0, 1), (1, k - 1)]:
        pairs = {
            ((a * u + b) % prime, (a * v + b) % prime)
            for a in range(prime)
            for b in range(prime)
        }
        assert len(pairs) == prime**2


def test_many_categories():
    design = OLH(epsilon=2, categories=5_000)
    estimates = design.estimate(design.randomize([4_999] * 200), confidence=1 - 1e-9)
    assert estimates[4_999].interval[1] == 1
    assert estimates[0].interval[0] == 0


def test_impossible_reports_are_refused():
    design = OLH(odds=3, categories=5)
    for bad in ([5, 0, 0], [0, 5, 0], [0, 0, 4], [-1, 0, 0]):
        with pytest.raises(InvalidData):
            design.aggregate(np.array([bad]))
        assert design.pmf(bad, 0) == 0


def test_primes():
    assert [least_prime(n) for n in (0, 2, 4, 14, 1000, 2**16)] == [2, 2, 5, 17, 1009, 65537]


def test_large_odds_keep_every_bucket_possible():
    """With a bucket for each of 2**32 odds the hash would leave int64, and give itself away."""
    design = OLH(epsilon=22, categories=3)
    reports = design.randomize([1] * 1000)
    assert ((reports[:, 2] >= 0) & (reports[:, 2] < design.buckets)).all()
    assert design.estimate(reports)[1].value > 0.9


@pytest.mark.parametrize(("odds", "k"), [(2, 3), (3, 5), (6, 4), (Fraction(9, 2), 30)])
def test_q_is_what_the_buckets_say(odds, k):
    design = OLH(odds=odds, categories=k)
    reports = [report for report in design.reports() if design.pmf(report, 0)]
    q = sum(
        design.pmf((a, b, y), 0)
        for a, b, y in reports
        if (a + b) % design.prime * design.buckets // design.prime == y
    )
    assert design.q == q
