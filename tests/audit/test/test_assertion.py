"""`assert_private` passes what is right and names what is wrong."""

import numpy as np
import pytest

from deniable import Gaussian, Laplace, PureLoss, RandomizedResponse
from deniable.audit import assert_private
from tests.audit.bench import RIGHT, WRONG

BLATANT = [
    "noise of half the scale",
    "plain numpy Laplace",
    "a mean divided by the true n",
    "NaN through clip",
    "the same noise used twice",
]


@pytest.mark.parametrize("name", BLATANT)
def test_blatant_breaches_are_named(name):
    case = next(candidate for candidate in WRONG if candidate.name == name)
    with pytest.raises(AssertionError, match=r"violates .*: probability at least"):
        assert_private(case, claim=case.claim, neighbors=case.neighbors)


def test_right_ones_pass():
    assert_private(Laplace(epsilon=1), neighbors=[(0, 1)])
    assert_private(RandomizedResponse(odds=3), odds=3, neighbors=[(0, 1)])
    assert_private(Gaussian(sigma=5), epsilon=1, delta=1e-3, neighbors=[(0, 1)])
    case = next(candidate for candidate in RIGHT if candidate.name == "noisy max")
    assert_private(case, claim=case.claim, neighbors=case.neighbors)


def test_a_claim_with_delta():
    with pytest.raises(AssertionError, match="ApproximateLoss"):
        assert_private(Gaussian(sigma=1), epsilon=1, delta=1e-3, neighbors=[(0, 1)])


def test_a_function_drawn_one_by_one():
    noise = np.random.default_rng()
    with pytest.raises(AssertionError, match="violates"):
        assert_private(
            lambda data: data + noise.normal() / 10,
            claim=PureLoss(1),
            neighbors=[(0, 1)],
            calls=5_000,
        )
