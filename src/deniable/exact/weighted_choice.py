"""One exact draw among millions of cells with weights length * exp(-unit * exponent).

Integer ceilings, then one exact coin. Let w_i be the weights relative to the least exponent,
and H_i integers with H_i >= 2**k w_i. Draw i with probability H_i / sum(H), which is integer
arithmetic. Keep it with probability 2**k w_i / H_i, else draw again. The kept index has
probability proportional to H_i * (2**k w_i / H_i) = 2**k w_i, exactly, for any H_i.

Floats only propose the H_i. The relative error of a float weight is below 2**-41: a product
with three roundings, at most 746 before exp gives zero, shifts the exponent by less than
2**-41.8, and exp, the length and their product add less than 2**-49. The weight is widened by
2**-39, cut to an integer and raised by one, so it is an upper bound. The coin is decided by
integer enclosures of exp at that one cell and as many random bits as necessary. Cells far
below the best have H_i = 1, and their exact weight is computed only if they are drawn. About
one draw in 2**38 is repeated. Apart from such repeats, the running time depends on the data
only through the number of cells.
"""

from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM, BitSource, draw_integer
from deniable.exact.enclosures import Enclosure, exp_neg
from deniable.exact.uniform_comparison import uniform_is_below

Integers: TypeAlias = Sequence[int] | npt.NDArray[Any]

WEIGHT_BITS = 61  # the sum of the H_i is about 2**61, so int64 holds it
_WIDEN = 1 + 2.0**-39
_SAFE = 1 << 62  # the difference of two smaller integers fits into int64
_LONGEST = 1 << 900  # so that no relevant weight and no unit is a denormal float


class WeightedCells:
    """Cells with prepared weights; `draw` may be called any number of times. Immutable.

    >>> cells = WeightedCells([2, 1, 0], [0, 5, -9], Fraction(100))
    >>> cells.draw()  # the second weight is exp(-500), the third is zero
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
        self._lengths, distances = _check_cells(lengths, exponents, unit)
        self._distances, self._unit, self._word_bits = distances, unit, word_bits
        if distances.dtype == object and not (
            distances.max() < _LONGEST and unit * _LONGEST > 1
        ):
            steps = np.array([_nearest_float(unit * int(d)) for d in distances])
        else:
            steps = distances.astype(np.float64) * _nearest_float(unit)
        with np.errstate(under="ignore"):
            weights = np.exp(-steps) * self._lengths.astype(np.float64)
        self._shift = weight_bits - int(np.frexp(weights.sum())[1]) - 1
        ceilings = np.ldexp(weights, self._shift) * _WIDEN
        ceilings[self._lengths == 0] = -1.0
        self._ceilings: npt.NDArray[np.int64] = ceilings.astype(np.int64) + 1
        self._sums: npt.NDArray[np.int64] = np.cumsum(self._ceilings)

    def draw(self, *, source: BitSource = SYSTEM) -> int:
        """Draws one index."""
        total = int(self._sums[-1])
        bits = (total - 1).bit_length()
        while True:
            place = draw_integer(source, bits)
            if place >= total:
                continue
            index = int(np.searchsorted(self._sums, place, side="right"))
            if self._decide_kept(index, source):
                return index

    def _decide_kept(self, index: int, source: BitSource) -> bool:
        """Heads with probability 2**shift * weight / ceiling."""
        share = Fraction(int(self._lengths[index]), int(self._ceilings[index]))
        share *= Fraction(2) ** self._shift
        x = self._unit * int(self._distances[index])
        # With these extra digits of exp(-x), the product has `bits` correct ones.
        extra = max(0, share.numerator.bit_length() - share.denominator.bit_length()) + 8

        def enclose(bits: int) -> Enclosure:
            lo, hi = exp_neg(x, bits + extra)
            top, bottom = share.numerator, share.denominator << extra
            return lo * top // bottom, min(-(-hi * top // bottom), 1 << bits)

        return bool(uniform_is_below(enclose, 1, source, word_bits=self._word_bits)[0])


def choose(
    lengths: Integers, exponents: Integers, unit: Fraction, *, source: BitSource = SYSTEM
) -> int:
    """Index i with probability proportional to lengths[i] * exp(-unit * exponents[i]).

    Lengths are whole numbers, zero or more. Exponents are whole numbers of either sign. `unit`
    is a positive rational. It takes one pass of numpy over the cells.

    >>> choose([1, 1], [0, 1], Fraction(1000))
    0
    """
    return WeightedCells(lengths, exponents, unit).draw(source=source)


def _check_cells(
    lengths: Integers, exponents: Integers, unit: Fraction
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The lengths, and how far each exponent lies above the least of a cell with weight."""
    if unit <= 0:
        raise InvalidParameter(f"`unit` must be positive. Found {unit}.")
    sizes, places = _to_integers(lengths, "lengths"), _to_integers(exponents, "exponents")
    if sizes.size != places.size:
        raise InvalidParameter(
            f"`lengths` and `exponents` must have the same length. Found {sizes.size} and "
            f"{places.size}."
        )
    if not sizes.size or sizes.min() < 0 or sizes.max() == 0 or sizes.max() >= _LONGEST:
        raise InvalidParameter(
            "`lengths` must be zero or more, and below 2**900. At least one must be positive."
        )
    least = places.min() if sizes.min() > 0 else places[sizes > 0].min()
    # Cells of length zero have no weight, whatever their exponent is.
    return sizes, np.maximum(places - least, 0)


def _to_integers(values: Integers, name: str) -> npt.NDArray[Any]:
    """A one-dimensional array: int64 if any two can be subtracted, else Python integers."""
    array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    whole = array.dtype.kind in "iu" or all(
        isinstance(value, Integral) and not isinstance(value, bool) for value in array.ravel()
    )
    if not whole or array.ndim != 1:
        raise InvalidParameter(f"`{name}` must be a list or an array of whole numbers.")
    if array.size and max(int(array.max()), -int(array.min())) >= _SAFE:
        return array.astype(object)
    return array.astype(np.int64, copy=False)


def _nearest_float(x: Fraction) -> float:
    """x as a float. Beyond 2**62 any number will do, because exp(-x) is zero."""
    return float(x) if x < _SAFE else float(_SAFE)
