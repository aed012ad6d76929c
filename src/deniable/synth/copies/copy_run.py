"""Makes a copy: one reserved run, then rows from the fitted model, and their scorecard.

This module sees noisy numbers only: the exact ones stay behind the session's door.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.errors import BudgetExhausted
from deniable.exact.rationals import decimal_text
from deniable.mechanisms import Gaussian
from deniable.privacy import ConcentratedLoss
from deniable.query.plan.plan import Plan
from deniable.query.planner.explain import Branch
from deniable.release.session.door import Door
from deniable.release.session.release import Release
from deniable.synth.copies.aim_steps import fit_aim
from deniable.synth.copies.copy_certificate import certify_copy
from deniable.synth.copies.copy_plans import CopyPlan
from deniable.synth.copies.copy_requests import MOST_ROWS, plan_copy
from deniable.synth.copies.early_checks import check_early
from deniable.synth.copies.measuring import (
    SCALE,
    Measuring,
    MergedTables,
    Places,
    whole_parts,
)
from deniable.synth.copies.mst_steps import Never, fit_mst
from deniable.synth.copies.scorecard import Scorecard
from deniable.synth.copies.table_copy import TableCopy, draw_rows
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.domain.date_cells import date_cells
from deniable.synth.domain.quantile_cuts import cells_at
from deniable.synth.fit.clique_model import CliqueModel
from deniable.synth.fit.tree_model import total_variance
from deniable.synth.sample.clique_rows import sample_cliques
from deniable.synth.sample.tree_rows import Codes, count_rows, sample_rows

Delivery = Callable[
    [CopyPlan, Sequence[ColumnCells], Codes, np.random.Generator], tuple[Codes, pa.Table]
]


def release_copy(
    session: Door,
    table: str | None = None,
    *,
    explain: bool = False,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> TableCopy | Branch:
    """A private copy of a table; or, with `explain`, what it would measure."""
    copy_plan = plan_copy(session, table, **options)
    if explain:
        return copy_plan.explain(session)
    return run_copy(session, copy_plan, check_early(session, copy_plan), progress)


def run_copy(
    session: Door,
    copy_plan: CopyPlan,
    checked: Mapping[Places, Plan],
    progress: Callable[[float], None] | None = None,
    deliver: Delivery | None = None,
) -> TableCopy:
    """Charges a copy whose plans were checked, and makes it. `deliver` turns sampled cells into
    the rows that are scored and handed over; by default a value is drawn for each cell."""
    keys, loss = _find_keys(session, copy_plan), ConcentratedLoss(copy_plan.rho)
    with session.reserve_run(
        loss, tables=copy_plan.source.tables, delta=copy_plan.delta
    ) as run:
        measuring = Measuring(session, run, copy_plan, progress=progress, checked=dict(checked))
        measuring.releases += keys.values()
        return _make_copy(measuring, keys, deliver or _deliver)


def _find_keys(session: Door, copy_plan: CopyPlan) -> dict[int, Release]:
    """The keys of texts, at charges of their own, before the run's. They are asked for only if
    the run fits too. The ledger keeps them, so that they are free the next time."""
    if not copy_plan.texts:
        return {}
    check_room(
        session,
        copy_plan.epsilon + copy_plan.keys_epsilon,
        2 * copy_plan.delta,
        "The copy and its keys",
    )
    return {
        place: session.release(copy_plan.plan_keys(session, place)) for place in copy_plan.texts
    }


def check_room(session: Door, epsilon: Fraction, delta: Fraction, what: str) -> None:
    """Refuses several charges that do not fit the budget together. With several filters only
    the ledger can tell, charge by charge."""
    left = session.remaining
    if not left.others and (left.epsilon < epsilon or left.delta < delta):
        price = f"epsilon {decimal_text(epsilon)}, delta {decimal_text(delta)}"
        raise BudgetExhausted(
            f"{what} cost {price} together, and {left} is left. Ask for less. Nothing was "
            "spent and nothing was read."
        )


def _deliver(
    copy_plan: CopyPlan, cells: Sequence[ColumnCells], codes: Codes, chance: np.random.Generator
) -> tuple[Codes, pa.Table]:
    return codes, draw_rows(copy_plan, cells, codes, chance)


def _make_copy(measuring: Measuring, keys: dict[int, Release], deliver: Delivery) -> TableCopy:
    """All steps: cuts, columns, tables; then rows, and their scorecard."""
    copy_plan, chance = measuring.copy_plan, np.random.default_rng()
    measuring.cells = [
        _find_cells(measuring, place, keys.get(place))
        for place in range(len(copy_plan.columns))
    ]
    cells, price = measuring.cells, copy_plan.budget.one_way_mu_squared(copy_plan.rho)
    noisy = [measuring.measure_column(place, price) for place in copy_plan.modelled]
    columns = MergedTables.of(copy_plan.modelled, noisy, copy_plan.rules.joined)
    never = _never(copy_plan, cells)
    model = (fit_aim if copy_plan.method == "aim" else fit_mst)(measuring, columns, never)
    noisy_rows = min(max(0, round(columns.total)), MOST_ROWS)
    count = noisy_rows if copy_plan.rows is None else copy_plan.rows
    sample: Any = sample_cliques if isinstance(model, CliqueModel) else sample_rows
    rows = sample(model, count, chance)
    codes = np.zeros((count, len(cells)), dtype=np.int64)
    codes[:, list(copy_plan.modelled)] = np.stack(columns.spread(rows, chance), axis=1)
    copy_plan.rules.fill(codes, cells)
    codes, delivered = deliver(copy_plan, cells, codes, chance)
    scorecard, releases = _score(measuring, codes, columns.total), measuring.releases
    ledger = measuring.session.ledger
    return TableCopy(
        copy_plan,
        delivered,
        columns.total,
        sqrt(total_variance(noisy)),
        tuple(measuring.tables),
        scorecard,
        tuple(releases),
        measuring.session.remaining,
        certify_copy(copy_plan.facts(columns.total), delivered, scorecard, releases, ledger),
        {
            name: np.bincount(codes[:, place], minlength=cells[place].size)
            for place, name in enumerate(copy_plan.columns)
        },
    )


def _never(copy_plan: CopyPlan, cells: list[ColumnCells]) -> Never:
    """What is impossible, by the columns of the model."""
    places = copy_plan.modelled
    return {
        tuple(places.index(place) for place in own): table
        for own, table in copy_plan.rules.never(cells).items()
    }


def _find_cells(measuring: Measuring, place: int, keys: Release | None) -> ColumnCells:
    """The cells of a column; numbers and dates are cut at private quantiles first."""
    copy_plan = measuring.copy_plan
    known, column = copy_plan.cells[place], copy_plan.column(place)
    if known is not None:
        return known
    if keys is not None:
        values = keys.to_arrow()["key"].to_pylist()
        # A statement holds no NUL, so such a key counts with the others.
        texts = [key for key in values if key is not None and "\0" not in key]
        return ColumnCells.of_found(column, texts, missing=copy_plan.missing)
    release = measuring.step(copy_plan.plan_cuts(measuring.session, place))
    row = release.to_arrow().to_pylist()[0]
    cuts = [float(row[output.name]) for output in release.plan.outputs]
    if column.kind == "date":
        return date_cells(
            column, *copy_plan.dates[column.name], cuts, missing=copy_plan.missing
        )
    return cells_at(column, cuts, missing=copy_plan.missing)


def _score(measuring: Measuring, codes: Codes, total: float) -> Scorecard:
    """The errors of the delivered rows, scaled to the noisy number of rows."""
    copy_plan, scale = measuring.copy_plan, max(total, 0.0) / max(1, len(codes))
    sizes = tuple(own.size for own in measuring.cells)
    models = {
        places: whole_parts(count_rows(codes, places, sizes) * scale)
        for places in copy_plan.scored
    }
    planner = measuring.planner
    plan = planner.plan_distances(
        [planner.distance(places, model) for places, model in models.items()],
        scale=SCALE,
        mu_squared=copy_plan.budget.scorecard_mu_squared(copy_plan.rho),
        delta=copy_plan.delta,
        confidence=copy_plan.confidence,
    )
    release = measuring.step(plan)
    row = release.to_arrow().to_pylist()[0]
    assert release.plan.distances is not None
    mechanism = release.plan.distances.mechanism
    assert isinstance(mechanism, Gaussian)
    return Scorecard.read(
        [tuple(copy_plan.columns[place] for place in places) for places in copy_plan.scored],
        [row[output.name] / SCALE for output in release.plan.outputs],
        deviation=sqrt(mechanism.variance + 1) / SCALE,
        rounding=[len(model) / (2 * SCALE) for model in models.values()],
        total=total,
        confidence=copy_plan.confidence,
        weights=copy_plan.weights,
    )
