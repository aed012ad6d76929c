"""Margins from values that were computed again with other draws of the known noise.

Let f be computed from released numbers x, and t from the true ones, x - Z. If f is affine, its
error f(x) - f(x - Z) has the distribution of f(x + Z') - f(x), whatever x is. So the error and
R drawn errors are exchangeable, and the k-th smallest of the drawn |errors| is a margin that
holds with probability k / (R + 1), exactly, before anything is drawn. Where the draws
follow from a hash of what was released, this takes the hash for a random function.

For a ratio a / b of two such numbers, Fieller's set: all r for which a - r b may be an error.
For other smooth functions the drawn errors are those around x, not around the truth. They are
used, one step more careful, only if f is nearly affine over the draws: z and -z move it by
nearly the same amount, in opposite directions. Otherwise there is no margin.
"""

from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_MOST_CURVATURE = 0.1  # of the movement itself
_FEWEST_MARGINS = 2  # from a ratio's denominator to 0


def count_draws(confidence: Fraction, rows: int, most_rows: int) -> int | None:
    """How many draws of that many rows; None if not even the fewest draws fit.

    >>> count_draws(Fraction(19, 20), 3, 40_000), count_draws(Fraction(19, 20), 1000, 40_000)
    (199, 39)
    """
    fewest = ceil(1 / (1 - confidence))
    times = min(10, most_rows // max(1, rows * fewest))
    return None if times < 1 else times * fewest - 1


def _ranked(errors: Floats, confidence: Fraction) -> Floats:
    """The k-th smallest of R numbers in each row, with k / (R + 1) >= confidence."""
    count = errors.shape[0]
    place = min(count, ceil(confidence * (count + 1))) - 1
    ranked: Floats = np.partition(errors, place, axis=0)[place]
    return ranked


def affine_margins(errors: Floats, confidence: Fraction, *, together: bool) -> Floats:
    """The margins of affine numbers, from their drawn errors (draws x rows).

    If they must hold `together`, for all rows at once, each row gets the same multiple of its
    own spread.

    >>> errors = np.arange(1.0, 20.0).reshape(19, 1)
    >>> affine_margins(errors, Fraction(19, 20), together=False).tolist()
    [19.0]
    """
    size = np.abs(errors)
    if not together:
        return _ranked(size, confidence)
    spread = np.sqrt(np.mean(size**2, axis=0))
    with np.errstate(all="ignore"):
        scaled = np.where(spread > 0, size / spread, 0.0)
    return np.asarray(_ranked(scaled.max(axis=1, keepdims=True), confidence)[0] * spread)


def ratio_margins(
    above: Floats, below: Floats, confidence: Fraction, *, together: bool
) -> Floats:
    """Margins of above / below by Fieller's method. Row 0 holds the values, the others draws.

    Infinite where the denominator may be 0, or is within twice its own margin of 0. Nearer to
    0, a margin would be shown mostly where the noise moved the denominator away from 0, and
    those that are shown would hold less often than they say.

    >>> draws = np.linspace(-3, 3, 199)
    >>> a = np.r_[500.0, 500 + draws].reshape(-1, 1)
    >>> b = np.r_[1000.0, 1000 - draws].reshape(-1, 1)
    >>> ratio_margins(a, b, Fraction(19, 20), together=False).round(4).tolist()
    [0.0043]
    """
    value, under = above[0], below[0]
    with np.errstate(all="ignore"):
        of_above, of_below = above[1:] - value, below[1:] - under
        ratio = value / under
        moved = of_above - ratio * of_below
        squares = _mean_product(of_above, of_above), _mean_product(of_below, of_below)
        own = (of_above, squares[0]), (of_below, squares[1])
        spreads = (moved, _mean_product(moved, moved)), *own
        times = np.max([_in_spreads(*e, confidence, together) for e in spreads], axis=0)
        square = times**2
        a = under**2 - square * squares[1]
        b = value * under - square * _mean_product(of_above, of_below)
        c = value**2 - square * squares[0]
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        half = np.maximum(np.abs((b + root) / a - ratio), np.abs((b - root) / a - ratio))
        near = under**2 <= _FEWEST_MARGINS**2 * square * squares[1]
    return np.where((a > 0) & ~near & np.isfinite(half), half, np.inf)


def _in_spreads(
    errors: Floats, squares: Floats, confidence: Fraction, together: bool
) -> Floats:
    """The margin of these errors, in multiples of their own spread."""
    spread = np.sqrt(squares)
    margin = affine_margins(errors, confidence, together=together)
    return np.where(spread > 0, margin / spread, 0.0)


def _mean_product(left: Floats, right: Floats) -> Floats:
    """The mean of left * right over the draws of each row."""
    return np.asarray(np.einsum("ij,ij->j", left, right) / len(left))


def smooth_margins(values: Floats, confidence: Fraction, *, together: bool) -> Floats:
    """About the margins of smooth functions. Row 0 holds the values; then come draws, and then
    as many draws with the opposite noise. Infinite where the function bends too much.

    >>> z = np.linspace(-3, 3, 199)
    >>> square = np.r_[100.0, 100 + z, 100 - z].reshape(-1, 1) ** 2
    >>> bool(570 < smooth_margins(square, Fraction(19, 20), together=False)[0] < 610)
    True
    """
    draws = (len(values) - 1) // 2
    with np.errstate(all="ignore"):
        there, back = values[1 : draws + 1] - values[0], values[draws + 1 :] - values[0]
        bend = np.median(np.abs(there + back), axis=0)
        move = np.median(np.abs(there - back), axis=0)
        careful = 1 - (1 - confidence) / 2
        size = np.maximum(np.abs(there), np.abs(back))
        half = affine_margins(size, careful, together=together)
        known = (bend <= _MOST_CURVATURE * move) & np.isfinite(half)
    return np.where(known, half, np.inf)
