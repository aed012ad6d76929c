"""What privacy must cost: lower bounds, sample sizes, and how near a mechanism comes.

>>> import deniable as dp
>>> dp.price.sample_size(dp.RandomizedResponse(odds=3), margin=0.03)  # a direct question: 1068
4269
"""

from deniable.price.surveys import (
    design_effect,
    expected_margin,
    power,
    sample_size,
    sample_size_for_power,
)

__all__ = [
    "design_effect",
    "expected_margin",
    "power",
    "sample_size",
    "sample_size_for_power",
]
