"""Sums with Gaussian noise: exact privacy by the covariance, exact integers, known errors."""

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest

from deniable.streams.counting.coefficients import coefficients
from deniable.streams.counting.promise import Promise
from deniable.streams.counting.square_root import SquareRoot

MU_SQUARED = Fraction(3, 7)


def exact_numbers(design, inputs):
    """What is measured before the noise."""
    sums, numbers = design.begin(), []
    for value in inputs:
        numbers.append(sums._measure(value))
        sums._keep(value, 0)
    return numbers


def neighbours(stream, promise):
    """All streams that differ in one protected event."""
    size = len(stream)
    values = [value for value in range(promise.low, promise.high + 1) if value]
    for at, value in product(range(size), values):
        added = list(stream)
        added[at] += value
        if promise.neighbors == "add-remove":
            yield stream, added
            continue
        yield stream, added  # an event of value 0 becomes this one
        for to, other in product(range(size), values):
            moved = list(stream)
            moved[to] += other
            yield added, moved


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (0, 2)])
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_all_neighbouring_streams_cost_at_most_the_loss(length, low, high, neighbors):
    """Gaussian noise of this variance is mu-GDP exactly if mu squared is at least the squared
    distance over the variance."""
    promise = Promise(neighbors, low, high)
    design = SquareRoot(length, promise, MU_SQUARED)
    variance, worst = design.noise.variance, Fraction(0)
    for first, second in neighbours([0] * length, promise):
        pairs = zip(exact_numbers(design, first), exact_numbers(design, second), strict=True)
        worst = max(worst, Fraction(sum((a - b) ** 2 for a, b in pairs)) / variance)
    assert worst <= MU_SQUARED
    if neighbors == "add-remove" or low < 0:
        assert worst == MU_SQUARED  # and not more noise than that


@pytest.mark.parametrize("length", [2, 4])
def test_adaptive_inputs_cost_no_more(length):
    """Given the same answers so far, both worlds choose the same further inputs, and the shift
    of each answer is a Gaussian step. The steps add up along every course of answers."""
    design = SquareRoot(length, Promise(), MU_SQUARED)
    for at in range(length):
        for course in product([-3, 0, 5], repeat=length):
            chosen = [abs(answer) + place for place, answer in enumerate((1, *course[:-1]))]
            with_event = [value + (place == at) for place, value in enumerate(chosen)]
            pairs = zip(
                exact_numbers(design, chosen), exact_numbers(design, with_event), strict=True
            )
            spent = Fraction(sum((a - b) ** 2 for a, b in pairs)) / design.noise.variance
            assert spent <= MU_SQUARED


def test_measurements_are_exact_integers_also_if_they_are_large():
    rng = np.random.default_rng(4)
    design = SquareRoot(40, Promise(), MU_SQUARED)
    series = [int(f) for f in coefficients(40)]
    for most in (10, 2**31, 2**61):
        inputs = [int(x) for x in rng.integers(-most, most, 40)]
        expected = [
            sum(series[k] * inputs[t - k] for k in range(t + 1)) for t in range(len(inputs))
        ]
        assert exact_numbers(design, inputs) == expected


@pytest.mark.parametrize(
    ("steps", "known", "tree"),
    [(1024, 3.273, 10.49), (4096, 3.714, 12.49), (65536, 4.596, 16.49)],
)
def test_the_worst_deviation_at_rho_one_half(steps, known, tree):
    deviation = SquareRoot(steps, Promise(), Fraction(1)).spread(steps).deviation
    assert deviation == pytest.approx(known, rel=1e-3)
    levels = steps.bit_length() - 1
    assert sqrt((levels + 1) * levels) == pytest.approx(tree, rel=1e-3)


def test_estimates_are_the_sums_and_the_steps(monkeypatch):
    design = SquareRoot(200, Promise(), Fraction(10**12))  # hardly any noise
    sums, inputs = design.begin(), [(7 * step) % 11 - 3 for step in range(200)]
    for step, value in enumerate(inputs, 1):
        sums.add(value)
        assert sums.estimate() == pytest.approx(sum(inputs[:step]), abs=0.01)
        assert sums.estimate(1) == pytest.approx(value, abs=0.01)
        last = min(step, 9)
        assert sums.estimate(9) == pytest.approx(sum(inputs[step - last : step]), abs=0.01)


def test_the_spread_is_that_of_the_weights():
    design = SquareRoot(50, Promise(), MU_SQUARED)
    for steps, last in [(1, None), (30, None), (50, 1), (50, 17), (20, 40), (1, 1)]:
        weights = design.weights(steps, last)
        spread = design.spread(steps, last)
        expected = float(design.noise.variance) * float(np.sum(weights**2))
        assert spread.variance == pytest.approx(expected)
        assert spread.fixed == pytest.approx(np.sum(np.abs(weights)) / 2)
    assert design.spread(0).variance == 0


def test_restored_numbers_are_the_same():
    design = SquareRoot(90, Promise(), MU_SQUARED)
    first, second = design.begin(), design.begin()
    for value in range(80):
        second.restore(value, first.add(value))
        assert first.estimate() == second.estimate()
    assert second._measure(5) == first._measure(5)
