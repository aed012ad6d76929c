"""Parts hold different people, whatever the rows; together they hold what they should."""

from pathlib import Path

import pyarrow as pa
import pytest
import sqlglot

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.plan import canonical
from deniable.query.planner.planner import plan
from deniable.query.statements.partition import (
    check_part_keys,
    reads_only_part,
    restrict_to_part,
)
from tests.query.hospital import policy

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.sql"))

ROWS = pa.table(
    {
        "p": ["a", "a", "b", "b", "c", None, "d", "e"],
        "ward": ["A", "B", "B", "B", "A", "A", None, "C"],
        "age": [10, 20, 10, 10, 20, 10, 10, 99],
        "well": [True, False, True, True, None, True, True, True],
        "day": pa.array([0, 1, 1, 1, 0, 0, 0, 5], pa.date32()),
    }
)


def counted(sql, part, unit="p", **declared):
    """The exact integers of a question restricted to a part."""
    declared = {"unit": unit, "max_rows_per_unit_per_group": 9} if unit else {}
    table = Table.declare("data", ROWS, bounds={"age": (0, 20)}, **declared)
    with DuckDB.open({"data": ROWS}) as engine:
        known = Policy([table], epsilon=1).with_schemas({"data": engine.schema("data")})
        restricted = restrict_to_part(
            plan(parse(sql), known, epsilon=1), known.tables["data"], part
        )
        result = engine.run(restricted).reveal_to(lambda integers: integers)
    (values,) = result.features.values()
    return values.tolist()


COUNT = "SELECT COUNT(*) AS n FROM data"


@pytest.mark.parametrize(
    ("part", "rows", "of_units"),
    [
        ((("ward", "A"),), 3, 2),  # a counts in A alone, with its row there; None is nobody
        ((("ward", "B"),), 3, 2),
        ((("ward", "C"),), 1, 1),
        ((("ward", "D"),), 0, 0),
        ((("age", 10),), 5, 4),
        ((("age", 20),), 3, 2),  # clipped first, as in every question
        ((("well", True),), 6, 4),
        ((("well", False),), 1, 1),
        ((("day", "1970-01-01"),), 4, 3),
        ((("ward", "A"), ("age", 10)), 2, 1),
        ((("ward", "A"), ("age", 20)), 1, 1),
    ],
    ids=str,
)
def test_the_rows_of_a_part(part, rows, of_units):
    assert counted(COUNT, part, unit=None) == [rows]
    assert counted(COUNT, part) == [of_units]


@pytest.mark.parametrize("column", ["ward", "age", "well", "day"])
def test_no_unit_is_in_two_parts(column):
    """Taken alone, every unit counts in one part at most, whatever its rows."""
    for unit in "abcde":
        mine = ROWS.filter(pa.compute.equal(ROWS["p"], unit))
        keys = {"ward": "ABC", "age": (10, 20), "well": (True, False)}
        values = keys.get(column, ("1970-01-01", "1970-01-02", "1970-01-06"))
        table = Table.declare(
            "data", mine, unit="p", max_rows_per_unit_per_group=9, bounds={"age": (0, 20)}
        )
        counts = []
        with DuckDB.open({"data": mine}) as engine:
            known = Policy([table], epsilon=1).with_schemas({"data": engine.schema("data")})
            for key in values:
                whole = plan(parse(COUNT), known, epsilon=1)
                part = restrict_to_part(whole, known.tables["data"], ((column, key),))
                (n,) = engine.run(part).reveal_to(lambda got: got).features.values()
                counts.append(int(n[0]))
        assert sum(map(bool, counts)) <= 1, (unit, counts)


def test_a_nested_part_lies_within_its_outer_part():
    """Who is in A and 20 is in A: the outer part is found from all of a unit's rows."""
    rows = pa.table({"p": ["a", "a"], "ward": ["A", "B"], "age": [20, 10]})
    table = Table.declare(
        "data", rows, unit="p", max_rows_per_unit_per_group=9, bounds={"age": (0, 20)}
    )
    with DuckDB.open({"data": rows}) as engine:
        known = Policy([table], epsilon=1).with_schemas({"data": engine.schema("data")})
        for part in ((("ward", "B"), ("age", 10)), (("ward", "B"), ("age", 20))):
            restricted = restrict_to_part(
                plan(parse(COUNT), known, epsilon=1), known.tables["data"], part
            )
            (n,) = engine.run(restricted).reveal_to(lambda got: got).features.values()
            assert n.tolist() == [0]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_statement_of_every_golden_plan_is_restricted(path):
    first, _, *sql = path.read_text().splitlines()
    which = {"person": {}, "row": {"person": False}, "replace": {"neighbors": "replace"}}
    known = policy(**which[first.removeprefix("-- policy: ")])
    whole = plan(parse("\n".join(sql)), known, epsilon=0.5)
    table = known.tables[whole.table]
    part = restrict_to_part(whole, table, (("ward", "A"),))
    assert len(part.statements) == len(whole.statements)
    for before, after in zip(whole.statements, part.statements, strict=True):
        again = sqlglot.parse_one(before.sql, dialect="duckdb").sql(dialect="duckdb")
        assert again == before.sql  # reading changes nothing else
        assert "'A'" in after.sql
    assert (part.loss, part.epsilon, part.part) == (whole.loss, whole.epsilon, (("ward", "A"),))
    read = canonical.from_json(canonical.to_json(part))
    for judged in (part, read):
        assert reads_only_part(judged, table, (("ward", "A"),))
        assert not reads_only_part(judged, table, (("ward", "B"),))
    assert not reads_only_part(whole, table, (("ward", "A"),))
    with pytest.raises(InvalidParameter, match="restricted to a part"):
        restrict_to_part(part, table, (("ward", "B"),))


@pytest.mark.parametrize(
    ("column", "keys", "error"),
    [
        ("nothing", ["A"], InvalidQuery),
        ("ward", [], InvalidParameter),
        ("ward", ["A", "A"], InvalidParameter),
        ("ward", [1], InvalidParameter),
        ("ward", [True], InvalidParameter),
        ("age", ["old"], InvalidParameter),
        ("age", [True], InvalidParameter),
        ("age", [1, 1.0], InvalidParameter),
        ("age", [float("nan")], InvalidParameter),
        ("age", [float("inf")], InvalidParameter),
        ("age", [2**53 + 2], InvalidParameter),
    ],
    ids=str,
)
def test_keys_that_are_no_values_of_the_column(column, keys, error):
    with pytest.raises(error):
        check_part_keys(policy().tables["visits"], column, keys)


def test_the_column_is_spelt_as_the_table_spells_it():
    assert check_part_keys(policy().tables["visits"], "WARD", ["A"]) == ("ward", ("A",))


def test_a_key_has_one_spelling():
    """Parts are told apart by their keys: two spellings would be charged as two parts."""
    assert (
        str(check_part_keys(policy().tables["visits"], "age", [1.0, -0.0, 2.5])[1])
        == "(1, 0, 2.5)"
    )
    days = Table.declare("data", ROWS.select(["day"])).with_schema({"day": "DATE"})
    spelt = check_part_keys(days, "day", ["20240131"])[1]
    assert spelt == check_part_keys(days, "day", ["2024-01-31"])[1] == ("2024-01-31",)
    with pytest.raises(InvalidParameter):
        check_part_keys(days, "day", ["2024-1-31"])


@pytest.mark.parametrize("keys", [None, 5, "AB"])
def test_keys_are_a_list(keys):
    with pytest.raises(InvalidParameter, match="`keys` must be a list"):
        check_part_keys(policy().tables["visits"], "ward", keys)


def test_a_key_that_no_engine_can_be_told_is_refused():
    with pytest.raises(InvalidQuery, match="lone surrogate"):
        check_part_keys(policy().tables["visits"], "ward", ["\ud800"])
