"""Merged cells count the same rows as their members together, on the engine."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.synth.domain.column_cells import cells_of
from deniable.synth.domain.merged_columns import merge_column
from deniable.synth.fit.rare_cells import MergedCells
from tests.engines.neighbors import told

FRAME = pa.table(
    {
        "ward": ["A", "B", "C", "X", None, "C", "D"],
        "code": [1, 2, 3, 4, None, 9, 1],
        "age": [5.0, 15.0, 95.0, None, 45.0, 25.0, 99.0],
        "flag": [True, None, False, False, None, True, None],
    }
)


@pytest.mark.parametrize("name", ["ward", "code", "age", "flag"])
@pytest.mark.parametrize("missing", [False, True])
def test_merged_cells_are_sums(name, missing):
    keys = {"ward": ["A", "B", "C", "D"], "code": [1, 2, 3, 4]}
    bounds = {"age": (0, 100)}
    with dp.protect(FRAME, name="t", keys=keys, bounds=bounds, epsilon=1, delta=1e-6) as one:
        table = one.policy.tables["t"]
        cells = cells_of(table, name, missing=missing)
        counts = np.where(np.arange(cells.size) % 2, 0.0, 99.0)
        merged = MergedCells.of_counts(counts, 5.0)
        found = []
        for own in (cells, merge_column(cells, merged)):
            planner = MarginalPlanner(one.policy, table, [own.counted], partial=not missing)
            price = {"mu_squared": Fraction(1), "delta": Fraction(1, 10**6)}
            plan = planner.plan((0,), **price, confidence=Fraction(19, 20))
            one.describe_check(plan)
            groups, _ = one._engine.run(plan).reveal_to(told)
            values = list(own.counted.key.values)
            full = np.zeros(own.size)
            for (key, _), n in groups.items():
                full[values.index(key[0])] = n
            found.append(full)
        assert (merged.add_up(found[0]) == found[1]).all()
        assert found[1].sum() >= 3
