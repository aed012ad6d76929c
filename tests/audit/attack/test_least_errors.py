"""The linear programme, on cases with known solutions."""

import numpy as np
import pytest

from deniable.audit.attack.least_errors import fit_values


def test_exact_counts_are_solved_exactly():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 20)
    groups = rng.integers(0, 2, (60, 20)).astype(float)
    parts = np.concatenate(
        [np.stack([groups if v == w else 0 * groups for w in range(3)]) for v in range(3)],
        axis=1,
    )
    answers = sum(parts[v] @ (truth == v) for v in range(3))
    values = fit_values(parts, answers, np.ones(20))
    assert np.array_equal(values.argmax(axis=1), truth)


def test_numbers_that_were_not_published_do_not_count():
    parts = np.array([[[0.0], [0.0]], [[1.0], [1.0]]])
    assert fit_values(parts, np.array([np.nan, 1.0]), np.ones(1)).round().tolist() == [[0, 1]]


def test_profiles_of_several_people_add_up():
    parts = np.array([[[0.0]], [[1.0]]])
    assert fit_values(parts, np.array([3.0]), np.array([5.0])).tolist() == [
        pytest.approx([2.0, 3.0])
    ]


def test_without_any_number_nothing_is_learnt():
    values = fit_values(np.zeros((2, 0, 3)), np.zeros(0), np.ones(3))
    assert values.sum(axis=1).tolist() == pytest.approx([1, 1, 1])
