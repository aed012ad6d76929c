"""Small tables of patients and diagnoses, and the histograms that limits measure, exactly."""

import duckdb
import pyarrow as pa

import deniable as dp

KEYS = ("A", "B", "C")


def session(rows, *, neighbors="add-remove", epsilon=100, groups=2, rows_limit=1, keys=KEYS):
    """A session about rows (patient, diagnosis)."""
    return dp.protect(
        frame(rows),
        name="visits",
        unit="patient",
        keys={"diagnosis": list(keys)},
        epsilon=epsilon,
        neighbors=neighbors,
        max_groups_per_unit=groups,
        max_rows_per_unit_per_group=rows_limit,
    )


def frame(rows):
    return pa.table(
        {
            "patient": pa.array([who for who, _ in rows], pa.int64()),
            "diagnosis": pa.array([what for _, what in rows], pa.string()),
        }
    )


def histogram(plan, rows, salt=1):
    """The exact counts of a plan's only statement over some rows, by cell."""
    with duckdb.connect() as connection:
        connection.register("visits", frame(rows))
        text = str(plan.engine_sql).replace("$salt", str(salt))
        counts = dict(connection.execute(text).fetchall())
    return [counts.get(cell, 0) for cell in plan.keys[0].values]
