"""Sums of decaying weights, in logarithms, so that nothing overflows or vanishes.

A row holds the logarithms of weights w_i. What is wanted is its product with the two-sided
exponential c**|gap - target|, c = exp(-unit). Both sides are windows that decay one way, and a
window of length t is built from windows of length 1, 2, 4, ...: about log2(t) additions for
each weight, no subtraction and no Fourier transform, so every sum keeps its relative error.

`slop` bounds it. Numpy's logaddexp(x, y) is max + log1p(exp(-|x - y|)): it rounds the last
sum, and everything before contributes a few units of 2**-53. So an operation whose result is
at most `peak` is off by less than 2**-52 (peak + 4). `slop` is more than three times that.
"""

import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.float64]


def slop(peak: float) -> float:
    """More than one operation on logarithms up to `peak` can be off."""
    return (peak + 16) * 2.0**-50


def peak(*rows: Row) -> float:
    """The greatest size of a finite logarithm."""
    sizes = (np.abs(row[np.isfinite(row)]) for row in rows)
    return max((float(some.max()) for some in sizes if some.size), default=0.0)


def decayed(row: Row, length: int, unit: float) -> Row:
    """log of the sum over d = 0, ..., length - 1 of w_{p + d} c**d, at each p.

    >>> np.exp(decayed(np.log([1.0, 2.0, 4.0]), 2, np.log(2))).round(9).tolist()
    [2.0, 4.0, 4.0]
    """
    total = np.full(row.size, -np.inf)
    covered, power, width = 0, row, 1
    length = min(length, row.size)
    while covered < length:
        if length & width:
            total = _joined(total, power, covered, unit)
            covered += width
        if covered < length:
            power = _joined(power, power, width, unit)
            width *= 2
    return total


def _joined(row: Row, other: Row, shift: int, unit: float) -> Row:
    """log(w_p + c**shift v_{p + shift})."""
    result = row.copy()
    if shift < row.size:
        end = row.size - shift
        result[:end] = np.logaddexp(row[:end], other[shift:] - unit * shift)
    return result


def passed_on(
    row: Row, start: int, target: tuple[int, float], unit: float, window: tuple[int, int]
) -> Row:
    """log of the sum over i' < i of w_{i'} c**|i - i' - target|, for i in `window`.

    The row begins at index `start`; a target comes as its whole part t and the rest f. Gaps up
    to t decay towards small ones, gaps from t + 1 on towards large ones.
    """
    t, f = target
    first, last = window
    # Indices from `low` on, so that i - t - 1 is one of them for every i in the window.
    low = min(start, first - t - 1)
    high = max(start + row.size - 1, last - t)
    padded = np.full(high - low + 1, -np.inf)
    padded[start - low : start - low + row.size] = row
    far = decayed(padded[::-1], padded.size, unit)[::-1]
    at = first - t - low
    count = last - first + 1
    total = far[at - 1 : at - 1 + count] - unit * (1 - f)
    if t:
        near = decayed(padded, t, unit)
        total = np.logaddexp(total, near[at : at + count] - unit * f)
    return total


def operations(size: int) -> int:
    """How many operations `passed_on` stacks upon each other, at most."""
    return 4 * max(1, size).bit_length() + 8
