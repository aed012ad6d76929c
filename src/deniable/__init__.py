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
    from deniable import audit, price, surveys
    from deniable.errors import (
        BudgetExhausted,
        DeniableError,
        EngineFailed,
        InvalidData,
        InvalidParameter,
        InvalidPolicy,
        InvalidQuery,
        MissingExtra,
        MissingRelation,
        UnboundedColumn,
        Unsupported,
        UsedUp,
    )
    from deniable.mechanisms import (
        OLH,
        OUE,
        Density,
        Duchi,
        Estimate,
        Estimates,
        Exponential,
        Gaussian,
        HadamardResponse,
        Hybrid,
        InverseSensitivity,
        Laplace,
        Loloha,
        Majority,
        NoisyMax,
        Ordinal,
        PermuteAndFlip,
        Piecewise,
        Quantiles,
        RandomizedResponse,
        Rappor,
        ReleasedDensity,
        ReleasedQuantiles,
        RevealingResponse,
        SparseVector,
        SquareWave,
        Staircase,
        SubsetSelection,
        Tally,
        Thresholding,
    )
    from deniable.privacy import (
        ApproximateLoss,
        Composition,
        ConcentratedLoss,
        GaussianLoss,
        PureLoss,
        RangeLoss,
        parallel,
    )
    from deniable.privacy.reading import posterior
    from deniable.query.build import (
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
    "OLH",
    "OUE",
    "ApproximateLoss",
    "BudgetExhausted",
    "Composition",
    "ConcentratedLoss",
    "DeniableError",
    "Density",
    "Duchi",
    "EngineFailed",
    "Estimate",
    "Estimates",
    "Exponential",
    "Gaussian",
    "GaussianLoss",
    "HadamardResponse",
    "Hybrid",
    "InvalidData",
    "InvalidParameter",
    "InvalidPolicy",
    "InvalidQuery",
    "InverseSensitivity",
    "Laplace",
    "Ledger",
    "Loloha",
    "Majority",
    "MemoryLedger",
    "MissingExtra",
    "MissingRelation",
    "NoisyMax",
    "Ordinal",
    "PermuteAndFlip",
    "Piecewise",
    "PureLoss",
    "Quantiles",
    "RandomizedResponse",
    "RangeLoss",
    "Rappor",
    "Release",
    "ReleasedDensity",
    "ReleasedQuantiles",
    "RevealingResponse",
    "Session",
    "SparseVector",
    "SquareWave",
    "Staircase",
    "SubsetSelection",
    "Tally",
    "Thresholding",
    "UnboundedColumn",
    "Unsupported",
    "UsedUp",
    "audit",
    "count",
    "count_units",
    "histogram",
    "mean",
    "open",
    "parallel",
    "posterior",
    "price",
    "protect",
    "stddev",
    "sum",
    "surveys",
    "variance",
]

_ROOMS = {
    "deniable": ("audit", "price", "surveys"),  # whole rooms
    "deniable.mechanisms": (
        "Laplace",
        "Gaussian",
        "Staircase",
        "Thresholding",
        "RandomizedResponse",
        "RevealingResponse",
        "OUE",
        "OLH",
        "HadamardResponse",
        "SubsetSelection",
        "Quantiles",
        "ReleasedQuantiles",
        "Rappor",
        "Loloha",
        "Duchi",
        "Piecewise",
        "Hybrid",
        "SquareWave",
        "Ordinal",
        "Density",
        "ReleasedDensity",
        "Estimate",
        "Estimates",
        "Tally",
        "Exponential",
        "InverseSensitivity",
        "Majority",
        "NoisyMax",
        "PermuteAndFlip",
        "SparseVector",
    ),
    "deniable.privacy": (
        "PureLoss",
        "RangeLoss",
        "ApproximateLoss",
        "ConcentratedLoss",
        "GaussianLoss",
        "Composition",
        "parallel",
    ),
    "deniable.privacy.reading": ("posterior",),
    "deniable.query.build": (
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
        "MissingExtra",
        "MissingRelation",
        "InvalidData",
        "InvalidPolicy",
        "InvalidQuery",
        "UnboundedColumn",
        "BudgetExhausted",
        "EngineFailed",
        "Unsupported",
        "UsedUp",
    ),
}


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            whole = room == __name__
            found: object = (
                import_module(f"{room}.{name}") if whole else getattr(import_module(room), name)
            )
            globals()[name] = found  # the next use is an ordinary attribute
            return found
    raise AttributeError(f"module 'deniable' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
