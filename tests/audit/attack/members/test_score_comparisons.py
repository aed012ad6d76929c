"""Areas and hits, compared with counting pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit.attack.members.score_comparisons import area_under_curve, hits_at

SCORES = st.lists(st.integers(0, 5), min_size=1, max_size=20).map(np.array)


@given(SCORES, SCORES)
def test_the_area_counts_pairs_and_ties_by_half(members, others):
    pairs = np.sign(members[:, None] - others[None, :])
    assert area_under_curve(members, others) == pytest.approx((pairs.mean() + 1) / 2)


@given(SCORES, SCORES, st.sampled_from([0.001, 0.05, 0.5]))
def test_at_most_that_share_of_others_passes(members, others, alarms):
    hits = hits_at(members, others, alarms)
    passing = [t for t in range(-1, 6) if (others > t).mean() <= alarms]
    assert hits <= max((members > t).mean() for t in passing) + 1e-12
