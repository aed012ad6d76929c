"""Quantiles of a tree's errors: never below the exact ones, and hardly above."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

from deniable.streams.counting.binary_tree import BinaryTree
from deniable.streams.counting.design import CounterDesign
from deniable.streams.counting.promise import Promise
from deniable.streams.counting.tree_errors import NodeError, certified_quantile

LEVELS = [Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)]


def exact_cumulative(nodes):
    """P(|S| <= 0, 1, 2, ... lattice steps), and the steps of the lattice in one grid step."""
    unit = math.lcm(*((2 << node.height) - 1 for node in nodes))
    laws = []
    for node in nodes:
        scale = float(node.scale)
        z = np.arange(-math.ceil(40 * scale) - 1, math.ceil(40 * scale) + 2)
        chances = np.exp(-np.abs(z) / scale)
        for height in range(node.height + 1):
            stride = unit * 2**height // ((2 << node.height) - 1)
            law = np.zeros((len(z) - 1) * stride + 1)
            law[::stride] = chances / chances.sum()
            laws += [law] * 2 ** (node.height - height)
    length = sum(len(law) - 1 for law in laws) + 1
    spectrum = np.ones(1)
    for law in laws:
        spectrum = spectrum * np.fft.rfft(law, 1 << length.bit_length())
    total = np.fft.irfft(spectrum, 1 << length.bit_length())[:length]
    middle = length // 2
    return np.cumsum(total[middle:] + np.append(0, total[:middle][::-1])), unit


SUMS = [
    heights for count in (1, 2, 3) for heights in combinations_with_replacement(range(3), count)
]


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(8)])
def test_quantiles_are_never_below_the_exact_ones(scale):
    for heights in SUMS:
        nodes = tuple(NodeError(scale, height) for height in heights)
        cumulative, unit = exact_cumulative(nodes)
        for level in LEVELS:
            quantile = certified_quantile(nodes, level)
            least = int(np.searchsorted(cumulative, float(level) - 1e-13)) / unit
            assert least <= quantile <= 1.04 * least + 1 / 40


def test_noises_of_several_epochs_add_up():
    nodes = (NodeError(Fraction(2), 1), NodeError(Fraction(7, 2), 1))
    cumulative, unit = exact_cumulative(nodes)
    for level in LEVELS:
        least = int(np.searchsorted(cumulative, float(level) - 1e-13)) / unit
        assert least <= certified_quantile(nodes, level) <= 1.04 * least


@pytest.mark.parametrize("scale", [Fraction(1, 10**6), Fraction(3, 7), Fraction(10**12)])
def test_rare_misses_and_extreme_scales(scale):
    nodes = tuple(NodeError(scale, height) for height in range(4))
    quantiles = [
        certified_quantile(nodes, 1 - Fraction(1, 10**digits)) for digits in (1, 3, 5, 7, 12)
    ]
    assert all(low <= high for low, high in pairwise(quantiles))
    if scale > 1:
        # The widest noise alone is exceeded as rarely as this.
        assert quantiles[-1] > 0.9 * float(scale) * math.log(10**12)
        assert quantiles[-1] < 3 * float(scale) * math.log(10**12)


@pytest.mark.parametrize("horizon", [5, 31, 64, 100, 180])
def test_the_margin_that_is_announced_is_the_largest(horizon):
    for window in (None, 3):
        design = CounterDesign(Promise(), horizon, window, epsilon=Fraction(1, 2))
        for level in (Fraction(1, 2), Fraction(19, 20), Fraction(9999, 10_000)):
            margins = [design.sum_spread(step).margin(level) for step in range(1, horizon + 1)]
            assert max(margins) == design.worst_margin(level)


def test_simulated_errors_are_within_the_margin_as_often_as_promised(size):
    """By drawing: the weights of the estimates are those that the margin is made for."""
    runs = size(small=400, full=40_000, what="trees of 6 steps")
    design = BinaryTree(6, Promise(), Fraction(1, 3))
    margin, inside = design.spread(6).margin(Fraction(4, 5)), 0
    for _ in range(runs):
        sums = design.begin()
        for _ in range(6):
            sums.add(0)
        inside += abs(sums.estimate()) <= margin
    error = math.sqrt(0.8 * 0.2 / runs)
    assert 0.8 - 5 * error < inside / runs < 0.82 + 5 * error
