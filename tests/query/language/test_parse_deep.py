"""Texts of every shape that nests: each is planned or refused with work that its length bounds.

What is counted is calls of functions, not time, and counting stops at the limit: whatever grows
with two to the depth fails here and does not hang.
"""

import sys

import pytest

from deniable.errors import DeniableError, InvalidQuery
from deniable.query.language.parse import parse
from deniable.query.planner.request import make_plan
from tests.query.town import policy

_MOST_CALLS = 10_000_000  # what is answered takes a third of it, what doubles far more

CONDITIONS = {
    "value between": "(SELECT MAX(floor) FROM wards WHERE {}) BETWEEN 0 AND 1",
    "case of a value": "CASE (SELECT MAX(floor) FROM wards WHERE {}) WHEN 1 THEN TRUE END",
    "value in a list": "(SELECT MAX(floor) FROM wards WHERE {}) IN (1, 2)",
    "two of exists": "(EXISTS (SELECT 1 FROM wards WHERE {}) OR EXISTS (SELECT 1 FROM wards))",
    "exists of a sub-query": "EXISTS (SELECT 1 FROM (SELECT floor FROM wards WHERE {}) AS s)",
    "in selected": "1 IN (SELECT CASE WHEN {} THEN 1 ELSE 0 END FROM wards)",
    "in of in": "(CASE WHEN {} THEN 1 ELSE 0 END) IN (SELECT floor FROM wards)",
    "in on": "EXISTS (SELECT 1 FROM wards AS a JOIN wards AS b ON {})",
    "case between": "(CASE WHEN {} THEN 1 ELSE 0 END) BETWEEN 0 AND 1",
    "is true": "({}) IS TRUE",
    "rows in rows": "(CASE WHEN {} THEN 1 ELSE 0 END, 2) IN ((1, 2), (3, 4))",
    "any": "(CASE WHEN {} THEN 1 ELSE 0 END) = ANY ([1, 2])",
    "if": "IF({}, FALSE, TRUE)",
}
NUMBERS = {
    "square root": "SQRT({})",
    "power": "POWER({}, 20)",
    "cube": "POWER({}, 3)",
    "product": "({0} * {0})",
    "large": "({} * 1e30)",
    "small": "({} / 1e30)",
    "quotient": "({} // 1e-30)",
    "clamp": "CLAMP({}, 0, 9)",
    "case": "CASE {} WHEN 1 THEN 1 ELSE 2 END",
    "cast": "CAST(CAST({} AS TEXT) AS INTEGER)",
    "logarithm": "LN({})",
    "exponential": "EXP({})",
    "part of a date": "YEAR(CAST({} AS DATE))",
}
SELECTED = {
    "columns": "SELECT patient, cost FROM {} AS s",
    "doubled": "SELECT patient, cost + cost AS cost FROM {} AS s",
    "squared": "SELECT patient, cost * cost AS cost FROM {} AS s",
    "raised": "SELECT patient, POWER(cost, 20) AS cost FROM {} AS s",
    "summed": "SELECT patient, SUM(cost) + SUM(cost) AS cost FROM {} AS s GROUP BY patient",
    "squares summed": "SELECT patient, SUM(cost * cost) AS cost FROM {} AS s GROUP BY patient",
    "variances": "SELECT patient, VAR_POP(cost) AS cost FROM {} AS s GROUP BY patient",
    "having": "SELECT patient, MAX(cost) AS cost FROM {} AS s GROUP BY patient HAVING cost > 1",
    "distinct": "SELECT DISTINCT patient, cost FROM {} AS s",
    "united": "SELECT patient, cost FROM {} AS s UNION ALL SELECT patient, cost FROM visits",
    "joined": "SELECT s.patient, cost FROM {} AS s JOIN bills AS b ON s.patient = b.patient",
}
CHAINS = {  # each step refers twice to the one before
    "unions": "SELECT cost, ward FROM {0} UNION ALL SELECT cost, ward FROM {0}",
    "in": "SELECT cost, ward FROM {0} WHERE cost IN (SELECT cost FROM {0})",
    "value": "SELECT cost, (SELECT MAX(ward) FROM {0}) AS ward FROM {0}",
    "joins": "SELECT a.cost, b.ward FROM {0} AS a JOIN {0} AS b ON a.ward = b.ward",
    "sums": "SELECT cost + cost AS cost, ward FROM {0}",
}


def nested(template, depth, core):
    for _ in range(depth):
        core = template.replace("{0}", core).replace("{}", core)
    return core


def bounded(text):
    """Plans a text, or sees it refused, with few calls."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event == "call"
        if calls > _MOST_CALLS:
            raise AssertionError(f"too much work for {len(text)} characters: {text[:200]}")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        plan = make_plan(text, policy(), epsilon=1)
    except DeniableError as refusal:
        plan, told = None, str(refusal)
    finally:
        sys.setprofile(before)
    if plan is None:
        assert len(told) < 3000
        return None
    assert max(len(statement.sql) for statement in plan.statements) < 500_000
    return plan


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", CONDITIONS)
@pytest.mark.parametrize("depth", [6, 25])
def test_conditions(shape, depth):
    condition = nested(CONDITIONS[shape], depth, "TRUE")
    bounded(f"SELECT COUNT(*) AS n FROM visits WHERE {condition}")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", NUMBERS)
@pytest.mark.parametrize("depth", [4, 14])
def test_numbers(shape, depth):
    bounded(f"SELECT SUM({nested(NUMBERS[shape], depth, 'cost')}) AS s FROM visits")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", SELECTED)
@pytest.mark.parametrize("depth", [8, 24])
def test_sub_queries_in_from(shape, depth):
    source = nested(f"({SELECTED[shape]})", depth, "visits")
    bounded(f"SELECT SUM(cost) AS s FROM {source} AS s")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", CHAINS)
@pytest.mark.parametrize("depth", [3, 25])
def test_chains_of_with(shape, depth):
    links = ["a0 AS (SELECT floor AS cost, ward FROM wards)"]
    links += [f"a{i + 1} AS ({CHAINS[shape].format(f'a{i}')})" for i in range(depth)]
    bounded(
        f"WITH {', '.join(links)} SELECT COUNT(*) AS n FROM visits "
        f"JOIN a{depth} ON a{depth}.ward = visits.ward"
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(cost) AS a FROM visits HAVING " + "(" * 40 + "a" + " + a)" * 40 + " > 1",
        "SELECT SUM(cost) AS a FROM visits ORDER BY " + "(" * 40 + "a" + " + a)" * 40,
        "SELECT COUNT(*) AS n FROM visits WHERE a" + "[1]" * 5000,
        "SELECT COUNT(*) AS n FROM visits WHERE a" + " -> 'b'" * 5000,
        "SELECT COUNT(*) AS n FROM (" + "(SELECT * FROM visits UNION ALL " * 25
        + "SELECT * FROM visits" + ")" * 26,
        "SELECT " + ", ".join(f"SUM(cost + {i}) AS a{i}" for i in range(300)) + " FROM visits",
        "SELECT " + ", ".join(f"COUNT(*) AS a{i}" for i in range(1100)) + " FROM visits",
        "SELECT SUM(a1) AS s FROM (SELECT "
        + ", ".join(f"cost AS a{i}" for i in range(1100)) + " FROM visits) AS v",
        "SELECT COUNT(*) AS n FROM visits GROUP BY "
        + ", ".join(f"cost > {i}" for i in range(45)),
        "SELECT COUNT(*) AS n FROM visits ORDER BY " + ", ".join(["n"] * 1500),
        "SELECT HISTOGRAM(cost, 1000) AS a, HISTOGRAM(cost + 1, 1000) AS b, "
        "HISTOGRAM(cost + 2, 1000) AS c FROM visits",
    ],
)  # fmt: skip
def test_long_ones(text):
    bounded(text)


@pytest.mark.parametrize("number", ["1e99999999", "1e-99999999", "1e-101", "0." + "1" * 5000])
def test_numbers_that_take_no_time(number):
    with pytest.raises(InvalidQuery, match=r"too (large|many digits)"):
        parse(f"SELECT SUM(cost * {number}) AS s FROM visits")


def test_a_limit_of_very_many_digits():
    with pytest.raises(InvalidQuery, match="whole number"):
        parse(f"SELECT COUNT(*) FROM visits LIMIT {'9' * 5000}")


def test_many_cases_and_conditions_are_answered():
    cases = " ".join(f"WHEN cost > {i} THEN {i}" for i in range(200))
    either = " OR ".join(f"cost = {i}" for i in range(300))
    assert bounded(f"SELECT SUM(CASE {cases} ELSE 0 END) AS s FROM visits WHERE {either}")


def test_what_nests_too_deeply_to_be_read_is_told_so():
    text = "SELECT SUM(" + "CASE WHEN TRUE THEN " * 55 + "1" + " END" * 55 + ") FROM visits"
    with pytest.raises(InvalidQuery, match="nests too deeply to be read"):
        parse(text)


def test_groups_that_would_fill_the_memory():
    keys = ", ".join(f"cost > {i}" for i in range(30))
    with pytest.raises(InvalidQuery, match="make 1,073,741,824 groups"):
        make_plan(f"SELECT COUNT(*) AS n FROM visits GROUP BY {keys}", policy(), epsilon=1)


@pytest.mark.parametrize("number", ["1 / 3", "-2.5 / 1e30", "0 / 3", "SQRT(2) - SQRT(2)"])
def test_a_constant_off_any_grid_has_a_step(number):
    assert bounded(f"SELECT SUM({number}) AS s, AVG({number}) AS a FROM visits")
    each = f"SELECT patient, SUM({number}) AS total FROM visits GROUP BY patient"
    assert bounded(f"SELECT SUM(total) AS s FROM ({each})")


def test_limits_of_powers_are_still_numbers():
    text = "SELECT SUM(POWER(cost / 3, 20) * POWER(cost / 3, 20)) AS s FROM visits"
    plan = bounded(text)
    assert plan is not None
    with pytest.raises(DeniableError, match="has no limit"):
        make_plan(
            "SELECT SUM(POWER(POWER(cost, 20), 20)) AS s FROM visits", policy(), epsilon=1
        )
