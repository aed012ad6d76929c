import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import Loloha
from deniable.privacy import PureLoss


def test_published_numbers():
    four = Loloha(epsilon=1, epsilon_forever=2, categories=100, groups=4)
    assert float(four.first_slope) == pytest.approx(0.614979, abs=5e-7)
    assert float(four.second_slope) == pytest.approx(0.488617, abs=5e-7)
    keep = four.second_slope + (1 - four.second_slope) / 4
    assert float(keep) == pytest.approx(0.616462, abs=5e-7)
    assert float(four.p) == pytest.approx(0.475367, abs=5e-7)
    two = Loloha(epsilon=1, epsilon_forever=2, categories=100)
    keep = two.second_slope + (1 - two.second_slope) / 2
    assert float(keep) == pytest.approx(0.803388, abs=5e-7)


@pytest.mark.parametrize("g", [2, 3, 4])
def test_a_wave_costs_exactly_what_was_asked(g):
    """Both rounds multiplied out, over all permanent reports: the ratio is `odds` exactly."""
    design = Loloha(odds=3, odds_forever=9, categories=4, groups=g)

    def chance(slope, report, truth):
        return slope * (report == truth) + (1 - slope) / g

    laws = [
        [
            sum(
                chance(design.first_slope, middle, bucket)
                * chance(design.second_slope, y, middle)
                for middle in range(g)
            )
            for y in range(g)
        ]
        for bucket in range(g)
    ]
    worst = max(
        a / b for law, other in permutations(laws, 2) for a, b in zip(law, other, strict=True)
    )
    assert worst == 3
    assert design.loss_once == PureLoss(odds=3)
    forever = [[chance(design.first_slope, y, x) for y in range(g)] for x in range(g)]
    assert max(max(row) / min(row) for row in forever) == 9
    assert design.loss == PureLoss(odds=Fraction(9) ** g)


def test_waves_of_200_000_people_are_recovered_and_remembered():
    n, k = 200_000, 40
    design = Loloha(epsilon=1, epsilon_forever=2, categories=k, groups=3)
    panel = design.panel(n)
    for shift in (0, 5):
        truth = (np.arange(n) * 7919 % 61 + shift) % k
        estimates = design.estimate(panel.report(truth), confidence=1 - 1e-10)
        for estimate, actual in zip(
            estimates, np.bincount(truth, minlength=k) / n, strict=True
        ):
            assert estimate.interval[0] <= actual <= estimate.interval[1]
    # The mean over many waves tells the permanent report, and never more.
    truth = np.arange(n) % k
    waves = np.stack([panel.report(truth)[:1000, 2] for _ in range(20)])
    same = (waves == waves[0]).mean()
    keep = float(design.second_slope + (1 - design.second_slope) / 3)
    assert same == pytest.approx(keep**2 + (1 - keep) ** 2 / 2 + 1 / 20, abs=0.05)


def test_the_error_of_a_wave_is_as_stated():
    k, n = 50, 2000
    design = Loloha(epsilon=1, epsilon_forever=2, categories=k, groups=3)
    squares = []
    truth = np.arange(n) % k
    for _ in range(100):
        raw = np.array(design.estimate(design.panel(n).report(truth)).raw)
        squares.append(((raw - 1 / k) ** 2).mean())
    theory = design.variance(Fraction(1, k), respondents=n, population=False)
    assert np.mean(squares) == pytest.approx(theory, rel=0.1)


def test_bad_designs():
    with pytest.raises(InvalidParameter, match="fresh"):
        Loloha(epsilon=2, epsilon_forever=1, categories=5)
    with pytest.raises(InvalidParameter, match="groups"):
        Loloha(epsilon=1, epsilon_forever=2, categories=5, groups=1)
    with pytest.raises(InvalidParameter, match="3 people"):
        Loloha(epsilon=1, epsilon_forever=2, categories=5).panel(3).report([1])


@pytest.mark.parametrize("waves", [1, 2, 3, 4])
def test_no_two_histories_are_told_apart_by_more_than_is_stated(waves):
    """All histories of buckets, all reports; those that change at other times included."""
    g, design = 2, Loloha(odds=2, odds_forever=3, categories=4, groups=2)

    def chance(slope, report, truth):
        return slope * (report == truth) + (1 - slope) / g

    def law(history):
        chances = dict.fromkeys(product(range(g), repeat=waves), Fraction(0))
        for memory in product(range(g), repeat=g):
            first = math.prod(chance(design.first_slope, memory[b], b) for b in range(g))
            for seen in chances:
                chances[seen] += first * math.prod(
                    chance(design.second_slope, y, memory[b])
                    for y, b in zip(seen, history, strict=True)
                )
        return chances

    laws = {history: law(history) for history in product(range(g), repeat=waves)}
    worst = same = Fraction(0)
    for (path, p), (other, q) in permutations(laws.items(), 2):
        most = max(p[seen] / q[seen] for seen in p)
        worst = max(worst, most)
        if len(set(zip(path, other, strict=True))) == len(set(path)) == len(set(other)):
            same = max(same, most)  # equal where the other is equal
    assert PureLoss(odds=worst).epsilon() <= design.loss_after(waves).epsilon()
    assert same <= 9
    assert waves < 4 or worst > 9  # so the loss of what is remembered would not do
