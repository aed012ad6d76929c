"""Noise that is drawn before the engine runs: the same law, and each draw is used once."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import deniable as dp
from deniable.engines.handover.exact_groups import ExactGroups
from deniable.mechanisms import Laplace
from deniable.release.answer.answer import draw_answer
from deniable.release.answer.drawn_noise import DrawnNoise, add_drawn, public_groups

KEYS = [f"w{i:05}" for i in range(20_000)]
COUNT = "SELECT ward, COUNT(*) AS n, SUM(cost) AS c FROM data GROUP BY ward"


@pytest.fixture(scope="module")
def session():
    visits = pa.table({"person": ["a"], "ward": ["w00000"], "code": ["x"], "cost": [1]})
    return dp.protect(
        visits,
        unit="person",
        keys={"ward": KEYS},
        bounds={"cost": (0, 100)},
        max_groups_per_unit=1,
        max_rows_per_unit_per_group=1,
        epsilon=1000,
        delta=0.1,
    )


def noise_of(plan, noise=None):
    """The noise in an answer whose integers are all 1000."""
    features = {name: np.full(len(KEYS), 1000) for name in plan.features}
    exact = ExactGroups((pa.array(KEYS),), None, features)
    return np.asarray(draw_answer(plan, exact, noise).table["n"]) - 1000


def test_the_law_is_that_of_noise_drawn_later(session):
    plan = session.plan(COUNT, epsilon=2)
    ahead, later = noise_of(plan, DrawnNoise(plan)), noise_of(plan)
    assert stats.ks_2samp(ahead, later).pvalue > 1e-9
    wrong = noise_of(session.plan(COUNT, epsilon=1.7))
    assert stats.ks_2samp(ahead, wrong).pvalue < 1e-9  # this many would show another one


def test_each_draw_is_used_once(session):
    plan = session.plan(COUNT, epsilon=2)
    noise = DrawnNoise(plan)
    first, again = (noise_of(plan, noise) for _ in range(2))
    assert 0.05 < (first == again).mean() < 0.5  # as often as two of their own agree
    assert abs(np.corrcoef(first, again)[0, 1]) < 0.1


def test_noise_is_for_the_number_of_groups_that_it_was_drawn_for(session):
    plan = session.plan(COUNT, epsilon=2)
    noise, (block, *_) = DrawnNoise(plan), plan.blocks
    assert noise.take(block, 7) is None
    assert noise.take(block, len(KEYS)) is None  # it was given away


def test_where_rows_decide_how_many_groups_there_are_nothing_is_drawn(session):
    text = "SELECT code, COUNT(*) AS n FROM data GROUP BY code"
    private = session.plan(text, epsilon=1, delta=1e-3)
    assert public_groups(private) is None
    assert DrawnNoise(private).take(private.blocks[0], 1) is None
    whole = session.plan("SELECT COUNT(*) AS n FROM data", epsilon=1)
    assert public_groups(whole) == 1
    other = session.plan(COUNT, epsilon=1, other=True)
    assert public_groups(other) == len(KEYS) + 1


def test_numbers_of_any_size_get_their_noise():
    large = np.array([2**90, -5], dtype=object)
    added = add_drawn(Laplace(epsilon=1), large, np.array([3, -4]))
    assert added.tolist() == [2**90 + 3, -9]
