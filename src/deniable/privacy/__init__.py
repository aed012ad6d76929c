"""Losses: what releases cost, how costs compose, convert and compare."""

from deniable.privacy.approximate import ApproximateLoss
from deniable.privacy.bounded_range import RangeLoss
from deniable.privacy.composition import Composition
from deniable.privacy.concentrated import ConcentratedLoss, concentrated
from deniable.privacy.distribution import LossDistribution
from deniable.privacy.gaussian import GaussianLoss
from deniable.privacy.loss import Loss
from deniable.privacy.neighbors import Neighbors, neighboring
from deniable.privacy.parallel import Parallel, parallel
from deniable.privacy.pure import PureLoss

__all__ = [
    "ApproximateLoss",
    "Composition",
    "ConcentratedLoss",
    "GaussianLoss",
    "Loss",
    "LossDistribution",
    "Neighbors",
    "Parallel",
    "PureLoss",
    "RangeLoss",
    "concentrated",
    "neighboring",
    "parallel",
]
