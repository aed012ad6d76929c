"""A value about other people is released first, in one charge with what it is used for."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp

ABOVE = "SELECT COUNT(*) AS n FROM staff WHERE salary > (SELECT AVG(salary) FROM staff)"


def protect(salary=None, **options):
    draw = np.random.default_rng(3)
    values = draw.integers(0, 5000, 2000) if salary is None else salary
    rows = pa.table(
        {"id": np.arange(len(values)), "salary": values, "dept": ["a"] * len(values)}
    )
    given = {"unit": "id", "epsilon": 10**7, "bounds": {"salary": (0, 5000)}, **options}
    return dp.protect(rows, name="staff", keys={"dept": ["a", "b"]}, **given), values


def test_the_answer_is_that_of_the_constant():
    data, values = protect()
    answer = data.sql(ABOVE, epsilon=10**5)
    assert answer.value == int((values > values.mean()).sum())
    assert data.remaining.epsilon == 10**7 - 10**5
    assert f"used as {values.mean():,.1f}"[:12] in str(answer)


def test_the_split_is_fixed_before_and_the_run_is_charged_once():
    data, _ = protect(epsilon=3)
    told = str(data.explain(ABOVE, epsilon=2))
    assert told.count("50 % of epsilon") == 2
    assert data.remaining.epsilon == 3
    answer = data.sql(ABOVE, epsilon=2)
    assert data.remaining.epsilon == 1
    assert answer.plan.epsilon == 1
    run = answer.certificate.statement["ledger"]["run"]
    assert (run["step"], Fraction(run["epsilon"])) == (2, 2)
    assert dp.verify(answer.to_json()).checks
    again = data.sql(ABOVE, epsilon=2)
    assert again.repeated
    assert again.to_arrow() == answer.to_arrow()
    assert data.remaining.epsilon == 1


def test_too_little_budget_for_both_steps_spends_nothing():
    data, _ = protect(epsilon=1)
    with pytest.raises(dp.BudgetExhausted):
        data.sql(ABOVE, epsilon=1.5)
    assert data.remaining.epsilon == 1


def test_a_constant_that_is_not_defined_is_the_middle_of_its_range():
    data, _ = protect(salary=np.array([], dtype=np.int64))
    used = set()
    for _ in range(12):
        text = str(data.sql(ABOVE, epsilon=0.2, fresh=True))
        used.add(text.partition("used as ")[2].partition(" ")[0])
    assert used  # whatever the noise: an answer comes out


def test_the_constant_stays_in_its_range():
    data, _ = protect(salary=np.full(3, 5000))
    for _ in range(12):
        text = str(data.sql(ABOVE, epsilon=0.2, fresh=True))
        shown = text.partition("used as ")[2].split()[0].rstrip(".").replace(",", "")
        assert 0 <= float(shown) <= 5000


def test_constants_of_groups_and_inside_aggregates():
    data, values = protect()
    text = (
        "SELECT dept, SUM(CASE WHEN salary > (SELECT MEDIAN(salary) FROM staff) THEN 1 ELSE 0 "
        "END) AS n FROM staff GROUP BY dept ORDER BY dept"
    )
    answer = data.sql(text, epsilon=10**5)
    assert abs(answer.to_arrow()["n"][0].as_py() - len(values) / 2) <= 5


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM staff AS s WHERE salary > "
        "(SELECT AVG(salary) FROM staff AS t WHERE t.dept = s.dept)",
        "SELECT COUNT(*) FROM staff WHERE dept = (SELECT MODE(dept) FROM staff)",
        "SELECT COUNT(*) FROM staff WHERE salary > (SELECT salary FROM staff)",
        "SELECT COUNT(*) FROM staff WHERE salary IN (SELECT AVG(salary) FROM staff)",
    ],
)
def test_what_is_no_constant_is_refused_and_costs_nothing(text):
    data, _ = protect()
    with pytest.raises(dp.InvalidQuery):
        data.sql(text, epsilon=1)
    assert data.remaining.epsilon == 10**7


def test_a_margin_cannot_be_asked_for():
    data, _ = protect()
    with pytest.raises(dp.InvalidQuery):
        data.sql(ABOVE, margin=50)


@pytest.mark.parametrize(
    "text",
    [
        # groups that are known for whole constants only
        "SELECT LEAST(salary, (SELECT AVG(salary) FROM staff)) AS q, COUNT(*) AS n FROM staff "
        "GROUP BY q",
        # a constant that may be 0
        "SELECT SUM(salary / (SELECT MIN(salary) FROM staff)) AS s FROM staff",
    ],
)
def test_what_some_constants_make_impossible_is_refused_before_the_charge(text):
    data, _ = protect(np.arange(-10, 11), bounds={"salary": (-10, 20)}, epsilon=3)
    with pytest.raises(dp.InvalidQuery):
        data.sql(text, epsilon=1)
    assert data.remaining.epsilon == 3
