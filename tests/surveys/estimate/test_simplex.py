import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import RandomizedResponse
from deniable.mechanisms.local.maximum_likelihood import expectation_maximisation
from deniable.surveys import maximum_likelihood, project_to_simplex
from deniable.surveys.estimate.simplex import channel_of, check_counts

SHARES = st.lists(st.floats(-2, 2), min_size=1, max_size=8)


def test_published_corrections():
    design = RandomizedResponse(odds=6, categories=3)
    assert design.estimate(counts=(700, 250, 50)).raw == pytest.approx((0.92, 0.20, -0.12))
    assert project_to_simplex((0.92, 0.20, -0.12)) == pytest.approx((0.86, 0.14, 0))
    shares = maximum_likelihood(design, (700, 250, 50))
    assert shares == pytest.approx((0.831579, 0.168421, 0), abs=5e-7)


@given(SHARES, SHARES)
def test_the_projection_is_nearest(raw, other):
    projection = np.array(project_to_simplex(raw))
    assert (projection >= 0).all()
    assert projection.sum() == pytest.approx(1)
    rival = np.array(project_to_simplex((other * len(raw))[: len(raw)]))
    assert np.square(projection - raw).sum() <= np.square(rival - raw).sum() + 1e-9


def test_inside_the_simplex_nothing_changes():
    design = RandomizedResponse(odds=6, categories=3)
    raw = design.estimate(counts=(520, 300, 180)).raw
    assert project_to_simplex(raw) == pytest.approx(raw)
    assert maximum_likelihood(design, (520, 300, 180)) == pytest.approx(raw, abs=1e-8)


def test_no_other_distribution_is_likelier():
    design, counts = RandomizedResponse(odds=4, categories=4), np.array([50, 600, 20, 330])
    channel = channel_of(design)
    best = counts @ np.log(channel @ np.array(maximum_likelihood(design, counts)))
    for step in range(4):
        for other in range(4):
            moved = np.array(maximum_likelihood(design, counts))
            moved[step] += 1e-3
            moved[other] -= 1e-3
            if (moved >= 0).all():
                assert counts @ np.log(channel @ moved) <= best + 1e-9


def test_batches_are_read_through_their_own_channels():
    first, second = (
        RandomizedResponse(odds=6, categories=3),
        RandomizedResponse(odds=2, categories=3),
    )
    truth = np.array([0.6, 0.3, 0.1])
    parts = [(channel_of(d), 1e6 * (channel_of(d) @ truth)) for d in (first, second)]
    assert expectation_maximisation(parts) == pytest.approx(truth, abs=1e-6)
    with pytest.raises(InvalidParameter, match="same answers"):
        expectation_maximisation(
            [parts[0], (channel_of(RandomizedResponse(odds=2)), np.ones(2))]
        )


@pytest.mark.parametrize("bad", [[], [0, 0], [-1, 2]])
def test_bad_counts(bad):
    with pytest.raises(InvalidData):
        check_counts(bad)
    with pytest.raises(InvalidData):
        project_to_simplex([float("nan")])
