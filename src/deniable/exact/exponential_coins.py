"""Many coins at once, each with its own chance exp(-unit * distance), all exact.

The first word of each coin is compared with a float exp whose relative error is below 2**-41
(see `buckets`). Only the distance counts: a coin whose word comes closer to the float than its
error and the word's own width allow is settled with integer enclosures and further bits.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM, BitSource, integer
from deniable.exact.enclosures import exp_neg

_RELATIVE = 2.0**-39  # four times what exp and its argument can be off together
_ABSOLUTE = 2.0**-50  # of a word as a float, and of exp where it is denormal
_LARGEST = 1 << 62


def flips(
    distances: npt.NDArray[Any],
    unit: Fraction,
    *,
    source: BitSource = SYSTEM,
    word_bits: int = 64,
) -> npt.NDArray[np.bool_]:
    """Heads, independently, with probability exp(-unit * distance), for distances >= 0.

    >>> flips(np.array([0, 10**9]), Fraction(1)).tolist()
    [True, False]
    """
    if unit <= 0 or (distances.size and distances.min() < 0):
        raise InvalidParameter("`unit` must be positive, and `distances` zero or more.")
    if distances.dtype == object:
        exponents = np.array([_nearest(unit * int(one)) for one in distances])
    else:
        exponents = distances * _nearest(unit)
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
    """Whether the number whose first bits are `word` lies below exp(-x)."""
    bits = word_bits
    while True:
        lo, hi = exp_neg(x, bits)
        if word < lo:
            return True
        if word >= hi:
            return False
        word, bits = word << word_bits | integer(source, word_bits), bits + word_bits


def _nearest(x: Fraction) -> float:
    """x as a float; beyond 2**62 that is as good as any number, as exp(-x) is zero."""
    return float(x) if x < _LARGEST else float(_LARGEST)
