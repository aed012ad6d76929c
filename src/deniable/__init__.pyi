"""The public names, for type checkers and editors: `__init__.py` imports them when used."""

from deniable import (
    audit as audit,
)
from deniable import (
    learn as learn,
)
from deniable import (
    price as price,
)
from deniable import (
    surveys as surveys,
)
from deniable.errors import (
    AnswerWarning as AnswerWarning,
)
from deniable.errors import (
    BudgetExhausted as BudgetExhausted,
)
from deniable.errors import (
    CollectionClosed as CollectionClosed,
)
from deniable.errors import (
    CollectionUnavailable as CollectionUnavailable,
)
from deniable.errors import (
    DeniableError as DeniableError,
)
from deniable.errors import (
    EngineFailed as EngineFailed,
)
from deniable.errors import (
    FrameWarning as FrameWarning,
)
from deniable.errors import (
    InvalidCertificate as InvalidCertificate,
)
from deniable.errors import (
    InvalidData as InvalidData,
)
from deniable.errors import (
    InvalidParameter as InvalidParameter,
)
from deniable.errors import (
    InvalidPolicy as InvalidPolicy,
)
from deniable.errors import (
    InvalidQuery as InvalidQuery,
)
from deniable.errors import (
    InvalidStoppingRule as InvalidStoppingRule,
)
from deniable.errors import (
    InvitationRefused as InvitationRefused,
)
from deniable.errors import (
    LedgerBroken as LedgerBroken,
)
from deniable.errors import (
    LedgerUnavailable as LedgerUnavailable,
)
from deniable.errors import (
    LedgerWarning as LedgerWarning,
)
from deniable.errors import (
    MissingExtra as MissingExtra,
)
from deniable.errors import (
    MissingRelation as MissingRelation,
)
from deniable.errors import (
    PlanRefused as PlanRefused,
)
from deniable.errors import (
    PrecisionNotReached as PrecisionNotReached,
)
from deniable.errors import (
    QuestionPending as QuestionPending,
)
from deniable.errors import (
    SplitterWarning as SplitterWarning,
)
from deniable.errors import (
    UnboundedColumn as UnboundedColumn,
)
from deniable.errors import (
    Unsupported as Unsupported,
)
from deniable.errors import (
    UsedUp as UsedUp,
)
from deniable.ledger import (
    DurableLedger as DurableLedger,
)
from deniable.ledger import (
    Ledger as Ledger,
)
from deniable.ledger import (
    MemoryLedger as MemoryLedger,
)
from deniable.mechanisms import (
    OLH as OLH,
)
from deniable.mechanisms import (
    OUE as OUE,
)
from deniable.mechanisms import (
    Density as Density,
)
from deniable.mechanisms import (
    Duchi as Duchi,
)
from deniable.mechanisms import (
    Estimate as Estimate,
)
from deniable.mechanisms import (
    Estimates as Estimates,
)
from deniable.mechanisms import (
    Exponential as Exponential,
)
from deniable.mechanisms import (
    Gaussian as Gaussian,
)
from deniable.mechanisms import (
    HadamardResponse as HadamardResponse,
)
from deniable.mechanisms import (
    Hybrid as Hybrid,
)
from deniable.mechanisms import (
    InverseSensitivity as InverseSensitivity,
)
from deniable.mechanisms import (
    Laplace as Laplace,
)
from deniable.mechanisms import (
    Loloha as Loloha,
)
from deniable.mechanisms import (
    Majority as Majority,
)
from deniable.mechanisms import (
    NoisyMax as NoisyMax,
)
from deniable.mechanisms import (
    NumberOrNot as NumberOrNot,
)
from deniable.mechanisms import (
    Ordinal as Ordinal,
)
from deniable.mechanisms import (
    PermuteAndFlip as PermuteAndFlip,
)
from deniable.mechanisms import (
    Piecewise as Piecewise,
)
from deniable.mechanisms import (
    Quantiles as Quantiles,
)
from deniable.mechanisms import (
    RandomizedResponse as RandomizedResponse,
)
from deniable.mechanisms import (
    Rappor as Rappor,
)
from deniable.mechanisms import (
    ReleasedDensity as ReleasedDensity,
)
from deniable.mechanisms import (
    ReleasedQuantiles as ReleasedQuantiles,
)
from deniable.mechanisms import (
    RevealingResponse as RevealingResponse,
)
from deniable.mechanisms import (
    SparseVector as SparseVector,
)
from deniable.mechanisms import (
    SquareWave as SquareWave,
)
from deniable.mechanisms import (
    Staircase as Staircase,
)
from deniable.mechanisms import (
    SubsetSelection as SubsetSelection,
)
from deniable.mechanisms import (
    Tally as Tally,
)
from deniable.mechanisms import (
    Thresholding as Thresholding,
)
from deniable.privacy import (
    ApproximateLoss as ApproximateLoss,
)
from deniable.privacy import (
    Composition as Composition,
)
from deniable.privacy import (
    ConcentratedFilter as ConcentratedFilter,
)
from deniable.privacy import (
    ConcentratedLoss as ConcentratedLoss,
)
from deniable.privacy import (
    GaussianFilter as GaussianFilter,
)
from deniable.privacy import (
    GaussianLoss as GaussianLoss,
)
from deniable.privacy import (
    LossDistribution as LossDistribution,
)
from deniable.privacy import (
    PureFilter as PureFilter,
)
from deniable.privacy import (
    PureLoss as PureLoss,
)
from deniable.privacy import (
    RangeLoss as RangeLoss,
)
from deniable.privacy import (
    RenyiFilter as RenyiFilter,
)
from deniable.privacy import (
    RenyiLoss as RenyiLoss,
)
from deniable.privacy import (
    UnionFilter as UnionFilter,
)
from deniable.privacy import (
    calibrate as calibrate,
)
from deniable.privacy import (
    how_many as how_many,
)
from deniable.privacy import (
    parallel as parallel,
)
from deniable.privacy import (
    poisson as poisson,
)
from deniable.privacy import (
    reserved as reserved,
)
from deniable.privacy import (
    shuffled as shuffled,
)
from deniable.privacy import (
    without_replacement as without_replacement,
)
from deniable.privacy.losses.hypothesis_testing import (
    posterior as posterior,
)
from deniable.query.language.builder import (
    clipped as clipped,
)
from deniable.query.language.builder import (
    count_distinct as count_distinct,
)
from deniable.query.language.builder import (
    count_units as count_units,
)
from deniable.query.language.builder import (
    covariance as covariance,
)
from deniable.query.language.builder import (
    intercept as intercept,
)
from deniable.query.language.builder import (
    max as max,
)
from deniable.query.language.builder import (
    min as min,
)
from deniable.query.language.builder import (
    slope as slope,
)
from deniable.query.language.builder import (
    top_k as top_k,
)
from deniable.release.asking.array_choices import (
    median as median,
)
from deniable.release.asking.array_choices import (
    mode as mode,
)
from deniable.release.asking.array_choices import (
    quantile as quantile,
)
from deniable.release.asking.array_choices import (
    quantiles as quantiles,
)
from deniable.release.asking.array_pairs import (
    corr as corr,
)
from deniable.release.asking.arrays import (
    count as count,
)
from deniable.release.asking.arrays import (
    histogram as histogram,
)
from deniable.release.asking.arrays import (
    mean as mean,
)
from deniable.release.asking.arrays import (
    stddev as stddev,
)
from deniable.release.asking.arrays import (
    sum as sum,
)
from deniable.release.asking.arrays import (
    variance as variance,
)
from deniable.release.certificate.certificate import (
    Certificate as Certificate,
)
from deniable.release.opening import (
    open as open,
)
from deniable.release.opening import (
    protect as protect,
)
from deniable.release.opening import (
    rehearse as rehearse,
)
from deniable.release.public_session import (
    Session as Session,
)
from deniable.release.session.release import (
    Release as Release,
)
from deniable.streams.bandits.bandit import (
    Bandit as Bandit,
)
from deniable.streams.bandits.simulation import (
    simulate_bandit as simulate_bandit,
)
from deniable.synth.copies.any_certificate import (
    verify as verify,
)

__version__: str
__all__: list[str]
