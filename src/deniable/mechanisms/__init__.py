"""Mechanisms, one file each: noise or choice, its loss, its margin.

A file is loaded when one of its names is first used, so importing this package is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.mechanisms.choose.exponential import Exponential
    from deniable.mechanisms.choose.inverse_sensitivity import InverseSensitivity
    from deniable.mechanisms.choose.majority import Majority
    from deniable.mechanisms.choose.noisy_max import NoisyMax
    from deniable.mechanisms.choose.permute_and_flip import PermuteAndFlip
    from deniable.mechanisms.choose.sparse_vector import SparseVector
    from deniable.mechanisms.local.estimate import Estimate, Estimates
    from deniable.mechanisms.local.hadamard import HadamardResponse
    from deniable.mechanisms.local.loloha import Loloha
    from deniable.mechanisms.local.numbers.duchi import Duchi
    from deniable.mechanisms.local.numbers.hybrid import Hybrid
    from deniable.mechanisms.local.numbers.number_or_not import NumberOrNot
    from deniable.mechanisms.local.numbers.piecewise import Piecewise
    from deniable.mechanisms.local.numbers.square_wave import SquareWave
    from deniable.mechanisms.local.olh import OLH
    from deniable.mechanisms.local.ordinal import Ordinal
    from deniable.mechanisms.local.oue import OUE
    from deniable.mechanisms.local.randomized_response import RandomizedResponse
    from deniable.mechanisms.local.rappor import Rappor
    from deniable.mechanisms.local.revealing_response import RevealingResponse
    from deniable.mechanisms.local.subset_selection import SubsetSelection
    from deniable.mechanisms.local.tally import Tally
    from deniable.mechanisms.noise.density import Density, ReleasedDensity
    from deniable.mechanisms.noise.gaussian import Gaussian
    from deniable.mechanisms.noise.laplace import Laplace
    from deniable.mechanisms.noise.staircase import Staircase
    from deniable.mechanisms.noise.thresholding import Thresholding
    from deniable.mechanisms.quantiles import (
        QuantileIntervals,
        Quantiles,
        ReleasedQuantiles,
    )

__all__ = [
    "OLH",
    "OUE",
    "Density",
    "Duchi",
    "Estimate",
    "Estimates",
    "Exponential",
    "Gaussian",
    "HadamardResponse",
    "Hybrid",
    "InverseSensitivity",
    "Laplace",
    "Loloha",
    "Majority",
    "NoisyMax",
    "NumberOrNot",
    "Ordinal",
    "PermuteAndFlip",
    "Piecewise",
    "QuantileIntervals",
    "Quantiles",
    "RandomizedResponse",
    "Rappor",
    "ReleasedDensity",
    "ReleasedQuantiles",
    "RevealingResponse",
    "SparseVector",
    "SquareWave",
    "Staircase",
    "SubsetSelection",
    "Tally",
    "Thresholding",
]

_FILES = {
    "choose.exponential": ("Exponential",),
    "choose.inverse_sensitivity": ("InverseSensitivity",),
    "choose.majority": ("Majority",),
    "choose.noisy_max": ("NoisyMax",),
    "choose.permute_and_flip": ("PermuteAndFlip",),
    "choose.sparse_vector": ("SparseVector",),
    "local.estimate": ("Estimate", "Estimates"),
    "local.hadamard": ("HadamardResponse",),
    "local.loloha": ("Loloha",),
    "local.numbers.duchi": ("Duchi",),
    "local.numbers.hybrid": ("Hybrid",),
    "local.numbers.number_or_not": ("NumberOrNot",),
    "local.numbers.piecewise": ("Piecewise",),
    "local.numbers.square_wave": ("SquareWave",),
    "local.olh": ("OLH",),
    "local.ordinal": ("Ordinal",),
    "local.oue": ("OUE",),
    "local.randomized_response": ("RandomizedResponse",),
    "local.rappor": ("Rappor",),
    "local.revealing_response": ("RevealingResponse",),
    "local.subset_selection": ("SubsetSelection",),
    "local.tally": ("Tally",),
    "noise.density": ("Density", "ReleasedDensity"),
    "noise.gaussian": ("Gaussian",),
    "noise.laplace": ("Laplace",),
    "noise.staircase": ("Staircase",),
    "noise.thresholding": ("Thresholding",),
    "quantiles": ("QuantileIntervals", "Quantiles", "ReleasedQuantiles"),
}


def __getattr__(name: str) -> object:
    for file, names in _FILES.items():
        if name in names:
            value: object = getattr(import_module(f"{__name__}.{file}"), name)
            globals()[name] = value  # the next use is an ordinary attribute
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
