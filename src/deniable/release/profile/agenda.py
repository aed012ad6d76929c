"""A first look at a wide table, planned and priced before anything is run.

Every column that anything can be said about gets an equal share of epsilon, and so does the
number of rows. A fifth of each share counts the values that are missing. All counts are one
plan (declared values, and for a quarter of the rest a small histogram of numbers), all
quantiles another. Numbers without bounds take a plan more, which finds them for a fifth of the
rest. Values that are private themselves take a plan each, and a delta; without one only the
missing are counted, for that fifth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, rational
from deniable.ledger.ledger import Remaining
from deniable.policy import Column as Declared
from deniable.policy import Table
from deniable.policy.suggestions import nearest
from deniable.query.language import builder
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Aggregate, Call, ColumnRef, Named
from deniable.query.plan.plan import Plan
from deniable.query.planner.bounds import SHARE, Search, search
from deniable.query.planner.planner import DELTA_SHARE
from deniable.release.session.door import Door

LEVELS = tuple(Fraction(one, 100) for one in (5, 25, 50, 75, 95))
BINS = 12
MAX_COUNTED_KEYS = 40  # counted side by side; more are grouped, and the most frequent shown
MAX_SHOWN = 10
MISSING_SHARE = Fraction(1, 5)  # of a column's share
HISTOGRAM_SHARE = Fraction(1, 4)  # of what is left of it: histograms, which need less than quantiles
KINDS = ("number", "open", "values", "groups", "missing")


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """How one column is looked at."""

    column: str
    kind: str  # one of KINDS, or "nothing"
    about: str  # the column in words
    why: str = ""  # nothing can be said about it


@dataclass(frozen=True, slots=True)
class ProfilePlans:
    """Everything that a profile will run, and its price, before any of it is run."""

    table: Table
    looks: tuple[ColumnLook, ...]
    counts: Plan
    quantiles: Plan | None
    groups: Mapping[str, Plan]  # by column
    step: Search | None
    first: Plan | None  # finds bounds
    second: Fraction  # epsilon of what is measured within them

    @property
    def price(self) -> Remaining:
        """What all of it costs together, exactly."""
        epsilon = sum((one.epsilon for one in self.plans), self.second)
        return Remaining(epsilon, sum((one.delta for one in self.plans), Fraction(0)))

    @property
    def plans(self) -> tuple[Plan, ...]:
        """All that are known before bounds are found."""
        maybe = (self.counts, self.quantiles, *self.groups.values(), self.first)
        return tuple(one for one in maybe if one is not None)


def plan_profile(
    session: Door,
    table: str | None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    confidence: Number = 0.95,
) -> ProfilePlans:
    """All plans of a profile, and so its price, before anything is spent."""
    known = _find_table(session, table)
    whole = positive(epsilon, "epsilon")
    spare = session.policy.delta * DELTA_SHARE if delta is None else rational(delta, "delta")
    looks = tuple(_choose_look(one, known, spare > 0) for one in known.columns.values())
    of = {kind: [one.column for one in looks if one.kind == kind] for kind in KINDS}
    whole_looks = sum(len(of[kind]) for kind in KINDS[:-1])
    share = whole / (1 + whole_looks + MISSING_SHARE * len(of["missing"]))
    rest, part = share * (1 - MISSING_SHARE), spare / (1 + len(of["groups"]))
    sure: dict[str, Any] = {"confidence": confidence}
    numbers, paid = rest * len(of["number"]), rest * len(of["open"])
    counts = session.plan(
        Question(known.name, None, (), _count_outputs(known, looks)),
        epsilon=share
        + share * MISSING_SHARE * (whole_looks + len(of["missing"]))
        + rest * len(of["values"])
        + numbers * HISTOGRAM_SHARE,
        delta=part,
        **sure,
    )
    quantiles = step = first = None
    if of["number"]:
        asked = Question(known.name, None, (), quantile_outputs(of["number"]))
        quantiles = session.plan(asked, epsilon=numbers - numbers * HISTOGRAM_SHARE, delta=0, **sure)
    groups = {
        name: session.plan(_frequent_values(known, name), epsilon=rest, delta=part, **sure)
        for name in of["groups"]
    }
    if of["open"]:
        asked = Question(known.name, None, (), histogram_outputs(of["open"]))
        step = search(asked, session.policy, of["open"])
        first = session.plan(step.question, epsilon=paid * SHARE, delta=0, **sure)
    second = paid - first.epsilon if first is not None else Fraction(0)
    return ProfilePlans(known, looks, counts, quantiles, groups, step, first, second)


ROWS = Aggregate("count", None)


def _find_table(session: Door, name: str | None) -> Table:
    tables = session.policy.tables
    private = [one for one in tables.values() if not one.public]
    if name is None and len(private) == 1:
        return private[0]
    for one in tables.values():
        if name is not None and one.name.lower() == name.lower():
            if one.public:
                raise InvalidParameter(f"Table {one.name} is public: read it as it is.")
            return one
    raise InvalidParameter(
        f"There is no table {name!r}. " + nearest(name or "", tables, "The tables are")
        if name is not None
        else f"Which table? There are {', '.join(one.name for one in private)}."
    )


def _choose_look(column: Declared, table: Table, delta: bool) -> ColumnLook:
    """How a column can be looked at, from what is public about it."""
    name, kind, keys = column.name, column.kind, column.keys
    if name == table.unit:
        return ColumnLook(name, "nothing", "tells people apart", "They are counted, and no more.")
    if kind is None:
        return ColumnLook(name, "nothing", "of a type that no question is about", "Left out.")
    if kind == "boolean":
        return ColumnLook(name, "values", "true or false")
    if isinstance(keys, tuple):
        few = len(keys) <= MAX_COUNTED_KEYS and kind == "text"
        return ColumnLook(name, "values" if few else "groups", f"{len(keys):,} declared values")
    if kind == "number" and column.bounds is not None:
        low, high = (float(one) for one in column.bounds)
        return ColumnLook(name, "number", f"a number, clipped to {low:,g} to {high:,g}")
    if kind == "number" and keys is None:
        return ColumnLook(name, "open", "a number without declared bounds")
    if kind == "number" and not column.integer:
        return ColumnLook(name, "open", "a number without declared bounds")
    if not delta:
        return ColumnLook(
            name,
            "missing",
            f"{kind} whose values are private",
            "Showing any of its values takes a delta: give the budget one, or declare keys.",
        )
    return ColumnLook(name, "groups", f"{kind} whose values are private")


def _count_outputs(table: Table, looks: Sequence[ColumnLook]) -> tuple[Named, ...]:
    """Rows, units, what is missing of each column, and the bins and values of some."""
    outputs = [Named("rows", ROWS)]
    if table.unit is not None:
        outputs.append(Named("units", Aggregate("count_units", ColumnRef(table.unit))))
    for look in looks:
        if look.kind != "nothing":
            known = builder.count(_quote(look.column))
            outputs.append(Named(f"{look.column} missing", Call("-", (ROWS, known))))
    counted = [one.column for one in looks if one.kind in ("number", "values")]
    return (*outputs, *histogram_outputs(counted))


def histogram_outputs(columns: Sequence[str]) -> tuple[Named, ...]:
    """A histogram of each column."""
    return tuple(
        Named(f"{name} in", builder.histogram(_quote(name), BINS)) for name in columns
    )


def quantile_outputs(columns: Sequence[str]) -> tuple[Named, ...]:
    """Some quantiles of each column."""
    return tuple(
        Named(f"{name} at", builder.quantiles(_quote(name), LEVELS)) for name in columns
    )


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _frequent_values(table: Table, name: str) -> Question:
    """The most frequent values; how many people have one comes free where it must be earned."""
    count = ROWS
    if table.unit is not None:
        count = Aggregate("count_units", ColumnRef(table.unit))
    key = Named(name, ColumnRef(name))
    return Question(
        table.name,
        None,
        (key,),
        (key, Named("n", count)),
        order=((count, True),),
        limit=MAX_SHOWN,
    )
