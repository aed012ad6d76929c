"""The tree: exact privacy by enumerating outputs, also for adaptive inputs; its errors."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from deniable.streams.counting.binary_tree import BinaryTree, nodes_of
from deniable.streams.counting.promise import Promise

EPSILON = Fraction(1)
WINDOW = range(-3, 5)


def log_probability(design, inputs_of, outputs):
    """ln P(outputs), where each input may depend on the outputs before it."""
    sums, total, at = design.begin(), 0.0, 0
    for step in range(design.length):
        exact = sums._end_step(inputs_of(step, outputs[:at]))
        seen = outputs[at : at + len(exact)]
        total -= sum(
            abs(noisy - true) for noisy, true in zip(seen, exact, strict=True)
        ) / float(design.noise.scale)
        at += len(exact)
    return total  # up to a constant that is the same in all worlds


def count_numbers(length):
    return sum((step & -step).bit_length() for step in range(1, length + 1))


def fixed(stream):
    return lambda step, _: stream[step]


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1)])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_output_of_neighbouring_streams_is_about_as_probable(
    length, low, high, neighbors, size
):
    promise = Promise(neighbors, low, high)
    design = BinaryTree(length, promise, EPSILON)
    step = 1 if length < 3 else size(small=3, full=1, what="steps between outputs of a tree")
    outputs = list(product(WINDOW[::step], repeat=count_numbers(length)))
    worst = 0.0
    values = range(low, high + 1)
    for at, to in product(range(length), repeat=2):
        for value, other in product(values, values):
            first, second = [0] * length, [0] * length
            first[at] += value
            if neighbors == "replace":
                second[to] += other
            for seen in outputs:
                ratio = log_probability(design, fixed(first), seen)
                ratio -= log_probability(design, fixed(second), seen)
                worst = max(worst, abs(ratio))
    assert worst <= EPSILON + 1e-9
    if neighbors == "add-remove" or low < 0:
        assert worst == pytest.approx(float(EPSILON))  # and not more noise than that


def test_adaptive_inputs_are_as_private():
    """The inputs of later steps are chosen by the numbers that were released before."""
    design = BinaryTree(3, Promise(), EPSILON)

    def chosen(event):
        def inputs(step, seen):
            value = 2 if sum(seen) > 1 else abs(seen[-1]) % 3 if seen else 1
            return value + (step == event)

        return inputs

    for event in range(3):
        for seen in product(WINDOW[::2], repeat=count_numbers(3)):
            ratio = log_probability(design, chosen(event), seen)
            ratio -= log_probability(design, chosen(None), seen)
            assert abs(ratio) <= EPSILON + 1e-9


def test_too_little_noise_would_be_seen():
    """The enumeration has power: a tree whose noise forgets one height fails it."""
    design = BinaryTree(3, Promise(), EPSILON)
    weak = BinaryTree(1, Promise(), EPSILON).noise.scale
    moved = sum((step & -step).bit_length() > 0 for step in (1, 2))
    assert moved / float(weak) > EPSILON
    assert design.noise.scale == 2


def test_nodes_cover_each_step_once():
    for first, end in product(range(20), range(33)):
        steps = [
            step
            for height, place in nodes_of(first, end)
            for step in range(place << height, (place + 1) << height)
        ]
        assert steps == list(range(first, end))


def test_each_event_is_in_as_many_numbers_as_there_are_heights():
    for length in range(1, 40):
        design = BinaryTree(length, Promise(), EPSILON)
        for event in range(length):
            sums = design.begin()
            moved = [sum(sums._end_step(int(step == event))) for step in range(length)]
            assert sum(moved) <= design.heights


def test_estimates_have_the_stated_variance(size):
    runs = size(small=300, full=20_000, what="trees of 7 steps")
    design = BinaryTree(7, Promise(), Fraction(1, 4))
    errors = {(7, None): [], (6, None): [], (6, 2): []}
    for _ in range(runs):
        sums = design.begin()
        for step in range(1, 8):
            sums.add(step)
            for at, last in errors:
                if at == step:
                    truth = sum(range(step + 1 - (last or step), step + 1))
                    errors[at, last].append(sums.estimate(last) - truth)
    for (at, last), values in errors.items():
        expected = design.spread(at, last).variance
        # The relative error of a variance is about sqrt(kurtosis / runs), kurtosis at most 6.
        assert np.var(values) == pytest.approx(expected, rel=5 * math.sqrt(6 / runs))
        assert abs(np.mean(values)) < 5 * math.sqrt(expected / runs)


def test_honaker_is_better_than_the_numbers_alone():
    design = BinaryTree(1024, Promise(), EPSILON)
    single = design.spread(1).variance
    assert design.spread(1023).variance < 0.65 * 10 * single


def test_restored_numbers_are_the_same():
    design = BinaryTree(30, Promise(), EPSILON)
    first, second = design.begin(), design.begin()
    for value in range(30):
        second.restore(value, first.add(value))
        assert first.estimate() == second.estimate()
        assert first.estimate(5) == second.estimate(5)
