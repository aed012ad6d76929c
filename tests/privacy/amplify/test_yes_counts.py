"""Shuffled yes/no reports, against binomial sums that share nothing with the code."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from deniable.mechanisms import RandomizedResponse
from deniable.privacy import shuffled
from deniable.privacy.amplify.yes_counts import YesCounts, count_deltas, yes_counts


def binomial(n, p):
    """A window that holds all but 1e-30."""
    reach = 12 * math.sqrt(n * p * (1 - p)) + 60
    first = max(0, math.floor(n * p - reach))
    return binom.pmf(np.arange(first, min(n, math.ceil(n * p + reach)) + 1), n, p)


def delta_of(others, true, odds, epsilon):
    """By convolution of two binomials, at every count."""
    lie = 1 / (1 + odds)
    f = np.convolve(binomial(true, 1 - lie), binomial(others - true, lie))
    beyond = np.append(np.cumsum(f[::-1])[::-1][1:], 0.0)
    gain, cost = 1 - lie - math.exp(epsilon) * lie, math.expm1(epsilon)
    return max(0.0, float((gain * f - cost * beyond).max()))


def epsilon_of(others, true, odds, delta):
    low, high = 0.0, math.log(odds)
    for _ in range(50):
        middle = (low + high) / 2
        below = delta_of(others, true, odds, middle) <= delta
        low, high = (low, middle) if below else (middle, high)
    return high


@pytest.mark.parametrize(
    ("reports", "epsilon0", "least", "most"),
    [  # the blanket gave 0.0432, 0.1182 and, for a million, 0.0034
        (10**4, 1, 0.03565, 0.03575),
        (10**5, 4, 0.08470, 0.08492),
        (10**6, 1, 0.002848, 0.002856),
        (10**6, 8, 0.2249, 0.2256),
    ],
)
def test_many_reports(reports, epsilon0, least, most):
    loss = shuffled(RandomizedResponse(odds=math.exp(epsilon0)), reports=reports)
    low, high = loss.epsilon_bounds(1e-6)
    assert least < low <= high < most
    assert high <= low * 1.005
    alike = epsilon_of(reports - 1, reports - 1, math.exp(epsilon0), 1e-6)
    assert alike * (1 - 1e-6) <= high <= alike * 1.01


def test_no_number_of_true_answers_tells_more(size):
    """Random shuffles and random others: never below the exact epsilon, and close to it."""
    cases = size(small=4, full=400, what="shuffles, each with five groups of others")
    random = np.random.default_rng(15)
    for _ in range(cases):
        reports = int(10 ** random.uniform(3.1, 4.5))
        odds, delta = math.exp(random.uniform(0.2, 7)), 10 ** random.uniform(-11, -2)
        low, high = shuffled(RandomizedResponse(odds=odds), reports=reports).epsilon_bounds(
            delta
        )
        true = [0, reports - 1, reports - 1 - int(5 * random.random())]
        true += random.integers(0, reports, 2).tolist()
        for each in true:
            assert delta_of(reports - 1, each, odds, high) <= delta * (1 + 1e-8)
        assert high <= 1.01 * low + 2e-5, (reports, odds, delta)
        assert high <= math.log(odds) * (1 + 1e-12)


@pytest.mark.parametrize("odds", [1.2, 3.0, 60.0, 1e4])
@pytest.mark.parametrize("others", [1, 2, 30, 400, 20_000])
def test_each_delta_is_enclosed(others, odds):
    true = np.unique(np.array([0, 1, others // 2, others - 1, others]))
    for share in (0.0, 1e-6, 0.01, 0.1, 0.5, 0.9, 0.999):
        epsilon = share * math.log(odds)
        above = count_deltas(others, true, odds, epsilon, 1)
        below = count_deltas(others, true, odds, epsilon, -1)
        exact = np.array([delta_of(others, int(m), odds, epsilon) for m in true])
        assert np.all(below <= exact * (1 + 1e-9) + 1e-25)
        assert np.all(exact <= above * (1 + 1e-9) + 1e-25)
        plain = exact > 1e-12
        assert np.allclose(above[plain], exact[plain], rtol=1e-5, atol=0)


def test_the_worst_others_need_not_agree():
    """All others alike is not always the worst: here three of them differ."""
    loss = shuffled(RandomizedResponse(odds=math.exp(2)), reports=1000)
    deltas = yes_counts(1000, loss.odds).deltas(loss.epsilon(1e-6))
    assert int(deltas.argmax()) == 997
    assert deltas.max() > deltas[-1] * 1.001


def test_every_number_of_true_answers_lies_in_a_block():
    for reports in (2, 3, 1024, 1025, 1026, 5000, 10**6):
        counts = YesCounts(reports, 3.0)
        ends = counts.true + counts.block
        assert counts.true[0] == 0
        assert ends[-1] == reports - 1
        assert np.all(counts.true[1:] <= ends[:-1] + 1)
        assert len(counts.true) <= 1024
        assert (counts.block == 0) == (reports <= 1024)
