"""Words on the command line, and what they stand for."""

from fractions import Fraction

import pytest

from deniable.app.cli import words
from deniable.errors import InvalidParameter


def test_values_are_literals_or_words():
    assert words.values("0,1") == [0, 1]
    assert words.values("a, b") == ["a", "b"]
    assert words.values("[0, 1], []") == [[0, 1], []]
    assert words.value("nan") == "nan"


@pytest.mark.parametrize("bad", ["", "p", "p=1", "p=x:1", "=0:1"])
def test_a_bad_range_is_refused(bad):
    with pytest.raises(InvalidParameter):
        words.span(bad)


def test_numbers_are_exact():
    assert words.fraction("0.1", "p") == Fraction(1, 10)
    assert words.arguments(["a=1/3"]) == {"a": Fraction(1, 3)}
    with pytest.raises(InvalidParameter, match="`a`"):
        words.arguments(["a=1/0"])
