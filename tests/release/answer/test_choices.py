"""Quantiles and modes from cells to the answer: their law, their margins, and empty groups."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.handover.exact_groups import CellCounts, ExactGroups
from deniable.query.language.parse import parse
from deniable.query.plan.plan import GroupKey
from deniable.query.planner.planner import plan as planned
from deniable.release.answer.answer import draw_answer
from tests.query.hospital import policy, visits

LEVEL = 0.95


@pytest.fixture(scope="module")
def engine():
    with DuckDB.open({"visits": visits(4000)}) as opened:
        yield opened


def repeated(plan, exact, draws):
    """The same cells as `draws` groups, so that one release draws from them so often."""
    places = np.arange(draws)
    cells = {
        name: CellCounts(
            (pa.array(np.repeat(places, counts.cell.size)),),
            np.tile(counts.cell, draws),
            np.tile(counts.count, draws),
        )
        for name, counts in exact.cells.items()
    }
    key = GroupKey("draw", "number", tuple(places.tolist()), Fraction(1))
    keyed = replace(plan, keys=(key,), engine_sql="")
    return draw_answer(keyed, ExactGroups((), None, {}, cells)).table


def fraction(exact):
    """What share of the bounded rows lies below each cell, and up to it."""
    (cells,) = exact.cells.values()
    order = np.argsort(cells.cell)
    return cells.cell[order], cells.count[order], np.cumsum(cells.count[order])


QUANTILES = [
    "MEDIAN(age)",
    "QUANTILE_CONT(cost, 0.9)",
    "MIN(weight), MAX(weight)",
    "QUANTILE_CONT(age, [0.1, 0.3, 0.5, 0.7, 0.9])",
    "QUANTILE_CONT(cost, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])",
]


@pytest.mark.parametrize("aggregate", QUANTILES)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("brackets", [True, False])
def test_margins_of_quantiles_cover(engine, aggregate, neighbors, brackets, size):
    """In ranks, of the clipped and bounded rows; in the column's unit where they say so."""
    draws = size(small=60, full=20_000, what="draws each")
    plan = planned(
        parse(f"SELECT {aggregate} FROM visits"),
        policy(neighbors=neighbors),
        epsilon=2,
        delta=0,
        brackets=brackets,
    )
    exact = engine.run(plan).reveal_to(lambda integers: integers)
    cells, counts, upto = fraction(exact)
    table = repeated(plan, exact, draws)
    (choice,) = plan.choices
    grid, rows = choice.mechanism.grid, int(upto[-1])
    for output in plan.outputs:
        level = choice.mechanism.quantiles[choice.names.index(output.node.name)]
        value, half, low, high = (
            np.asarray(table[f"{output.name}{beside}"], dtype=np.float64)
            for beside in ("", "_margin", "_low", "_high")
        )
        if output.margin_in == "ranks":
            place = np.round((value - float(grid.lowest)) / float(grid.step)).astype(np.int64)
            at = np.searchsorted(cells, place, side="right") - 1
            upper = np.where(at >= 0, upto[np.maximum(at, 0)], 0)
            hit = (at >= 0) & (cells[np.maximum(at, 0)] == place)
            lower = upper - np.where(hit, counts[np.maximum(at, 0)], 0)
            inside = {0: choice.margin, 1: -choice.margin}  # where MIN and MAX are aimed at
            target = float(level) * rows + inside.get(level, 0)
            error = np.maximum(np.maximum(lower - target, target - upper), 0)
            assert np.mean(error <= half) >= LEVEL - 0.008, output.name
        else:
            true = cells[np.searchsorted(upto, float(level) * rows)] * float(grid.step)
            true += float(grid.lowest)
            assert np.mean(np.abs(value - true) <= half + 1e-9) >= LEVEL - 0.008, output.name
            assert np.all(half <= float(output.high - output.low))
            within = (low <= true + 1e-9) & (true <= high + 1e-9)
            assert np.mean(within) >= LEVEL - 0.008, output.name


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("aggregate", ["MODE(ward)", "TOP_K(ward, 2)", "MODE(FLOOR(age / 10))"])
def test_margins_of_modes_cover(engine, aggregate, neighbors, size):
    """The i-th choice is at most this many rows behind the i-th most frequent value."""
    draws = size(small=300, full=20_000, what="draws each")
    plan = planned(
        parse(f"SELECT {aggregate} FROM visits"),
        policy(neighbors=neighbors),
        epsilon=0.2,
        delta=0,
    )
    exact = engine.run(plan).reveal_to(lambda integers: integers)
    (cells,) = exact.cells.values()
    (choice,) = plan.choices
    counts = dict.fromkeys(choice.labels, 0)
    for cell, count in zip(cells.cell.tolist(), cells.count.tolist(), strict=True):
        counts[choice.labels[cell]] = count
    best = sorted(counts.values(), reverse=True)
    table = repeated(plan, exact, draws)
    for i, output in enumerate(plan.outputs):
        reached = np.array([counts[each] for each in table[output.name].to_pylist()])
        half = np.asarray(table[f"{output.name}_margin"])
        assert np.mean(best[i] - reached <= half) >= LEVEL - 0.008
    if len(plan.outputs) == 2:
        first, second = (table[each.name].to_pylist() for each in plan.outputs)
        assert not any(each == two for each, two in zip(first, second, strict=True))


@pytest.mark.parametrize("person", [True, False])
def test_margins_of_distinct_counts_cover_and_are_not_padded(engine, person):
    draws = 20_000
    plan = planned(
        parse("SELECT COUNT(DISTINCT age) AS n FROM visits"),
        policy(person=person),
        epsilon=0.5,
        delta=0,
    )
    exact = engine.run(plan).reveal_to(lambda integers: integers)
    (cells,) = exact.cells.values()
    table = repeated(plan, exact, draws)
    error = np.abs(np.asarray(table["n"]) - int(cells.count.sum()))
    margin = np.asarray(table["n_margin"])
    assert np.mean(error <= margin) >= 0.942
    assert np.mean(margin) <= 1.25 * np.quantile(error, 0.95) + 1


def test_the_mode_follows_the_law_of_its_mechanism():
    """Power: the law that was paid for fits, and one at another epsilon does not."""
    from scipy.stats import chisquare

    known = policy(person=False)
    plan = planned(parse("SELECT MODE(ward) AS w FROM visits"), known, epsilon=1, delta=0)
    exact = ExactGroups(
        (), None, {}, {"q0_0": CellCounts((), np.array([0, 2]), np.array([5, 3]))}
    )
    draws = 6_000
    frequencies = Counter(repeated(plan, exact, draws)["w"].to_pylist())
    seen = np.array([frequencies[ward] for ward in "ABC"])

    def fits(epsilon):
        law = dp.PermuteAndFlip(epsilon=epsilon, monotone=True).pmf([5, 0, 3])
        return chisquare(seen, law / law.sum() * draws).pvalue

    assert fits(1) > 1e-9
    assert fits(1.5) < 1e-9


def test_the_median_follows_the_law_of_its_mechanism():
    """Every cell weighs exp(-epsilon D), where it misses the middle rank by D."""
    from scipy.stats import chisquare

    known = policy(person=False)
    question = parse("SELECT MEDIAN(age) AS m FROM visits")
    plan = planned(question, known, epsilon=1, delta=0, brackets=False)
    cells, counts = np.array([20, 60, 100]), np.array([3, 4, 3])
    exact = ExactGroups((), None, {}, {"q0_0": CellCounts((), cells, counts)})
    draws = 4_000
    drawn = np.asarray(repeated(plan, exact, draws)["m"], dtype=np.int64)
    ages = np.arange(121)
    below = (counts * (cells < ages[:, None])).sum(axis=1)
    upto = (counts * (cells <= ages[:, None])).sum(axis=1)
    misses = np.maximum(0, np.maximum(5 - upto, below - 5))
    seen = np.bincount(misses[drawn], minlength=6)

    def fits(epsilon):
        law = np.bincount(misses, weights=np.exp(-epsilon * misses), minlength=6)
        held = law > 0
        return chisquare(seen[held], law[held] / law.sum() * draws).pvalue

    assert fits(1) > 1e-9
    assert fits(1.5) < 1e-9


def test_empty_groups_are_drawn_too():
    sql = (
        "SELECT ward, MEDIAN(age) AS m, MODE(urgent) AS u, COUNT(DISTINCT note) AS d "
        "FROM visits WHERE age > 1000 GROUP BY ward"
    )
    with DuckDB.open({"visits": visits(60)}) as opened:
        plan = planned(parse(sql), policy(), epsilon=1, delta=0)
        table = opened.run(plan).reveal_to(lambda exact: draw_answer(plan, exact)).table
    assert table["ward"].to_pylist() == ["A", "B", "C"]
    assert table["m"].null_count == table["u"].null_count == table["d"].null_count == 0


def test_quantiles_fall_into_the_groups_that_are_shown():
    """Declared, private and the rest, each with its own rows."""
    frame = pa.table(
        {
            "ward": ["A"] * 3000 + ["B"] * 2000 + ["rare"] + ["C"] * 2500,
            "x": [10] * 3000 + [20] * 2000 + [99] + [30] * 2500,
        }
    )
    for keys in (["A", "B"], "private"):
        session = dp.protect(
            frame, bounds={"x": (0, 99)}, keys={"ward": keys}, epsilon=100, delta=1e-3
        )
        sql = "SELECT ward, MEDIAN(x) AS m, COUNT(DISTINCT x) AS d FROM data GROUP BY ward"
        medians = dict(
            zip(
                *(
                    session.sql(sql, epsilon=20).to_arrow()[n].to_pylist()
                    for n in ("ward", "m")
                ),
                strict=True,
            )
        )
        assert medians == {"A": 10, "B": 20} | ({"C": 30} if keys == "private" else {})
        rest = session.sql(
            "SELECT ward, MEDIAN(x) AS m FROM data GROUP BY ward", epsilon=20, other=True
        ).to_arrow()
        assert rest["ward"].to_pylist()[-1] is None
        if keys != "private":
            assert rest["m"].to_pylist() == [10, 20, 30]


def test_columns_and_their_types():
    frame = pa.table({"ward": ["A", "B"] * 500, "x": [0.5, 1.0] * 500, "n": [3, 4] * 500})
    session = dp.protect(
        frame,
        bounds={"x": (0, 10), "n": (0, 9)},
        step={"x": 0.5},
        keys={"ward": ["A", "B"]},
        epsilon=100,
    )
    sql = "SELECT MEDIAN(x) AS x, MEDIAN(n) AS n, MODE(ward) AS w, MODE(n) AS f FROM data"
    answer = session.sql(sql, epsilon=10, brackets=False)
    types = {field.name: str(field.type) for field in answer.to_arrow().schema}
    assert types == {
        "x": "double",
        "x_margin": "int64",
        "x_low": "double",
        "x_high": "double",
        "n": "int64",
        "n_margin": "int64",
        "n_low": "int64",
        "n_high": "int64",
        "w": "string",
        "w_margin": "int64",
        "f": "int64",
        "f_margin": "int64",
    }
    assert "ranks" in str(answer)
    assert "rows" in str(answer)
    assert answer.units == {"x": "ranks", "n": "ranks", "w": "rows", "f": "rows"}
    assert answer.to_arrow()["x_low"].null_count == 1  # no interval is drawn
    drawn = session.sql(sql, epsilon=10)
    assert drawn.to_arrow()["x_low"][0].as_py() <= drawn.to_arrow()["x"][0].as_py()
    assert drawn.units == {"w": "rows", "f": "rows"}
    assert answer.warnings == ()


def test_arithmetic_having_and_order_use_the_chosen_values():
    frame = pa.table(
        {"ward": ["A"] * 900 + ["B"] * 900, "x": [10, 20, 30] * 300 + [60, 70, 80] * 300}
    )
    session = dp.protect(frame, bounds={"x": (0, 99)}, keys={"ward": ["A", "B"]}, epsilon=1000)
    sql = (
        "SELECT ward, QUANTILE_CONT(x, 0.9) - QUANTILE_CONT(x, 0.1) AS spread FROM data "
        "GROUP BY ward HAVING MEDIAN(x) > 50 ORDER BY MEDIAN(x)"
    )
    rows = session.sql(sql, epsilon=100).to_arrow().to_pylist()
    unknown = dict.fromkeys(("spread_margin", "spread_low", "spread_high"))
    assert rows == [{"ward": "B", "spread": 20} | unknown]
