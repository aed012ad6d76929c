"""Differential privacy with exact noise: private answers and surveys, with margins of error.

    import deniable as dp

    visits = dp.open("deniable.toml")                 # the tables, their limits, the budget
    visits.sql("SELECT COUNT(*) FROM visits", epsilon=0.5)
    dp.Laplace(epsilon=0.5).release(1234)             # a count, with noise
    dp.RandomizedResponse.from_coins().randomize([True, False, True])

A name is imported when it is first used, so `import deniable` is fast.
"""

import sys
from importlib import import_module

from deniable.public_methods import bind

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` would cost 10 ms
if TYPE_CHECKING:
    from deniable import audit, learn, price, surveys
    from deniable.client.connection import connect
    from deniable.errors import (
        AccessDenied,
        BudgetExhausted,
        CollectionClosed,
        CollectionUnavailable,
        DeniableError,
        EngineFailed,
        FrameWarning,
        InvalidCertificate,
        InvalidData,
        InvalidParameter,
        InvalidPolicy,
        InvalidQuery,
        InvalidStoppingRule,
        InvitationRefused,
        KeyWarning,
        LedgerBroken,
        LedgerUnavailable,
        LedgerWarning,
        MissingExtra,
        MissingRelation,
        PlanRefused,
        PrecisionNotReached,
        QuestionPending,
        ServerUnavailable,
        SplitterWarning,
        TooManyQuestions,
        UnboundedColumn,
        Unsupported,
        UsedUp,
    )
    from deniable.ledger import DurableLedger, Ledger, MemoryLedger
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
        NumberOrNot,
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
    from deniable.privacy.losses.hypothesis_testing import posterior
    from deniable.query.language.builder import (
        clipped,
        corr,
        count_distinct,
        count_units,
        covariance,
        intercept,
        max,
        min,
        slope,
        top_k,
    )
    from deniable.release.asking.array_choices import (
        median,
        mode,
        quantile,
        quantiles,
    )
    from deniable.release.asking.arrays import (
        count,
        histogram,
        mean,
        stddev,
        sum,
        variance,
    )
    from deniable.release.certificate.certificate import Certificate
    from deniable.release.opening import open, protect, rehearse
    from deniable.release.public_session import Session
    from deniable.release.session.release import Release
    from deniable.streams.bandits.bandit import Bandit
    from deniable.streams.bandits.simulation import simulate_bandit
    from deniable.synth.copies.any_certificate import verify

__version__ = "0.1.0"

__all__ = [
    "OLH",
    "OUE",
    "AccessDenied",
    "ApproximateLoss",
    "Bandit",
    "BudgetExhausted",
    "Certificate",
    "CollectionClosed",
    "CollectionUnavailable",
    "Composition",
    "ConcentratedFilter",
    "ConcentratedLoss",
    "DeniableError",
    "Density",
    "Duchi",
    "DurableLedger",
    "EngineFailed",
    "Estimate",
    "Estimates",
    "Exponential",
    "FrameWarning",
    "Gaussian",
    "GaussianFilter",
    "GaussianLoss",
    "HadamardResponse",
    "Hybrid",
    "InvalidCertificate",
    "InvalidData",
    "InvalidParameter",
    "InvalidPolicy",
    "InvalidQuery",
    "InvalidStoppingRule",
    "InverseSensitivity",
    "InvitationRefused",
    "KeyWarning",
    "Laplace",
    "Ledger",
    "LedgerBroken",
    "LedgerUnavailable",
    "LedgerWarning",
    "Loloha",
    "LossDistribution",
    "Majority",
    "MemoryLedger",
    "MissingExtra",
    "MissingRelation",
    "NoisyMax",
    "NumberOrNot",
    "Ordinal",
    "PermuteAndFlip",
    "Piecewise",
    "PlanRefused",
    "PrecisionNotReached",
    "PureFilter",
    "PureLoss",
    "Quantiles",
    "QuestionPending",
    "RandomizedResponse",
    "RangeLoss",
    "Rappor",
    "Release",
    "ReleasedDensity",
    "ReleasedQuantiles",
    "RenyiFilter",
    "RenyiLoss",
    "RevealingResponse",
    "ServerUnavailable",
    "Session",
    "SparseVector",
    "SplitterWarning",
    "SquareWave",
    "Staircase",
    "SubsetSelection",
    "Tally",
    "Thresholding",
    "TooManyQuestions",
    "UnboundedColumn",
    "UnionFilter",
    "Unsupported",
    "UsedUp",
    "audit",
    "calibrate",
    "clipped",
    "connect",
    "corr",
    "count",
    "count_distinct",
    "count_units",
    "covariance",
    "histogram",
    "how_many",
    "intercept",
    "learn",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "open",
    "parallel",
    "poisson",
    "posterior",
    "price",
    "protect",
    "quantile",
    "quantiles",
    "rehearse",
    "reserved",
    "shuffled",
    "simulate_bandit",
    "slope",
    "stddev",
    "sum",
    "surveys",
    "top_k",
    "variance",
    "verify",
    "without_replacement",
]

_ARRAYS = "deniable.release.asking.arrays"
_ROOMS = {
    "deniable": ("audit", "learn", "price", "surveys"),  # whole rooms
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
        "NumberOrNot",
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
    "deniable.privacy.losses.hypothesis_testing": ("posterior",),
    "deniable.query.language.builder": (
        "clipped",
        "corr",
        "count_distinct",
        "count_units",
        "covariance",
        "intercept",
        "max",
        "min",
        "slope",
        "top_k",
    ),
    "deniable.release.asking.array_choices": ("median", "mode", "quantile", "quantiles"),
    "deniable.ledger": ("DurableLedger", "Ledger", "MemoryLedger"),
    "deniable.release.certificate.certificate": ("Certificate",),
    "deniable.client.connection": ("connect",),
    "deniable.release.opening": ("open", "protect", "rehearse"),
    "deniable.release.public_session": ("Session",),
    "deniable.release.session.release": ("Release",),
    "deniable.streams.bandits.bandit": ("Bandit",),
    "deniable.streams.bandits.simulation": ("simulate_bandit",),
    "deniable.synth.copies.any_certificate": ("verify",),
    _ARRAYS: ("count", "histogram", "mean", "stddev", "sum", "variance"),
    "deniable.errors": (
        *("DeniableError", "InvalidParameter", "MissingExtra", "MissingRelation"),
        *("PrecisionNotReached", "InvalidData", "InvalidPolicy", "InvalidCertificate"),
        *("InvalidQuery", "UnboundedColumn", "BudgetExhausted", "QuestionPending"),
        *("LedgerBroken", "LedgerUnavailable", "CollectionUnavailable", "CollectionClosed"),
        *("InvitationRefused", "ServerUnavailable", "AccessDenied", "TooManyQuestions"),
        *("PlanRefused", "EngineFailed", "FrameWarning", "KeyWarning"),
        *("LedgerWarning", "SplitterWarning", "Unsupported", "UsedUp"),
        *("InvalidStoppingRule",),
    ),
}

# Methods of public classes that later rooms implement.
bind("Release.plot", lambda: import_module("deniable.figures.releases").bars)
bind("TableCopy.plot", lambda: import_module("deniable.figures.copies").errors)
bind("Session.copy", lambda: import_module("deniable.synth.copies.copy_run").release_copy)
bind("WatchedSteps.plot", lambda: import_module("deniable.figures.streams").watched)
bind("Session.counter", lambda: import_module("deniable.streams.counters.counter").open_counter)
bind("Session.watch", lambda: import_module("deniable.streams.watching.watch").open_watch)
_RELATED = "deniable.synth.copies.related_copies"
bind("Session.copy_related", lambda: import_module(_RELATED).release_related)
_CROSSTABS = "deniable.synth.crosstabs.crosstab_release"
bind("Session.crosstabs", lambda: import_module(_CROSSTABS).release_crosstabs)


def __getattr__(name: str) -> object:
    for room, names in _ROOMS.items():
        if name in names:
            value: object = (
                import_module(f"{room}.{name}")
                if room == __name__
                else getattr(import_module(room), name)
            )
            globals()[name] = value  # the next use is an ordinary attribute
            return value
    # With `name` and `obj` Python suggests the nearest name.
    module = sys.modules[__name__]
    raise AttributeError(f"module 'deniable' has no attribute {name!r}", name=name, obj=module)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
