"""The names that the bad inputs in Python use: a session, an answer of several groups."""

from datetime import date

import pyarrow as pa

import deniable as dp

frame = pa.table(
    {
        "patient": [i // 2 for i in range(400)],
        "ward": ["AB"[i % 2] for i in range(400)],
        "note": [f"note {i}" for i in range(400)],
        "cost": [float(i % 90) for i in range(400)],
        "wait": [float(i % 40) for i in range(400)],
        "day": [date(2026, 1, 1 + i % 28) for i in range(400)],
    }
)


def names():
    """A new session, so that no input depends on one before it."""
    visits = dp.protect(
        frame,
        name="visits",
        unit="patient",
        max_groups_per_unit=2,
        max_rows_per_unit_per_group=2,
        bounds={"cost": (0, 100)},
        keys={"ward": ["A", "B"]},
        epsilon=10,
        delta=1e-6,
    )
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    return {"dp": dp, "frame": frame, "visits": visits, "answer": visits.sql(text, epsilon=1)}
