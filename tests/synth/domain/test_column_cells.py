"""The cells of a column are public, and every value is in exactly one of them, or in none."""

import pytest

from deniable.errors import InvalidParameter
from deniable.policy import Table
from deniable.synth.domain.column_cells import ColumnCells, cells_of

TABLE = Table.declare(
    "t",
    unit="p",
    keys={"ward": ["A", "B"], "code": [1, 5], "many": list(range(1001)), "day": ["2024-02-29"]},
    bounds={"age": (0, 100), "grade": (1, 6)},
    step={"grade": 0.5},
).with_schema(
    {
        "p": "BIGINT",
        "ward": "VARCHAR",
        "code": "DOUBLE",
        "many": "BIGINT",
        "day": "DATE",
        "when": "DATE",
        "age": "DOUBLE",
        "grade": "DOUBLE",
        "flag": "BOOLEAN",
        "note": "VARCHAR",
        "open": "DOUBLE",
    }
)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("ward", ("A", "B", None)),
        ("code", (1, 5, None)),
        ("day", ("2024-02-29", None)),
        ("flag", (False, True, None)),
        ("grade", (1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, None)),
        ("age", (*(f"{low} to {low + 10}" for low in range(0, 100, 10)), None)),
    ],
)
def test_cells_come_from_the_policy(name, labels):
    cells = cells_of(TABLE, name)
    assert cells.labels == labels
    assert len(cells.counted.key.values) == cells.size
    without = cells_of(TABLE, name.upper(), missing=False)
    assert without.labels == labels[:-1]
    assert len(without.counted.key.values) == without.size


def test_cuts_need_no_bounds():
    assert cells_of(TABLE, "open", cuts=[-1, 0.5]).labels[:3] == (
        "below -1",
        "-1 to 0.5",
        "0.5 and above",
    )
    dates = cells_of(TABLE, "when", cuts=["2024-01-01"])
    assert dates.labels == ("below 2024-01-01", "2024-01-01 and above", None)


@pytest.mark.parametrize(
    ("name", "cuts", "message"),
    [
        ("wards", None, "Did you mean"),
        ("p", None, "identify people"),
        ("note", None, "Declare its values"),
        ("when", None, "Declare its values"),
        ("many", None, "1,001 cells"),
        ("age", [], "must be a list"),
        ("age", "18", "must be a list"),
        ("age", [5, 5], "must increase"),
        ("age", [0, 5], "within its bounds"),
        ("age", [5, 101], "within its bounds"),
        ("ward", ["A"], "neither a number nor a date"),
    ],
)
def test_what_is_not_public_is_refused(name, cuts, message):
    with pytest.raises(InvalidParameter, match=message):
        cells_of(TABLE, name, cuts=cuts)


def test_the_text_for_other_values_is_not_a_key():
    odd = Table.declare("t", keys={"w": ["(other)", "(other)'"]}).with_schema({"w": "VARCHAR"})
    assert cells_of(odd, "w").counted.key.values == ("(other)", "(other)'", "(other)''")


@pytest.mark.parametrize("keys", [[], ["x", "other"]])
def test_found_keys_leave_a_cell_for_others_and_one_for_null(keys):
    column = TABLE.columns["note"]
    cells = ColumnCells.of_found(column, keys, missing=True)
    other = "other'" if keys else "other"
    assert cells.labels == (*keys, other, None)
    assert cells.counted.key.values == (*keys, other, "(missing)")
    assert ColumnCells.of_found(column, keys, missing=False).labels == (*keys, other)
