import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.exact.rationals import rational
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import unrelated


def test_both_shares_are_recovered():
    truth = np.arange(100_000) % 10 < 2
    halves = []
    for chance in (0.7, 0.3):
        design = RandomizedResponse.unrelated(chance, 0.4)
        halves.append((chance, design.aggregate(design.randomize(truth)).counts))
    found = unrelated(*halves)
    assert abs(found.prevalence - 0.2) < 7 * found.standard_error
    assert found.innocuous == pytest.approx(0.4, abs=0.03)
    assert found.standard_error < 0.01


def test_errors_are_as_stated():
    errors = []
    truth = np.arange(500) % 10 < 2
    designs = [RandomizedResponse.unrelated(rational(x), 0.4) for x in (0.7, 0.3)]
    for _ in range(600):
        halves = [
            (x, d.aggregate(d.randomize(truth)).counts)
            for x, d in zip((0.7, 0.3), designs, strict=True)
        ]
        found = unrelated(*halves)
        errors.append(((found.prevalence - 0.2) / found.standard_error) ** 2)
    assert 0.6 < np.mean(errors) < 1.15  # the stated error counts the chance of the sample, too


def test_equal_halves_tell_nothing():
    with pytest.raises(InvalidParameter, match="different"):
        unrelated((0.5, (5, 5)), (0.5, (4, 6)))
