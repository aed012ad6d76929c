"""Reading sub-queries: the work grows with the text, not with two to its depth."""

import pytest

from deniable.errors import InvalidQuery
from deniable.query.language import sql_selects
from deniable.query.language.parse import parse

NESTED = {
    "in": "cost IN (SELECT floor FROM wards WHERE floor > 0 AND {})",
    "exists": "EXISTS (SELECT 1 FROM wards WHERE {})",
    "a value": "cost > (SELECT MAX(floor) FROM wards WHERE {})",
    "of two tables": "cost IN (SELECT floor FROM wards, w WHERE wards.a = w.a AND {})",
}


@pytest.mark.parametrize("shape", NESTED)
def test_each_sub_query_is_read_once(monkeypatch, shape):
    met, selection = [], sql_selects.read_selection

    def counted(node):
        met.append(node)
        assert len(met) <= 12, "a sub-query was read twice"
        return selection(node)

    monkeypatch.setattr(sql_selects, "read_selection", counted)
    condition = "TRUE"
    for _ in range(12):
        condition = NESTED[shape].format(condition)
    parse(f"SELECT COUNT(*) FROM visits WHERE {condition}")
    assert len(met) == 12


def test_a_part_that_is_repeated_before_a_sub_query_is_counted():
    part = "cost"
    for _ in range(16):
        part = f"(CASE WHEN {part} BETWEEN 0 AND 1 THEN 1 ELSE 0 END)"
    with pytest.raises(InvalidQuery, match="repeats parts of itself"):
        parse(f"SELECT COUNT(*) FROM visits WHERE {part} IN (SELECT floor FROM wards)")


@pytest.mark.parametrize("word", ["EXCEPT", "INTERSECT"])
def test_sides_that_are_compared_have_as_many_columns(word):
    text = f"SELECT COUNT(*) FROM (SELECT id, ward FROM t {word} SELECT id FROM t)"
    with pytest.raises(
        InvalidQuery, match=f"{word} need the same number of columns. Found 2 and 1"
    ):
        parse(text)
