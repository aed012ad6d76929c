"""The confidence of a margin or an interval, checked."""

from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational


def confidence_level(confidence: Number) -> Fraction:
    """The confidence as an exact rational; above 0 and below 1.

    >>> confidence_level(0.95)
    Fraction(19, 20)
    """
    level = rational(confidence, "confidence")
    if not 0 < level < 1:
        raise InvalidParameter(
            f"`confidence` must be above 0 and below 1. Found {confidence}. No margin holds "
            "with certainty, because the noise is random."
        )
    return level
