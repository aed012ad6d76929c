"""Readings: whole numbers with whole margins."""

from fractions import Fraction

from deniable.streams.counters.reading import Reading, in_units, shown, shown_margin
from deniable.streams.counting.spread import Spread


def test_numbers_are_on_the_grid():
    assert [shown(2.5), shown(-0.2), shown(-0.6)] == [3, 0, -1]
    assert shown_margin(Spread(0.0, fixed=2.4), Fraction(19, 20)) == 2
    assert shown_margin(Spread(0.0, fixed=2.6), Fraction(19, 20)) == 3
    assert in_units(7, Fraction(1, 2)) == 3.5
    assert in_units(7, Fraction(2)) == 14


def test_a_reading_says_what_it_protects():
    reading = Reading(2, 10, 3, "visits so far", "one event", Fraction(9, 10))
    assert (reading.low, reading.high) == (7, 13)
    assert str(reading) == "visits so far after step 2: 10 ± 3 at 90 %\nprotects one event"
