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


def check_early(session: Door, made: CopyPlan) -> dict[Places, Plan]:
    """Refuses what would be refused later. Returns the plans that can be used as they are."""

    def check(plan: Plan) -> Plan:
        plan = session.rows.restrict(plan, session.policy)
        session.check(plan)
        return plan

    for place in made.cut:
        session.check(made.plan_cuts(session, place))
    for place in made.texts:
        session.check(made.plan_keys(session, place))
    cells = [stand_in(made, place) for place in range(len(made.columns))]
    planner = made.planner(session, cells)
    price = made.budget.one_way_mu_squared(made.rho)
    plans: dict[Places, Plan] = {
        (place,): check(plan_table(made, planner, (place,), price)) for place in made.modelled
    }
    for pair in _cover(made.modelled) if made.budget.pairs else ():
        merged = {place: _two_merged(cells[place].size) for place in pair}
        check(plan_table(made, planner, pair, price, merged))
    sizes = [own.size for own in cells]
    if (choice := _plan_choice(made, planner, sizes)) is not None:
        check(choice)
    tables = [
        planner.distance(one, [0] * prod(sizes[place] for place in one)) for one in made.scored
    ]
    check(
        planner.plan_distances(
            tables,
            scale=SCALE,
            mu_squared=made.budget.scorecard_mu_squared(made.rho),
            delta=made.delta,
            confidence=made.confidence,
        )
    )
    return plans if None not in made.cells else {}


def _plan_choice(made: CopyPlan, planner: MarginalPlanner, sizes: Sequence[int]) -> Plan | None:
    """The first choice of the method, with models of zeros; None if nothing is chosen."""
    places = made.modelled
    if len(places) < 3:
        return None

    def model(own: Places) -> list[int]:
        return [0] * prod(sizes[places[i]] for i in own)

    if made.method == "mst":
        models = {(a, b): model((a, b)) for a, b in combinations(range(len(places)), 2)}
        cross = {pair: range(len(cells)) for pair, cells in models.items()}
        return plan_tree(made, planner, places, models, cross)
    weights = {own: w for own, w in weigh(made, places).items() if len(model(own)) <= AIM_CELLS}
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
    price = RoundBudget.of(made.budget, made.rho).next
    return plan_choice(made, planner, tables, price) if tables else None


def stand_in(made: CopyPlan, place: int) -> ColumnCells:
    """The cells of a column, or others of the same shape."""
    own, column = made.cells[place], made.column(place)
    if own is not None:
        return own
    if column.kind == "text":
        return ColumnCells.of_found(column, ["a", "b"], missing=made.missing)
    if column.kind == "date":
        first, last = made.dates[column.name]
        ends = [day.year * 366 + day.timetuple().tm_yday for day in (first, last)]
        numbers = [ends[0] + float(level) * (ends[1] - ends[0]) for level in LEVELS]
        return date_cells(column, first, last, numbers, missing=made.missing)
    assert column.bounds is not None
    low, high = column.bounds
    quantiles: Sequence[float] = [float(low + level * (high - low)) for level in LEVELS]
    return cells_at(column, quantiles, missing=made.missing)


def _cover(places: Places) -> list[tuple[int, int]]:
    """Pairs in which every column is."""
    pairs = list(pairwise(places))
    return list(dict.fromkeys([*pairs[::2], pairs[-1]]))


def _two_merged(size: int) -> tuple[int, ...]:
    """The last two cells merged."""
    return tuple(min(cell, max(0, size - 2)) for cell in range(size))
