"""What a copy will measure, and at which price, before anything is run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from math import sqrt
from typing import Any

from deniable.exact.rationals import decimal_text
from deniable.exact.suggestions import pluralize
from deniable.exact.text_formats import percent
from deniable.policy import Column, Table
from deniable.query.language import builder
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import Aggregate, ColumnRef, Named, Relation
from deniable.query.plan.plan import Plan
from deniable.query.plan.quoting import quote_name
from deniable.query.planner.explain import Branch
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.query.statements.statistics import COUNT_ROWS
from deniable.release.session.door import Door
from deniable.synth.copies.aim_limits import fitting_seconds
from deniable.synth.copies.copy_budget import CopyBudget
from deniable.synth.copies.copy_rules import CopyRules
from deniable.synth.copies.joint_memory import explain_memory
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.domain.date_cells import day_number
from deniable.synth.domain.quantile_cuts import LEVELS

MOST_KEYS = 100  # of a text whose keys are found


@dataclass(frozen=True, slots=True)
class CopySource:
    """What is copied: a table, or a relation of several tables of one unit, whose columns are
    declared in `table`."""

    table: Table
    relation: str | Relation
    tables: tuple[str, ...]  # that are charged
    most_rows: int | None = None  # of one unit; None: as the table says

    @classmethod
    def of(cls, table: Table) -> "CopySource":
        """One table by itself."""
        return cls(table, table.name, (table.name,))


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """A copy before it is measured. Nothing in it depends on a row."""

    source: CopySource
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
    method: str  # "mst" or "aim"
    why: str  # why this method
    keys_epsilon: Fraction  # for finding the keys of texts, in addition
    weights: tuple[int, ...] = ()  # of the scored tables: whole parts of the largest
    dates: Mapping[str, tuple[date, date]] = field(default_factory=dict)  # declared ranges
    rules: CopyRules = field(default_factory=CopyRules)

    @property
    def table(self) -> Table:
        """What is declared about the rows that are copied."""
        return self.source.table

    def column(self, place: int) -> Column:
        """What the policy declares about a column."""
        return self.table.columns[self.columns[place]]

    @property
    def sizes(self) -> tuple[int, ...]:
        """At most how many cells each column has."""
        unknown = MOST_KEYS + 2  # the keys that are found, all others, and NULL
        return tuple(unknown if own is None else own.size for own in self.cells)

    @property
    def modelled(self) -> tuple[int, ...]:
        """The places of columns that are measured; the others follow from them."""
        derived = self.rules.derived
        return tuple(place for place in range(len(self.columns)) if place not in derived)

    @property
    def listed(self) -> frozenset[str]:
        """The columns whose cells are declared values, each by itself, in lower case."""
        named = zip(self.columns, self.cells, strict=True)
        return frozenset(name.lower() for name, own in named if own is not None and own.listed)

    def plan_cuts(self, session: Door, place: int) -> Plan:
        """The plan that finds the quantiles of one column."""
        name = self.columns[place]
        own = day_number(name) if name in self.dates else quote_name(name)
        outputs = (Named("cut", builder.quantiles(own, LEVELS)),)
        question = Question(self.source.relation, None, (), outputs)
        price = self.budget.cut_epsilon(self.rho)
        return session.plan(
            question, epsilon=price, delta=0, confidence=self.confidence, brackets=False
        )

    @property
    def texts(self) -> tuple[int, ...]:
        """The places of the texts whose keys are found."""
        places = range(len(self.columns))
        return tuple(
            i for i in places if self.cells[i] is None and self.column(i).kind == "text"
        )

    @property
    def cut(self) -> tuple[int, ...]:
        """The places of numbers and dates that are cut at private quantiles."""
        places = range(len(self.columns))
        return tuple(i for i in places if self.cells[i] is None and i not in self.texts)

    def plan_keys(self, session: Door, place: int) -> Plan:
        """The plan that finds the most frequent texts of one column: those that enough units
        have. All of them together cost `keys_epsilon`, and `delta` once more."""
        unit, count = self.table.unit, COUNT_ROWS
        if unit is not None:
            count = Aggregate("count_units", ColumnRef(unit))
        key = Named("key", ColumnRef(self.columns[place]))
        outputs, order = (key, Named("n", count)), ((count, True),)
        source = self.source.relation
        question = Question(source, None, (key,), outputs, order=order, limit=MOST_KEYS)
        count_texts = len(self.texts)
        price, delta = self.keys_epsilon / count_texts, self.delta / count_texts
        return session.plan(question, epsilon=price, delta=delta)

    def planner(self, session: Door, cells: Sequence[ColumnCells]) -> MarginalPlanner:
        """Plans over the cells of all columns, which are known by now."""
        counted = [own.counted for own in cells]
        source = self.source
        return MarginalPlanner(
            *(session.policy, self.table, counted),
            partial=not self.missing,
            source=source.relation,
            most_rows=source.most_rows,
        )

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
            f"{percent(budget.scorecard)} scores {_tables(len(self.scored))} of the copy, "
            f"standard deviation {far:,.0f} rows"
        )
        who = "row" if self.table.unit is None else self.table.unit
        lines.append(
            f"one {who} counts with at most {pluralize(unit, 'row')} ({self.table.neighbors})"
        )
        lines.append(
            f"the table is read about {self.count_steps():,} times; {self._explain_fitting()}"
        )
        lines += explain_memory(self.table, self.sizes)
        title = f"A copy of {self.table.name} at {price}, in one charge"
        return Branch(title, tuple(map(Branch, lines)))

    def facts(self, total: float) -> dict[str, Any]:
        """What a certificate of the copy states about its plan."""
        delta = self.delta if self.texts else Fraction(0)
        return {
            "table": self.table.name,
            "unit": self.table.unit,
            "neighbors": self.table.neighbors,
            "columns": list(self.columns),
            "method": self.method,
            "loss": {"epsilon": str(self.epsilon), "delta": str(self.delta)},
            "keys": {"epsilon": str(self.keys_epsilon), "delta": str(delta)},
            "rho": str(self.rho),
            "total": total,
        }

    def count_steps(self) -> int:
        """About how many statements will run: what the time depends on."""
        searches, count = len(self.texts) + len(self.cut), len(self.modelled)
        tables = self.budget.rounds if self.method == "aim" else count - 1
        return searches + count + tables + 1  # one for choices and scores

    def _explain_fitting(self) -> str:
        if self.method == "mst" and self.rules.impossible:
            return "the model is fitted in rounds, because of impossible combinations"
        if self.method == "mst":
            return "the model is fitted in closed form"
        sizes = [self.sizes[place] for place in self.modelled]
        seconds = fitting_seconds(sizes, self.budget.rounds)
        return f"fitting the model takes up to about {max(1, round(seconds)):,} s of one core"

    def _explain_cuts(self) -> list[str]:
        texts = [self.columns[i] for i in self.texts]
        numbers = [self.columns[i] for i in self.cut]
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
        follows = [self.columns[dependence.place] for dependence in self.rules.depends]
        lines += [f"not measured, because declared to depend: {', '.join(follows)}"] * bool(
            follows
        )
        return lines

    def _explain_tables(self, reach: float) -> list[str]:
        budget, rho, count = self.budget, self.rho, len(self.modelled)
        deviation = reach / sqrt(budget.one_way_mu_squared(rho))
        lines = [
            f"{percent(budget.one_ways)} measures {count} columns, standard deviation "
            f"{deviation:,.1f} rows in each cell"
        ]
        if not budget.pairs:
            return lines
        if self.method == "aim":
            each = 2 * rho * budget.pairs / budget.rounds
            return [
                *lines,
                f"{percent(budget.choice + budget.pairs)} measures tables that the model "
                f"describes badly, in at most {budget.rounds} rounds; a tenth of it chooses "
                "them by the exponential mechanism; at first, standard deviation "
                f"{reach / sqrt(each):,.1f} rows in each cell",
            ]
        deviation = reach / sqrt(budget.pair_mu_squared(rho))
        chosen = (
            f"{percent(budget.choice)} chooses {count - 1} of {count * (count - 1) // 2} pairs "
            "by the exponential mechanism"
        )
        return [
            *lines,
            *([chosen] if budget.choice else []),
            f"{percent(budget.pairs)} measures {'the pair' if count == 2 else 'these pairs'}, "
            f"standard deviation {deviation:,.1f} rows in each cell",
        ]


def _tables(count: int) -> str:
    return "1 table" if count == 1 else f"{count:,} tables"
