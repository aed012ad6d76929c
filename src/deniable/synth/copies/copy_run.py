"""Measures a copy: the steps of one run, each a plan that is checked, charged and certified.

This module sees noisy numbers only: the exact ones stay behind the session's door.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from deniable.mechanisms import Gaussian
from deniable.privacy import ConcentratedLoss
from deniable.query.plan.plan import Plan
from deniable.query.planner.explain import Branch
from deniable.release.session.door import Door
from deniable.release.session.release import Release
from deniable.release.session.runs import Run
from deniable.synth.copies.copy_plans import CopyPlan, plan_copy
from deniable.synth.copies.scorecard import Scorecard
from deniable.synth.copies.table_copy import TableCopy, rows_to_arrow
from deniable.synth.crosstabs.crosstabs import read_counts
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.domain.merged_columns import merge_column
from deniable.synth.domain.quantile_cuts import cells_at
from deniable.synth.fit.rare_cells import MergedCells
from deniable.synth.fit.tree_model import (
    NoisyTable,
    Pair,
    TreeModel,
    estimate_total,
    total_variance,
)
from deniable.synth.sample.tree_rows import Codes, count_rows, sample_rows

SCALE = 1 << 10  # models are whole numbers of parts of a row; this many are one row


def release_copy(
    session: Door, table: str | None = None, *, explain: bool = False, **options: Any
) -> TableCopy | Branch:
    """A private copy of a table; or, with `explain`, what it would measure."""
    made = plan_copy(session, table, **options)
    if explain:
        return made.explain(session)
    # Keys have their own charges, before the run's. The ledger keeps them, so that they are
    # free the next time, also if the run does not fit the budget.
    keys = {place: session.release(made.plan_keys(session, place)) for place in made.texts}
    loss = ConcentratedLoss(made.rho)
    with session.reserve_run(loss, tables=[made.table.name], delta=made.delta) as run:
        return _Measuring(session, run, made, keys, list(keys.values())).copy()


@dataclass(slots=True)
class _Measuring:
    """One run of a copy."""

    session: Door
    run: Run
    made: CopyPlan
    keys: Mapping[int, Release]  # of texts whose keys were found
    releases: list[Release] = field(default_factory=list)

    def copy(self) -> TableCopy:
        """All steps: cuts, columns, choice, pairs; then rows, and their scorecard."""
        made, chance = self.made, np.random.default_rng()
        cells = self._find_cells()
        sizes = tuple(own.size for own in cells)
        noisy = self._measure_columns(cells)
        total = estimate_total(noisy)
        merged = [MergedCells.of_counts(own.counts, sqrt(own.variance)) for own in noisy]
        single = [_merge(own, by) for own, by in zip(noisy, merged, strict=True)]
        alone = TreeModel.fit(single, {}, total).one_ways
        tree = self._choose_tree(cells, merged, alone, total)
        pairs = self._measure_pairs(cells, merged, tree)
        model = TreeModel.fit(single, pairs, total)
        count = made.rows if made.rows is not None else max(0, round(total))
        codes = _spread_rows(sample_rows(model, count, chance), merged, chance)
        scorecard = self._score(cells, sizes, codes, total)
        columns = [made.column(place) for place in range(len(cells))]
        return TableCopy(
            made,
            rows_to_arrow(cells, columns, codes, chance),
            total,
            sqrt(total_variance(noisy)),
            tuple((made.columns[a], made.columns[b]) for a, b in tree),
            scorecard,
            tuple(self.releases),
            self.session.remaining,
        )

    def _step(self, plan: Plan) -> Release:
        plan = self.session.rows.restrict(plan, self.session.policy)
        release = self.run.release(plan)
        self.releases.append(release)
        return release

    def _find_cells(self) -> list[ColumnCells]:
        """The cells of all columns; numbers are cut at private quantiles first."""
        found = []
        for place, cells in enumerate(self.made.cells):
            if place in self.keys:
                found.append(self._read_keys(place))
            else:
                found.append(self._cut(place) if cells is None else cells)
        return found

    def _read_keys(self, place: int) -> ColumnCells:
        keys = self.keys[place].to_arrow()["key"].to_pylist()
        # A statement holds no NUL, so such a key counts with the others.
        texts = [key for key in keys if key is not None and "\0" not in key]
        column = self.made.column(place)
        return ColumnCells.of_found(column, texts, missing=self.made.missing)

    def _cut(self, place: int) -> ColumnCells:
        release = self.run.release(self.made.plan_cuts(self.session, place))
        self.releases.append(release)
        row = release.to_arrow().to_pylist()[0]
        cuts = [float(row[output.name]) for output in release.plan.outputs]
        return cells_at(self.made.column(place), cuts, missing=self.made.missing)

    def _measure(self, cells: Sequence[ColumnCells], places: Pair | tuple[int], mu: Any) -> Any:
        made = self.made
        planner = made.planner(self.session, cells)
        price = {"mu_squared": mu, "delta": made.delta, "confidence": made.confidence}
        release = self._step(planner.plan(places, **price))
        mechanism = release.plan.blocks[0].mechanism
        assert isinstance(mechanism, Gaussian)
        counts = read_counts(release).reshape([cells[place].size for place in places])
        return NoisyTable(counts, float(mechanism.variance) + 1 / 12)

    def _measure_columns(self, cells: Sequence[ColumnCells]) -> list[NoisyTable]:
        price = self.made.budget.one_way_mu_squared(self.made.rho)
        return [self._measure(cells, (place,), price) for place in range(len(cells))]

    def _choose_tree(
        self,
        cells: Sequence[ColumnCells],
        merged: Sequence[MergedCells],
        one_ways: Sequence[Any],
        total: float,
    ) -> list[Pair]:
        """Pairs that independent columns describe badly are more probable. Cells are counted
        as they are, and rare ones are merged before they are compared."""
        count = len(cells)
        if count < 2:
            return []
        candidates = [(a, b) for a in range(count) for b in range(a + 1, count)]
        models: dict[tuple[int, ...], list[int]] = {
            (a, b): _whole(np.outer(one_ways[a], one_ways[b]) / max(total, 1.0))
            for a, b in candidates
        }
        places: dict[tuple[int, ...], list[int]] = {
            (a, b): _cross(merged[a], merged[b]) for a, b in candidates
        }
        made = self.made
        plan = made.planner(self.session, cells).plan_tree(
            models,
            places,
            scale=SCALE,
            epsilon=made.budget.choice_epsilon(made.rho),
            confidence=made.confidence,
        )
        row = self._step(plan).to_arrow().to_pylist()[0]
        return [candidates[row[output.name]] for output in plan.outputs]

    def _measure_pairs(
        self, cells: Sequence[ColumnCells], merged: Sequence[MergedCells], tree: Sequence[Pair]
    ) -> dict[Pair, NoisyTable]:
        """The chosen pairs, over merged cells."""
        coarse = [merge_column(own, by) for own, by in zip(cells, merged, strict=True)]
        price = self.made.budget.pair_mu_squared(self.made.rho) if tree else None
        return {pair: self._measure(coarse, pair, price) for pair in tree}

    def _score(
        self, cells: Sequence[ColumnCells], sizes: tuple[int, ...], codes: Codes, total: float
    ) -> Scorecard:
        """The errors of the delivered rows, scaled to the noisy number of rows."""
        made, scale = self.made, max(total, 0.0) / max(1, len(codes))
        models = {
            places: _whole(count_rows(codes, places, sizes) * scale) for places in made.scored
        }
        plan = made.planner(self.session, cells).plan_distances(
            models,
            scale=SCALE,
            mu_squared=made.budget.scorecard_mu_squared(made.rho),
            delta=made.delta,
            confidence=made.confidence,
        )
        release = self._step(plan)
        row = release.to_arrow().to_pylist()[0]
        assert release.plan.distances is not None
        mechanism = release.plan.distances.mechanism
        assert isinstance(mechanism, Gaussian)
        names = made.columns
        return Scorecard.read(
            [tuple(names[place] for place in places) for places in made.scored],
            [row[output.name] / SCALE for output in release.plan.outputs],
            deviation=sqrt(mechanism.variance + 1) / SCALE,
            rounding=[len(model) / (2 * SCALE) for model in models.values()],
            total=total,
            confidence=made.confidence,
        )


def _merge(noisy: NoisyTable, by: MergedCells) -> NoisyTable:
    """The noisy table over merged cells. The merged cell's own variance is larger; its weight
    in a mean with sums of pairs is that of the other cells."""
    return NoisyTable(by.add_up(noisy.counts), noisy.variance)


def _cross(first: MergedCells, second: MergedCells) -> list[int]:
    """The merged cell of each pair of cells."""
    both = np.add.outer(np.array(first.place) * second.size, np.array(second.place))
    return [int(place) for place in both.ravel()]


def _whole(table: Any) -> list[int]:
    """A model as whole parts of a row."""
    return [int(cell) for cell in np.rint(np.asarray(table).ravel() * SCALE)]


def _spread_rows(rows: Codes, merged: Sequence[MergedCells], chance: Any) -> Codes:
    """The rows over all cells: a merged cell becomes one of its members, at random."""
    full = np.empty_like(rows)
    for place, by in enumerate(merged):
        for number, members in enumerate(by.members):
            own = np.flatnonzero(rows[:, place] == number)
            full[own, place] = members[chance.integers(0, members.size, own.size)]
    return full
