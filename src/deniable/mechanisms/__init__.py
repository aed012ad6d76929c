"""Mechanisms, one file each: noise or choice, its loss, its margin."""

from deniable.mechanisms.estimate import Estimate, Estimates
from deniable.mechanisms.gaussian import Gaussian
from deniable.mechanisms.laplace import Laplace
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.mechanisms.staircase import Staircase
from deniable.mechanisms.thresholding import Thresholding

__all__ = [
    "Estimate",
    "Estimates",
    "Gaussian",
    "Laplace",
    "RandomizedResponse",
    "Staircase",
    "Thresholding",
]
