import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms.local.maximum_likelihood import expectation_maximisation

CHANNEL = np.array([[0.75, 0.25], [0.25, 0.75]])


def test_the_likeliest_shares():
    assert expectation_maximisation([(CHANNEL, np.array([600.0, 400.0]))]) == pytest.approx(
        [0.7, 0.3]
    )
    assert expectation_maximisation([(CHANNEL, np.array([90.0, 10.0]))]) == pytest.approx(
        [1, 0]
    )


def test_smoothing_spreads_a_peak():
    shares = expectation_maximisation([(np.eye(5), np.array([0, 0, 10.0, 0, 0]))], smooth=True)
    assert shares.sum() == pytest.approx(1)
    assert shares[1] > 0
    assert shares[2] == shares.max()


def test_designs_must_have_the_same_answers():
    with pytest.raises(InvalidParameter, match="same answers"):
        expectation_maximisation([(CHANNEL, np.ones(2)), (np.eye(3), np.ones(3))])
