"""Tables fit a screen."""

from fractions import Fraction

from deniable.audit.prove.probability_tables import format_odds, format_table, sort_outputs


def test_large_tables_are_cut():
    table = {x: {y: Fraction(1, 20) for y in range(20)} for x in range(50)}
    lines = format_table(table, range(20))
    assert len(lines) < 30
    assert lines[0].endswith("...")
    assert "50 inputs" in lines[-1]


def test_long_fractions_are_shortened():
    assert format_odds(Fraction(3)) == "3"
    assert format_odds(Fraction(10**40 + 1, 3 * 10**39)) == "3.33333..."
    long = Fraction(1, 3**40)
    assert str(long) not in format_table({0: {0: long}}, [0])[1]


def test_mixed_outputs_are_ordered():
    assert sort_outputs({3, 1, 2}) == (1, 2, 3)
    assert sort_outputs([("a",), 1]) == (("a",), 1)
