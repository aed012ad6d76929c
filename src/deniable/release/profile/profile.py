"""What a first look at a table found: columns, counts, quantiles, and what it all cost."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from deniable.ledger.ledger import Remaining
from deniable.query.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Noted:
    """A number with its margin; `unit` is "ranks" where the margin is not in its own unit."""

    value: float | None
    margin: float | None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What was learnt about one column."""

    name: str
    about: str
    missing: Noted | None = None
    quantiles: tuple[tuple[Fraction, Noted], ...] = ()
    counts: tuple[tuple[str, Noted], ...] = ()  # of bins in order, or of values, largest first
    ordered: bool = False  # whether the counts are bins in order
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """A table at first sight: prints in a terminal, and is a page of its own.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> frame = pa.table({"age": [i % 90 for i in range(5000)], "ward": ["A", "B"] * 2500})
    >>> keys, bounds = {"ward": ["A", "B"]}, {"age": (0, 120)}
    >>> with dp.protect(frame, keys=keys, bounds=bounds, epsilon=2) as session:
    ...     look = session.profile("data", epsilon=1)
    >>> print(session.remaining)
    epsilon 1, delta 0
    >>> abs(look.rows.value - 5000) < 100, [one.name for one in look.columns]
    (True, ['age', 'ward'])
    """

    table: str
    rows: Noted
    units: Noted | None
    unit: str | None
    columns: tuple[ColumnProfile, ...]
    confidence: Fraction
    price: Remaining  # what it cost
    remaining: Remaining  # what is left
    plans: tuple[Plan, ...]  # all that was run

    def __str__(self) -> str:
        from deniable.release.profile.profile_text import text

        return text(self)

    __repr__ = __str__

    def page(self) -> str:
        """The whole as one page of HTML that needs nothing else."""
        from deniable.release.profile.profile_page import page

        return page(self)

    def _repr_html_(self) -> str:
        from deniable.release.profile.profile_page import body

        return body(self)

    def save(self, path: str) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.page(), encoding="utf-8")
