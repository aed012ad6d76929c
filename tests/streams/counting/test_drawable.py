"""Noise that the samplers serve, and noise that they do not."""

from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.streams.counting.drawable import can_draw, check_drawable

EDGE = 1 << 50
WIDEST = [LaplaceNoise(Fraction(EDGE + 1) - Fraction(1, 9)), GaussianNoise(Fraction(EDGE) ** 2)]
TOO_WIDE = [LaplaceNoise(Fraction(EDGE + 1)), GaussianNoise(Fraction(EDGE + 1) ** 2)]


@pytest.mark.parametrize("noise", WIDEST, ids=["Laplace", "Gauss"])
def test_the_widest_noise_is_drawn(noise):
    assert can_draw(noise)
    check_drawable(noise)
    assert len(noise.draw(3)) == 3


@pytest.mark.parametrize("noise", TOO_WIDE, ids=["Laplace", "Gauss"])
def test_what_is_refused_cannot_be_drawn(noise):
    """The limit is that of the samplers, neither less nor more."""
    with pytest.raises(InvalidParameter, match=r"2\*\*50"):
        noise.draw(1)
    with pytest.raises(InvalidParameter, match=r"price\. Or so\. Nothing was spent"):
        check_drawable(noise, "Or so.")
