"""Plans of marginals and joint cells over the odd rows, for all engines alike."""

from dataclasses import replace
from datetime import date
from fractions import Fraction

from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.synth.domain.column_cells import ColumnCells, cells_of
from deniable.synth.domain.date_cells import cells_between

PRICE = {"mu_squared": Fraction(1), "delta": Fraction(1, 10**6), "confidence": Fraction(19, 20)}
EDGES = [date(1969, 1, 1), date(1970, 1, 1), date(2020, 2, 29), date(2020, 3, 1)]


def planner(policy, *, missing):
    """Cells of every kind: keys, booleans, cuts, days, found texts."""
    table = policy.tables["odd"]
    cells = [
        cells_of(table, "word", missing=missing),
        cells_of(table, "flag", missing=missing),
        cells_of(table, "real", cuts=[0, 2.5, 50], missing=missing),
        cells_of(table, "whole", missing=missing),
        cells_between(table.columns["day"], EDGES, missing=missing),
        ColumnCells.of_found(table.columns["said"], ["inf", "yes", "12 3"], missing=missing),
    ]
    return MarginalPlanner(policy, table, [own.counted for own in cells], partial=not missing)


def marginal_plans(policy):
    """Marginals with and without merged cells, and joint cells, by name."""
    for missing in (False, True):
        marginals = planner(policy, missing=missing)
        name = f"missing {missing}"
        yield f"{name}: pair", marginals.plan((0, 2), **PRICE)
        numbers = tuple(min(i, 2) for i in range(5 + missing))
        yield f"{name}: merged", marginals.plan((0, 4), **PRICE, merged={0: numbers})
        far = marginals.distance((1,), [0] * marginals.count_cells((1,)), ends=(0, 1))
        level = {"scale": 8, "confidence": Fraction(19, 20)}
        yield f"{name}: joint", marginals.plan_choice([far], epsilon=Fraction(1), **level)


def joint_rows(withheld):
    """The joint cells, in an order of their own; None for other plans."""

    def told(result):
        if result.joint is None:
            return None
        pairs = zip(result.joint.codes.tolist(), result.joint.count.tolist(), strict=True)
        return sorted(pairs)

    return withheld.reveal_to(told)


def in_part(plan):
    """The plan with other numbers of cells than its own, which must not fail."""
    far = plan.distances
    return replace(plan, distances=replace(far, sizes=tuple(1 for _ in far.sizes)))
