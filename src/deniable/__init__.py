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
        InvalidStoppingRule,
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
        ConcentratedFilter,
        ConcentratedLoss,
        GaussianFilter,
        GaussianLoss,
        LossDistribution,
        PureFilter,
        PureLoss,
        RangeLoss,
        RenyiFilter,
        RenyiLoss,
        UnionFilter,
        calibrate,
        how_many,
        parallel,
        poisson,
        reserved,
        shuffled,
        without_replacement,
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
    "ConcentratedFilter",
    "ConcentratedLoss",
    "DeniableError",
    "Density",
    "Duchi",
    "EngineFailed",
    "Estimate",
    "Estimates",
    "Exponential",
    "Gaussian",
    "GaussianFilter",
    "GaussianLoss",
    "HadamardResponse",
    "Hybrid",
    "InvalidData",
    "InvalidParameter",
    "InvalidPolicy",
    "InvalidQuery",
    "InvalidStoppingRule",
    "InverseSensitivity",
    "Laplace",
    "Ledger",
    "Loloha",
    "LossDistribution",
    "Majority",
    "MemoryLedger",
    "MissingExtra",
    "MissingRelation",
    "NoisyMax",
    "Ordinal",
    "PermuteAndFlip",
    "Piecewise",
    "PureFilter",
    "PureLoss",
    "Quantiles",
    "RandomizedResponse",
    "RangeLoss",
    "Rappor",
    "Release",
    "ReleasedDensity",
    "ReleasedQuantiles",
    "RenyiFilter",
    "RenyiLoss",
    "RevealingResponse",
    "Session",
    "SparseVector",
    "SquareWave",
    "Staircase",
    "SubsetSelection",
    "Tally",
    "Thresholding",
    "UnboundedColumn",
    "UnionFilter",
    "Unsupported",
    "UsedUp",
    "audit",
    "calibrate",
    "count",
    "count_units",
    "histogram",
    "how_many",
    "mean",
    "open",
    "parallel",
    "poisson",
    "posterior",
    "price",
    "protect",
    "reserved",
    "shuffled",
    "stddev",
    "sum",
    "surveys",
    "variance",
    "without_replacement",
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
        "ConcentratedFilter",
        "GaussianFilter",
        "LossDistribution",
        "PureFilter",
        "RenyiFilter",
        "RenyiLoss",
        "UnionFilter",
        "calibrate",
        "how_many",
        "poisson",
        "reserved",
        "shuffled",
        "without_replacement",
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
        "InvalidStoppingRule",
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
