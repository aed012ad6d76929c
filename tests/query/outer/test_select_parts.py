"""What chooses the rows of a SELECT, and which expressions are its own."""

import pytest
import sqlglot
from sqlglot import exp

from deniable.query.outer.select_parts import is_grouped, own_nodes, row_conditions


def read(text):
    return sqlglot.parse_one(text, dialect="duckdb")


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("SELECT n FROM g", False),
        ("SELECT SUM(n) OVER () FROM g", False),
        ("SELECT (SELECT SUM(n) FROM g) FROM g", False),
        ("SELECT SUM(n) FROM g", True),
        ("SELECT k FROM g GROUP BY k", True),
    ],
)
def test_groups_are_seen(text, grouped):
    assert is_grouped(read(text)) == grouped


def test_every_condition_is_listed():
    text = "SELECT k FROM g JOIN h ON a GROUP BY k HAVING b QUALIFY c"
    assert [node.sql() for node in row_conditions(read(text))] == ["a", "b", "c"]


def test_nodes_of_sub_queries_are_not_ones_own():
    nodes = own_nodes(read("SUM(n) + (SELECT MAX(n) FROM g)"), exp.AggFunc)
    assert [node.sql() for node in nodes] == ["SUM(n)"]
