"""Exact arithmetic and exact sampling: random bits, rationals, enclosures, samplers.

A float may propose a value here. It never decides one.
"""

from deniable.exact.samplers import (
    bernoulli,
    bernoulli_exp,
    categorical,
    discrete_gaussian,
    discrete_laplace,
    geometric,
    rounded_gaussian,
    uniform_below,
)
from deniable.exact.weighted_choice import choose

__all__ = [
    "bernoulli",
    "bernoulli_exp",
    "categorical",
    "choose",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "rounded_gaussian",
    "uniform_below",
]
