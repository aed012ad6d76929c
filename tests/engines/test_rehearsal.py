"""Made-up rows fit their schema and bounds, and are the same whatever the real ones are."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.duckdb.made_up_rows import make_rows
from deniable.engines.rehearsal import open_rehearsal
from deniable.policy import Policy, Table

CANARY = "canary-918273645"
DECLARED = {
    "unit": "patient",
    "max_groups_per_unit": 2,
    "max_rows_per_unit_per_group": 4,
    "bounds": {"age": (0, 110), "cost": (-5, 5000), "ratio": (0, 1)},
    "step": {"cost": 0.01},
    "keys": {"ward": ["A", "it's", "C"], "grade": [1, 2.5], "diagnosis": "private"},
    "expected_rows": 3000,
}


def frame(seed, count):
    return pa.table(
        {
            "patient": [f"{CANARY}-{seed + i}" for i in range(count)],
            "age": pa.array([(seed + i) % 90 for i in range(count)], pa.int32()),
            "cost": [float(seed + i) for i in range(count)],
            "ratio": pa.array([0.5] * count, pa.float32()),
            "ward": [CANARY] * count,
            "grade": [float(seed)] * count,
            "diagnosis": [f"{CANARY} {seed}"] * count,
            "well": [bool(seed % 2)] * count,
            "day": [datetime.date(1900 + seed, 1, 1)] * count,
            "when": [datetime.datetime(1900 + seed, 1, 1)] * count,
            "paid": [Decimal(f"{seed}.25")] * count,
            "blob": [CANARY.encode()] * count,
        }
    )


def policy(seed=1, count=50):
    table = Table.declare("visits", frame(seed, count), **DECLARED)
    return Policy([table], epsilon=1, delta=1e-6)


def rows(seed=1, count=50):
    with DuckDB.open(policy(seed, count)) as engine:
        schema = engine.schema("visits")
    table = policy(seed, count).with_schemas({"visits": schema}).tables["visits"]
    return make_rows(table, schema)


def test_the_schema_is_that_of_the_source():
    with DuckDB.open(policy()) as real, open_rehearsal(policy()) as rehearsal:
        assert rehearsal.schema("visits") == real.schema("visits")


def test_the_values_fit_what_is_declared():
    columns = rows().to_pydict()
    assert len(columns["age"]) == 3000
    assert set(columns["ward"]) == {"A", "it's", "C"}
    assert set(columns["grade"]) == {1, 2.5}
    assert 0 <= min(columns["age"]) < 10 < 100 < max(columns["age"]) <= 110
    assert -5 <= min(columns["cost"]) < 100 < 4900 < max(columns["cost"]) <= 5000
    assert all(abs(100 * cost - round(100 * cost)) < 1e-6 for cost in columns["cost"])
    assert 0 <= min(columns["ratio"]) < max(columns["ratio"]) <= 1
    assert set(columns["well"]) == {True, False}
    assert len(set(columns["day"])) == 365
    assert 5 < len(set(columns["diagnosis"])) <= 20
    assert 500 < len(set(columns["patient"])) <= 750
    assert None not in columns["paid"]


def test_the_real_rows_make_no_difference():
    """Other rows, other numbers of rows: the same rehearsal, to the byte, without a canary."""
    table, other = rows(1, 50), rows(7, 3)
    assert table.equals(other)
    assert CANARY not in str(table.to_pydict())


def test_a_source_that_is_elsewhere_is_not_needed():
    table = Table.declare("visits", "nowhere.parquet", **DECLARED)
    with open_rehearsal(Policy([table], epsilon=1)) as engine:
        assert engine.schema("visits")["age"] == "DOUBLE"
        assert engine.schema("visits")["patient"] == "VARCHAR"


@pytest.mark.parametrize("bounds", [(0, 1), (-3, 4), (0.5, 0.75)])
def test_bounds_without_a_step(bounds):
    table = Table.declare("t", bounds={"x": bounds})
    values = make_rows(table, {"x": "DOUBLE"})["x"].to_pylist()
    assert min(values) == pytest.approx(bounds[0], abs=0.02 * (bounds[1] - bounds[0]))
    assert bounds[0] <= min(values) < max(values) <= bounds[1]
