"""Checks every plan of a copy before the run is charged.

What is known is checked itself. What is not yet known, because it depends on noisy answers, has
a stand-in of the same shape: cuts at even distances, found keys that are made up, two cells of
each column merged. Every column is in one table of two; the tables that are measured later are
others of these shapes, and each is checked again, itself, before it runs.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import prod

from deniable.query.plan.plan import Plan
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.release.session.door import Door
from deniable.synth.copies.aim_limits import AIM_CELLS
from deniable.synth.copies.aim_steps import plan_choice, weigh
from deniable.synth.copies.copy_budget import RoundBudget
from deniable.synth.copies.copy_plans import CopyPlan
from deniable.synth.copies.measuring import SCALE, Places, plan_table
from deniable.synth.copies.mst_steps import plan_tree
from deniable.synth.domain.column_cells import ColumnCells
from deniable.synth.domain.date_cells import date_cells
from deniable.synth.domain.quantile_cuts import LEVELS, cells_at


def check_early(session: Door, copy_plan: CopyPlan) -> dict[Places, Plan]:
    """Refuses what would be refused later. Returns the plans that can be used as they are."""

    def check(plan: Plan) -> Plan:
        plan = session.rows.restrict(plan, session.policy)
        session.check(plan)
        return plan

    for place in copy_plan.cut:
        session.check(copy_plan.plan_cuts(session, place))
    for place in copy_plan.texts:
        session.check(copy_plan.plan_keys(session, place))
    cells = [stand_in(copy_plan, place) for place in range(len(copy_plan.columns))]
    planner = copy_plan.planner(session, cells)
    price = copy_plan.budget.one_way_mu_squared(copy_plan.rho)
    plans: dict[Places, Plan] = {
        (place,): check(plan_table(copy_plan, planner, (place,), price))
        for place in copy_plan.modelled
    }
    for pair in _cover(copy_plan.modelled) if copy_plan.budget.pairs else ():
        merged = {place: _two_merged(cells[place].size) for place in pair}
        check(plan_table(copy_plan, planner, pair, price, merged))
    sizes = [own.size for own in cells]
    if (choice := _plan_choice(copy_plan, planner, sizes)) is not None:
        check(choice)
    tables = [
        planner.distance(places, [0] * prod(sizes[place] for place in places))
        for places in copy_plan.scored
    ]
    check(
        planner.plan_distances(
            tables,
            scale=SCALE,
            mu_squared=copy_plan.budget.scorecard_mu_squared(copy_plan.rho),
            delta=copy_plan.delta,
            confidence=copy_plan.confidence,
        )
    )
    return plans if None not in copy_plan.cells else {}


def _plan_choice(
    copy_plan: CopyPlan, planner: MarginalPlanner, sizes: Sequence[int]
) -> Plan | None:
    """The first choice of the method, with models of zeros; None if nothing is chosen."""
    places = copy_plan.modelled
    if len(places) < 3:
        return None

    def model(own: Places) -> list[int]:
        return [0] * prod(sizes[places[i]] for i in own)

    if copy_plan.method == "mst":
        models = {(a, b): model((a, b)) for a, b in combinations(range(len(places)), 2)}
        cross = {pair: range(len(cells)) for pair, cells in models.items()}
        return plan_tree(copy_plan, planner, places, models, cross)
    weights = {
        own: w for own, w in weigh(copy_plan, places).items() if len(model(own)) <= AIM_CELLS
    }
    tables = [
        planner.distance(
            tuple(places[i] for i in own),
            model(own),
            ends=(0, 1),
            places=range(len(model(own))),
            weight=weight,
            bias=weight,
        )
        for own, weight in weights.items()
    ]
    price = RoundBudget.of(copy_plan.budget, copy_plan.rho).next
    return plan_choice(copy_plan, planner, tables, price) if tables else None


def stand_in(copy_plan: CopyPlan, place: int) -> ColumnCells:
    """The cells of a column, or others of the same shape."""
    own, column = copy_plan.cells[place], copy_plan.column(place)
    if own is not None:
        return own
    if column.kind == "text":
        return ColumnCells.of_found(column, ["a", "b"], missing=copy_plan.missing)
    if column.kind == "date":
        first, last = copy_plan.dates[column.name]
        ends = [day.year * 366 + day.timetuple().tm_yday for day in (first, last)]
        numbers = [ends[0] + float(level) * (ends[1] - ends[0]) for level in LEVELS]
        return date_cells(column, first, last, numbers, missing=copy_plan.missing)
    assert column.bounds is not None
    low, high = column.bounds
    quantiles: Sequence[float] = [float(low + level * (high - low)) for level in LEVELS]
    return cells_at(column, quantiles, missing=copy_plan.missing)


def _cover(places: Places) -> list[tuple[int, int]]:
    """Pairs in which every column is."""
    pairs = list(pairwise(places))
    return list(dict.fromkeys([*pairs[::2], pairs[-1]]))


def _two_merged(size: int) -> tuple[int, ...]:
    """The last two cells merged."""
    return tuple(min(cell, max(0, size - 2)) for cell in range(size))
