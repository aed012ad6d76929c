"""What a release says beside its numbers: why it is empty, and what a large epsilon means."""

import pyarrow as pa
import pytest

import deniable as dp

RARE = pa.table({"who": range(60), "code": [f"c{i}" for i in range(60)]})
LIMITS = {"unit": "who", "max_groups_per_unit": 1, "max_rows_per_unit_per_group": 1}


@pytest.fixture(scope="module")
def data():
    declared = {"keys": {"code": ["c1", "c2"]}}
    with dp.protect(RARE, epsilon=1000, delta=1e-6, **declared, **LIMITS) as opened:
        yield opened


def test_an_answer_without_groups_says_why_and_what_would_help():
    with dp.protect(RARE, epsilon=9, delta=1e-6, **LIMITS) as data:
        answer = data.sql("SELECT code, COUNT(*) AS n FROM data GROUP BY code", epsilon=1)
    assert len(answer) == 0
    threshold = answer.plan.thresholding.threshold
    assert f"its noisy number of units is above {threshold}. What would help:" in str(answer)


def test_having_that_no_group_passes_is_named(data):
    question = "SELECT code, COUNT(*) AS n FROM data GROUP BY code HAVING COUNT(*) > 10000"
    answer = data.sql(question, epsilon=1)
    assert "No group is shown: none passes HAVING." in answer.warnings


def test_an_answer_with_groups_says_nothing_of_the_kind(data):
    answer = data.sql("SELECT code, COUNT(*) AS n FROM data GROUP BY code", epsilon=10)
    assert len(answer) == 2
    assert "No group" not in str(answer)
    assert "hardly protects" not in str(answer)


def test_an_epsilon_above_ten_is_answered_with_a_warning_in_odds(data):
    answer = data.sql("SELECT COUNT(*) AS n FROM data", epsilon=11)
    assert "epsilon 11 hardly protects" in str(answer)
    assert "by 5.99e+04; at epsilon 1, by 2.72." in str(answer)
    assert data.sql("SELECT COUNT(*) AS n FROM data", epsilon=800).warnings
