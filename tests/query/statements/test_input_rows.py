"""The integers of a row stay within the limits that the plan states, whatever the bounds."""

import math
import random
import re
from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp
from deniable.query.plan.grid_steps import FARTHEST_STEP
from deniable.query.relations import scope

STEPS = ["0.001", "0.01", "0.003", "0.7", "1", "3", "10"]
QUESTION = "SELECT AVG(x) AS a, VAR_POP(x) AS v, HISTOGRAM(x, 3) AS h FROM data"


def near(end: float) -> list[float]:
    return [end, math.nextafter(end, -math.inf), math.nextafter(end, math.inf)]


def test_at_the_bounds_every_integer_is_within_its_limits(size):
    draw = random.Random(5)
    for _ in range(size(small=4, full=1_000, what="random bounds, with rows at them")):
        first, steps = draw.randint(-(2**55), 2**55), draw.randint(1, 10**5)
        check(first, steps, Fraction(draw.choice(STEPS)), whole=draw.random() < 0.3)


def test_even_if_doubles_round_to_other_steps_no_integer_leaves_its_limits(size, monkeypatch):
    """A grid finer than FARTHEST_STEP allows: only the clip of the integer is left."""
    monkeypatch.setattr(scope, "coarsen_by_tens", lambda *grid: grid)
    draw = random.Random(6)
    for _ in range(size(small=4, full=1_000, what="random bounds on grids too fine")):
        first, steps = draw.randint(-(2**56), 2**56), draw.randint(1, 10**5)
        check(first, steps, Fraction(draw.choice(STEPS)), whole=False)


def check(first, steps, step, *, whole):
    step = Fraction(max(1, round(step))) if whole else step
    low, high = first * step, (first + steps) * step
    values = [*near(float(low)), *near(float(high)), math.inf, -math.inf, math.nan, None]
    if whole:
        low, high = int(low), int(high)
        values = [low, low - 1, low + 1, high, high - 1, high + 1, -(2**63), 2**63 - 1, None]
    rows = pa.table({"x": pa.array(values, pa.int64() if whole else pa.float64())})
    session = dp.protect(rows, bounds={"x": (low, high)}, step={"x": step}, epsilon=9)
    known = len(values) - 1
    median = session.plan("SELECT MEDIAN(x) AS m FROM data", epsilon=1)
    (cells,) = session._engine.run(median).reveal_to(lambda exact: exact.cells.values())
    assert 0 <= cells.cell.min() <= cells.cell.max() < median.choices[0].cells
    assert cells.count.sum() == known
    sums = session.plan(QUESTION, epsilon=1)
    features = session._engine.run(sums).reveal_to(lambda exact: exact.features)
    for block in sums.blocks:
        integers = [int(features[name][0]) for name in block.features]
        assert min(integers) >= 0
        assert sum(integers) <= known * block.reach.total


@pytest.mark.parametrize("first", [2**50 - 5, 2**50, 2**52, 2**60, -(2**60)])
def test_no_grid_reaches_further_than_the_common_limit(first):
    """Sums, quantiles and histograms: doubles hold every step, with room for rounding."""
    rows = pa.table({"x": pa.array([first], pa.int64())})
    session = dp.protect(rows, bounds={"x": (first, first + 5000)}, epsilon=9)
    limits = [
        (grid.lowest / grid.step, grid.lowest / grid.step + grid.size - 1)
        for grid in (
            session.plan("SELECT MEDIAN(x) FROM data", epsilon=1).choices[0].mechanism.grid,
        )
    ]
    total = session.plan("SELECT SUM(x) FROM data", epsilon=1).blocks[0].reach
    limits.append((total.low, total.high))
    binned = session.plan("SELECT HISTOGRAM(x, 2) AS h FROM data", epsilon=1).engine_sql
    limits.append(tuple(int(n) for n in re.findall(r"x0 [<>] \(?(-?\d+)", binned)[:2]))
    for low, high in limits:
        assert max(abs(low), abs(high)) <= FARTHEST_STEP + 1
