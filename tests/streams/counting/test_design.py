"""The design of a counter: segments, and the error of every number that is shown."""

from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter
from deniable.streams.counting.design import FIRST_EPOCH, CounterDesign
from deniable.streams.counting.drawable import noise_scale
from deniable.streams.counting.promise import Promise

ONE = Fraction(1)


def test_without_a_horizon_a_lifelong_tally_is_needed():
    with pytest.raises(InvalidParameter, match="per_person"):
        CounterDesign(Promise(), mu_squared=ONE)
    CounterDesign(Promise(person="guest", per_person=4), mu_squared=ONE)


def test_epochs_double():
    design = CounterDesign(Promise(person="guest"), epsilon=ONE)
    assert [design.length(number) for number in range(3)] == [64, 128, 256]
    places = {1: (0, 1), 64: (0, 64), 65: (1, 1), 192: (1, 128), 193: (2, 1)}
    assert {step: design.place(step) for step in places} == places
    # All epochs before it count with their whole error.
    both = design.segment(0).spread(FIRST_EPOCH) + design.segment(1).spread(1)
    assert design.sum_spread(65) == both


def test_the_noise_of_a_window_does_not_grow_with_the_horizon():
    for price in ({"mu_squared": ONE}, {"epsilon": ONE}):
        short = CounterDesign(Promise(), 1000, window=30, **price)
        long = CounterDesign(Promise(), 100_000, window=30, **price)
        sums = CounterDesign(Promise(), 100_000, **price)
        assert short.worst_deviation == long.worst_deviation
        assert long.worst_deviation < sums.worst_deviation
        assert long.sum_spread(99_990) == long.sum_spread(999_990 % 30 + 60)
        worst = max(long.sum_spread(step).variance for step in range(1, 100))
        assert long.worst_deviation**2 == pytest.approx(worst)


@pytest.mark.parametrize("price", [{"mu_squared": ONE}, {"epsilon": ONE}])
@pytest.mark.parametrize("horizon", [1, 2, 7, 8, 100])
def test_the_worst_deviation_is_that_of_the_worst_step(horizon, price):
    design = CounterDesign(Promise(), horizon, **price)
    worst = max(design.sum_spread(step).deviation for step in range(1, horizon + 1))
    assert design.worst_deviation == pytest.approx(worst)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mu_squared": ONE, "epsilon": ONE},
        {},
        {"epsilon": ONE, "horizon": 0},
        {"epsilon": ONE, "window": 1.5},
        {"epsilon": ONE, "horizon": 10**9},
    ],
)
def test_refuses(wrong):
    with pytest.raises(InvalidParameter):
        CounterDesign(Promise(), **{"horizon": 5, **wrong})


@pytest.mark.parametrize("loss", [{"mu_squared": Fraction(1)}, {"epsilon": Fraction(1)}])
def test_no_segment_has_wider_noise(loss):
    person = Promise("replace", -2, 3, "guest", 4)
    for shape, tight in (({"horizon": 9}, True), ({"window": 5}, True), ({}, False)):
        design = CounterDesign(person, **shape, **loss)
        widest = noise_scale(design.widest_noise)
        scales = [noise_scale(design.segment(number).noise) for number in (0, 1, 5, 9)]
        assert max(scales) <= widest <= (1 if tight else 10) * scales[0]
