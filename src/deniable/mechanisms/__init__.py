"""Mechanisms, one file each: noise or choice, its loss, its margin."""

from deniable.mechanisms.estimate import Estimate, Estimates
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.hadamard import HadamardResponse
from deniable.mechanisms.laplace import Laplace
from deniable.mechanisms.olh import OLH
from deniable.mechanisms.oue import OUE
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.mechanisms.revealing import RevealingResponse
from deniable.mechanisms.staircase import Staircase
from deniable.mechanisms.subset_selection import SubsetSelection
from deniable.mechanisms.tally import Tally
from deniable.mechanisms.thresholding import Thresholding

__all__ = [
    "OLH",
    "OUE",
    "Estimate",
    "Estimates",
    "Gaussian",
    "HadamardResponse",
    "Laplace",
    "RandomizedResponse",
    "RevealingResponse",
    "Staircase",
    "SubsetSelection",
    "Tally",
    "Thresholding",
]
