"""Losses: what releases cost, how costs compose, convert and compare.

Files load when a name of theirs is first used: who wants one loss waits for no other.
"""

from importlib import import_module
from typing import TYPE_CHECKING

# These functions bear the names of their files, so they must be here before the files are.
from deniable.privacy.concentrated import ConcentratedLoss, concentrated
from deniable.privacy.parallel import Parallel, parallel
from deniable.privacy.reserved import Reserved, reserved

if TYPE_CHECKING:
    from deniable.privacy.approximate import ApproximateLoss
    from deniable.privacy.bounded_range import RangeLoss
    from deniable.privacy.calibration import calibrate, how_many
    from deniable.privacy.composition import Composition
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
    from deniable.privacy.pure import PureLoss
    from deniable.privacy.renyi import RenyiLoss
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

_FILES = {
    "approximate": ("ApproximateLoss",),
    "bounded_range": ("RangeLoss",),
    "calibration": (
        "calibrate",
        "how_many",
    ),
    "composition": ("Composition",),
    "distribution": ("LossDistribution",),
    "filters": (
        "ConcentratedFilter",
        "Filter",
        "GaussianFilter",
        "PureFilter",
        "RenyiFilter",
    ),
    "gaussian": ("GaussianLoss",),
    "loss": ("Loss",),
    "neighbors": (
        "Neighbors",
        "neighboring",
    ),
    "pure": ("PureLoss",),
    "renyi": ("RenyiLoss",),
    "sampling": (
        "Sampled",
        "poisson",
        "without_replacement",
    ),
    "shuffling": (
        "Shuffled",
        "shuffled",
    ),
    "union": ("UnionFilter",),
}


def __getattr__(name: str) -> object:
    for file, names in _FILES.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{file}"), name)
            globals()[name] = found  # the next use is an ordinary attribute
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
