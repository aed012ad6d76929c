"""UNNEST: how many rows the lists of one row may make."""

import pytest

from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan


def planned(length, rows, relation):
    """The plan of a count over a table of lists and a table of the same persons."""
    kinds = {"codes": "text", "marks": "text"}
    limits = {"unit": "u", "max_rows_per_unit_per_group": rows}
    lists = {"kind": kinds, "length": dict.fromkeys(kinds, length)}
    tables = [
        Table.declare("a", **lists, **limits).with_schema(
            {"u": "BIGINT", "codes": "VARCHAR[]", "marks": "VARCHAR[]"}
        ),
        Table.declare("b", **limits).with_schema({"u": "BIGINT", "y": "BIGINT"}),
    ]
    return plan(parse(f"SELECT COUNT(*) FROM {relation}"), Policy(tables, epsilon=9), epsilon=1)


TWICE = "a, UNNEST(codes) AS p(c), UNNEST(marks) AS q(d)"
NESTED = "(SELECT marks, UNNEST(codes) AS c FROM a) AS n, UNNEST(marks) AS q(d)"
BEHIND = "a JOIN b USING (u), UNNEST(codes) AS p(c)"


@pytest.mark.parametrize("relation", [TWICE, NESTED])
def test_lists_of_one_row_make_at_most_ten_thousand_rows(relation):
    assert planned(100, 1, relation).max_rows_per_unit_per_group == 10_000
    with pytest.raises(
        InvalidQuery, match="one row could make 10,201 rows, and at most 10,000"
    ):
        planned(101, 1, relation)


def test_lists_behind_a_join_make_no_more_rows_than_a_join_may():
    assert planned(100, 2, BEHIND).max_rows_per_unit_per_group == 200
    with pytest.raises(InvalidQuery, match="into a sub-query before the join"):
        planned(101, 2, BEHIND)
    # What the refusal says works, and so does a join with one row of each person.
    before = "(SELECT *, UNNEST(codes) AS element FROM a) AS a JOIN b USING (u)"
    assert planned(1000, 2, before).max_rows_per_unit_per_group == 2000
    single = (
        "a JOIN (SELECT u, MAX(y) AS y FROM b GROUP BY u) AS b USING (u), UNNEST(codes) AS c"
    )
    assert planned(1000, 2, single).max_rows_per_unit_per_group == 2000
