"""Differential privacy with exact noise: private answers, honest surveys, stated margins.

    import deniable as dp

    dp.Laplace(epsilon=0.5).release(1234)             # a count, with noise
    dp.RandomizedResponse.from_coins().randomize([True, False, True])

Names load when they are first used, so importing this package costs almost nothing.
"""

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` would cost 10 ms
if TYPE_CHECKING:
    from deniable.errors import (
        DeniableError,
        InvalidData,
        InvalidParameter,
        MissingRelation,
        Unsupported,
    )
    from deniable.mechanisms import (
        Estimate,
        Estimates,
        Gaussian,
        Laplace,
        RandomizedResponse,
        Staircase,
        Thresholding,
    )
    from deniable.privacy import (
        ApproximateLoss,
        Composition,
        ConcentratedLoss,
        GaussianLoss,
        PureLoss,
        parallel,
    )
    from deniable.privacy.reading import posterior

__version__ = "0.1.0"

__all__ = [
    "ApproximateLoss",
    "Composition",
    "ConcentratedLoss",
    "DeniableError",
    "Estimate",
    "Estimates",
    "Gaussian",
    "GaussianLoss",
    "InvalidData",
    "InvalidParameter",
    "Laplace",
    "MissingRelation",
    "PureLoss",
    "RandomizedResponse",
    "Staircase",
    "Thresholding",
    "Unsupported",
    "parallel",
    "posterior",
]

_ROOMS = {
    "deniable.mechanisms": (
        "Laplace",
        "Gaussian",
        "Staircase",
        "Thresholding",
        "RandomizedResponse",
        "Estimate",
        "Estimates",
    ),
    "deniable.privacy": (
        "PureLoss",
        "ApproximateLoss",
        "ConcentratedLoss",
        "GaussianLoss",
        "Composition",
        "parallel",
    ),
    "deniable.privacy.reading": ("posterior",),
    "deniable.errors": (
        "DeniableError",
        "InvalidParameter",
        "MissingRelation",
        "InvalidData",
        "Unsupported",
    ),
}


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            found: object = getattr(import_module(room), name)
            globals()[name] = found  # the next use is an ordinary attribute
            return found
    raise AttributeError(f"module 'deniable' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
