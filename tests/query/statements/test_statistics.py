"""Features answer their aggregates exactly, and move by no more than is said."""

from fractions import Fraction
from itertools import product
from statistics import pvariance, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.query.language.syntax_tree import Aggregate, ColumnRef
from deniable.query.margins.evaluation import evaluate
from deniable.query.plan.plan import Feature
from deniable.query.planner.aggregate_nodes import MeasuredStatistic
from deniable.query.statements.statistics import Statistic, root_up

F = Fraction
X = ColumnRef("x")


def features(statistic, rows):
    """What the engine adds up for rows of whole steps (None: NULL), by definition."""
    known = [number for number in rows if number is not None]
    width, t = (
        statistic.width,
        [number - statistic.low for number in rows if number is not None],
    )
    values = {
        "count": [len(rows)],
        "present": [len(known)],
        "sum": [sum(known)],
        "mean": [sum(width - x for x in t), sum(t)],
        "moments": [
            sum((width - x) ** 2 for x in t),
            sum(2 * x * (width - x) for x in t),
            sum(x * x for x in t),
        ],
    }[statistic.kind]
    return values + [(len(rows) - len(known)) * statistic.total] * statistic.unknown


def measured(statistic):
    return MeasuredStatistic(
        statistic, tuple(Feature(f"f{i}", 0) for i in range(statistic.size))
    )


ROWS = st.lists(st.none() | st.integers(-4, 9), min_size=3, max_size=8)


@given(ROWS, st.booleans())
def test_aggregates_are_read_back_exactly(rows, unknown):
    known = [number for number in rows if number is not None]
    for kind in ("mean", "moments"):
        statistic = Statistic(kind, X, -4, 9, F(1, 2), unknown=unknown)
        values = {
            f"f{i}": np.array([float(v)]) for i, v in enumerate(features(statistic, rows))
        }
        block = measured(statistic)

        def got(name, argument=X, block=block, values=values):
            return float(evaluate(block.node(Aggregate(name, argument)), values)[0])

        assert got("count") == pytest.approx(len(known))
        assert got("sum") == pytest.approx(sum(known) / 2)
        if unknown:
            assert got("count", None) == pytest.approx(len(rows))
        if len(known) > 1:
            assert got("avg") == pytest.approx(sum(known) / 2 / len(known))
        if kind == "moments" and len(known) > 1:
            assert got("var_samp") == pytest.approx(float(variance(map(F, known))) / 4)
            assert got("var_pop") == pytest.approx(float(pvariance(map(F, known))) / 4)
            assert got("stddev_pop") == pytest.approx(
                float(pvariance(map(F, known))) ** 0.5 / 2
            )


STATISTICS = [
    Statistic("count", None),
    Statistic("present", X),
    Statistic("present", X, unknown=True),
    Statistic("sum", X, -3, 5),
    Statistic("sum", X, 2, 5),
    Statistic("sum", X, -5, -2),
    Statistic("mean", X, -3, 5),
    Statistic("mean", X, 0, 4, unknown=True),
    Statistic("moments", X, -2, 3),
    Statistic("moments", X, 0, 3, unknown=True),
]


def units(statistic, rows):
    """All contributions of one unit to one group, nothing included."""
    values = sorted({statistic.low, statistic.high, 0 if statistic.low <= 0 else statistic.low})
    choices = [*values, None]
    for count in range(rows + 1):
        for chosen in product(choices, repeat=count):
            yield np.array(features(statistic, list(chosen)), dtype=object)


@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 2])
def test_sensitivities_by_enumeration(statistic, neighbors, rows):
    """One unit in one group, without keys, and in one of two groups, with them."""
    zero = np.array([0] * statistic.size, dtype=object)
    ways = list(units(statistic, rows))
    for keyed in (False, True):
        worst, square = 0, 0
        for way in ways:
            others = ways if neighbors == "replace" else [zero]
            for two in others:
                pairs = [way - two]
                if keyed and neighbors == "replace":
                    pairs.append(np.concatenate([way, two]))
                for moved in pairs:
                    worst = max(worst, int(np.abs(moved).sum()))
                    square = max(square, int((moved**2).sum()))
        l1, l2_squared = statistic.sensitivities(
            groups=1, rows=rows, neighbors=neighbors, keyed=keyed
        )
        assert worst <= l1
        assert square <= l2_squared
        if statistic.size == 1:
            assert (worst, square) == (l1, l2_squared)  # and not padded


def test_roots_are_rounded_up():
    for square in (1, 2, 3, 10**30 + 1):
        assert root_up(square) ** 2 >= square
        assert root_up(square) ** 2 <= square * (1 + F(1, 2**38))
    assert root_up(49) == 7
