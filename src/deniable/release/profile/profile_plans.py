"""The plans of a profile, with their price, before anything is run.

The number of rows and each column that can be measured get equal shares of epsilon. A fifth of
each share counts missing values. One plan holds all counts: of declared keys, and a small
histogram of each number for a quarter of the rest of its share. A second plan holds all
quantiles. If numbers lack bounds, a third plan finds bounds for a fifth of the rest. Each
column with private keys takes a plan of its own and a part of delta. Without a delta only its
missing values are counted, for that fifth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, positive, rational
from deniable.exact.suggestions import suggest
from deniable.ledger.ledger import Remaining
from deniable.policy import Column as Declared
from deniable.policy import Table
from deniable.query.language import builder
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Aggregate, ColumnRef, Expression, Named
from deniable.query.plan.plan import Plan
from deniable.query.plan.quoting import quote_name
from deniable.query.planner.bounds_search import SEARCH_SHARE, BoundsSearch, prepare_search
from deniable.query.planner.planner import DELTA_SHARE
from deniable.release.session.door import Door

LEVELS = tuple(Fraction(percent, 100) for percent in (5, 25, 50, 75, 95))
BINS = 12
MAX_COUNTED_KEYS = 40  # each is counted; of more keys only the most frequent are shown
MAX_SHOWN = 10
MISSING_SHARE = Fraction(1, 5)  # of a column's share of epsilon
HISTOGRAM_SHARE = Fraction(1, 4)  # of the rest: histograms need less than quantiles
KINDS = ("number", "open", "values", "groups", "missing")


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """What is measured about one column."""

    column: str
    kind: str  # one of KINDS, or "nothing"
    about: str  # a description of the column
    why: str = ""  # the reason if little or nothing is measured


@dataclass(frozen=True, slots=True)
class ProfilePlans:
    """All plans of a profile and their price, before any of them is run."""

    table: Table
    looks: tuple[ColumnLook, ...]
    counts: Plan
    quantiles: Plan | None
    groups: Mapping[str, Plan]  # by column
    step: BoundsSearch | None
    first: Plan | None  # finds bounds
    second: Fraction  # epsilon of the plans within the bounds that were found

    @property
    def price(self) -> Remaining:
        """The exact price of all plans together."""
        epsilon = sum((plan.epsilon for plan in self.plans), self.second)
        return Remaining(epsilon, sum((plan.delta for plan in self.plans), Fraction(0)))

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plans that are known before bounds are found."""
        plans = (self.counts, self.quantiles, *self.groups.values(), self.first)
        return tuple(plan for plan in plans if plan is not None)


def plan_profile(
    session: Door,
    table: str | None,
    *,
    epsilon: Number,
    delta: Number | None = None,
    confidence: Number = 0.95,
) -> ProfilePlans:
    """All plans of a profile, and so its price. Nothing is spent."""
    subject = _find_table(session, table)
    whole = positive(epsilon, "epsilon")
    spare = session.policy.delta * DELTA_SHARE if delta is None else rational(delta, "delta")
    looks = tuple(
        _choose_look(column, spare > 0, subject) for column in subject.columns.values()
    )
    of = {kind: [look.column for look in looks if look.kind == kind] for kind in KINDS}
    measured = sum(len(of[kind]) for kind in KINDS[:-1])
    share = whole / (1 + measured + MISSING_SHARE * len(of["missing"]))
    rest, delta_share = share * (1 - MISSING_SHARE), spare / (1 + len(of["groups"]))
    numbers, open_numbers = rest * len(of["number"]), rest * len(of["open"])

    def plan(question: Question, price: Fraction, delta: Number = 0) -> Plan:
        how: dict[str, Any] = {"confidence": confidence, "brackets": False}
        return session.plan(question, epsilon=price, delta=delta, **how)

    counts_price = (
        share
        + share * MISSING_SHARE * (measured + len(of["missing"]))
        + rest * len(of["values"])
        + numbers * HISTOGRAM_SHARE
    )
    counts = plan(_select(subject, _count_outputs(subject, looks)), counts_price, delta_share)
    quantiles = step = first = None
    if of["number"]:
        question = _select(subject, quantile_outputs(of["number"]))
        quantiles = plan(question, numbers - numbers * HISTOGRAM_SHARE)
    groups = {
        name: plan(_frequent_values(subject, name), rest, delta_share) for name in of["groups"]
    }
    if of["open"]:
        question = _select(subject, histogram_outputs(of["open"]))
        step = prepare_search(question, session.policy, of["open"])
        first = plan(step.question, open_numbers * SEARCH_SHARE)
    second = Fraction(0) if first is None else open_numbers - first.epsilon
    return ProfilePlans(subject, looks, counts, quantiles, groups, step, first, second)


def _select(table: Table, outputs: tuple[Named, ...]) -> Question:
    """The question for these outputs over all rows of a table."""
    return Question(table.name, None, (), outputs)


ROWS = Aggregate("count", None)


def _find_table(session: Door, name: str | None) -> Table:
    tables = session.policy.tables
    private = [table for table in tables.values() if not table.public]
    if name is None:
        if len(private) == 1:
            return private[0]
        names = ", ".join(table.name for table in private)
        raise InvalidParameter(f"Name the table to profile. The tables are {names}.")
    for table in tables.values():
        if table.name.lower() == name.lower():
            if table.public:
                raise InvalidParameter(
                    f"Table {table.name} is public: read it directly, without noise."
                )
            return table
    raise InvalidParameter(
        f"There is no table {name!r}. " + suggest(name, tables, "The tables are")
    )


def _choose_look(column: Declared, has_delta: bool, table: Table) -> ColumnLook:
    """What is measured about a column, chosen by what is public about it."""
    name, kind, keys = column.name, column.kind, column.keys
    if name == table.unit:
        return ColumnLook(name, "nothing", "the privacy unit", "Only the units are counted.")
    if column.elements is not None:
        return ColumnLook(name, "nothing", "lists", f"Ask about UNNEST({name}).")
    if kind is None:
        return ColumnLook(name, "nothing", "a type that no question can use", "Not measured.")
    if kind == "boolean":
        return ColumnLook(name, "values", "true or false")
    if isinstance(keys, tuple):
        few = len(keys) <= MAX_COUNTED_KEYS and kind == "text"
        return ColumnLook(name, "values" if few else "groups", f"{len(keys):,} declared values")
    if kind == "number" and column.bounds is not None:
        low, high = map(float, column.bounds)
        return ColumnLook(name, "number", f"a number, clipped to {low:,g} to {high:,g}")
    if kind == "number" and (keys is None or not column.integer):
        return ColumnLook(name, "open", "a number without declared bounds")
    if not has_delta:
        return ColumnLook(
            name,
            "missing",
            f"{kind} whose values are private",
            "Its values are shown only for a delta: add one to the budget, or declare keys.",
        )
    return ColumnLook(name, "groups", f"{kind} whose values are private")


def _count_outputs(table: Table, looks: Sequence[ColumnLook]) -> tuple[Named, ...]:
    """Rows, units, missing values of each column, and counts of bins and declared keys.

    Where one unit has too many rows, its counts are scaled down and rounded, each by itself. So
    missing values are counted, not subtracted from all rows: where none is missing, that is 0.
    For the same reason rows are one count, not known ones plus missing ones, as COUNT(*) is.
    """
    measured = [look.column for look in looks if look.kind != "nothing"]
    every = _count_cases(measured[0], "0 ELSE 1") if measured else ROWS
    outputs = [Named("rows", every)]
    if table.unit is not None:
        outputs.append(Named("units", Aggregate("count_units", ColumnRef(table.unit))))
    outputs += [Named(f"{name} missing", _count_cases(name, "1")) for name in measured]
    counted = [look.column for look in looks if look.kind in ("number", "values")]
    return (*outputs, *histogram_outputs(counted))


def _count_cases(column: str, cases: str) -> Expression:
    """How many rows have no value in a column, if only that case is not NULL."""
    counted = f"COUNT(CASE WHEN {quote_name(column)} IS NULL THEN {cases} END)"
    return parse(f"SELECT {counted} AS n FROM t").outputs[0].expression


def histogram_outputs(columns: Sequence[str]) -> tuple[Named, ...]:
    """A histogram of each column."""
    return tuple(
        Named(f"{name} in", builder.histogram(quote_name(name), BINS)) for name in columns
    )


def quantile_outputs(columns: Sequence[str]) -> tuple[Named, ...]:
    """Some quantiles of each column."""
    return tuple(
        Named(f"{name} at", builder.quantiles(quote_name(name), LEVELS)) for name in columns
    )


def _frequent_values(table: Table, name: str) -> Question:
    """The most frequent values, with their numbers of units (of rows if there is no unit).

    Private keys need the number of units for their threshold, so it costs nothing more.
    """
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
