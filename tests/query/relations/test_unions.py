"""UNION ALL: lists are put together if they are declared alike."""

import pytest

from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

LIMITS = {"unit": "u", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 3}
UNITED = "(SELECT u, codes FROM a UNION ALL SELECT u, {} FROM b) AS v, UNNEST(codes) AS p(c)"


def planned(relation, length=4, **others):
    """The plan of a count over the elements of two tables."""
    first = {
        "kind": {"codes": "text"},
        "length": {"codes": 4},
        "keys": {"codes": list("abcdef")},
    }
    second = {
        "kind": {"codes": "text"},
        "length": {"codes": length},
        "keys": {"codes": list("efghij")},
    }
    schema = {"u": "BIGINT", "codes": "VARCHAR[]", "ward": "VARCHAR"}
    tables = [
        Table.declare("a", **first, **LIMITS).with_schema(schema),
        Table.declare("b", **(second | others), **LIMITS).with_schema(schema),
    ]
    return plan(
        parse(f"SELECT c, COUNT(*) FROM {relation} GROUP BY c"),
        Policy(tables, epsilon=9),
        epsilon=1,
    )


def test_a_unit_counts_with_the_elements_of_all_its_rows_together():
    plan = planned(UNITED.format("codes"))
    assert plan.keys[0].values == tuple("abcdefghij")
    assert (plan.max_groups_per_unit, plan.max_rows_per_unit_per_group) == (8, 3)


@pytest.mark.parametrize(
    ("column", "others"),
    [
        ("codes", {"length": 3}),
        ("codes", {"kind": {"codes": "number"}, "keys": {}, "bounds": {"codes": (0, 1)}}),
        ("ward", {}),
        ("NULL", {}),
    ],
)
def test_lists_that_are_declared_differently_are_refused(column, others):
    with pytest.raises(InvalidQuery, match=r"declared alike .* Write UNNEST into each part"):
        planned(UNITED.format(column), **others)
    # What the refusal says works.
    parts = "SELECT u, UNNEST(codes) AS c FROM a UNION ALL SELECT u, UNNEST(codes) FROM b"
    assert planned(f"({parts}) AS v", length=3).max_rows_per_unit_per_group == 12
