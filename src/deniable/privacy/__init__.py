"""Privacy losses: what a release costs, and how losses compose, convert and compare.

Most files are loaded when one of their names is first used, so that an import stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from deniable.privacy.compose.algebra import LossAlgebra
from deniable.privacy.compose.parallel import Parallel, parallel
from deniable.privacy.compose.reserved import Reserved, reserved
from deniable.privacy.losses.concentrated import ConcentratedLoss, concentrated
from deniable.privacy.losses.loss import Loss

if TYPE_CHECKING:
    from deniable.privacy.amplify.sampling import Sampled, poisson, without_replacement
    from deniable.privacy.amplify.shuffling import Shuffled, shuffled
    from deniable.privacy.compose.calibration import calibrate, how_many
    from deniable.privacy.compose.composition import Composition
    from deniable.privacy.filters.adaptive import (
        ConcentratedFilter,
        Filter,
        GaussianFilter,
        PureFilter,
        RenyiFilter,
    )
    from deniable.privacy.filters.union import UnionFilter
    from deniable.privacy.losses.approximate import ApproximateLoss
    from deniable.privacy.losses.bounded_range import RangeLoss
    from deniable.privacy.losses.distribution import LossDistribution
    from deniable.privacy.losses.gaussian import GaussianLoss
    from deniable.privacy.losses.pure import PureLoss
    from deniable.privacy.losses.renyi import RenyiLoss
    from deniable.privacy.neighbors import Neighbors, neighboring

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

# The kinds of loss do not import the rules of composition. They get them here.
Loss.algebra = LossAlgebra()

_FILES = {
    "losses.approximate": ("ApproximateLoss",),
    "losses.bounded_range": ("RangeLoss",),
    "compose.calibration": (
        "calibrate",
        "how_many",
    ),
    "compose.composition": ("Composition",),
    "losses.distribution": ("LossDistribution",),
    "filters.adaptive": (
        "ConcentratedFilter",
        "Filter",
        "GaussianFilter",
        "PureFilter",
        "RenyiFilter",
    ),
    "losses.gaussian": ("GaussianLoss",),
    "neighbors": (
        "Neighbors",
        "neighboring",
    ),
    "losses.pure": ("PureLoss",),
    "losses.renyi": ("RenyiLoss",),
    "amplify.sampling": (
        "Sampled",
        "poisson",
        "without_replacement",
    ),
    "amplify.shuffling": (
        "Shuffled",
        "shuffled",
    ),
    "filters.union": ("UnionFilter",),
}


def __getattr__(name: str) -> object:
    for file, names in _FILES.items():
        if name in names:
            value: object = getattr(import_module(f"{__name__}.{file}"), name)
            globals()[name] = value  # the next use is an ordinary attribute
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
