"""Values in another engine's dialect: what it would fail at is refused before the charge."""

import pyarrow as pa
import pytest

from deniable.engines.dialect.engine_dialect import StatementState
from deniable.engines.dialect.statement_writer import StatementWriter
from deniable.engines.dialect.typed_sql import WrittenRelation
from deniable.engines.ibis.sqlite_writer import SQLITE
from deniable.engines.postgresql.writer import POSTGRESQL
from deniable.engines.spark.writer import SPARK
from deniable.errors import Unsupported

KINDS = {"i": "int", "x": "double", "t": "text", "b": "boolean", "d": "date", "m": "timestamp"}
COMPARABLE = [("i", "x"), ("x", "NULL"), ("d", "m"), ("t", "'a'"), ("b", "TRUE")]
DIFFERENT = [("i", "b"), ("x", "'a'"), ("t", "d"), ("b", "1"), ("m", "i")]
COMPARED = ["{} = {}", "{} IN ({})", "{0} BETWEEN {1} AND {1}", "CASE {} WHEN {} THEN TRUE END"]


@pytest.mark.parametrize("dialect", [POSTGRESQL, SPARK], ids=lambda dialect: dialect.engine)
@pytest.mark.parametrize("compared", COMPARED)
def test_values_of_different_kinds_are_not_compared(dialect, compared):
    writer = StatementWriter(dialect, {"rows": WrittenRelation("r", KINDS)})
    for left, right in COMPARABLE:
        writer.write(f"SELECT COUNT(*) AS n FROM rows WHERE {compared.format(left, right)}")
    for left, right in DIFFERENT:
        with pytest.raises(Unsupported, match="Nothing was spent"):
            writer.write(f"SELECT COUNT(*) AS n FROM rows WHERE {compared.format(left, right)}")


@pytest.mark.parametrize("dialect", [POSTGRESQL, SPARK, SQLITE], ids=lambda each: each.engine)
def test_a_value_is_looked_up_only_in_a_query_of_its_kind(dialect):
    """A part of a table is the rows of the units that such a query returns."""
    writer = StatementWriter(dialect, {"rows": WrittenRelation("r", KINDS)})
    sql = "SELECT COUNT(*) AS n FROM rows WHERE {} IN (SELECT {} FROM rows GROUP BY i, t)"
    assert " IN (SELECT " in writer.write(sql.format("i", "i")).sql
    for value, listed in (("i", "t"), ("i", "x"), ("i", "i, t"), ("t", "NULL")):
        with pytest.raises(Unsupported, match="Nothing was spent"):
            writer.write(sql.format(value, listed))


@pytest.mark.parametrize("dialect", [POSTGRESQL, SPARK], ids=lambda dialect: dialect.engine)
def test_lists_of_different_types_are_not_put_together(dialect):
    """PostgreSQL would fail on them, after the charge."""
    kinds = {"a": "list of int", "b": "list of bigint"}
    writer = StatementWriter(dialect, {"rows": WrittenRelation("r", kinds)})
    united = (
        "SELECT COUNT(*) AS n FROM (SELECT a FROM rows UNION ALL SELECT {} AS a FROM rows) AS v"
    )
    assert " UNION ALL " in writer.write(united.format("a")).sql
    with pytest.raises(Unsupported, match=r"Write UNNEST into each part\. Nothing was spent"):
        writer.write(united.format("b"))


KEYS = {
    "(keys 0)": pa.array([1, 3]),
    "(keys 1)": pa.array(["a", "b"]),
    "(keys 2)": pa.array([True]),
}
IN_KEYS = [("i", 0), ("w", 0), ("t", 1), ("b", 2)]


@pytest.mark.parametrize("dialect", [POSTGRESQL, SPARK, SQLITE], ids=lambda each: each.engine)
def test_a_value_is_looked_up_only_among_keys_of_its_kind(dialect):
    kinds = {"w": "wide", **KINDS}
    sql = 'SELECT COUNT(*) AS n FROM rows WHERE {} IN (SELECT key FROM "(keys {})")'
    for value in kinds:
        for place in range(3):
            state = StatementState(salt=0, utf8=True, keys=KEYS)
            writer = StatementWriter(dialect, {"rows": WrittenRelation("r", kinds)}, state)
            if (value, place) in IN_KEYS:
                assert "'a'" not in writer.write(sql.format(value, place)).sql
                continue
            with pytest.raises(Unsupported, match="Nothing was spent"):
                writer.write(sql.format(value, place))


@pytest.mark.parametrize(
    "query", ['SELECT key FROM "(keys 3)"', 'SELECT key FROM "(keys 0)" LIMIT 1', "SELECT 1"]
)
def test_only_all_declared_keys_of_the_plan_are_looked_up(query):
    state = StatementState(salt=0, utf8=True, keys=KEYS)
    writer = StatementWriter(SQLITE, {"rows": WrittenRelation("r", {"w": "wide"})}, state)
    with pytest.raises(Unsupported, match="Nothing was spent"):
        writer.write(f"SELECT COUNT(*) AS n FROM rows WHERE w IN ({query})")


@pytest.mark.parametrize("dialect", [POSTGRESQL, SPARK, SQLITE], ids=lambda each: each.engine)
def test_what_is_too_long_is_refused_as_too_long(dialect, monkeypatch):
    monkeypatch.setattr("deniable.engines.dialect.engine_dialect._LONGEST", 100)
    condition = " OR ".join(["i = 1"] * 100)
    writer = StatementWriter(dialect, {"rows": WrittenRelation("r", KINDS)})
    with pytest.raises(Unsupported, match=r"too long .* Nothing was spent"):
        writer.write(f"SELECT COUNT(*) AS n FROM rows WHERE {condition}")


@pytest.mark.parametrize("dialect", [POSTGRESQL, SPARK, SQLITE], ids=lambda each: each.engine)
def test_different_values_are_added_up_whole(dialect):
    """A narrow sum may be written as sums of parts, and equal parts are not equal values."""
    writer = StatementWriter(dialect, {"rows": WrittenRelation("r", KINDS)})
    sql = writer.write("SELECT SUM(DISTINCT CAST(i AS INT128)) AS n FROM rows").sql
    assert sql.count("DISTINCT") == 1
    with pytest.raises(Unsupported, match="Nothing was spent"):
        writer.write("SELECT SUM(DISTINCT i) AS n FROM rows")
