"""What guesses prove: published values, and the binomial law by enumeration."""

import math
from itertools import pairwise

import pytest

import deniable as dp
from deniable.audit.attack.canaries.one_run_bound import (
    chance_of_guesses,
    epsilon_at_least,
    most_shown,
)


@pytest.mark.parametrize(
    ("canaries", "guesses", "right", "delta", "bound"),
    [(1000, 100, 75, 1e-4, 0.673), (100_000, 1510, 1439, 1e-5, 2.676)],
)
def test_the_published_bounds(canaries, guesses, right, delta, bound):
    actual = epsilon_at_least(canaries, guesses, right, delta=delta)
    assert actual == pytest.approx(bound, abs=5e-4)


def test_the_published_chance():
    assert chance_of_guesses(100, 100, 75, math.log(3), 0.0) == pytest.approx(0.5535, abs=5e-5)


@pytest.mark.parametrize(
    ("guesses", "most"), [(10, 1.052), (20, 1.823), (50, 2.785), (100, 3.493)]
)
def test_the_most_that_can_be_shown_is_the_closed_form(guesses, most):
    c = 0.05 ** (1 / guesses)
    assert most_shown(guesses) == pytest.approx(math.log(c / (1 - c)), abs=1e-9)
    assert most_shown(guesses) == pytest.approx(most, abs=5e-4)


def test_a_single_guess_shows_nothing():
    assert [most_shown(guesses) for guesses in (1, 2, 3, 4)] == [0.0] * 4
    assert most_shown(5) > 0


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_chance_is_that_of_the_theorem_by_adding_up_terms(delta):
    m, r, v, epsilon = 40, 12, 9, 0.7
    q = 1 / (1 + math.exp(-epsilon))
    pmf = [math.comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(r + 1)]
    worst = max(sum(pmf[v - i : v]) / i for i in range(1, v + 1))
    expected = sum(pmf[v:]) + 2 * m * delta * worst
    assert chance_of_guesses(m, r, v, epsilon, delta) == pytest.approx(expected, rel=1e-12)


def test_more_right_guesses_show_more_and_delta_shows_less():
    bounds = [epsilon_at_least(200, 100, right) for right in range(50, 101, 5)]
    assert bounds[0] == 0
    assert all(low <= high for low, high in pairwise(bounds))
    assert epsilon_at_least(200, 100, 90, delta=1e-3) < epsilon_at_least(200, 100, 90)


def test_more_confidence_shows_less():
    assert epsilon_at_least(100, 100, 90, confidence=0.99) < epsilon_at_least(100, 100, 90)


@pytest.mark.parametrize("numbers", [(10, 11, 5), (10, 5, 6), (10, 5, -1), (0, 0, 0)])
def test_impossible_numbers_are_refused(numbers):
    with pytest.raises(dp.InvalidParameter):
        epsilon_at_least(*numbers)
