"""What a copy will measure, and at which price, before anything is run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod, sqrt
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, decimal_text, positive, whole
from deniable.exact.text_formats import percent
from deniable.policy import Column, Table
from deniable.privacy import ConcentratedLoss
from deniable.query.language import builder
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Aggregate, ColumnRef, Named
from deniable.query.plan.plan import Plan
from deniable.query.plan.quoting import quote_name
from deniable.query.planner.explain import Branch
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.query.statements.statistics import COUNT_ROWS
from deniable.release.session.door import Door
from deniable.synth.copies.copy_budget import CopyBudget
from deniable.synth.crosstabs.crosstab_plans import find_table, read_delta, read_level
from deniable.synth.domain.column_cells import ColumnCells, cells_of
from deniable.synth.domain.quantile_cuts import LEVELS, grid_step

_MOST_COLUMNS, _MOST_CELLS = 60, 5 * 10**6  # cells of all pairs together
_MOST_ROWS = 10**8  # of a copy
_MOST_KEYS = 100  # of a text whose keys are found
_LISTED = 40  # a number with fewer grid points needs no cuts
METHODS = ("auto", "mst")


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """A copy before it is measured. Nothing in it depends on a row."""

    table: Table
    columns: tuple[str, ...]
    cells: tuple[ColumnCells | None, ...]  # None: numbers to cut, texts whose keys are found
    budget: CopyBudget
    rho: Fraction
    epsilon: Fraction
    delta: Fraction
    confidence: Fraction
    missing: bool
    scored: tuple[tuple[int, ...], ...]
    rows: int | None  # None: the noisy number of rows of the table
    why: str  # why this method
    keys_epsilon: Fraction  # for finding the keys of texts, in addition

    def column(self, place: int) -> Column:
        """What the policy declares about a column."""
        return self.table.columns[self.columns[place]]

    def plan_cuts(self, session: Door, place: int) -> Plan:
        """The plan that finds the quantiles of one column."""
        name = self.columns[place]
        outputs = (Named("cut", builder.quantiles(quote_name(name), LEVELS)),)
        question = Question(self.table.name, None, (), outputs)
        price = self.budget.cut_epsilon(self.rho)
        return session.plan(question, epsilon=price, delta=0, confidence=self.confidence)

    @property
    def texts(self) -> tuple[int, ...]:
        """The places of the texts whose keys are found."""
        places = range(len(self.columns))
        return tuple(
            i for i in places if self.cells[i] is None and self.column(i).kind == "text"
        )

    def plan_keys(self, session: Door, place: int) -> Plan:
        """The plan that finds the most frequent texts of one column: those that enough units
        have. All of them together cost `keys_epsilon`, and `delta` once more."""
        unit, count = self.table.unit, COUNT_ROWS
        if unit is not None:
            count = Aggregate("count_units", ColumnRef(unit))
        key = Named("key", ColumnRef(self.columns[place]))
        outputs, order = (key, Named("n", count)), ((count, True),)
        name = self.table.name
        question = Question(name, None, (key,), outputs, order=order, limit=_MOST_KEYS)
        count_texts = len(self.texts)
        price, delta = self.keys_epsilon / count_texts, self.delta / count_texts
        return session.plan(question, epsilon=price, delta=delta)

    def planner(self, session: Door, cells: Sequence[ColumnCells]) -> MarginalPlanner:
        """Plans over the cells of all columns, which are known by now."""
        counted = [own.counted for own in cells]
        return MarginalPlanner(session.policy, self.table, counted, partial=not self.missing)

    def explain(self, session: Door) -> Branch:
        """What will be measured, with which noise, and what goes to what."""
        price = f"epsilon {decimal_text(self.epsilon)}, delta {decimal_text(self.delta)}"
        known = [own for own in self.cells if own is not None]
        planner = self.planner(session, known)
        reach, unit = float(planner.sensitivity), planner.max_rows_per_unit
        lines = [self.why, *self._explain_cuts(), *self._explain_tables(reach)]
        steps = unit * (1 if self.table.neighbors == "add-remove" else 2)
        budget = self.budget
        far = steps * sqrt(len(self.scored) / budget.scorecard_mu_squared(self.rho))
        lines.append(
            f"{percent(budget.scorecard)} scores {len(self.scored)} tables of the copy, "
            f"standard deviation {far:,.0f} rows"
        )
        who = "row" if self.table.unit is None else self.table.unit
        lines.append(f"one {who} counts with at most {unit} rows ({self.table.neighbors})")
        title = f"A copy of {self.table.name} at {price}, in one charge"
        return Branch(title, tuple(map(Branch, lines)))

    def _explain_cuts(self) -> list[str]:
        texts = [self.columns[i] for i in self.texts]
        found = [self.columns[i] for i, own in enumerate(self.cells) if own is None]
        numbers = [name for name in found if name not in texts]
        lines = []
        if texts:
            price = f"epsilon {decimal_text(self.keys_epsilon)}"
            delta = f"delta {decimal_text(self.delta)}"
            lines.append(f"in addition, {price}, {delta} finds keys of {', '.join(texts)}")
        if numbers:
            lines.append(
                f"{percent(self.budget.cuts)} cuts {', '.join(numbers)} at {len(LEVELS)} "
                "private quantiles, inside the declared bounds"
            )
        return lines

    def _explain_tables(self, reach: float) -> list[str]:
        budget, rho, count = self.budget, self.rho, len(self.columns)
        deviation = reach / sqrt(budget.one_way_mu_squared(rho))
        lines = [
            f"{percent(budget.one_ways)} measures {count} columns, standard deviation "
            f"{deviation:,.1f} rows in each cell"
        ]
        if count < 2:
            return lines
        deviation = reach / sqrt(budget.pair_mu_squared(rho))
        return [
            *lines,
            f"{percent(budget.choice)} chooses {count - 1} of {count * (count - 1) // 2} pairs "
            "by the exponential mechanism",
            f"{percent(budget.pairs)} measures these pairs, standard deviation "
            f"{deviation:,.1f} rows in each cell",
        ]


def plan_copy(
    session: Door,
    table: str | None,
    *,
    epsilon: Number,
    delta: Number | None,
    columns: Sequence[str] | None,
    cuts: Mapping[str, Sequence[Any]] | None,
    workload: Sequence[Sequence[str]] | None,
    rows: int | None,
    method: str,
    missing: bool,
    confidence: Number,
    keys_epsilon: Number | None,
) -> CopyPlan:
    """A copy, before it is charged. Every fault of the request is found here."""
    subject = find_table(session.policy, table)
    if method not in METHODS:
        raise InvalidParameter(f'`method` must be "auto" or "mst". Found {method!r}.')
    names = _read_columns(subject, columns)
    given = {name.lower(): values for name, values in (cuts or {}).items()}
    finds = keys_epsilon is not None
    cells = tuple(
        _find_cells(subject, name, given.get(name.lower()), missing=missing, finds=finds)
        for name in names
    )
    price, spare = positive(epsilon, "epsilon"), read_delta(session.policy, delta)
    scored = _read_workload(workload, names)
    kinds = [subject.columns[name].kind for name in names]
    cut = sum(own is None and kind == "number" for own, kind in zip(cells, kinds, strict=True))
    budget = CopyBudget.split(columns=len(names), cut=cut, scored=True)
    rho = ConcentratedLoss.calibrated(epsilon=price, delta=spare).rho
    level = read_level(confidence)
    made = CopyPlan(
        *(subject, names, cells, budget, rho, price, spare, level, missing, scored),
        None if rows is None else _read_rows(rows),
        "method mst: columns depend on each other along a tree"
        + (", the only method so far" if method == "auto" else ""),
        Fraction(0) if keys_epsilon is None else positive(keys_epsilon, "keys_epsilon"),
    )
    _check_sizes(made)
    return made


def _read_rows(rows: int) -> int:
    if whole(rows, "rows") > _MOST_ROWS:
        raise InvalidParameter(f"`rows` must be at most {_MOST_ROWS:,}. Found {rows:,}.")
    return rows


def _read_columns(table: Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    spelt = {name.lower(): name for name in table.columns}
    unit = (table.unit or "").lower()
    if columns is None:
        if not (others := tuple(name for folded, name in spelt.items() if folded != unit)):
            raise InvalidParameter(f"{table.name} has only its unit: there is nothing to copy.")
        return others
    if isinstance(columns, str) or not columns:
        raise InvalidParameter(f"`columns` must be a list of columns. Found {columns!r}.")
    found = [cells_or_name(table, name, spelt) for name in columns]
    if len(set(found)) < len(found):
        raise InvalidParameter(f"`columns` names a column twice: {', '.join(found)}.")
    return tuple(found)


def cells_or_name(table: Table, name: str, spelt: Mapping[str, str]) -> str:
    """A column as the table spells it; `cells_of` says what is wrong with any other."""
    if str(name).lower() not in spelt:
        cells_of(table, name)
    return spelt[str(name).lower()]


def _find_cells(
    table: Table, name: str, cuts: Sequence[Any] | None, *, missing: bool, finds: bool
) -> ColumnCells | None:
    """The cells of a column; None for a number that is cut at private quantiles, and for a
    text whose keys are found."""
    column = table.columns[name]
    if column.kind == "text" and not isinstance(column.keys, tuple) and finds:
        return None
    bounded = column.kind == "number" and column.bounds is not None
    if cuts is not None and not bounded:
        raise InvalidParameter(
            f"`cuts` are for numbers with declared bounds, so that values can be drawn between "
            f"them. Declare the bounds of {name}, or its keys. Nothing was spent."
        )
    if bounded and cuts is None and not isinstance(column.keys, tuple):
        assert column.bounds is not None
        low, high = column.bounds
        if (high - low) / grid_step(column) >= _LISTED:
            return None
    try:
        return cells_of(table, name, cuts=cuts, missing=missing)
    except InvalidParameter as problem:
        find = " Or find its keys with `keys_epsilon`." if column.kind == "text" else ""
        raise InvalidParameter(f"{problem}{find} Or leave it out with `columns`.") from None


def _read_workload(
    workload: Sequence[Sequence[str]] | None, names: Sequence[str]
) -> tuple[tuple[int, ...], ...]:
    """The tables that are scored: all pairs, or those that are named."""
    if workload is None:
        return tuple(combinations(range(len(names)), min(2, len(names))))
    known = {name.lower(): place for place, name in enumerate(names)}
    scored = []
    for one in workload:
        places = [known.get(str(name).lower(), -1) for name in one]
        if isinstance(one, str) or -1 in places or not 1 <= len(set(places)) <= 3:
            raise InvalidParameter(
                "`workload` is a list of tables of one to three columns of the copy, such as "
                f'[["age", "sex"]]. Found {one!r}.'
            )
        scored.append(tuple(sorted(set(places))))
    if not scored or len(set(scored)) < len(scored):
        raise InvalidParameter("`workload` needs one or more different tables.")
    return tuple(scored)


def _check_sizes(made: CopyPlan) -> None:
    count = len(made.columns)
    if count > _MOST_COLUMNS:
        raise InvalidParameter(
            f"The copy would have {count} columns. At most {_MOST_COLUMNS} are possible: name "
            "some with `columns`. Nothing was spent."
        )
    sizes = [_MOST_KEYS if own is None else own.size for own in made.cells]
    tables = {*combinations(range(count), 2), *made.scored}
    cells = sum(prod(sizes[place] for place in one) for one in tables)
    if cells > _MOST_CELLS:
        raise InvalidParameter(
            f"The tables of the copy have {cells:,} cells together. At most {_MOST_CELLS:,} "
            "are possible: leave out columns with many keys. Nothing was spent."
        )
