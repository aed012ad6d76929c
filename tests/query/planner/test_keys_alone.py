"""Which questions ask for declared keys and for nothing else."""

import pytest

from deniable.query.language.parse import parse
from deniable.query.planner.keys_alone import plan_keys_alone
from tests.query import town
from tests.query.hospital import policy


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT ward FROM visits GROUP BY ward", 3),
        ("SELECT DISTINCT ward FROM visits", 3),
        ("SELECT ward FROM visits GROUP BY ward HAVING ward > 'A'", 3),
    ],
)
def test_declared_keys_make_a_plan_without_statements(sql, count):
    plan = plan_keys_alone(parse(sql), policy())
    assert (plan.epsilon, plan.delta, plan.statements, plan.blocks) == (0, 0, (), ())
    assert len(plan.keys[0].values) == count


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 1",
        "SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(*)",
        "SELECT ward FROM visits WHERE cost > 1 GROUP BY ward",
        "SELECT ward FROM visits JOIN bills USING (patient) GROUP BY ward",
        "SELECT floor FROM wards GROUP BY floor",
        "SELECT note FROM visits GROUP BY note",
        "SELECT patient FROM visits GROUP BY patient",
        "SELECT cost FROM visits",
        "SELECT COUNT(*) FROM visits",
    ],
)
def test_other_questions_are_not_free(sql):
    assert plan_keys_alone(parse(sql), town.policy()) is None
