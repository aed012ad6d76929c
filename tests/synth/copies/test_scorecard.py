"""The scorecard's intervals hold for all tables at once, the worst included."""

from fractions import Fraction

import numpy as np

from deniable.mechanisms import Gaussian
from deniable.synth.copies.scorecard import Scorecard

LEVEL = Fraction(19, 20)
NAMES = [(f"a{i}", f"b{i}") for i in range(105)]


def read(distances, deviation, total=1000.0):
    return Scorecard.read(
        NAMES,
        distances,
        deviation=deviation,
        rounding=[0.0] * len(NAMES),
        total=total,
        confidence=LEVEL,
    )


def test_a_low_end_is_not_above_its_error():
    card = Scorecard.read(
        [("a", "b")],
        [500.0],
        deviation=1.0,
        rounding=[0.0],
        total=100.0,
        confidence=Fraction(19, 20),
    )
    assert card.errors[0].low <= card.errors[0].error <= card.errors[0].high


def test_all_intervals_hold_together_and_are_not_padded(size):
    draws = size(small=400, full=2000, what="scorecards")
    exact = np.full(len(NAMES), 300, dtype=np.int64)
    noise = Gaussian(sigma=40)
    held = near = worst = 0
    for _ in range(draws):
        card = read(np.asarray(noise.release(exact), float), 40.0)
        inside = [each.low <= 0.3 <= each.high for each in card.errors]
        half = [
            abs(each.error - 0.3) <= 0.85 * (each.high - each.low) / 2 for each in card.errors
        ]
        held, near = held + all(inside), near + all(half)
        first = card.worst(1)[0]
        worst += first.low <= 0.3 <= first.high
    error = np.sqrt(0.95 * 0.05 / draws)
    assert held / draws > 0.95 - 4 * error
    assert worst / draws > 0.95 - 4 * error
    assert near / draws < 0.95 - 4 * error


def test_the_worst_are_named():
    distances = [10.0] * len(NAMES)
    distances[7] = 900.0
    card = read(distances, 5.0)
    assert card.worst(1)[0].columns == ("a7", "b7")
    assert "a7, b7: 0.900" in str(card)
    assert "Errors of 105 tables" in str(card)
    assert abs(card.mean - (0.01 * 104 + 0.9) / 105) < 1e-9


def test_nothing_is_negative_and_no_rows_do_not_divide_by_zero():
    card = read([-50.0] * len(NAMES), 5.0, total=-3.0)
    assert all(error.error == 0 and error.low == 0 for error in card.errors)


def test_rounding_widens_the_interval():
    wide = Scorecard.read(
        [("a",)], [100.0], deviation=1e-9, rounding=[5.0], total=100.0, confidence=LEVEL
    )
    assert round(wide.errors[0].high, 6) == 1.05
    assert str(wide).startswith("Errors of 1 table of the copy")
