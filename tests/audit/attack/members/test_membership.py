"""The trace attack on averages: its reference law, and its end by noise."""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

import deniable as dp
from deniable.audit.attack import membership, simulate_membership
from deniable.audit.attack.members.membership import publish_means, trace

RNG = np.random.default_rng(9)


def reference_law(n, d):
    """The AUC of two normals: their means differ by the sum of v / n, with v = p (1 - p), and
    both have the standard deviation root of the sum of v^2 / n. p is uniform on 0.1 to 0.9."""
    p = np.linspace(0.1, 0.9, 10_001)
    v = p * (1 - p)
    return norm.cdf(math.sqrt(d / n) * v.mean() / math.sqrt((v**2).mean()) / math.sqrt(2))


@pytest.mark.parametrize("columns", [100, 1000, 3000])
def test_the_trace_of_exact_averages_and_of_private_ones(columns, size):
    repeats = size(small=10, full=200, what="trace attacks on 100 people")
    finding = simulate_membership(100, columns, repeats=repeats)
    assert finding.exact.auc == pytest.approx(reference_law(100, columns), abs=0.03)
    assert 0.45 < finding.private.auc <= 0.60
    assert finding.private.hits < 0.15


def test_the_reference_law():
    laws = [float(reference_law(100, columns)) for columns in (100, 1000, 3000)]
    assert laws == pytest.approx([0.755, 0.985, 1.0], abs=0.001)  # not 0.80 for 100 columns


def test_the_noise_is_that_of_all_averages_together():
    bits = RNG.integers(0, 2, (100, 3000))
    noise = publish_means(bits, 1, 1e-6) - bits.mean(axis=0)
    sigma = dp.Gaussian.calibrated(epsilon=1, delta=1e-6).sigma * math.sqrt(3000) / 100
    assert np.std(noise) == pytest.approx(sigma, rel=0.1)


def test_members_of_a_table_are_found():
    answers = pa.table({f"q{i}": RNG.integers(0, 2, 250) for i in range(1500)})
    finding = membership(answers)
    assert (finding.people, finding.facts, finding.made_up) == (50, 1500, False)
    assert finding.exact.auc > 0.95
    assert finding.private.auc < 0.7


def test_the_statistic():
    members, others = trace(
        np.array([[1, 0]]), np.array([[0, 0]]), np.array([0.75, 0.5]), np.array([0.5, 0.5])
    )
    assert (members.tolist(), others.tolist()) == ([0.125], [-0.125])


@pytest.mark.parametrize("rows", [{"a": [2] * 50}, {"a": ["x"] * 50}, {"a": [1] * 5}])
def test_other_tables_are_refused(rows):
    with pytest.raises(dp.InvalidParameter):
        membership(pa.table(rows))
