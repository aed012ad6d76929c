"""AIM: in each round the table that the model describes worst is chosen, measured and fitted.

The score of a table is its weight in the workload times (the distance of its counts from the
model, less the distance that noise alone would have after measuring it). If a round teaches
less than its noise, the next ones are measured with half of it. Every choice and every
measurement comes off the rho of the rounds, exactly. (McKenna, Mullins, Sheldon & Miklau,
"AIM: an adaptive and iterative mechanism for differentially private synthetic data", 2022.)
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from math import pi, sqrt

import numpy as np

from deniable.query.plan.plan import Plan, TableDistance
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.synth.copies.aim_limits import BETWEEN, LAST, allowed_cells
from deniable.synth.copies.copy_budget import AIM_CHOICE, RoundBudget, root_down
from deniable.synth.copies.copy_plans import CopyPlan
from deniable.synth.copies.measuring import SCALE, Measuring, MergedTables, Places, whole_parts
from deniable.synth.copies.mst_steps import Never
from deniable.synth.fit.clique_model import CliqueModel
from deniable.synth.fit.junction_tree import JunctionTree
from deniable.synth.fit.tree_model import NoisyTable

_MOST_WEIGHT = 1000  # of one table
_EXPECTED = sqrt(2 / pi)  # the mean distance of a normal number from 0, in deviations


def fit_aim(measuring: Measuring, columns: MergedTables, never: Never) -> CliqueModel:
    """All rounds; then the model that fits everything that was measured."""
    copy_plan, planner = measuring.copy_plan, measuring.planner
    reach = float(planner.sensitivity)
    weights = weigh(copy_plan, columns.places)
    budget = RoundBudget.of(copy_plan.budget, copy_plan.rho)
    whole = budget.left
    model = CliqueModel.independent(columns.single, columns.total, never)
    tables: dict[Places, NoisyTable] = {
        (place,): own for place, own in enumerate(columns.single)
    }
    while budget.left > 0:
        price = budget.next
        deviation = reach / sqrt(2 * price * (1 - AIM_CHOICE))
        used = 1 - (budget.left - price) / whole
        fitting = [own for own in weights if _fits(model, own, float(used))]
        if not fitting:
            break
        plan = plan_round(
            copy_plan,
            planner,
            columns,
            {own: weights[own] for own in fitting},
            model,
            price,
            deviation,
        )
        row = measuring.step(plan).to_arrow().to_pylist()[0]
        chosen = fitting[row[plan.outputs[0].name]]
        noisy = measuring.measure_table(columns, chosen, 2 * price * (1 - AIM_CHOICE))
        budget.take()
        before = model.marginal(chosen)
        tables[chosen] = _combine(tables.get(chosen), noisy)
        model = model.fit(tables, BETWEEN)
        taught = float(np.abs(model.marginal(chosen) - before).sum())
        if taught <= _EXPECTED * deviation * before.size:
            budget.make_dearer()
    return model.fit(tables, LAST)


def plan_round(
    copy_plan: CopyPlan,
    planner: MarginalPlanner,
    columns: MergedTables,
    weights: dict[Places, int],
    model: CliqueModel,
    price: Fraction,
    deviation: float,
) -> Plan:
    """The plan that chooses the table of one round."""
    tables = []
    for own, weight in weights.items():
        expected = model.marginal(own)
        noise = round(_EXPECTED * deviation * expected.size * SCALE)
        tables.append(
            planner.distance(
                columns.real(own),
                whole_parts(expected),
                ends=(0, 1),  # all alike, so that one of them is chosen
                places=columns.cross(own),
                weight=weight,
                bias=weight * noise,
            )
        )
    return plan_choice(copy_plan, planner, tables, price)


def plan_choice(
    copy_plan: CopyPlan,
    planner: MarginalPlanner,
    tables: Sequence[TableDistance],
    price: Fraction,
) -> Plan:
    """The plan that chooses one of these tables, for the choice's share of a round."""
    return planner.plan_choice(
        tables,
        scale=SCALE,
        epsilon=root_down(8 * price * AIM_CHOICE),
        confidence=copy_plan.confidence,
    )


def weigh(copy_plan: CopyPlan, places: Places) -> dict[Places, int]:
    """The tables that may be measured: those of the workload, and smaller ones in them; each
    with the number of columns that it shares with the workload's tables, weighted."""
    workload = [
        (tuple(i for i, place in enumerate(places) if place in columns), weight)
        for columns, weight in zip(copy_plan.scored, copy_plan.weights, strict=True)
    ]
    parts = dict.fromkeys(
        part for own, _ in workload for size in (2, 3) for part in combinations(own, size)
    )
    shared = {part: sum(w * len({*part} & {*own}) for own, w in workload) for part in parts}
    most = max(shared.values(), default=1)
    return {part: max(1, round(_MOST_WEIGHT * own / most)) for part, own in shared.items()}


def _fits(model: CliqueModel, columns: Places, used: float) -> bool:
    """Whether a model with one more table stays within its size."""
    if model.tree.home(columns) >= 0:
        return True
    tables: Iterable[Places] = [*model.factors, columns]
    return JunctionTree.of(tables, model.tree.sizes).cells <= allowed_cells(used)


def _combine(before: NoisyTable | None, new: NoisyTable) -> NoisyTable:
    """Two measurements of one table, weighted by their precision."""
    if before is None:
        return new
    variance = 1 / (1 / before.variance + 1 / new.variance)
    counts = (before.counts / before.variance + new.counts / new.variance) * variance
    return NoisyTable(counts, variance)
