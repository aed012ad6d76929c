"""Whether a uniform random number is below a given number, decided exactly.

The given number is known through integer enclosures of any precision, the uniform one through
its first bits. If the first word leaves the answer open (about once in 2**64), more bits of
both are taken until the answer is certain.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from deniable.exact.bits import BitSource, draw_integer
from deniable.exact.enclosures import Enclosure


def uniform_is_below(
    enclose: Callable[[int], Enclosure], size: int, source: BitSource, *, word_bits: int = 64
) -> npt.NDArray[np.bool_]:
    """True with exactly the probability in (0, 1) that `enclose(bits)` encloses.

    >>> from deniable.exact.bits import ScriptedBits
    >>> third = lambda bits: (2**bits // 3, 2**bits // 3 + 1)
    >>> uniform_is_below(third, 3, ScriptedBits([0, 1, 0, 3]), word_bits=2).tolist()
    [True, False, True]
    """
    words = source.draw(word_bits, size).astype(np.uint64, copy=False)
    lo, hi = enclose(word_bits)
    result: npt.NDArray[np.bool_] = words < np.uint64(lo)
    for place in np.flatnonzero(~result & (words <= np.uint64(hi - 1))):
        result[place] = _settle(enclose, int(words[place]), source, word_bits)
    return result


def _settle(
    enclose: Callable[[int], Enclosure], word: int, source: BitSource, word_bits: int
) -> bool:
    """The same for one number with the first bits `word`: draws until the answer is certain."""
    bits = word_bits
    while True:
        word, bits = word << word_bits | draw_integer(source, word_bits), bits + word_bits
        lo, hi = enclose(bits)
        if word < lo:
            return True
        if word >= hi:
            return False
