"""Tables: whose privacy, which limits, and the columns of the source."""

from pathlib import Path

import pytest

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.policy import Column, Table

SCHEMA = {"patient": "VARCHAR", "cost": "DOUBLE", "ward": "VARCHAR"}


def test_a_row_is_a_unit_unless_one_is_named():
    table = Table("visits")
    assert (table.unit, table.max_groups_per_unit, table.max_rows_per_unit_per_group) == (
        None,
        1,
        1,
    )
    assert table.neighbors == "add-remove"


@pytest.mark.parametrize(
    ("declared", "told", "where"),
    [
        ({"max_groups_per_unit": 2}, "without a `unit`", "max_groups_per_unit"),
        ({"max_rows_per_unit_per_group": 2}, "without a `unit`", "max_rows_per_unit_per_group"),
        ({"unit": "p", "max_groups_per_unit": 0}, "1 or more", "max_groups_per_unit"),
        (
            {"unit": "p", "max_rows_per_unit_per_group": 1.5},
            "1 or more",
            "max_rows_per_unit_per_group",
        ),
        ({"row_ceiling": 0}, "1 or more", "row_ceiling"),
        ({"expected_rows": -1}, "1 or more", "expected_rows"),
        ({"neighbors": "add"}, "add-remove", "neighbors"),
        ({"unit": "p", "public": True}, "public", "public"),
        ({"columns": {"a": Column("a"), "A": Column("A")}}, "are the same in SQL", "columns"),
    ],
)
def test_what_cannot_hold_is_refused(declared, told, where):
    with pytest.raises(InvalidPolicy, match=told) as refused:
        Table("visits", **declared)
    assert refused.value.where[0] == where


@pytest.mark.parametrize("name", ["", "a\nb", None])
def test_a_table_needs_a_name(name):
    with pytest.raises(InvalidPolicy, match="name"):
        Table(name)


def test_keywords_and_columns_declare_the_same():
    columns = {
        "cost": Column("cost", bounds=(0, 9), step=1),
        "ward": Column("ward", keys=["A"]),
    }
    declared = Table.declare(
        "visits",
        bounds={"cost": (0, 9)},
        step={"cost": 1},
        keys={"ward": ["A"]},
        unit="patient",
    )
    assert declared == Table("visits", unit="patient", columns=columns)


def test_the_schema_completes_a_table():
    table = Table.declare(
        "visits", unit="PATIENT", max_groups_per_unit=4, bounds={"Cost": (0, 9)}
    )
    whole = table.with_schema(SCHEMA)
    assert list(whole.columns) == list(SCHEMA)
    assert whole.unit == "patient"
    assert whole.columns["cost"].bounds == (0, 9)
    assert (whole.max_groups_per_unit, whole.columns["ward"].kind) == (4, "text")
    assert whole.with_schema(SCHEMA) == whole


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"bounds": {"costs": (0, 9)}}, "'costs'. Did you mean `cost`"),
        ({"unit": "pateint"}, "'pateint'. Did you mean `patient`"),
        ({"keys": {"zzz": ["A"]}}, "Its columns are `patient`, `cost`, `ward`"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_the_nearest(declared, told):
    with pytest.raises(InvalidPolicy, match=told):
        Table.declare("visits", **declared).with_schema(SCHEMA)


def test_a_table_is_frozen():
    table = Table.declare("visits", keys={"ward": ["A"]})
    with pytest.raises(TypeError):
        table.columns["ward"] = Column("ward")
    with pytest.raises(AttributeError):
        table.unit = "patient"


@pytest.mark.parametrize("what", ["bounds", "step", "keys", "kind"])
def test_what_is_said_of_columns_is_said_by_their_names(what):
    with pytest.raises(InvalidPolicy, match=rf'{what}=\{{"name": .*Found 5'):
        Table.declare("visits", **{what: 5})


def test_a_misspelt_word_names_the_nearest():
    with pytest.raises(InvalidParameter, match=r"Unknown option `bound`.*mean `bounds`"):
        Table.declare("visits", bound={"cost": (0, 1)})
    with pytest.raises(
        InvalidParameter, match=r"The options are `bounds`, .*`max_rows_per_unit_per_group`"
    ):
        Table.declare("visits", xyzzy=1)


def test_every_word_that_is_known_is_taken():
    words = {
        "unit": "patient",
        "neighbors": "replace",
        "max_groups_per_unit": 1,
        "max_rows_per_unit_per_group": 1,
    }
    words |= {"row_ceiling": 9, "expected_rows": 9, "malformed": "skip", "version": "1"}
    Table.declare("visits", **words, budget=None, public=False)


def test_a_unit_is_the_name_of_a_column():
    for unit in (5, "", ["patient"]):
        with pytest.raises(InvalidPolicy, match="`unit` must be the name") as error:
            Table("visits", unit=unit)
        assert error.value.where == ("unit",)


@pytest.mark.parametrize("type_", ["BLOB", "INTERVAL", "TIME", "LIST", "something new"])
def test_a_unit_of_a_type_that_no_question_can_use_is_refused(type_):
    with pytest.raises(InvalidPolicy, match=f"unit patient has the type {type_}") as refused:
        Table("visits", unit="Patient").with_schema(SCHEMA | {"patient": type_})
    assert refused.value.where == ("unit",)


@pytest.mark.parametrize("source", ["a.csv", Path("b.TSV.gz")])
def test_bounds_alone_make_numbers_of_a_file_without_types(source):
    declared = Table.declare("visits", source, bounds={"ward": (0, 9)})
    assert declared.with_schema(SCHEMA).columns["ward"].kind == "number"
    with pytest.raises(InvalidPolicy, match="its source holds text"):
        Table.declare("visits", "a.parquet", bounds={"ward": (0, 9)}).with_schema(SCHEMA)
