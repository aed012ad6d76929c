"""Columns of types that no question can use are refused before anything is charged."""

import pytest

from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

TYPES = ["TIME", "TIME WITH TIME ZONE", "INTERVAL", "BLOB", "BIT", "LIST", "STRUCT"]
TYPES += ["MAP", "UNION", "BIGNUM", "VARIANT", "GEOMETRY", "INTEGER[]", "something new"]
# Every way to reach a column: by its name, by *, by USING, by NATURAL JOIN.
QUESTIONS = [
    "SELECT COUNT(odd) FROM data",
    "SELECT SUM(odd) FROM data",
    "SELECT COUNT(DISTINCT odd) FROM data",
    "SELECT MAX(odd) FROM data",
    "SELECT SUM(YEAR(odd)) FROM data",
    "SELECT SUM(CASE WHEN odd IS NULL THEN 1 END) FROM data",
    "SELECT COUNT(CAST(odd AS INTEGER)) FROM data",
    "SELECT odd, COUNT(*) FROM data GROUP BY odd",
    "SELECT COUNT(*) FROM data WHERE odd IS NULL",
    "SELECT COUNT(*) FROM data WHERE COALESCE(odd, odd) = '1'",
    "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM data)",
    "SELECT COUNT(*) FROM (SELECT id, MIN(odd) AS m FROM data GROUP BY id) WHERE m IS NULL",
    "SELECT COUNT(*) FROM (SELECT id, odd FROM data UNION ALL SELECT id, odd FROM data)",
    "SELECT COUNT(*) FROM data NATURAL JOIN (SELECT id, odd FROM data) AS more",
    "SELECT COUNT(*) FROM data JOIN (SELECT id, odd FROM data) AS more USING (id, odd)",
    "SELECT COUNT(*) FROM data AS a JOIN data AS b ON a.id = b.id AND a.odd = b.odd",
]


def known(type_):
    declared = Table.declare("data", unit="id", keys={"odd": "private"})
    return Policy([declared.with_schema({"id": "BIGINT", "odd": type_})], epsilon=9, delta=0.1)


@pytest.mark.parametrize("type_", TYPES)
def test_a_column_of_another_type_is_refused_wherever_it_is_used(type_):
    policy = known(type_)
    for sql in QUESTIONS:
        with pytest.raises(InvalidQuery, match="odd cannot be used in a question"):
            plan(parse(sql), policy, epsilon=1, delta=1e-3)


def test_the_other_columns_of_its_table_can_be_used():
    policy = known("BLOB")
    for source in ("data", "(SELECT * FROM data)", "data AS a JOIN data AS b USING (id)"):
        assert plan(parse(f"SELECT COUNT(*) FROM {source}"), policy, epsilon=1).epsilon == 1
