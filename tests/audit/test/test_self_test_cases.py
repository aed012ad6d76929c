"""Every mechanism of the house passes the check, and fails it with half its noise."""

import inspect

import pytest

from deniable import mechanisms
from deniable.audit import check
from deniable.audit.test.self_test_cases import SELF_TEST_CASES


@pytest.mark.parametrize("case", SELF_TEST_CASES, ids=lambda case: case.name)
def test_whole_noise_passes_and_half_fails(case):
    whole = check(case.mechanism, case.neighbors)
    assert whole.private, whole
    half = check(case.halved, case.neighbors, claim=case.mechanism.loss)
    assert half.violated, half


def test_the_foundation_is_there():
    kinds = {type(case.mechanism) for case in SELF_TEST_CASES}
    assert {
        mechanisms.Laplace,
        mechanisms.Gaussian,
        mechanisms.Staircase,
        mechanisms.RandomizedResponse,
    } <= kinds
    assert all(inspect.isclass(kind) for kind in kinds)
