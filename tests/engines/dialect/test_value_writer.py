"""Values in another engine's dialect: what it would fail at is refused before the charge."""

import pytest

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
    made = StatementWriter(dialect, {"rows": WrittenRelation("r", KINDS)})
    for left, right in COMPARABLE:
        made.write(f"SELECT COUNT(*) AS n FROM rows WHERE {compared.format(left, right)}")
    for left, right in DIFFERENT:
        with pytest.raises(Unsupported, match="Nothing was spent"):
            made.write(f"SELECT COUNT(*) AS n FROM rows WHERE {compared.format(left, right)}")


@pytest.mark.parametrize("dialect", [POSTGRESQL, SPARK, SQLITE], ids=lambda one: one.engine)
def test_a_value_is_looked_up_only_in_a_query_of_its_kind(dialect):
    """A part of a table is the rows of the units that such a query returns."""
    writer = StatementWriter(dialect, {"rows": WrittenRelation("r", KINDS)})
    asked = "SELECT COUNT(*) AS n FROM rows WHERE {} IN (SELECT {} FROM rows GROUP BY i, t)"
    assert " IN (SELECT " in writer.write(asked.format("i", "i")).sql
    for value, listed in (("i", "t"), ("i", "x"), ("i", "i, t"), ("t", "NULL")):
        with pytest.raises(Unsupported, match="Nothing was spent"):
            writer.write(asked.format(value, listed))
