"""Words on the command line, and what they stand for."""

from fractions import Fraction

import pytest

from deniable.app.cli import argument_values
from deniable.errors import InvalidParameter


def test_values_are_literals_or_words():
    assert argument_values.parse_values("0,1") == [0, 1]
    assert argument_values.parse_values("a, b") == ["a", "b"]
    assert argument_values.parse_values("[0, 1], []") == [[0, 1], []]
    assert argument_values.parse_value("nan") == "nan"


@pytest.mark.parametrize("bad", ["", "p", "p=1", "p=x:1", "=0:1"])
def test_a_bad_range_is_refused(bad):
    with pytest.raises(InvalidParameter):
        argument_values.parse_range(bad)


def test_numbers_are_exact():
    assert argument_values.parse_fraction("0.1", "p") == Fraction(1, 10)
    assert argument_values.parse_parameters(["a=1/3"]) == {"a": Fraction(1, 3)}
    with pytest.raises(InvalidParameter, match="`a`"):
        argument_values.parse_parameters(["a=1/0"])
