"""One exact draw among millions of cells that weigh length * exp(-unit * exponent).

Integer ceilings, then one exact coin. Let w_i be the weights relative to the least exponent,
and H_i integers with H_i >= 2**k w_i. Draw i with probability H_i / sum(H), which is integer
arithmetic, and keep it with probability 2**k w_i / H_i, else begin again. What is kept has
probability proportional to H_i * (2**k w_i / H_i) = 2**k w_i: exactly, whatever the H_i are.

Floats only propose the H_i. The float weight is off by less than 2**-41, relatively: a
product with three roundings, at most 746 before exp gives zero, shifts the exponent by less
than 2**-41.8, and exp, the length and their product add less than 2**-49. It is widened by
2**-39, cut to an integer and raised by one, so that it lies above. The coin is decided
by integer enclosures of exp at that one cell and as many random bits as it takes. Cells
far below the best keep H_i = 1 and are looked at only if they are drawn: the tail is opened
lazily. About one draw in 2**38 begins again. The time depends on the data through the number
of cells alone, but for such rare repeats.
"""

from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM, BitSource, integer
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.threshold import below

Integers: TypeAlias = Sequence[int] | npt.NDArray[Any]

WEIGHT_BITS = 61  # the H_i add up to about 2**61, well inside int64
_WIDEN = 1 + 2.0**-39
_SAFE = 1 << 62  # two such integers differ by an int64
_LONGEST = 1 << 900  # so that no weight that counts, and no unit, is a denormal float


class Buckets:
    """Cells prepared once; `draw` may be called any number of times. Immutable.

    >>> cells = Buckets([2, 1, 0], [0, 5, -9], Fraction(100))
    >>> cells.draw()  # the second weighs exp(-500), the third nothing
    0
    """

    def __init__(
        self,
        lengths: Integers,
        exponents: Integers,
        unit: Fraction,
        *,
        weight_bits: int = WEIGHT_BITS,
        word_bits: int = 64,
    ) -> None:
        self._lengths, distances = _checked(lengths, exponents, unit)
        self._distances, self._unit, self._word_bits = distances, unit, word_bits
        if distances.dtype == object and not (
            distances.max() < _LONGEST and unit * _LONGEST > 1
        ):
            steps = np.array([_nearest(unit * int(d)) for d in distances])
        else:
            steps = distances.astype(np.float64) * _nearest(unit)
        with np.errstate(under="ignore"):
            weights = np.exp(-steps) * self._lengths.astype(np.float64)
        self._shift = weight_bits - int(np.frexp(weights.sum())[1]) - 1
        ceilings = np.ldexp(weights, self._shift) * _WIDEN
        ceilings[self._lengths == 0] = -1.0
        self._ceilings: npt.NDArray[np.int64] = ceilings.astype(np.int64) + 1
        self._sums: npt.NDArray[np.int64] = np.cumsum(self._ceilings)

    def draw(self, *, source: BitSource = SYSTEM) -> int:
        """One index."""
        total = int(self._sums[-1])
        bits = (total - 1).bit_length()
        while True:
            place = integer(source, bits)
            if place >= total:
                continue
            index = int(np.searchsorted(self._sums, place, side="right"))
            if self._kept(index, source):
                return index

    def _kept(self, index: int, source: BitSource) -> bool:
        """Heads with probability 2**shift * weight / ceiling."""
        share = Fraction(int(self._lengths[index]), int(self._ceilings[index]))
        share *= Fraction(2) ** self._shift
        x = self._unit * int(self._distances[index])
        # Enough digits of exp(-x) that `bits` of them are left after the product.
        extra = max(0, share.numerator.bit_length() - share.denominator.bit_length()) + 8

        def enclose(bits: int) -> Enclosure:
            lo, hi = exp_neg(x, bits + extra)
            below_, above = share.numerator, share.denominator << extra
            return lo * below_ // above, min(-(-hi * below_ // above), 1 << bits)

        return bool(below(enclose, 1, source, word_bits=self._word_bits)[0])


def choose(
    lengths: Integers, exponents: Integers, unit: Fraction, *, source: BitSource = SYSTEM
) -> int:
    """Index i with probability proportional to lengths[i] * exp(-unit * exponents[i]).

    Lengths are whole numbers from 0 up, exponents whole numbers of either sign, `unit` a
    positive rational. One pass of numpy over the cells, whatever the exponents are.

    >>> choose([1, 1], [0, 1], Fraction(1000))
    0
    """
    return Buckets(lengths, exponents, unit).draw(source=source)


def _checked(
    lengths: Integers, exponents: Integers, unit: Fraction
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The lengths, and how far each exponent lies above the least that has a length."""
    if unit <= 0:
        raise InvalidParameter(f"`unit` must be positive. Found {unit}.")
    sizes, places = _integers(lengths, "lengths"), _integers(exponents, "exponents")
    if sizes.size != places.size:
        raise InvalidParameter(
            f"`lengths` and `exponents` must be as long. Found {sizes.size} and {places.size}."
        )
    if not sizes.size or sizes.min() < 0 or sizes.max() == 0 or sizes.max() >= _LONGEST:
        raise InvalidParameter(
            "`lengths` must be zero or more (and below 2**900), one of them at least positive."
        )
    least = places.min() if sizes.min() > 0 else places[sizes > 0].min()
    # Cells of no length weigh nothing wherever they lie.
    return sizes, np.maximum(places - least, 0)


def _integers(values: Integers, name: str) -> npt.NDArray[Any]:
    """One axis of integers: int64 where two of them can be subtracted, else Python's own."""
    array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    whole = array.dtype.kind in "iu" or all(
        isinstance(one, Integral) and not isinstance(one, bool) for one in array.ravel()
    )
    if not whole or array.ndim != 1:
        raise InvalidParameter(f"`{name}` must be a list or an array of whole numbers.")
    if array.size and max(int(array.max()), -int(array.min())) >= _SAFE:
        return array.astype(object)
    return array.astype(np.int64, copy=False)


def _nearest(x: Fraction) -> float:
    """x as a float; beyond 2**62 that is as good as any number, as exp(-x) is zero."""
    return float(x) if x < _SAFE else float(_SAFE)
