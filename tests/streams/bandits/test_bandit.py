"""Private bandits: every course of choices is about as probable with another reward."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import deniable as dp
from deniable.errors import InvalidParameter, Unsupported
from deniable.streams.bandits import bandit as bandits
from deniable.streams.bandits.strategies import Elimination

EPSILON = Fraction(1)
DEPTH = 6


class ShortEpochs(Elimination):
    """Successive elimination with epochs of 1 and then 2 pulls, in which an arm can fall."""

    def epoch_pulls(self, epoch, arms):
        return min(epoch, 2)

    def _logs(self, epoch, arms):
        return 0.02, 0.02


def difference_law(scale):
    """P(Z - Z' = d) of two discrete Laplace noises, with all that lies beyond at the ends."""
    z = np.arange(-400, 401)
    single = np.exp(-np.abs(z) / float(scale))
    law = np.convolve(single / single.sum(), single / single.sum())
    middle = len(law) // 2
    inner = law[middle - DEPTH : middle + DEPTH + 1].copy()
    inner[0] = law[: middle - DEPTH + 1].sum()
    inner[-1] = law[middle + DEPTH :].sum()
    return dict(zip(range(-DEPTH, DEPTH + 1), inner, strict=True))


def short_elimination():
    bandit = dp.Bandit(2, epsilon=EPSILON, grid=1, method="elimination")
    bandit._strategy = ShortEpochs(2, 1.0, 0.5)
    bandit._begin()
    return bandit


def play(bandit, table, given, monkeypatch):
    """The choices for given noises; None if a noise is needed that is not given."""

    def draw(self, size):
        if not given:
            raise StopIteration
        return [given.pop(0)]

    choices = []
    with monkeypatch.context() as patch:
        patch.setattr(type(bandit.noise), "draw", draw)
        try:
            for reward in table:
                choices.append(bandit.choose())
                if len(choices) < len(table):  # nothing follows from the last reward
                    bandit.reward(reward)
        except StopIteration:
            return None
    return tuple(choices)


def probabilities(table, monkeypatch):
    """P(choices) for rewards by step. Only the difference of the two arms' noises decides, and
    beyond DEPTH it decides alike: sums of at most two rewards differ by at most 2."""
    law = difference_law(dp.Bandit(2, epsilon=EPSILON, grid=1).noise.scale)
    chances, waiting = {}, [((), 1.0)]
    while waiting:
        noises, chance = waiting.pop()
        given = [noise for difference in noises for noise in (difference, 0)]
        choices = play(short_elimination(), table, given, monkeypatch)
        if choices is not None:
            chances[choices] = chances.get(choices, 0.0) + chance
            continue
        waiting += [((*noises, d), chance * mass) for d, mass in law.items()]
    return chances


def worst_ratio(base, probabilities, monkeypatch):
    """How much another reward changes the log probability of any course of choices."""
    first, worst = probabilities(base, monkeypatch), 0.0
    assert sum(first.values()) == pytest.approx(1)
    assert len(first) > 3
    for at in range(len(base)):
        table = [1 - reward if step == at else reward for step, reward in enumerate(base)]
        second = probabilities(table, monkeypatch)
        assert first.keys() == second.keys()
        ratios = [math.log(first[course] / second[course]) for course in first]
        worst = max(worst, *map(abs, ratios))
    return worst


def test_a_two_armed_game_is_exactly_private(monkeypatch):
    """Epochs of 1 and 2 pulls: noise is drawn twice for each arm, and an arm can fall."""
    worst = worst_ratio((1, 0, 1, 0, 1, 1, 0), probabilities, monkeypatch)
    assert worst <= EPSILON + 1e-9
    assert worst > 0.5  # the rewards matter


def episode_law(steps):
    """P(Z = z), with all that decides alike at the ends. Episodes that end within these steps
    have at most 2 pulls. A mean of 1 or more is as good as 1; and one that is below 0 by as
    much as the noise may hide, log(steps + 1) / (rate pulls), is as good as any below."""
    scale, end = float(dp.Bandit(2, epsilon=EPSILON, grid=1).noise.scale), 2
    begin = -2 - math.ceil(math.log(steps + 1) * scale)
    z = np.arange(-400, 401)
    mass = np.exp(-np.abs(z) / scale)
    mass /= mass.sum()
    law = {number: mass[number + 400] for number in range(begin + 1, end)}
    return law | {begin: mass[z <= begin].sum(), end: mass[z >= end].sum()}


def episode_probabilities(table, monkeypatch):
    """P(choices) of the real strategy, over all noises of its episodes."""
    law, chances, waiting = episode_law(len(table)), {}, [((), 1.0)]
    while waiting:
        noises, chance = waiting.pop()
        choices = play(dp.Bandit(2, epsilon=EPSILON, grid=1), table, list(noises), monkeypatch)
        if choices is not None:
            chances[choices] = chances.get(choices, 0.0) + chance
            continue
        waiting += [((*noises, z), chance * mass) for z, mass in law.items()]
    return chances


@pytest.mark.parametrize("first", [0, 1])
def test_short_games_in_episodes_are_exactly_private(first, size, monkeypatch):
    """Every choice but the first two depends on noises: the last of four on three."""
    steps = size(small=4, full=7, what="choices of a bandit in episodes, in all courses")
    table = [(first + step) % 2 for step in range(steps)]
    worst = worst_ratio(table, episode_probabilities, monkeypatch)
    assert worst <= EPSILON + 1e-9
    assert worst > 0.5


def test_each_reward_is_in_one_sum_with_its_own_noise(monkeypatch):
    for method in bandits.METHODS:
        bandit = dp.Bandit(3, epsilon=1, grid=1, method=method, horizon=100)
        sums, plain = [], type(bandit).noisy_mean
        monkeypatch.setattr(
            type(bandit),
            "noisy_mean",
            lambda self, exact, pulls, plain=plain, sums=sums: (
                sums.append((exact, pulls)) or plain(self, exact, pulls)
            ),
        )
        total = 0
        for step in range(3000):
            bandit.choose()
            bandit.reward(step % 2)
            total += step % 2
        assert sum(pulls for _, pulls in sums) + bandit._count == 3000
        assert sum(exact for exact, _ in sums) + bandit._sum == total
        monkeypatch.undo()


def test_the_noise_of_persons_and_bounds():
    bandit = dp.Bandit(2, epsilon=0.5, bounds=(-1, 3), grid=0.5)
    assert bandit.range == 8
    assert bandit.noise.scale == 16
    many = dp.Bandit(2, epsilon=0.5, bounds=(-1, 3), grid=0.5, per_person=4)
    assert many.noise.scale == 64
    assert many.promise == "all rewards of one person: at most 4 count (they may be others)"
    assert many.loss == dp.PureLoss(0.5)


def test_a_persons_rewards_beyond_the_limit_count_as_the_middle():
    bandit = dp.Bandit(2, epsilon=1, grid=0.25, per_person=2, method="elimination")
    for _ in range(5):
        bandit.choose()
        bandit.reward(1, person="ann")
    bandit.choose()
    bandit.reward(9, person="bob")
    assert bandit._sum == 4 + 4 + 3 * 2 + 4


def test_one_person_under_several_types_is_one():
    bandit = dp.Bandit(2, epsilon=1, grid=1, per_person=1, method="elimination")
    for person in (7, np.int64(7), np.int32(7), "7"):
        bandit.choose()
        bandit.reward(1, person=person)
    assert bandit._sum == 2
    bandit.choose()
    for person in (7.0, True, object(), ("ann",)):
        with pytest.raises(InvalidParameter, match="text or a whole number"):
            bandit.reward(1, person=person)
    assert bandit._count == 4
    bandit.reward(1, person="ann")  # the choice is still there
    assert bandit._sum == 3


def test_a_choice_stays_until_its_reward():
    bandit = dp.Bandit(3, epsilon=1)
    assert bandit.choose() == bandit.choose()
    bandit.reward(1)
    with pytest.raises(InvalidParameter, match=r"choose\(\) first"):
        bandit.reward(1)


def test_it_learns():
    for method, steps in (("episodes", 4000), ("elimination", 20_000)):
        bandit = dp.Bandit(3, epsilon=1, method=method, horizon=steps)
        for _ in range(steps):
            bandit.reward(1 if bandit.choose() == 2 else 0)
        assert bandit.choose() == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"arms": 1},
        {"epsilon": 0},
        {"bounds": (1, 1)},
        {"bounds": (0, 1, 2)},
        {"bounds": 1},
        {"grid": 9},
        {"per_person": 0},
        {"method": "luck"},
        {"horizon": 0},
        {"epsilon": 1e-9, "grid": 1e-15},
    ],
)
def test_refuses(wrong):
    with pytest.raises(InvalidParameter):
        dp.Bandit(**{"arms": 3, "epsilon": 1, **wrong})


def test_persons_are_named_or_not():
    bandit = dp.Bandit(2, epsilon=1)
    bandit.choose()
    with pytest.raises(InvalidParameter, match="does not take a `person`"):
        bandit.reward(1, person="ann")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(bandit)


def test_the_bound_on_the_regret_holds_in_simulations():
    means, horizon = [0.9, 0.5, 0.4], 10**6
    bandit = dp.Bandit(3, epsilon=0.5, method="elimination", horizon=horizon)
    bound = bandit.regret_bound(means, horizon)
    regret = dp.simulate_bandit(
        means, horizon=horizon, epsilon=0.5, runs=20, method="elimination"
    )
    least = dp.price.bandit_regret(means, horizon=horizon, epsilon=0.5).value
    assert least < regret.mean < bound < 0.5 * horizon
    with pytest.raises(Unsupported):
        dp.Bandit(3, epsilon=1).regret_bound(means, horizon)
    for wrong in ([0.5], [0.9, 0.5], [0.9, 0.5, 0.4, 0.3]):
        with pytest.raises(InvalidParameter, match="one number for each of the 3 arms"):
            bandit.regret_bound(wrong, horizon)
