"""Losses: what releases cost, how costs compose, convert and compare."""

from deniable.privacy.approximate import ApproximateLoss
from deniable.privacy.bounded_range import RangeLoss
from deniable.privacy.calibration import calibrate, how_many
from deniable.privacy.composition import Composition
from deniable.privacy.concentrated import ConcentratedLoss, concentrated
from deniable.privacy.distribution import LossDistribution
from deniable.privacy.filters import (
    ConcentratedFilter,
    Filter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
)
from deniable.privacy.gaussian import GaussianLoss
from deniable.privacy.loss import Loss
from deniable.privacy.neighbors import Neighbors, neighboring
from deniable.privacy.parallel import Parallel, parallel
from deniable.privacy.pure import PureLoss
from deniable.privacy.renyi import RenyiLoss
from deniable.privacy.reserved import Reserved, reserved
from deniable.privacy.sampling import Sampled, poisson, without_replacement
from deniable.privacy.shuffling import Shuffled, shuffled
from deniable.privacy.union import UnionFilter

__all__ = [
    "ApproximateLoss",
    "Composition",
    "ConcentratedFilter",
    "ConcentratedLoss",
    "Filter",
    "GaussianFilter",
    "GaussianLoss",
    "Loss",
    "LossDistribution",
    "Neighbors",
    "Parallel",
    "PureFilter",
    "PureLoss",
    "RangeLoss",
    "RenyiFilter",
    "RenyiLoss",
    "Reserved",
    "Sampled",
    "Shuffled",
    "UnionFilter",
    "calibrate",
    "concentrated",
    "how_many",
    "neighboring",
    "parallel",
    "poisson",
    "reserved",
    "shuffled",
    "without_replacement",
]
