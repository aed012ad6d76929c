"""The steps of one run: every plan is checked, charged and certified, and what comes back is
noisy. The exact numbers stay behind the session's door.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import Gaussian
from deniable.query.plan.plan import Plan
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.release.session.door import Door
from deniable.release.session.release import Release
from deniable.release.session.runs import Run
from deniable.synth.copies.copy_plans import CopyPlan
from deniable.synth.crosstabs.crosstabs import read_counts
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.fit.rare_cells import MergedCells
from deniable.synth.fit.tree_model import NoisyTable, estimate_total

SCALE = 1 << 10  # models are whole numbers of parts of a row; this many are one row
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """A noisy table of a copy. `cells` says, for every cell of each column, which cell of the
    table it counts in: rare cells may count together."""

    columns: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    cells: tuple[tuple[int, ...], ...]
    counts: NDArray[np.float64] = field(repr=False, compare=False)
    variance: float


@dataclass(slots=True)
class Measuring:
    """One run of a copy, while it is measured."""

    session: Door
    run: Run
    copy_plan: CopyPlan
    cells: list[ColumnCells] = field(default_factory=list)  # of every column
    releases: list[Release] = field(default_factory=list)
    tables: list[MeasuredTable] = field(default_factory=list)
    progress: Callable[[float], None] | None = None
    checked: dict[Places, Plan] = field(default_factory=dict)  # plans that were checked before
    _planner: MarginalPlanner | None = None

    @property
    def planner(self) -> MarginalPlanner:
        """Plans over all cells of all columns."""
        if self._planner is None:
            self._planner = self.copy_plan.planner(self.session, self.cells)
        return self._planner

    def step(self, plan: Plan) -> Release:
        """Releases a plan as the next step of the run."""
        if not plan.part:  # a question of the session is about its part already
            plan = self.session.rows.restrict(plan, self.session.policy)
        release = self.run.release(plan)
        self.releases.append(release)
        if self.progress is not None:
            self.progress(min(1.0, len(self.releases) / (self.copy_plan.count_steps() + 2)))
        return release

    def measure_column(self, place: int, mu_squared: Fraction) -> NoisyTable:
        """The noisy table of one column, over all its cells."""
        plan = self.checked.get((place,))
        if plan is None:
            plan = plan_table(self.copy_plan, self.planner, (place,), mu_squared)
        size = self.cells[place].size
        return self._read(plan, (place,), (tuple(range(size)),), (size,))

    def measure_table(
        self, columns: "MergedTables", places: Places, mu_squared: Fraction
    ) -> NoisyTable:
        """The noisy table of some columns of the model, over merged cells."""
        real, merged = columns.real(places), [columns.merged[i] for i in places]
        new = {place: by.place for place, by in zip(real, merged, strict=True) if by.merges}
        plan = plan_table(self.copy_plan, self.planner, real, mu_squared, new)
        shape = tuple(by.size for by in merged)
        return self._read(plan, real, tuple(by.place for by in merged), shape)

    def _read(
        self, plan: Plan, places: Places, cells: tuple[Places, ...], shape: Places
    ) -> NoisyTable:
        release = self.step(plan)
        mechanism = release.plan.blocks[0].mechanism
        assert isinstance(mechanism, Gaussian)
        noisy = NoisyTable(
            read_counts(release).reshape(shape), float(mechanism.variance) + 1 / 12
        )
        names = tuple(self.copy_plan.columns[place] for place in places)
        labels = tuple(self.cells[place].labels for place in places)
        self.tables.append(MeasuredTable(names, labels, cells, noisy.counts, noisy.variance))
        return noisy


@dataclass(frozen=True, slots=True)
class MergedTables:
    """The measured columns, after rare cells were merged: what a model is fitted to. The
    columns of the model are numbered from 0; `places` are theirs in the copy."""

    places: Places
    merged: tuple[MergedCells, ...]
    single: tuple[NoisyTable, ...]
    total: float

    @classmethod
    def of(
        cls, places: Places, noisy: Sequence[NoisyTable], whole: frozenset[int]
    ) -> "MergedTables":
        """From noisy tables of single columns. Those in `whole` are not merged."""
        merged = tuple(
            MergedCells(tuple(range(own.counts.size)), own.counts.size)
            if place in whole
            else MergedCells.of_counts(own.counts, sqrt(own.variance))
            for place, own in zip(places, noisy, strict=True)
        )
        single = tuple(
            # The merged cell's own variance is larger; its weight is that of the others.
            NoisyTable(by.add_up(own.counts), own.variance)
            for own, by in zip(noisy, merged, strict=True)
        )
        return cls(places, merged, single, estimate_total(noisy))

    @property
    def sizes(self) -> Places:
        """The number of merged cells of each column."""
        return tuple(by.size for by in self.merged)

    def real(self, places: Places) -> Places:
        """The places in the copy of some columns of the model."""
        return tuple(self.places[i] for i in places)

    def cross(self, places: Places) -> list[int]:
        """The merged cell of each combination of cells of some columns."""
        cell = np.zeros((1,), dtype=np.int64)
        for i in places:
            by = self.merged[i]
            cell = np.add.outer(cell * by.size, np.array(by.place)).ravel()
        return [int(own) for own in cell]

    def spread(
        self, rows: NDArray[np.int64], chance: np.random.Generator
    ) -> list[NDArray[np.int64]]:
        """Every column over all its cells: a merged cell becomes one of its members."""
        columns = []
        for place, by in enumerate(self.merged):
            column = np.empty(len(rows), dtype=np.int64)
            for number, members in enumerate(by.members):
                own = np.flatnonzero(rows[:, place] == number)
                column[own] = members[chance.integers(0, members.size, own.size)]
            columns.append(column)
        return columns


def plan_table(
    copy_plan: CopyPlan,
    planner: MarginalPlanner,
    places: Places,
    mu_squared: Fraction,
    merged: Mapping[int, Places] | None = None,
) -> Plan:
    """The plan that measures the table of some columns."""
    price = {
        "mu_squared": mu_squared,
        "delta": copy_plan.delta,
        "confidence": copy_plan.confidence,
    }
    return planner.plan(places, **price, merged=merged)


def whole_parts(table: NDArray[Any]) -> list[int]:
    """A model as whole parts of a row."""
    return [int(cell) for cell in np.rint(np.asarray(table).ravel() * SCALE)]
