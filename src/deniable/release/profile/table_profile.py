"""The noisy numbers of a profile, for the table and for each of its columns."""

from dataclasses import dataclass
from fractions import Fraction

from deniable.ledger.ledger import Remaining
from deniable.query.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class NoisyNumber:
    """A number with its margin; `unit` is "ranks" if the margin is counted in ranks."""

    value: float | None
    margin: float | None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """The noisy numbers about one column."""

    name: str
    about: str
    missing: NoisyNumber | None = None
    quantiles: tuple[tuple[Fraction, NoisyNumber], ...] = ()
    counts: tuple[tuple[str, NoisyNumber], ...] = ()  # of bins, or of values, largest first
    ordered: bool = False  # whether the counts are of bins, in their order
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The noisy numbers about a table, and their price."""

    table: str
    rows: NoisyNumber
    units: NoisyNumber | None
    unit: str | None
    columns: tuple[ColumnProfile, ...]
    confidence: Fraction
    price: Remaining
    remaining: Remaining  # after this profile
    plans: tuple[Plan, ...]  # all plans that were run
