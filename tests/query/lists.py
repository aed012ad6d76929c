"""Tables with lists of persons and of rows, odd ones among them, and with texts of JSON."""

import math

import pyarrow as pa

from deniable.policy import Policy, Table

_LONG = ["a", "b", "c", "d", "e"] * 300
SOURCES = {
    "visits": pa.table(
        {
            "patient": pa.array([1, 1, 2, 3, 3, 4, 5, None], pa.int64()),
            "ward": ["A", "B", "A", "A", "B", "A", "B", "A"],
            "codes": pa.array(
                [["a", "b"], ["c"], None, [], [None, "a"], _LONG, ["z", "", "a"], ["a"]],
                pa.list_(pa.string()),
            ),
            "scores": pa.array(
                [[1.5, None], [], None, [99.0], [-5.0, 0.5, 2.0], [3.0] * 5, [], [1.0]],
                pa.list_(pa.float64()),
            ),
            "days": pa.array(
                [[1, 2], [3], None, [], [None, 2**62], [-7], [4, 4], [1]], pa.list_(pa.int64())
            ),
            "flags": pa.array(
                [[True], [False, None], None, [], [True] * 9, [False], [], [True]],
                pa.list_(pa.bool_()),
            ),
        }
    ),
    "rows": pa.table(
        {
            "x": [1, 2, 3],
            "codes": pa.array([["a", "a", "b"], ["c"], None], pa.list_(pa.string())),
            "odd": pa.array([[math.nan, math.inf], [-0.0], [1.0]], pa.list_(pa.float64())),
        }
    ),
    "notes": pa.table(
        {
            "note": [
                '{"kind": "a", "items": [{"unit price": 2.5}]}',
                '{"kind": "a", "items": [{"unit price": "9"}, {}]}',
                '{"kind": "a"',
                '{"kind": "a", "kind": "b", "items": [{"unit price": null}]}',
                '["a"]',
                '{"kind": "\\u0000"}',
                "[" * 50_000,
                "",
                None,
            ]
        }
    ),
    "names": pa.table({"code": ["a", "b", "c"], "chapter": ["I", "I", "II"]}),
}
SCHEMAS = {
    "visits": {
        "patient": "BIGINT",
        "ward": "VARCHAR",
        "codes": "VARCHAR[]",
        "scores": "DOUBLE[]",
        "days": "BIGINT[]",
        "flags": "BOOLEAN[]",
    },
    "rows": {"x": "BIGINT", "codes": "VARCHAR[]", "odd": "DOUBLE[]"},
    "notes": {"note": "VARCHAR"},
    "names": {"code": "VARCHAR", "chapter": "VARCHAR"},
}


def policy(neighbors="add-remove") -> Policy:
    """At most three elements of a list count."""
    alike = {"neighbors": neighbors}
    codes = {"codes": ["a", "b", "c"]}
    tables = [
        Table.declare(
            "visits",
            SOURCES["visits"],
            unit="patient",
            max_groups_per_unit=2,
            max_rows_per_unit_per_group=2,
            bounds={"scores": (0, 10), "days": (0, 5)},
            step={"scores": 0.5},
            keys={"ward": ["A", "B"]} | codes,
            length={"codes": 3, "scores": 2, "days": 3, "flags": 2},
            **alike,
        ),
        Table.declare(
            "rows",
            SOURCES["rows"],
            bounds={"x": (0, 9), "odd": (-1, 1)},
            keys=codes,
            length={"codes": 2, "odd": 2},
            **alike,
        ),
        Table.declare("notes", SOURCES["notes"], kind={"note": "text"}, **alike),
        Table.declare("names", SOURCES["names"], keys={"chapter": ["I", "II"]}, public=True),
    ]
    return Policy(
        [table.with_schema(SCHEMAS[table.name]) for table in tables], epsilon=9, delta=1e-3
    )
