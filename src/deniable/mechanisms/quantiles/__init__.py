"""Quantiles, one or many at once, from values or from a histogram of cells."""

from deniable.mechanisms.quantiles.quantile_intervals import QuantileIntervals
from deniable.mechanisms.quantiles.quantiles import Quantiles
from deniable.mechanisms.quantiles.released_quantiles import ReleasedQuantiles

__all__ = ["QuantileIntervals", "Quantiles", "ReleasedQuantiles"]
