"""Mechanisms, one file each: noise or choice, its loss, its margin.

Files load when a name of theirs is first used: who wants one mechanism waits for no other.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deniable.mechanisms.density import Density, ReleasedDensity
    from deniable.mechanisms.duchi import Duchi
    from deniable.mechanisms.estimate import Estimate, Estimates
    from deniable.mechanisms.exponential import Exponential
    from deniable.mechanisms.gaussian import Gaussian
    from deniable.mechanisms.hadamard import HadamardResponse
    from deniable.mechanisms.hybrid import Hybrid
    from deniable.mechanisms.inverse_sensitivity import InverseSensitivity
    from deniable.mechanisms.laplace import Laplace
    from deniable.mechanisms.loloha import Loloha
    from deniable.mechanisms.majority import Majority
    from deniable.mechanisms.noisy_max import NoisyMax
    from deniable.mechanisms.number_or_not import NumberOrNot
    from deniable.mechanisms.olh import OLH
    from deniable.mechanisms.ordinal import Ordinal
    from deniable.mechanisms.oue import OUE
    from deniable.mechanisms.permute_and_flip import PermuteAndFlip
    from deniable.mechanisms.piecewise import Piecewise
    from deniable.mechanisms.quantiles import Quantiles, ReleasedQuantiles
    from deniable.mechanisms.randomized_response import RandomizedResponse
    from deniable.mechanisms.rappor import Rappor
    from deniable.mechanisms.revealing import RevealingResponse
    from deniable.mechanisms.sparse_vector import SparseVector
    from deniable.mechanisms.square_wave import SquareWave
    from deniable.mechanisms.staircase import Staircase
    from deniable.mechanisms.subset_selection import SubsetSelection
    from deniable.mechanisms.tally import Tally
    from deniable.mechanisms.thresholding import Thresholding

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
    "density": (
        "Density",
        "ReleasedDensity",
    ),
    "duchi": ("Duchi",),
    "estimate": (
        "Estimate",
        "Estimates",
    ),
    "exponential": ("Exponential",),
    "gaussian": ("Gaussian",),
    "hadamard": ("HadamardResponse",),
    "hybrid": ("Hybrid",),
    "inverse_sensitivity": ("InverseSensitivity",),
    "laplace": ("Laplace",),
    "loloha": ("Loloha",),
    "majority": ("Majority",),
    "noisy_max": ("NoisyMax",),
    "number_or_not": ("NumberOrNot",),
    "olh": ("OLH",),
    "ordinal": ("Ordinal",),
    "oue": ("OUE",),
    "permute_and_flip": ("PermuteAndFlip",),
    "piecewise": ("Piecewise",),
    "quantiles": (
        "Quantiles",
        "ReleasedQuantiles",
    ),
    "randomized_response": ("RandomizedResponse",),
    "rappor": ("Rappor",),
    "revealing": ("RevealingResponse",),
    "sparse_vector": ("SparseVector",),
    "square_wave": ("SquareWave",),
    "staircase": ("Staircase",),
    "subset_selection": ("SubsetSelection",),
    "tally": ("Tally",),
    "thresholding": ("Thresholding",),
}


def __getattr__(name: str) -> object:
    for file, names in _FILES.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{file}"), name)
            globals()[name] = found  # the next use is an ordinary attribute
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
