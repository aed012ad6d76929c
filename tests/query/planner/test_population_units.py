import pytest

from deniable.errors import InvalidQuery
from deniable.policy import Column, Table
from deniable.query.language.parse import parse
from deniable.query.language.syntax_tree import Aggregate, ColumnRef, Derived
from deniable.query.planner.population_units import about_units, keys_of, ratio_of

TABLE = Table("visits", unit="id", columns={"ward": Column("ward")})


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward AS w, SUM(cost) AS s FROM visits GROUP BY w",
        "SELECT ward, SUM(cost) AS s FROM visits GROUP BY 1",
        "SELECT ward, SUM(cost) AS s FROM visits GROUP BY ALL",
    ],
)
def test_keys_are_columns_whatever_they_are_called(text):
    assert [key.name for key in keys_of(parse(text), TABLE)] == ["ward"]


def test_ratios_are_sums_over_sums_or_counts():
    outputs = parse("SELECT SUM(a) / COUNT(b), MIN(a) / COUNT(b), SUM(a) / 2 FROM v").outputs
    ratio, other, scaled = (ratio_of(output.expression) for output in outputs)
    assert ratio == (Aggregate("sum", ColumnRef("a")), Aggregate("count", ColumnRef("b")))
    assert other is scaled is None


def test_each_unit_is_one_row_of_each_group():
    question = parse("SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 1 GROUP BY ward")
    inner = {Aggregate("count", None): "(a0)"}
    outputs = [question.outputs[0]]
    widened = about_units(question, TABLE, outputs, inner)
    assert isinstance(widened.table, Derived)
    units = widened.table.query
    assert [named.name for named in units.keys] == ["(u)", "ward"]
    assert units.where == question.where
    assert widened.where is None
    with pytest.raises(InvalidQuery, match="is not one of them"):
        about_units(parse("SELECT cost FROM visits"), TABLE, question.outputs[:1], inner)
