"""Differential privacy with exact noise: private answers, honest surveys, stated margins.

    import deniable as dp

    visits = dp.open("deniable.toml")                 # what may be asked, and the budget
    visits.sql("SELECT COUNT(*) FROM visits", epsilon=0.5)
    dp.Laplace(epsilon=0.5).release(1234)             # a count, with noise
    dp.RandomizedResponse.from_coins().randomize([True, False, True])

Names load when they are first used, so importing this package costs almost nothing.
"""

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` would cost 10 ms
if TYPE_CHECKING:
    from deniable.errors import (
        BudgetExhausted,
        DeniableError,
        EngineFailed,
        InvalidData,
        InvalidParameter,
        InvalidPolicy,
        InvalidQuery,
        MissingRelation,
        UnboundedColumn,
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
    from deniable.query.build import (
        clipped,
        count,
        count_units,
        histogram,
        mean,
        stddev,
        sum,
        variance,
    )
    from deniable.release import Ledger, MemoryLedger, Release, Session, open, protect

__version__ = "0.1.0"

__all__ = [
    "ApproximateLoss",
    "BudgetExhausted",
    "Composition",
    "ConcentratedLoss",
    "DeniableError",
    "EngineFailed",
    "Estimate",
    "Estimates",
    "Gaussian",
    "GaussianLoss",
    "InvalidData",
    "InvalidParameter",
    "InvalidPolicy",
    "InvalidQuery",
    "Laplace",
    "Ledger",
    "MemoryLedger",
    "MissingRelation",
    "PureLoss",
    "RandomizedResponse",
    "Release",
    "Session",
    "Staircase",
    "Thresholding",
    "UnboundedColumn",
    "Unsupported",
    "clipped",
    "count",
    "count_units",
    "histogram",
    "mean",
    "open",
    "parallel",
    "posterior",
    "protect",
    "stddev",
    "sum",
    "variance",
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
    "deniable.query.build": (
        "clipped",
        "count",
        "count_units",
        "histogram",
        "mean",
        "stddev",
        "sum",
        "variance",
    ),
    "deniable.release": (
        "Ledger",
        "MemoryLedger",
        "Release",
        "Session",
        "open",
        "protect",
    ),
    "deniable.errors": (
        "DeniableError",
        "InvalidParameter",
        "MissingRelation",
        "InvalidData",
        "InvalidPolicy",
        "InvalidQuery",
        "UnboundedColumn",
        "BudgetExhausted",
        "EngineFailed",
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
