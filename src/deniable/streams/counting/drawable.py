"""Which noise can be drawn: samplers serve scales up to 2**50 grid steps.

A stream is charged before its first draw. So this is checked when it is priced.
"""

from fractions import Fraction
from math import isqrt

from deniable.errors import InvalidParameter
from deniable.exact.samplers import LARGEST_SCALE
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.mechanisms.noise.laplace import LaplaceNoise


def can_draw(noise: GaussianNoise | LaplaceNoise) -> bool:
    """Whether the samplers serve this noise.

    >>> can_draw(LaplaceNoise(Fraction(1 << 50))), can_draw(LaplaceNoise(Fraction(1 << 51)))
    (True, False)
    """
    return noise_scale(noise) <= LARGEST_SCALE


def noise_scale(noise: GaussianNoise | LaplaceNoise) -> int:
    """The scale as the samplers see it: whole grid steps."""
    exact: Fraction = noise.variance if isinstance(noise, GaussianNoise) else noise.scale
    return isqrt(int(exact)) if isinstance(noise, GaussianNoise) else int(exact)


def check_drawable(noise: GaussianNoise | LaplaceNoise, *more: str) -> None:
    """Refuses noise that the samplers do not serve; `more` are further ways to mend it."""
    if not can_draw(noise):
        scale = f"2**{noise_scale(noise).bit_length() - 1}"
        raise InvalidParameter(
            f"The noise would be too wide to draw: its scale is about {scale} steps of its "
            "grid, and the most is 2**50. Such fine digits hold no information. Choose a wider "
            "grid (`grid`; for a column of a table, its `step`), narrower bounds, a smaller "
            "`per_person`, or a larger price. " + " ".join([*more, "Nothing was spent."])
        )
