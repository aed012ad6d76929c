"""The plans of several cross-tables, with their price, before anything is run.

Whole tables are measured, each with Gaussian noise, and every cross-table is estimated from all
of them (`fit.residuals`). The shares of the budget minimize the variances of the wanted tables.
All plans are fixed in advance, so the ledger charges the tight price of all of them together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod, sqrt
from statistics import NormalDist
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, decimal_text, positive, probability, rational
from deniable.exact.suggestions import suggest
from deniable.exact.text_formats import percent
from deniable.mechanisms import Gaussian
from deniable.policy import Policy, Table
from deniable.privacy import GaussianLoss
from deniable.query.plan.plan import Plan
from deniable.query.planner.explain import Branch, describe_unit
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.query.planner.planner import DELTA_SHARE
from deniable.release.session.door import Door
from deniable.synth.domain.column_cells import ColumnCells, cells_of
from deniable.synth.fit.residuals import Columns, Design, Residuals, closure

_PARTS = 10**6  # shares of the budget are whole millionths, rounded down
_ROUNDING = 1 / 12  # the variance that rounding adds to the noise
_LEAST_DOUBT = Fraction(1, 10**9)  # of a confidence whose normal quantile a float can hold
_MOST_CELLS, _MOST_SETS, _MOST_COLUMNS = 10**7, 2000, 6


@dataclass(frozen=True, slots=True)
class CrosstabPlans:
    """All plans of some cross-tables, and what they will say."""

    table: Table
    cells: tuple[ColumnCells, ...]  # of every column that is used
    ordered_sets: tuple[Columns, ...]  # the places of each table's columns, in the order given
    shares: Mapping[Columns, Fraction]  # of mu squared, for each measured table
    plans: Mapping[Columns, Plan]
    epsilon: Fraction
    delta: Fraction
    confidence: Fraction
    excess: float  # the sum of variances over the least that any Gaussian noise allows

    @property
    def wanted(self) -> tuple[Columns, ...]:
        """The same, each in ascending order."""
        return tuple(tuple(sorted(columns)) for columns in self.ordered_sets)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return tuple(column.size for column in self.cells)

    def names(self, columns: Columns) -> tuple[str, ...]:
        """The names of the columns at these places."""
        return tuple(self.cells[place].column for place in columns)

    def cell_variance(self, columns: Columns) -> float:
        """The variance of the noise in each cell of a measured table."""
        mechanism = self.plans[columns].blocks[0].mechanism
        assert isinstance(mechanism, Gaussian)
        return float(mechanism.variance) + _ROUNDING

    def margin(self, fitted: Residuals, columns: Columns) -> float:
        """The margin of each cell of an estimated table; whole numbers, rounded up."""
        level = NormalDist().inv_cdf((1 + float(self.confidence)) / 2)
        return float(ceil(level * sqrt(fitted.variance(columns))))

    def predict_margins(self) -> dict[Columns, float]:
        """The margin of each wanted table. No margin depends on a row."""
        variances = {columns: self.cell_variance(columns) for columns in self.plans}
        fitted = Residuals.without_values(self.sizes, variances)
        return {columns: self.margin(fitted, columns) for columns in self.wanted}

    def explain(self) -> Branch:
        """What will be measured, with which noise and margins."""
        price = f"epsilon {decimal_text(self.epsilon)}, delta {decimal_text(self.delta)}"
        margins = zip(self.ordered_sets, self.predict_margins().values(), strict=True)
        count = len(self.plans)
        return Branch(
            f"{len(self.wanted)} cross-tables of {self.table.name} at {price}, in one charge",
            (
                Branch(
                    f"each cell at {percent(self.confidence, '%')}",
                    tuple(
                        Branch(
                            f"{', '.join(self.names(columns))}: {self._count(columns):,} "
                            f"cells, ± {margin:,.0f}"
                        )
                        for columns, margin in margins
                    ),
                ),
                Branch(
                    f"measured: {count} {'table' if count == 1 else 'tables'}, with Gaussian "
                    "noise in every cell",
                    tuple(map(self._explain_measured, self.plans)),
                ),
                Branch(
                    "the sum of variances is "
                    f"{self.excess:.2f} times the least that any Gaussian noise allows"
                ),
                Branch(describe_unit(next(iter(self.plans.values())))),
            ),
        )

    def _explain_measured(self, columns: Columns) -> Branch:
        names = ", ".join(self.names(columns)) or "the number of rows"
        deviation = sqrt(self.cell_variance(columns))
        share = percent(self.shares[columns])
        return Branch(f"{names}: standard deviation {deviation:,.1f}, {share} of the budget")

    def _count(self, columns: Columns) -> int:
        return prod(self.sizes[place] for place in columns)


def plan_crosstabs(
    session: Door,
    tables: Sequence[Sequence[str]],
    *,
    table: str | None,
    epsilon: Number,
    delta: Number | None,
    cuts: Mapping[str, Sequence[Any]] | None,
    weights: Mapping[tuple[str, ...], Number] | None,
    missing: bool,
    confidence: Number,
) -> CrosstabPlans:
    """All plans of some cross-tables, and so their price. Nothing is spent."""
    subject = find_table(session.policy, table)
    name_sets = _read_sets(tables)
    used = list(dict.fromkeys(name.lower() for names in name_sets for name in names))
    cuts_by_name = _read_cuts(cuts, used)
    cells = tuple(
        cells_of(subject, name, cuts=cuts_by_name.get(name), missing=missing) for name in used
    )
    ordered_sets = tuple(
        tuple(used.index(name.lower()) for name in names) for names in name_sets
    )
    column_sets = [tuple(sorted(columns)) for columns in ordered_sets]
    importance = _read_weights(weights, name_sets, used)
    design = _design(cells, column_sets, importance)
    price, spare = positive(epsilon, "epsilon"), read_delta(session.policy, delta)
    level = read_level(confidence)
    mu_squared = GaussianLoss.calibrated(epsilon=price, delta=spare).mu_squared
    shares = _round_shares(design.weights())
    counted = [column.counted for column in cells]
    planner = MarginalPlanner(session.policy, subject, counted, partial=not missing)
    plans = {
        columns: session.rows.restrict(
            planner.plan(columns, mu_squared=mu_squared * share, delta=spare, confidence=level),
            session.policy,
        )
        for columns, share in shares.items()
    }
    excess = design.variance({columns: float(own) for columns, own in shares.items()})
    least = design.least_variance()
    return CrosstabPlans(
        subject, cells, ordered_sets, shares, plans, price, spare, level, excess / least
    )


def read_level(confidence: Number) -> Fraction:
    """The confidence of margins, as a rational. Refuses one that no float can tell from 1."""
    level = probability(confidence, "confidence")
    if 1 - level < _LEAST_DOUBT:
        raise InvalidParameter("`confidence` must be at most 1 - 1e-9.")
    return level


def find_table(policy: Policy, name: str | None) -> Table:
    """The private table of that name, or the only one."""
    private = {
        table.name.lower(): table for table in policy.tables.values() if not table.public
    }
    if name is None and len(private) == 1:
        return next(iter(private.values()))
    names = [table.name for table in private.values()]
    if name is None:
        raise InvalidParameter(f'Name the table, as in table="{names[0]}".')
    if not isinstance(name, str) or name.lower() not in private:
        hint = suggest(str(name), names, "The private tables are")
        raise InvalidParameter(f"There is no private table {name!r}. {hint}")
    return private[name.lower()]


def read_delta(policy: Policy, delta: Number | None) -> Fraction:
    """The delta of a release with Gaussian noise, which needs one."""
    spare = policy.delta * DELTA_SHARE if delta is None else rational(delta, "delta")
    if not 0 < spare < 1:
        raise InvalidParameter(
            "Marginals get Gaussian noise, which needs a delta above 0 and below 1. Give the "
            "budget a delta, such as 1e-6, or name one with `delta`. Nothing was spent."
        )
    return spare


def _read_sets(tables: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """The columns of each cross-table."""
    example = 'such as [["age", "sex"], ["sex", "income"]]'
    if isinstance(tables, str) or not isinstance(tables, Sequence) or not tables:
        raise InvalidParameter(f"Give a list of lists of columns, {example}.")
    read = []
    for names in tables:
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise InvalidParameter(
                f"Each cross-table is a list of columns, {example}. Found {names!r}."
            )
        folded = [name.lower() for name in names]
        if not names or len(set(folded)) < len(folded) or len(folded) > _MOST_COLUMNS:
            raise InvalidParameter(
                f"A cross-table has 1 to {_MOST_COLUMNS} different columns. Found "
                f"{list(names)!r}."
            )
        read.append(tuple(names))
    sorted_names = [tuple(sorted(name.lower() for name in names)) for names in read]
    if len(set(sorted_names)) < len(sorted_names):
        raise InvalidParameter("The same cross-table is asked twice. Ask for it once.")
    return read


def _read_cuts(
    cuts: Mapping[str, Sequence[Any]] | None, used: Sequence[str]
) -> dict[str, Sequence[Any]]:
    if cuts is not None and not isinstance(cuts, Mapping):
        raise InvalidParameter(
            '`cuts` maps columns to the values where intervals begin, as in cuts={"age": [18, '
            f"65]}}. Found {cuts!r}."
        )
    given = {name.lower(): values for name, values in (cuts or {}).items()}
    for name in given:
        if name not in used:
            raise InvalidParameter(
                f"`cuts` names {name}, which is in no cross-table. "
                + suggest(name, used, "The columns are")
            )
    return given


def _read_weights(
    weights: Mapping[tuple[str, ...], Number] | None,
    name_sets: Sequence[tuple[str, ...]],
    used: Sequence[str],
) -> dict[Columns, float]:
    """How much some tables matter, by the places of their columns."""
    if weights is not None and not isinstance(weights, Mapping):
        raise InvalidParameter(
            '`weights` says which tables matter more, as in weights={("age", "sex"): 2}. Found '
            f"{weights!r}."
        )
    known = {frozenset(name.lower() for name in names) for names in name_sets}
    read = {}
    for names, weight in (weights or {}).items():
        listed = (names,) if isinstance(names, str) else tuple(names)
        if frozenset(name.lower() for name in listed) not in known:
            raise InvalidParameter(f"`weights` names {listed!r}, which is not asked for.")
        columns = tuple(sorted(used.index(name.lower()) for name in listed))
        read[columns] = float(positive(weight, "weights"))
    return read


def _design(
    cells: Sequence[ColumnCells], wanted: Sequence[Columns], importance: Mapping[Columns, float]
) -> Design:
    """A table of many cells matters more, by the root of their number: without that, large
    tables would have most of the error; in proportion to it, small ones would."""
    sizes = tuple(column.size for column in cells)
    sets = closure(wanted)
    if len(sets) > _MOST_SETS:
        raise InvalidParameter(
            f"The cross-tables contain {len(sets):,} different sets of columns. At most "
            f"{_MOST_SETS:,} are possible: ask for fewer, or for fewer columns in each."
        )
    count = sum(prod(sizes[place] for place in columns) for columns in sets)
    if count > _MOST_CELLS:
        raise InvalidParameter(
            f"The cross-tables have {count:,} cells. At most {_MOST_CELLS:,} are possible: ask "
            "for fewer columns in each, or for coarser cuts. Nothing was spent."
        )
    return Design(
        sizes,
        {
            columns: importance.get(columns, 1.0) ** 2
            * sqrt(prod(sizes[place] for place in columns))
            for columns in wanted
        },
    )


def _round_shares(shares: Mapping[Columns, float]) -> dict[Columns, Fraction]:
    """Shares as rationals whose sum is at most 1."""
    whole = {columns: max(1, int(share * _PARTS)) for columns, share in shares.items()}
    parts = max(_PARTS, sum(whole.values()))
    return {columns: Fraction(own, parts) for columns, own in whole.items()}
