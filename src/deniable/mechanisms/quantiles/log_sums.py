"""Sums of decaying weights, in logarithms, so that nothing overflows or underflows.

A row holds the logarithms of weights w_i. `sum_over_gaps` multiplies it with the two-sided
exponential c**|gap - target|, c = exp(-unit). Both sides are windows that decay in one
direction. A window of length t is built from windows of length 1, 2, 4, ...: about log2(t)
additions for each weight, no subtraction and no Fourier transform, so every sum keeps its
relative error.

`rounding_error` bounds that error. Numpy's logaddexp(x, y) is max + log1p(exp(-|x - y|)): it
rounds the last sum, and all steps before contribute a few units of 2**-53. So an operation
whose result is at most `peak` has an error below 2**-52 (peak + 4). `rounding_error` is more
than three times that.
"""

import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.float64]


def rounding_error(peak: float) -> float:
    """An upper bound on the error of one operation on logarithms up to `peak`."""
    return (peak + 16) * 2.0**-50


def peak(*rows: Row) -> float:
    """The largest absolute value of a finite logarithm."""
    sizes = (np.abs(row[np.isfinite(row)]) for row in rows)
    return max((float(size.max()) for size in sizes if size.size), default=0.0)


def sum_decayed(row: Row, length: int, unit: float) -> Row:
    """For each p the log of the sum over d = 0, ..., length - 1 of w_{p + d} c**d.

    >>> np.exp(sum_decayed(np.log([1.0, 2.0, 4.0]), 2, np.log(2))).round(9).tolist()
    [2.0, 4.0, 4.0]
    """
    total = np.full(row.size, -np.inf)
    covered, power, width = 0, row, 1
    length = min(length, row.size)
    while covered < length:
        if length & width:
            total = _add_shifted(total, power, covered, unit)
            covered += width
        if covered < length:
            power = _add_shifted(power, power, width, unit)
            width *= 2
    return total


def _add_shifted(row: Row, other: Row, shift: int, unit: float) -> Row:
    """log(w_p + c**shift v_{p + shift})."""
    result = row.copy()
    if shift < row.size:
        end = row.size - shift
        result[:end] = np.logaddexp(row[:end], other[shift:] - unit * shift)
    return result


def sum_over_gaps(
    row: Row, start: int, target: tuple[int, float], unit: float, window: tuple[int, int]
) -> Row:
    """The log of the sum over i' < i of w_{i'} c**|i - i' - target|, for i in `window`.

    The row begins at index `start`. `target` is a pair: its whole part t and the rest f. Gaps
    up to t decay towards small gaps, gaps from t + 1 on towards large gaps. A target beyond all
    gaps (a noisy number of rows may be far too large) decays by its distance to them first.

    >>> far = sum_over_gaps(np.zeros(1), 0, (10**12, 0.0), 1e-12, (1, 1))
    >>> far.round(3).tolist()
    [-1.0]
    """
    t, f = target
    first, last = window
    beyond = max(0, t - max(0, last - start + 1))
    t -= beyond
    # Indices start at `low`, so that i - t - 1 is one of them for every i in the window.
    low = min(start, first - t - 1)
    high = max(start + row.size - 1, last - t)
    padded = np.full(high - low + 1, -np.inf)
    padded[start - low : start - low + row.size] = row
    far = sum_decayed(padded[::-1], padded.size, unit)[::-1]
    at = first - t - low
    count = last - first + 1
    total = far[at - 1 : at - 1 + count] - unit * (1 - f)
    if t:
        near = sum_decayed(padded, t, unit)
        total = np.logaddexp(total, near[at : at + count] - unit * f)
    return total - unit * beyond if beyond else total


def operation_count(size: int) -> int:
    """An upper bound on the operations that `sum_over_gaps` does one after the other."""
    return 4 * max(1, size).bit_length() + 8
