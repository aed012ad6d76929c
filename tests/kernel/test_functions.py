"""Sums over rows: what is added up, and what NULL does to it."""

from dataclasses import replace

import pytest

from deniable.errors import PlanRefused
from deniable.kernel.verdict import check_plan
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.kernel.declared import facts_of

DATA = Table.declare("data", bounds={"x": (0, 5)}).with_schema({"x": "BIGINT"})
POLICY = Policy([DATA], epsilon=5)
TOTAL = "(CAST(COALESCE(SUM(x0), 0) AS INT128))"


@pytest.mark.parametrize("text", ["SUM(x0) * 0 + COUNT(*)", "SUM(x0) + COUNT(*)"])
def test_a_sum_that_may_be_null_takes_no_other_with_it(text):
    """Of a thousand rows without x the whole is NULL, and one more row makes it 1,001."""
    honest = plan(parse("SELECT SUM(x) AS s FROM data"), POLICY, epsilon=1)
    assert TOTAL in honest.engine_sql
    assert check_plan(honest, facts_of(POLICY)).parts
    hostile = replace(honest, engine_sql=honest.engine_sql.replace(TOTAL, text))
    with pytest.raises(PlanRefused, match="not a sum over rows"):
        check_plan(hostile, facts_of(POLICY))
