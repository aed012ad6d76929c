from dataclasses import replace

import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit import check_plan


def test_a_plan_is_checked_outside_of_a_session():
    with dp.protect(pa.table({"x": [1.0, 2.0]}), bounds={"x": (0, 8)}, epsilon=1) as data:
        plan = data.plan("SELECT SUM(x) AS total, COUNT(*) AS n FROM data", epsilon=1)
        verdict = check_plan(plan, data.policy)
        assert [part.declared for part in verdict.parts] == [part.l1 for part in verdict.parts]
        cheaper = replace(plan, epsilon=plan.epsilon / 2)
        with pytest.raises(dp.PlanRefused, match="more than it charges"):
            check_plan(cheaper, data.policy)
