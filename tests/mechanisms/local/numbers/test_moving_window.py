from fractions import Fraction

import pytest

from deniable.mechanisms import Piecewise, SquareWave
from tests.mechanisms.numeric_contract import law


@pytest.mark.parametrize("design", [Piecewise, SquareWave])
@pytest.mark.parametrize("steps", [1, 3, 700])
def test_the_line_and_the_spread_are_the_law_s(design, steps):
    window = design(odds=3, low=0, high=steps)
    start, slope = window.line()
    for place in {0, steps // 2, steps}:
        chances = law(window, place)
        mean = sum(y * chance for y, chance in enumerate(chances))
        assert mean == start + slope * place
        squares = sum(y * y * chance for y, chance in enumerate(chances))
        assert squares - mean**2 == window.spread(Fraction(place))
