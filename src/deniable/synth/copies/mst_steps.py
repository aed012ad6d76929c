"""MST: a tree of pairs of columns is chosen and measured (McKenna, Miklau & Sheldon, 2021)."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from deniable.query.plan.plan import Plan
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.synth.copies.copy_plans import CopyPlan
from deniable.synth.copies.measuring import SCALE, Measuring, MergedTables, Places, whole_parts
from deniable.synth.fit.clique_model import CliqueModel
from deniable.synth.fit.tree_model import NoisyTable, Pair, TreeModel

_ROUNDS = 1000  # of fitting a model that has no closed form
Never = Mapping[Places, NDArray[np.bool_]]


def fit_mst(
    measuring: Measuring, columns: MergedTables, never: Never
) -> TreeModel | CliqueModel:
    """Chooses and measures a tree of pairs, and fits the model: in closed form, unless some
    combinations are impossible."""
    alone = TreeModel.fit(columns.single, {}, columns.total).one_ways
    tree = _choose_tree(measuring, columns, alone)
    copy_plan = measuring.copy_plan
    price = copy_plan.budget.pair_mu_squared(copy_plan.rho) if tree else None
    pairs: dict[Pair, NoisyTable] = {
        pair: measuring.measure_table(columns, pair, price)
        for pair in tree
        if price is not None
    }
    if not never:
        return TreeModel.fit(columns.single, pairs, columns.total)
    model = CliqueModel.independent(columns.single, columns.total, never)
    tables: dict[Places, NoisyTable] = {
        (place,): own for place, own in enumerate(columns.single)
    }
    for pair, noisy in pairs.items():
        tables[pair] = noisy
    return model.fit(tables, _ROUNDS)


def _choose_tree(
    measuring: Measuring, columns: MergedTables, alone: Sequence[NDArray[np.float64]]
) -> list[Pair]:
    """Pairs that independent columns describe badly are more probable. Cells are counted as
    they are, and rare ones are merged before they are compared."""
    copy_plan, count = measuring.copy_plan, len(columns.places)
    if count <= 2:
        return [(0, 1)][: count - 1]
    rows = max(columns.total, 1.0)
    candidates = list(combinations(range(count), 2))
    models = {(a, b): whole_parts(np.outer(alone[a], alone[b]) / rows) for a, b in candidates}
    cross = {pair: columns.cross(pair) for pair in candidates}
    plan = plan_tree(copy_plan, measuring.planner, columns.places, models, cross)
    row = measuring.step(plan).to_arrow().to_pylist()[0]
    return [candidates[row[output.name]] for output in plan.outputs]


def plan_tree(
    copy_plan: CopyPlan,
    planner: MarginalPlanner,
    places: Places,
    models: Mapping[Pair, Sequence[int]],
    cross: Mapping[Pair, Sequence[int]],
) -> Plan:
    """The plan that chooses a tree of pairs; those of the workload by their weights."""
    weights = _weigh(copy_plan, places)
    tables = [
        planner.distance(
            (places[a], places[b]),
            model,
            ends=(a, b),
            places=cross[a, b],
            weight=weights[a, b],
        )
        for (a, b), model in models.items()
    ]
    return planner.plan_choice(
        tables,
        scale=SCALE,
        epsilon=copy_plan.budget.choice_epsilon(copy_plan.rho),
        confidence=copy_plan.confidence,
    )


def _weigh(copy_plan: CopyPlan, places: Places) -> dict[Pair, int]:
    """What each pair of the model is worth: the weights of the wanted tables that hold it. A
    pair that nobody wants may still be needed to connect the tree."""
    weights = dict.fromkeys(combinations(range(len(places)), 2), 0)
    for columns, weight in zip(copy_plan.scored, copy_plan.weights, strict=True):
        own_places = [i for i, place in enumerate(places) if place in columns]
        for pair in combinations(own_places, 2):
            weights[pair] += weight
    if len(set(weights.values())) == 1:
        return dict.fromkeys(weights, 1)
    return weights
