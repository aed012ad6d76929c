"""Quantiles, one or many at once, from values or from a histogram of cells."""

from deniable.mechanisms.quantiles.mechanism import Quantiles
from deniable.mechanisms.quantiles.released import ReleasedQuantiles

__all__ = ["Quantiles", "ReleasedQuantiles"]
