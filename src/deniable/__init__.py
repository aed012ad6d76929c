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

__version__ = "0.1.0"

__all__ = [
    "OLH",
    "OUE",
    "AccessDenied",
    "AnswerWarning",
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
    "PipelineWarning",
    "PlanRefused",
    "PrecisionNotReached",
    "PureFilter",
    "PureLoss",
    "QuantileIntervals",
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
    "infer",
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
    "sum_distinct",
    "surveys",
    "top_k",
    "variance",
    "verify",
    "without_replacement",
]

_ARRAYS = "deniable.release.asking.arrays"
_ROOMS = {
    "deniable": ("audit", "infer", "learn", "price", "surveys"),  # whole rooms
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
        "QuantileIntervals",
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
        "count_distinct",
        "count_units",
        "covariance",
        "intercept",
        "slope",
        "sum_distinct",
        "top_k",
    ),
    "deniable.release.asking.array_choices": (
        "max",
        "median",
        "min",
        "mode",
        "quantile",
        "quantiles",
    ),
    "deniable.release.asking.array_pairs": ("corr",),
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
        "DeniableError",
        "InvalidParameter",
        "MissingExtra",
        "MissingRelation",
        "PrecisionNotReached",
        "InvalidData",
        "InvalidPolicy",
        "InvalidCertificate",
        "InvalidQuery",
        "UnboundedColumn",
        "BudgetExhausted",
        "QuestionPending",
        "LedgerBroken",
        "LedgerUnavailable",
        "CollectionUnavailable",
        "CollectionClosed",
        "InvitationRefused",
        "ServerUnavailable",
        "AccessDenied",
        "TooManyQuestions",
        "PlanRefused",
        "EngineFailed",
        "AnswerWarning",
        "FrameWarning",
        "KeyWarning",
        "LedgerWarning",
        "PipelineWarning",
        "SplitterWarning",
        "Unsupported",
        "UsedUp",
        "InvalidStoppingRule",
    ),
}

# Methods of public classes that later rooms implement.
bind("Plan.explain", lambda: import_module("deniable.query.planner.explain").explain)
bind("Release.plot", lambda: import_module("deniable.figures.releases").bars)
bind("Release.population", lambda: import_module("deniable.infer.population").infer_population)
bind("infer.plot", lambda: import_module("deniable.figures.inferences").intervals)
bind(
    "infer.plot_differences",
    lambda: import_module("deniable.figures.inferences").differences,
)
bind("TableCopy.plot", lambda: import_module("deniable.figures.copies").errors)
bind("Session.copy", lambda: import_module("deniable.synth.copies.copy_run").release_copy)
bind("WatchedSteps.plot", lambda: import_module("deniable.figures.streams").watched)
bind("Session.experiment", lambda: import_module("deniable.infer.experiments").plan_experiment)
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
    hint = ""
    if not name.startswith("_"):  # other modules look for such names, and expect few to exist
        from deniable.exact.suggestions import did_you_mean

        hint = f". {did_you_mean(name, __all__)}".removesuffix(". ")
    # With `name` and `obj` Python suggests the nearest name, too.
    module = sys.modules[__name__]
    text = f"module 'deniable' has no attribute {name!r}{hint}"
    raise AttributeError(text, name=name, obj=module)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
