"""The zero of an increasing function."""

from collections.abc import Callable
from decimal import Decimal

from deniable.privacy.arithmetic.intervals import Precision


def find_root(
    function: Callable[[Decimal], tuple[Decimal, Decimal]],
    lo: Decimal,
    hi: Decimal,
    p: Precision,
) -> Decimal:
    """Approximates the zero in [lo, hi] of an increasing `function` (value and slope).

    Newton's method, with bisection if a step would leave the bracket. The result is only a
    proposal: callers certify what they derive from it.
    """
    near, x = p.near, hi
    for _ in range(200):
        value, slope = function(x)
        lo, hi = (x, hi) if value < 0 else (lo, x)
        step = near.divide(value, slope) if slope > 0 else hi - lo
        following = near.subtract(x, step)
        if not lo <= following <= hi:
            following = near.divide(near.add(lo, hi), Decimal(2))
        moved, x = abs(near.subtract(following, x)), following
        if moved <= abs(x).scaleb(-28):
            break
    return x
