"""Several tables about the same people, public ones beside them, and rows of nobody's."""

import pyarrow as pa

from deniable.policy import Policy, Table

SOURCES = {
    "visits": pa.table(
        {
            "patient": pa.array([1, 1, 2, 2, 2, 3, 4, None], pa.int64()),
            "ward": ["A", "B", "A", "A", "B", "C", "A", "A"],
            "cost": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 1e9, 5.0],
            "day": pa.array([19_000 + i for i in range(8)], pa.int32()).cast(pa.date32()),
            "note": ["a", "b", None, "", "a%", "it's", "x", "y"],
        }
    ),
    "bills": pa.table({"patient": pa.array([1, 2, 2, 5], pa.int32()), "amount": [5, 6, 7, 8]}),
    "wards": pa.table({"ward": ["A", "B", "B", "C", None], "floor": [1, 2, 3, 3, 4]}),
    "tariffs": pa.table({"floor": [1, 2, 3], "price": [10.0, 20.0, 30.0]}),
    "rows": pa.table({"ward": ["A", "B", "A"], "x": [1, 2, 3]}),
    # As engines show them: with the unit as a column, whatever leads to it.
    "orders": pa.table(
        {
            "order_id": pa.array([1, 2, 3, 4, None], pa.int64()),
            "buyer": pa.array([1, 2, 2, 5, 3], pa.int64()),
            "patient": pa.array([1, 2, 2, 5, 3], pa.int64()),
        }
    ),
    "items": pa.table(
        {
            "order_id": pa.array([1, 1, 2, 3, 3, 4], pa.int64()),
            "price": [1, 2, 3, 4, 5, 6],
            "patient": pa.array([1, 1, 2, 2, 2, 5], pa.int64()),
        }
    ),
    "staff": pa.table({"nurse": ["n1", "n2"], "ward": ["A", "B"]}),
}
SCHEMAS = {
    "visits": {
        "patient": "BIGINT",
        "ward": "VARCHAR",
        "cost": "DOUBLE",
        "day": "DATE",
        "note": "VARCHAR",
    },
    "bills": {"patient": "INTEGER", "amount": "BIGINT"},
    "wards": {"ward": "VARCHAR", "floor": "BIGINT"},
    "tariffs": {"floor": "BIGINT", "price": "DOUBLE"},
    "rows": {"ward": "VARCHAR", "x": "BIGINT"},
    "orders": {"order_id": "BIGINT", "buyer": "BIGINT", "patient": "BIGINT"},
    "items": {"order_id": "BIGINT", "price": "BIGINT", "patient": "BIGINT"},
    "staff": {"nurse": "VARCHAR", "ward": "VARCHAR"},
}


def policy(neighbors="add-remove") -> Policy:
    """The town's policy."""
    alike = {"neighbors": neighbors}
    person = {
        "unit": "patient",
        "max_groups_per_unit": 2,
        "max_rows_per_unit_per_group": 3,
    } | alike
    tables = [
        Table.declare(
            "visits",
            bounds={"cost": (0, 100)},
            step={"cost": 1},
            keys={"ward": ["A", "B", "C"]},
            expected_rows=1000,
            **person,
        ),
        Table.declare("bills", bounds={"amount": (0, 10)}, **person),
        Table.declare("wards", bounds={"floor": (0, 9)}, public=True),
        Table.declare("tariffs", bounds={"floor": (0, 9), "price": (0, 50)}, public=True),
        Table.declare("rows", bounds={"x": (0, 9)}, keys={"ward": ["A", "B"]}, **alike),
        Table.declare("orders", unit_column="buyer", unique=["order_id"], **person),
        Table.declare(
            "items", unit_path="order_id -> orders.order_id", bounds={"price": (0, 9)}, **person
        ),
        Table.declare("staff", unit="nurse", **alike),
    ]
    return Policy(
        [table.with_schema(SCHEMAS[table.name]) for table in tables], epsilon=9, delta=1e-3
    )
