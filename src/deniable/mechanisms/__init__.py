"""Mechanisms, one file each: noise or choice, its loss, its margin."""

from deniable.mechanisms.estimate import Estimate, Estimates
from deniable.mechanisms.exponential import Exponential
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.hadamard import HadamardResponse
from deniable.mechanisms.laplace import Laplace
from deniable.mechanisms.majority import Majority
from deniable.mechanisms.noisy_max import NoisyMax
from deniable.mechanisms.olh import OLH
from deniable.mechanisms.oue import OUE
from deniable.mechanisms.permute_and_flip import PermuteAndFlip
from deniable.mechanisms.quantiles import Quantiles, ReleasedQuantiles
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.mechanisms.revealing import RevealingResponse
from deniable.mechanisms.sparse_vector import SparseVector
from deniable.mechanisms.staircase import Staircase
from deniable.mechanisms.subset_selection import SubsetSelection
from deniable.mechanisms.tally import Tally

__all__ = [
    "OLH",
    "OUE",
    "Estimate",
    "Estimates",
    "Exponential",
    "Gaussian",
    "HadamardResponse",
    "Laplace",
    "Majority",
    "NoisyMax",
    "PermuteAndFlip",
    "Quantiles",
    "RandomizedResponse",
    "ReleasedQuantiles",
    "RevealingResponse",
    "SparseVector",
    "Staircase",
    "SubsetSelection",
    "Tally",
]
