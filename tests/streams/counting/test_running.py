"""A counter at work: right sums, covering margins, noise once, and no step too many."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import UsedUp
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.streams.counters.reading import shown, shown_margin
from deniable.streams.counting.design import CounterDesign
from deniable.streams.counting.promise import Promise
from deniable.streams.counting.running import EndedStep, RunningCount

ONE, LEVEL = Fraction(1), Fraction(19, 20)
WIDE = Fraction(1, 50)  # noise that is many grid steps wide
PERSON = Promise(person="guest", per_person=2)
DESIGNS = {
    "gaussian": CounterDesign(Promise(), 60, mu_squared=WIDE),
    "tree": CounterDesign(Promise(), 60, epsilon=WIDE),
    "window": CounterDesign(Promise(), 60, window=7, mu_squared=WIDE),
    "tree window": CounterDesign(Promise(), 60, window=7, epsilon=WIDE),
    "epochs": CounterDesign(PERSON, mu_squared=WIDE),
    "tree epochs": CounterDesign(PERSON, epsilon=WIDE),
}
LOUD = {
    "mu_squared": Fraction(10**12),
    "epsilon": Fraction(10**6),
}


def quiet(design):
    prices = {
        name: value and LOUD[name]
        for name, value in (("mu_squared", design.mu_squared), ("epsilon", design.epsilon))
    }
    return CounterDesign(design.promise, design.horizon, design.window, **prices)


@pytest.mark.parametrize("name", DESIGNS)
def test_sums_are_right(name):
    design = quiet(DESIGNS[name])
    count, inputs = RunningCount(design), []
    for step in range(design.horizon or 200):
        inputs.append(step % 5)
        count.add(step % 5)
        kept = inputs if design.window is None else inputs[-design.window :]
        assert count.total() == pytest.approx(sum(kept), abs=0.05)
        assert count.latest() == pytest.approx(inputs[-1], abs=0.05)


@pytest.mark.parametrize("name", DESIGNS)
def test_margins_cover(name, size):
    """Pooled over all steps; the steps of a run depend on each other, so runs are compared."""
    runs = size(small=40, full=1000, what="counters of 60 steps")
    design, shares = DESIGNS[name], []
    margins = [shown_margin(design.sum_spread(step), LEVEL) for step in range(1, 61)]
    own = [shown_margin(design.step_spread(step), LEVEL) for step in range(1, 61)]
    for _ in range(runs):
        count, inputs, kept = RunningCount(design), [], 0
        for step in range(60):
            inputs.append(step * 37 % 11)
            count.add(inputs[-1])
            true = sum(inputs if design.window is None else inputs[-design.window :])
            kept += abs(shown(count.total()) - true) <= margins[step]
            kept += abs(shown(count.latest()) - inputs[-1]) <= own[step]
        shares.append(kept / 120)
    error = np.std(shares, ddof=1) / runs**0.5
    assert np.mean(shares) >= 0.95 - 4 * error
    assert np.mean(shares) <= 0.975 + 4 * error  # and they are not much too wide


def test_noise_is_drawn_once_for_each_step_and_not_at_reading(monkeypatch):
    draws = []
    for law in (GaussianNoise, LaplaceNoise):
        plain = law.draw
        monkeypatch.setattr(
            law, "draw", lambda self, size, plain=plain: draws.append(size) or plain(self, size)
        )
    for name, design in DESIGNS.items():
        count = RunningCount(design)
        for _ in range(60):
            draws.clear()
            released = count.add(1).released
            assert draws == [len(released)], name
            first = count.total(), count.latest()
            assert (count.total(), count.latest()) == first
            assert draws == [len(released)], name


def test_segments_have_noise_of_their_own(size):
    """Noise that is used again in another epoch or window would cancel in a difference."""
    runs = size(small=300, full=10_000, what="pairs of epochs")
    design = CounterDesign(Promise(), 12, window=4, mu_squared=ONE)
    rows = []
    for _ in range(runs):
        count, ends = RunningCount(design), []
        for step in range(8):
            count.add(0)
            if step in (3, 7):
                ends.append(count.total())
        rows.append(ends)
    first, second = np.array(rows).T
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / runs**0.5
    assert abs(np.corrcoef(first, first + 1e-9)[0, 1]) > 5 / runs**0.5  # it has power


def test_windows_are_not_differences_of_sums_over_the_horizon(size):
    runs = size(small=200, full=5000, what="windows")
    design = CounterDesign(Promise(), 2000, window=2, mu_squared=ONE)
    errors = []
    for _ in range(runs):
        count = RunningCount(design)
        for _ in range(7):
            count.add(3)
        errors.append(count.total() - 6)
    limit = design.worst_deviation
    assert np.std(errors) < limit * (1 + 5 / (2 * runs) ** 0.5)
    # Two sums over 2,000 steps have at least this error.
    sums = CounterDesign(Promise(), 2000, mu_squared=ONE)
    weights = sums.segment(0).weights(7, 2)
    assert limit < float(sums.segment(0).noise.variance) ** 0.5 * np.linalg.norm(weights) / 1.2


@pytest.mark.parametrize("name", ["gaussian", "tree", "window", "tree window"])
def test_the_horizon_is_not_exceeded(name):
    count = RunningCount(DESIGNS[name])
    for _ in range(60):
        count.add(1)
    with pytest.raises(UsedUp, match="charged for 60 steps"):
        count.add(1)
    with pytest.raises(UsedUp):
        count.check_room()
    with pytest.raises(UsedUp):
        RunningCount(DESIGNS[name]).check_room(61)
    assert count.steps == 60


@pytest.mark.parametrize("name", DESIGNS)
def test_a_restored_counter_goes_on_with_the_same_numbers(name):
    first, second = RunningCount(DESIGNS[name]), RunningCount(DESIGNS[name])
    for step in range(60):
        second.restore(first.add(step))
        assert second.total() == first.total()
        assert second.latest() == first.latest()
    assert second.steps == first.steps == 60


def test_huge_inputs_are_cut_and_nothing_fails():
    for design in DESIGNS.values():
        count = RunningCount(design)
        ended = [count.add(value) for value in (10**40, -(10**40), 0)]
        assert [step.value for step in ended] == [1 << 62, -(1 << 62), 0]
        assert isinstance(ended[0], EndedStep)


def test_nothing_is_zero():
    count = RunningCount(DESIGNS["tree"])
    assert (count.total(), count.latest()) == (0.0, 0.0)


def test_steps_of_a_long_counter(size):
    """Memory grows by two numbers a step, and time by the steps so far: two products."""
    import time
    import tracemalloc

    steps = size(small=3000, full=10**6, what="steps of one counter")
    design = CounterDesign(Promise(), steps, mu_squared=ONE)
    count = RunningCount(design)
    design.segment(0).weights(1)  # what is computed once
    count.add(1)
    count.total()
    tracemalloc.start()
    began = time.process_time()
    for _ in range(steps - 1):
        count.add(1)
    took = (time.process_time() - began) / steps
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 40 * steps + 200_000
    # Written down by the soak run; no limit of time in a test.
    print(f"{steps} steps: {1e6 * took:.0f} microseconds and {held / steps:.0f} bytes a step")
