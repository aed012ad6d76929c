"""Tables whose privacy unit is the row, with rows that are equal, or nearly."""

import datetime
import math

import pyarrow as pa

from deniable.policy import Policy, Table

ALIKE = pa.table(
    {
        "real": [0.0, -0.0, math.nan, math.nan, None, None, 1.5, 1.5, 1.5, 7.0, 7.0, 1e308],
        "word": ["a", "a", "", "", None, None, "a", "a", "b", "é", "e\u0301", "B"],
        "day": pa.array([datetime.date(1, 1, 1 + i % 2) for i in range(12)], pa.date32()),
    }
)
SOURCES = {
    "alike": ALIKE,
    "more": ALIKE.slice(3),
    "twice": pa.table({"word": ["a", "a", "é", "", "", "b", None]}),
}
# Questions, and how many rows each counts: a row once, however often the statement reads it.
COUNTED = {
    "SELECT COUNT(*) FROM alike JOIN twice USING (word)": 8,
    "SELECT COUNT(*) FROM alike LEFT JOIN twice ON alike.word = twice.word": 12,
    "SELECT COUNT(*) FROM (SELECT real FROM alike UNION ALL SELECT -real FROM alike)": 12,
    "SELECT COUNT(*) FROM (SELECT 1 AS one FROM alike UNION ALL SELECT 2 FROM more)": 21,
}
ADDED = [
    "SELECT SUM(real) FROM alike JOIN twice USING (word)",
    "SELECT SUM(r) FROM (SELECT real AS r FROM alike UNION ALL SELECT -real FROM alike)",
]


def policy() -> Policy:
    """Two tables whose privacy unit is the row, and one that is public."""
    columns = {"real": "DOUBLE", "word": "VARCHAR", "day": "DATE"}
    private = [
        Table.declare(name, bounds={"real": (-10, 100)}, step={"real": 0.01})
        for name in ("alike", "more")
    ]
    public = Table.declare("twice", public=True).with_schema({"word": "VARCHAR"})
    return Policy([*(table.with_schema(columns) for table in private), public], epsilon=100)
