"""Cells that are counted here are those that the engine would count."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.duckdb import cell_counting
from deniable.engines.duckdb.engine import DuckDB
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.query.hospital import policy, visits


def cells(engine, query_plan):
    """What an engine finds, in ascending order."""
    (counts,) = engine.run(query_plan).reveal_to(lambda exact: exact).cells.values()
    order = np.argsort(counts.cell)
    assert counts.cell.dtype == counts.count.dtype == np.int64
    return list(zip(counts.cell[order].tolist(), counts.count[order].tolist(), strict=True))


@pytest.mark.parametrize("person", [True, False])
@pytest.mark.parametrize(
    "question",
    [
        "MEDIAN(cost) FROM visits",
        "QUANTILE_CONT(weight, [0.1, 0.5, 0.9]), MAX(weight) FROM visits WHERE age > 30",
        "MEDIAN(age) FROM visits WHERE age > 1000",
    ],
)
def test_both_ways_find_the_same_cells(monkeypatch, question, person):
    query_plan = plan(parse(f"SELECT {question}"), policy(person=person), epsilon=1, delta=0)
    (statement,) = query_plan.statements
    with DuckDB.open({"visits": visits(3000)}) as engine:
        monkeypatch.setattr(cell_counting, "ENGINE_COUNTS_UP_TO", query_plan.choices[0].cells)
        assert cell_counting.cells_to_count(query_plan, statement) == 0
        by_engine = cells(engine, query_plan)
        monkeypatch.setattr(
            cell_counting, "ENGINE_COUNTS_UP_TO", query_plan.choices[0].cells - 1
        )
        assert (
            cell_counting.cells_to_count(query_plan, statement) == query_plan.choices[0].cells
        )
        assert cells(engine, query_plan) == by_engine
        assert bool(by_engine) == ("1000" not in question)


def test_cells_of_groups_and_of_other_statements_are_the_engines(monkeypatch):
    monkeypatch.setattr(cell_counting, "ENGINE_COUNTS_UP_TO", 0)
    for text in (
        "ward, MEDIAN(cost) FROM visits GROUP BY ward",
        "COUNT(DISTINCT age) FROM visits",
    ):
        query_plan = plan(parse(f"SELECT {text}"), policy(), epsilon=1, delta=0)
        assert cell_counting.cells_to_count(query_plan, query_plan.statements[-1]) == 0
    modes = plan(parse("SELECT MODE(ward) FROM visits"), policy(), epsilon=1, delta=0)
    assert cell_counting.cells_to_count(modes, modes.statements[0]) == 3
    with DuckDB.open({"visits": visits(90)}) as engine:
        assert len(cells(engine, modes)) == 3


@pytest.mark.parametrize("rows", [0, 1, 1000, (1 << 20) - 1, 1 << 20, 2_500_000])
@pytest.mark.parametrize("size", [1000, 1 << 17])
def test_rows_are_counted_in_any_number_of_batches(rows, size):
    places = np.arange(rows, dtype=np.int64) * 7919 % size
    batches = [
        pa.record_batch({"cell": pa.array(part, pa.int32())})
        for part in np.array_split(places, max(1, rows // 300_000))
    ]
    counts = cell_counting.count_cells(batches, size)
    cell, count = np.unique(places, return_counts=True)
    assert np.array_equal(counts.cell, cell)
    assert np.array_equal(counts.count, count)
    assert counts.keys == ()


def test_cells_beyond_the_grid_count_as_its_ends():
    """They cannot occur, and must not make the counting fail if they do."""
    wide = pa.array([Decimal(10**30), Decimal(-5), None], pa.decimal128(38, 0))
    for batch in (pa.record_batch({"cell": [-1, 9, 3]}), pa.record_batch({"cell": wide})):
        counts = cell_counting.count_cells([batch], 9)
        assert counts.cell.min() == 0
        assert counts.cell.max() == 8
        assert counts.count.sum() == 3
