"""AIM: everything that is measured is charged, and what depends is found."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb.engine import DuckDB
from deniable.mechanisms import Exponential
from deniable.privacy import ConcentratedLoss
from deniable.synth.copies.aim_steps import weigh
from deniable.synth.copies.copy_requests import plan_copy

CHANCE = np.random.default_rng(2)
A = CHANCE.integers(0, 4, 1500)
FRAME = pa.table(
    {
        "p": np.arange(1500) // 3,
        "a": A,
        "b": (A + CHANCE.integers(0, 2, 1500)) % 4,
        "c": CHANCE.integers(0, 3, 1500),
        "d": (A + CHANCE.integers(0, 2, 1500)) % 3,
    }
)
KEYS = {"a": range(4), "b": range(4), "c": range(3), "d": range(3)}
PERSON = {"unit": "p", "max_rows_per_unit_per_group": 3}


def session(**more):
    return dp.protect(FRAME, name="t", keys=KEYS, epsilon=30, delta=1e-4, **{**PERSON, **more})


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_all_rounds_cost_at_most_what_was_reserved(neighbors):
    with session(neighbors=neighbors) as opened:
        copy = opened.copy(epsilon=10, method="aim", missing=False)
    rho = ConcentratedLoss.calibrated(epsilon=10, delta=copy.plan.delta).rho
    spent = sum((release.plan.loss.rho for release in copy.releases), Fraction(0))
    assert rho * Fraction(97, 100) < spent <= rho
    rounds = [r for r in copy.releases if r.plan.distances and len(r.plan.outputs) == 1]
    assert 1 <= len(rounds) <= copy.plan.budget.rounds
    for release in rounds:
        assert isinstance(release.plan.distances.mechanism, Exponential)
        weights = [table.weight for table in release.plan.distances.tables]
        times = 3 * 1024 * max(weights) * (1 if neighbors == "add-remove" else 2)
        assert release.plan.distances.mechanism.sensitivity >= times
    tables = [table for table in copy.measured if len(table.columns) > 1]
    assert len(tables) == len(rounds)  # one measurement for each choice


def test_columns_that_depend_are_found():
    with session() as opened:
        copy = opened.copy(epsilon=20, method="aim", missing=False)
    assert ("a", "b") in copy.tree
    assert copy.scorecard.mean < 0.25


def test_weights_of_tables():
    with session() as opened:
        workload = {("a", "b", "c"): 4, ("d",): 1}
        options = {"workload": workload, "method": "aim", "missing": False}
        plan = plan_copy(opened, "t", epsilon=1, delta=None, **options)
    weights = weigh(plan, plan.modelled)
    assert set(weights) == {(0, 1), (0, 2), (1, 2), (0, 1, 2)}
    assert weights[0, 1, 2] == 1000
    assert weights[0, 1] == 667
    assert weigh(replace(plan, scored=((3,),), weights=(64,)), plan.modelled) == {}


def test_joint_cells_are_counted_once(monkeypatch):
    """All rounds and the scorecard use the same exact counts, which stay behind the door."""
    counted = []
    run = DuckDB.run

    def watched(self, written):
        counted.append(written.plan.distances is not None)
        return run(self, written)

    monkeypatch.setattr(DuckDB, "run", watched)
    with session() as opened:
        copy = opened.copy(epsilon=10, method="aim", missing=False)
    assert sum(release.plan.distances is not None for release in copy.releases) > 2
    assert sum(counted) == 1
