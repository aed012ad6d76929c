"""A small hospital: its policies, by row and by person, and rows of every kind."""

import pyarrow as pa

from deniable.policy import Policy, Table

SCHEMA = {
    "patient": "BIGINT",
    "ward": "VARCHAR",
    "diagnosis": "VARCHAR",
    "age": "INTEGER",
    "cost": "DOUBLE",
    "urgent": "BOOLEAN",
    "admitted": "DATE",
    "note": "VARCHAR",
    "weight": "DOUBLE",
}


def policy(*, person: bool = True, delta=1e-6, **changes) -> Policy:
    """The hospital's policy; one unit is a patient, or a row."""
    limits = (
        {"unit": "patient", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 3}
        if person
        else {}
    )
    table = Table.declare(
        "visits",
        bounds={"age": (0, 120), "cost": (0, 10_000), "weight": (-5.5, 200)},
        step={"cost": 0.01},
        keys={"ward": ["A", "B", "C"], "diagnosis": "private"},
        **(limits | {"expected_rows": 3000} | changes),
    )
    return Policy([table.with_schema(SCHEMA)], epsilon=3, delta=delta)


def visits(rows: int = 60) -> pa.Table:
    """Made-up visits, a few of them odd."""
    numbers = range(rows)
    return pa.table(
        {
            "patient": pa.array([i // 4 for i in numbers], pa.int64()),
            "ward": pa.array(["ABCX"[i % 4] for i in numbers]),
            "diagnosis": pa.array([f"d{i % 2}" for i in numbers]),
            "age": pa.array(
                [None if i % 17 == 0 else (i * 7) % 130 for i in numbers], pa.int32()
            ),
            "cost": pa.array([float("nan") if i % 23 == 5 else i * 190.5 for i in numbers]),
            "urgent": pa.array([None if i % 11 == 3 else i % 3 == 0 for i in numbers]),
            "admitted": pa.array([19_700 + i for i in numbers], pa.int32()).cast(pa.date32()),
            "note": pa.array(["it's fine" if i % 2 else "" for i in numbers]),
            "weight": pa.array([i * 3.7 - 20 for i in numbers]),
        }
    )
