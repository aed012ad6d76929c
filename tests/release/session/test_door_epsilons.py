"""Every aggregate answers at every epsilon: no noise is too narrow, or too wide, to compute."""

import itertools

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery

ROWS = 60
TABLE = pa.table(
    {
        "p": [i // 2 for i in range(ROWS)],
        "x": [float(i % 20) for i in range(ROWS)],
        "y": [float((i * 7) % 30) for i in range(ROWS)],
        "k": ["abc"[i % 3] for i in range(ROWS)],
        "b": [i % 5 == 0 for i in range(ROWS)],
    }
)
EPSILONS = ["1e-12", "1e-6", "0.1", "10", "800", "1e5", "1e8", "1e12"]
# What is asked, and the answer.
ASKED = {
    "COUNT(*)": 60,
    "SUM(x)": 570,
    "AVG(x)": 9.5,
    "VAR_POP(x)": 33.25,
    "STDDEV_POP(x)": 33.25**0.5,
    "COUNT(*) FILTER (WHERE b) / COUNT(*)": 0.2,
    "SUM(x) / COUNT(*)": 9.5,
    "SUM(x) - SUM(y)": -300,
    "AVG(x) / AVG(y)": 9.5 / 14.5,
    "AVG(b)": 0.2,
    "SQRT(AVG(x))": 9.5**0.5,
    "1.0 / COUNT(*)": 1 / 60,
    "POWER(SUM(x), 2)": 570**2,
    "COVAR_POP(x, y)": None,
    "CORR(x, y)": None,
    "REGR_SLOPE(x, y)": None,
    "MEDIAN(x)": None,
    "MAX(x)": None,
    "QUANTILE(x, 0.1), QUANTILE(x, 0.3), QUANTILE(x, 0.6), QUANTILE(x, 0.8)": None,
    "MODE(k)": None,
    "TOP_K(k, 2)": None,
    "COUNT(DISTINCT k)": 3,
    "HISTOGRAM(x, 4)": None,
}
POLICIES = {
    "rows": {},
    "people": {"unit": "p", "max_groups_per_unit": 3, "max_rows_per_unit_per_group": 2},
}


def session(who: str, relation: str):
    return dp.protect(
        TABLE,
        bounds={"x": (0, 20), "y": (0, 30)},
        step={"x": 0.5},
        keys={"k": ["a", "b", "c"]},
        epsilon=10**17,
        delta=0.5,
        neighbors=relation,
        **POLICIES[who],
    )


def test_every_aggregate_is_answered_at_every_epsilon(size):
    few = size(small=1, full=4, what="policies, each with every aggregate at every epsilon")
    policies = [(who, relation) for relation in ("add-remove", "replace") for who in POLICIES]
    questions = [(aggregate, key) for aggregate in ASKED for key in ("", "k", "b")]
    if few == 1:
        questions = [(", ".join(ASKED), "")]
    for policy, epsilon in itertools.product(
        policies[:few], EPSILONS if few > 1 else EPSILONS[1::4]
    ):
        people = session(*policy)
        for aggregate, key in questions:
            by = (
                f"{key}, {aggregate} FROM data GROUP BY {key}"
                if key
                else f"{aggregate} FROM data"
            )
            try:
                plan = people.plan(f"SELECT {by}", epsilon=float(epsilon), delta=1e-9)
            except InvalidQuery:  # before the charge: the noise would be too large to draw
                assert float(epsilon) < 1e-5
                continue
            answer = people.release(plan)
            assert len(answer) == {"": 1, "k": 3, "b": 2}[key], (aggregate, epsilon)
            assert str(answer)
            assert answer.to_json()


@pytest.mark.parametrize("epsilon", [1e12])
def test_with_almost_no_noise_answers_are_right(epsilon):
    people = session("rows", "add-remove")
    for aggregate, truth in ASKED.items():
        if truth is not None:
            answer = people.sql(f"SELECT {aggregate} AS a FROM data", epsilon=epsilon)
            assert answer.value == pytest.approx(truth, rel=1e-3), aggregate
            assert answer.margin == 0, aggregate


def test_a_narrow_noise_beside_a_wide_one_has_a_margin():
    """The variance of the count's noise is far below the least double."""
    people = session("rows", "add-remove")
    sql = "SELECT SUM(y) / COUNT(b) AS a, SUM(y) - COUNT(b) AS b FROM data"
    answer = people.sql(sql, epsilon=10**4).to_arrow().to_pylist()[0]
    assert answer["a"] == pytest.approx(14.5, abs=0.01)
    assert 1e-6 < answer["a_margin"] < 1e-2
    assert 60 * answer["a_margin"] == pytest.approx(answer["b_margin"], rel=0.05)
