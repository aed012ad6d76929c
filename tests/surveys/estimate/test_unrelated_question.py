import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.exact.rationals import rational
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import unrelated_question


def test_both_shares_are_recovered():
    truth = np.arange(100_000) % 10 < 2
    halves = []
    for chance in (0.7, 0.3):
        design = RandomizedResponse.unrelated(chance, 0.4)
        halves.append((chance, design.aggregate(design.randomize(truth)).counts))
    estimate = unrelated_question(*halves)
    assert abs(estimate.prevalence - 0.2) < 7 * estimate.standard_error
    assert estimate.innocuous == pytest.approx(0.4, abs=0.03)
    assert estimate.standard_error < 0.01


def test_errors_are_as_stated():
    errors, n = [], 500
    truth = np.tile(np.arange(n) % 10 < 2, (5000, 1))
    designs = [RandomizedResponse.unrelated(rational(x), 0.4) for x in (0.7, 0.3)]
    yeses = [design.randomize(truth).sum(axis=1).tolist() for design in designs]
    for first, other in zip(*yeses, strict=True):
        estimate = unrelated_question((0.7, (n - first, first)), (0.3, (n - other, other)))
        errors.append(((estimate.prevalence - 0.2) / estimate.standard_error) ** 2)
    # The people are the same here, and the stated error counts the chance of the sample, too:
    # 0.64 is expected, with a standard deviation of 0.013.
    assert 0.55 < np.mean(errors) < 0.73


def test_equal_halves_tell_nothing():
    with pytest.raises(InvalidParameter, match="different"):
        unrelated_question((0.5, (5, 5)), (0.5, (4, 6)))
