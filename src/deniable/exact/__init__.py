"""Exactness: random bits, rationals, certified enclosures, and samplers with the exact law.

Floats may propose here, never decide.
"""

from deniable.exact.buckets import choose
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
