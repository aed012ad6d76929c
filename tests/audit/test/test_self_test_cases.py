"""Every mechanism of the house passes the check, and fails it with half its noise."""

import inspect

import pytest

from deniable import mechanisms
from deniable.audit import check
from deniable.audit.test.self_test_cases import SELF_TEST_CASES


@pytest.mark.parametrize("one", SELF_TEST_CASES, ids=lambda one: one.name)
def test_whole_noise_passes_and_half_fails(one):
    whole = check(one.mechanism, one.neighbors)
    assert whole.private, whole
    half = check(one.halved, one.neighbors, claim=one.mechanism.loss)
    assert half.violated, half


def test_the_foundation_is_there():
    kinds = {type(one.mechanism) for one in SELF_TEST_CASES}
    assert {
        mechanisms.Laplace,
        mechanisms.Gaussian,
        mechanisms.Staircase,
        mechanisms.RandomizedResponse,
    } <= kinds
    assert all(inspect.isclass(kind) for kind in kinds)
