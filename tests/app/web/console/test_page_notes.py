"""Pages offer no options of Python, so their notes name none."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.web.console.page_notes import notes_of
from deniable.query.planner.notes import note_rows_without_key


@pytest.mark.parametrize(("key", "nulls"), [("ward", False), ("ward", True), ("x > 5", False)])
def test_a_note_about_rows_without_a_key_names_no_option(key, nulls):
    table = pa.table({"ward": ["A", "B"], "x": [1, 9]})
    with dp.protect(
        table, name="t", keys={"ward": ["A", "B"]}, bounds={"x": (0, 10)}, epsilon=1
    ) as session:
        text = f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY 1"
        plan = session.plan(text, epsilon=1, nulls=nulls)
    (told,) = note_rows_without_key(plan)
    assert ("=True" in told) is not nulls
    assert notes_of(plan)[-1].endswith("left out.")
    assert "=True" not in " ".join(notes_of(plan))
