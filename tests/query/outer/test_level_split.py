"""ROLLUP, CUBE and GROUPING SETS: the finest groups, and the levels above them."""

import pytest
import sqlglot

from deniable.errors import InvalidQuery
from deniable.query.outer.level_split import has_levels, split_levels


def split(text):
    return split_levels(sqlglot.parse_one(text, dialect="duckdb"))


def keys(parts):
    names = []
    for level in parts.levels:
        group = level.args.get("group")
        names.append([] if group is None else [key.name for key in group.expressions])
    return names


@pytest.mark.parametrize(
    ("group", "levels"),
    [
        ("ROLLUP (a, b)", [["a", "b"], ["a"], []]),
        ("CUBE (a, b)", [["a", "b"], ["a"], ["b"], []]),
        ("GROUPING SETS ((a, b), a, ())", [["a", "b"], ["a"], []]),
        ("a, ROLLUP (b, c)", [["a", "b", "c"], ["a", "b"], ["a"]]),
        ("ROLLUP ((a, b), c)", [["a", "b", "c"], ["a", "b"], []]),
        ("ROLLUP (a), ROLLUP (b)", [["a", "b"], ["a"], ["b"], []]),
        ("GROUPING SETS (ROLLUP (a, b), (c))", [["a", "b"], ["a"], ["c"], []]),
        ("ROLLUP (1, 2)", [["a", "b"], ["a"], []]),
        ("a, b WITH ROLLUP", [["a", "b"], ["a"], []]),
    ],
)
def test_the_sets_of_keys(group, levels):
    assert keys(split(f"SELECT a, b, c, COUNT(*) AS n FROM t GROUP BY {group}")) == levels


def test_averages_are_sums_over_counts():
    parts = split("SELECT a, ROUND(AVG(x), 1) AS m, SUM(x) AS s FROM t GROUP BY ROLLUP (a)")
    assert parts.finest.sql() == (
        "SELECT a AS a, SUM(x) AS part_0, COUNT(x) AS part_1 FROM t GROUP BY a"
    )
    assert parts.levels[1].sql() == (
        "SELECT NULL AS a, ROUND((SUM(part_0) / NULLIF(SUM(part_1), 0)), 1) AS m, "
        "SUM(part_0) AS s"
    )


def test_columns_beat_aliases_of_the_same_name():
    parts = split("SELECT b AS a, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b)")
    assert (
        parts.finest.sql() == "SELECT a AS a, b AS a_, COUNT(*) AS part_0 FROM t GROUP BY a, b"
    )
    assert keys(parts) == [["a", "a_"], ["a"], []]
    assert [level.expressions[0].sql() for level in parts.levels] == [
        "a_ AS a",
        "NULL AS a",
        "NULL AS a",
    ]
    parts = split("SELECT a * a AS a, COUNT(*) AS n FROM t GROUP BY ROLLUP (a)")
    assert parts.finest.sql() == "SELECT a AS a, COUNT(*) AS part_0 FROM t GROUP BY a"


def test_after_all_levels_aliases_beat_columns():
    parts = split("SELECT a AS b, b AS a, SUM(x) AS s FROM t GROUP BY CUBE (a, b) ORDER BY a")
    assert parts.order.expressions[0].this.name == "a"


@pytest.mark.parametrize("aggregate", ["COUNT(DISTINCT x)", "MEDIAN(x)", "MAX(x)"])
def test_what_does_not_add_up_is_asked_at_each_level(aggregate):
    parts = split(f"SELECT a, {aggregate} AS v FROM t GROUP BY ROLLUP (a)")
    assert parts.finest is None
    assert [level.sql() for level in parts.levels] == [
        f"SELECT a AS a, {aggregate} AS v FROM t GROUP BY a",
        f"SELECT NULL AS a, {aggregate} AS v FROM t",
    ]


def test_grouping_says_which_keys_are_missing():
    parts = split("SELECT a, b, GROUPING(a, b) AS g, COUNT(*) AS n FROM t GROUP BY CUBE (a, b)")
    told = [
        next(e.this.this for e in level.expressions if e.alias == "g") for level in parts.levels
    ]
    assert told == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT a, COUNT(*) FROM t GROUP BY ROLLUP (a)",
        "SELECT a, SUM(COUNT(*)) OVER () FROM t GROUP BY ROLLUP (a)",
        "SELECT a, COUNT(*) FROM t GROUP BY ROLLUP (a) ORDER BY x",
        "SELECT a, COUNT(*) FROM t GROUP BY CUBE (a, b, c, d, e, f, g)",
    ],
)
def test_what_is_not_supported_is_said(text):
    with pytest.raises(InvalidQuery):
        split(text)


def test_plain_groups_have_no_levels():
    assert not has_levels(sqlglot.parse_one("SELECT a FROM t GROUP BY a, b"))
    assert not has_levels(sqlglot.parse_one("SELECT a FROM t"))
