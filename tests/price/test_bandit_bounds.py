"""What any bandit misses."""

import math
from itertools import product

import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.price.bandit_bounds import _divergence, _told


def test_without_privacy_it_is_lai_and_robbins():
    bound = dp.price.bandit_regret([0.75, 0.7], horizon=10**6).value
    kl = 0.7 * math.log(0.7 / 0.75) + 0.3 * math.log(0.3 / 0.25)
    assert bound == pytest.approx(0.05 * math.log(10**6) / kl)


def test_a_small_epsilon_makes_it_larger():
    means = [0.75, 0.7, 0.7]
    bounds = [
        dp.price.bandit_regret(means, horizon=10**6, epsilon=epsilon).value
        for epsilon in (10, 0.01, 0.001)
    ]
    assert bounds[0] == dp.price.bandit_regret(means, horizon=10**6).value
    # Of a tiny epsilon, each pull tells epsilon times the distance of the coins.
    assert bounds[2] == pytest.approx(2 * math.log(10**6) / 0.001, rel=0.01)
    assert bounds == sorted(bounds)


def test_edges():
    assert dp.price.bandit_regret([0.5, 0.5], horizon=10).value == 0
    assert dp.price.bandit_regret([1, 0.5], horizon=10).value == 0
    assert dp.price.bandit_regret([1, 0], horizon=10, epsilon=1).value > 0
    for wrong in ([0.5], [0.5, 2]):
        with pytest.raises(InvalidParameter):
            dp.price.bandit_regret(wrong, horizon=10)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 3])
@pytest.mark.parametrize(("p", "q"), [(0.7, 0.75), (0.1, 0.9), (0.0, 0.4), (0.3, 0.999)])
def test_what_a_pull_tells_is_the_least_over_all_coins_between(p, q, epsilon):
    actual = _told(p, q, epsilon)
    coins = [p + (q - p) * part / 10_000 for part in range(10_001)]
    least = min(epsilon * (coin - p) + _divergence(coin, q) for coin in coins)
    assert actual <= least + 1e-12
    assert actual == pytest.approx(least, rel=1e-4)
    assert actual <= min(_divergence(p, q), epsilon * (q - p)) + 1e-12


def laws(choose, means):
    """P of every course of three choices between two arms, for rewards of 0 and 1, and how
    often each arm is pulled on average. `choose` gives the probability of arm 1."""
    chances, pulls = {}, [0.0, 0.0]
    for arms in product((0, 1), repeat=3):
        for rewards in product((0, 1), repeat=3):
            chance = 1.0
            for step, (arm, reward) in enumerate(zip(arms, rewards, strict=True)):
                share = choose(arms[:step], rewards[:step])
                chance *= share if arm else 1 - share
                chance *= means[arm] if reward else 1 - means[arm]
            chances[arms] = chances.get(arms, 0.0) + chance
            for arm in arms:
                pulls[arm] += chance
    return chances, pulls


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_no_private_bandit_tells_more(epsilon):
    """Every course of a small private bandit, in two worlds: the divergence is at most what its
    pulls of the changed arm may tell, as the proof says, and not far below."""
    each = epsilon / 2  # a reward may change two later choices

    def choose(arms, rewards):
        score = sum(
            (1 if arm else -1) * (reward - 0.5)
            for arm, reward in zip(arms, rewards, strict=True)
        )
        return 1 / (1 + math.exp(-each * score))

    worst = 0.0
    for arms in product((0, 1), repeat=3):  # it is private, with this epsilon
        for rewards in product((0, 1), repeat=3):
            for at in range(3):
                other = [*rewards[:at], 1 - rewards[at], *rewards[at + 1 :]]
                ratio = 0.0
                for step, arm in enumerate(arms):
                    left = choose(arms[:step], rewards[:step])
                    right = choose(arms[:step], other[:step])
                    ratio += math.log(left / right if arm else (1 - left) / (1 - right))
                worst = max(worst, abs(ratio))
    assert worst <= epsilon
    for q in (0.6, 0.8, 0.95):
        first, pulls = laws(choose, [0.5, 0.3])
        second, _ = laws(choose, [0.5, q])
        divergence = sum(
            chance * math.log(chance / second[arms]) for arms, chance in first.items()
        )
        assert 0 < divergence <= pulls[1] * _told(0.3, q, epsilon)
