"""Many exact coins at once, each with its own probability exp(-unit * distance).

The first random word of each coin is compared with a float exp whose relative error is below
2**-41 (see `weighted_choice`). If the word is closer to the float than the error of the float
plus the width of the word, integer enclosures and further bits decide.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM, BitSource, draw_integer
from deniable.exact.enclosures import exp_neg

_RELATIVE = 2.0**-39  # four times the joint error of exp and its argument
_ABSOLUTE = 2.0**-50  # the error of a word as a float, and of a denormal exp
_LARGEST = 1 << 62


def flip_coins(
    distances: npt.NDArray[Any],
    unit: Fraction,
    *,
    source: BitSource = SYSTEM,
    word_bits: int = 64,
) -> npt.NDArray[np.bool_]:
    """Heads, independently, with probability exp(-unit * distance), for distances >= 0.

    >>> flip_coins(np.array([0, 10**9]), Fraction(1)).tolist()
    [True, False]
    """
    if unit <= 0 or (distances.size and distances.min() < 0):
        raise InvalidParameter("`unit` must be positive, and `distances` must be zero or more.")
    if distances.dtype == object:
        exponents = np.array([_nearest_float(unit * int(distance)) for distance in distances])
    else:
        exponents = distances * _nearest_float(unit)
    with np.errstate(under="ignore"):
        chances = np.exp(-exponents)
    words = source.draw(word_bits, distances.size)
    width = 2.0**-word_bits
    doubt = chances * _RELATIVE + _ABSOLUTE
    below = words * width
    sure = distances == 0
    heads: npt.NDArray[np.bool_] = sure | (below + width <= chances - doubt)
    for i in np.flatnonzero(~heads & (below < chances + doubt)):
        heads[i] = _settle(unit * int(distances[i]), int(words[i]), source, word_bits)
    return heads


def _settle(x: Fraction, word: int, source: BitSource, word_bits: int) -> bool:
    """Whether the uniform number with the first bits `word` is below exp(-x)."""
    bits = word_bits
    while True:
        lo, hi = exp_neg(x, bits)
        if word < lo:
            return True
        if word >= hi:
            return False
        word, bits = word << word_bits | draw_integer(source, word_bits), bits + word_bits


def _nearest_float(x: Fraction) -> float:
    """x as a float. Beyond 2**62 any number will do, because exp(-x) is zero."""
    return float(x) if x < _LARGEST else float(_LARGEST)
