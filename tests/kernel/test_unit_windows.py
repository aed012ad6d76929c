"""Windows of one unit: each is accepted as it is, and refused with one hostile change."""

from functools import cache

import pytest

from deniable.errors import PlanRefused
from deniable.kernel.verdict import check_plan
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.kernel.test_derivation import FACTS, POLICY, changed

QUESTIONS = {
    "lag": "SELECT ward, SUM(more) AS a FROM (SELECT ward, x - LAG(x) OVER (PARTITION BY unit "
    "ORDER BY y) AS more FROM data) GROUP BY ward",
    "running": "SELECT SUM(so_far) AS a, SUM(near) AS b FROM (SELECT SUM(x) OVER (PARTITION BY "
    "unit ORDER BY y) AS so_far, SUM(x) OVER (PARTITION BY unit ORDER BY y ROWS 1 PRECEDING) "
    "AS near FROM data)",
    "rank": "SELECT ward, SUM(x) AS a FROM (SELECT ward, x, RANK() OVER (PARTITION BY unit "
    "ORDER BY y) AS r FROM data) WHERE r = 1 GROUP BY ward",
    "first": "SELECT SUM(f) AS a FROM (SELECT FIRST_VALUE(x) OVER (PARTITION BY unit ORDER BY "
    "y) AS f FROM data)",
}
QUESTIONS["median"] = (
    "SELECT SUM(m) AS a FROM (SELECT unit, MEDIAN(x) AS m FROM data GROUP BY unit)"
)
RUNNING = "(PARTITION BY u ORDER BY d1 ASC)"
FRAMED = "(PARTITION BY u ORDER BY d1 ASC, d0 ASC ROWS BETWEEN 1 PRECEDING AND 0 FOLLOWING)"
LAGGED = "(PARTITION BY u ORDER BY d2 ASC, d0 ASC, d1 ASC)"
HOSTILE = {
    "a running sum of all units": ("running", RUNNING, "(ORDER BY d1 ASC)"),
    "a running sum by a column": ("running", RUNNING, "(PARTITION BY d1 ORDER BY d0 ASC)"),
    "a frame between ties": ("running", FRAMED, FRAMED.replace(", d0 ASC", "")),
    "a frame of values": ("running", FRAMED, FRAMED.replace("ROWS", "RANGE")),
    "a frame with a far end": ("running", FRAMED, FRAMED.replace("1 PREC", f"{10**9} PREC")),
    "a frame with an end by row": ("running", FRAMED, FRAMED.replace("1 PREC", "d0 PREC")),
    "a running mean of doubles": ("first", "FIRST_VALUE(d0)", "AVG(d0)"),
    "a running sum of doubles": ("first", "FIRST_VALUE(d0)", "SUM(d0)"),
    "any value": ("first", "FIRST_VALUE(d0)", "ANY_VALUE(d0)"),
    "the first of rows that tie": ("first", "ORDER BY d1 ASC, d0 ASC", "ORDER BY d1 ASC"),
    "the row before among ties": ("lag", LAGGED, LAGGED.replace(", d0 ASC, d1 ASC", "")),
    "the row before of another unit": ("lag", LAGGED, LAGGED.replace("PARTITION BY u ", "")),
    "a row at a distance by row": ("lag", "LAG(d1, 1)", "LAG(d1, d0)"),
    "a default by row": ("lag", "LAG(d1, 1)", "LAG(d1, 1, d2)"),
    "a random order": ("lag", LAGGED, "(PARTITION BY u ORDER BY RANDOM())"),
    "a rank in a frame": (
        "rank",
        "ORDER BY d2 ASC)",
        "ORDER BY d2 ASC ROWS BETWEEN 1 PRECEDING AND 0 FOLLOWING)",
    ),
    "a rank over all units": ("rank", "PARTITION BY u ORDER BY d2", "ORDER BY d2"),
    "a rank in the order of hashes": ("rank", "BY d2 ASC)", "BY HASH(d2, $salt))"),
    "a median of integers": ("median", "MEDIAN(TRY_CAST(y0 AS DOUBLE))", "MEDIAN(y0)"),
    "a median of values without a range": (
        "median",
        "MEDIAN(TRY_CAST(y0 AS DOUBLE))",
        "MEDIAN(TRY_CAST(y0 AS DOUBLE) / TRY_CAST(y0 AS DOUBLE))",
    ),
    "a median of all units": ("median", "GROUP BY u, k0) AS source", "GROUP BY k0) AS source"),
    "a part of each group": ("rank", "RANK()", "NTILE(2)"),
}


@cache
def made_for(question):
    return plan(parse(QUESTIONS[question]), POLICY, epsilon=1)


@pytest.mark.parametrize("question", QUESTIONS)
def test_windows_of_a_unit_are_accepted(question):
    assert check_plan(made_for(question), FACTS).parts


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_window_is_refused(case):
    question, old, new = HOSTILE[case]
    with pytest.raises(PlanRefused) as refusal:
        check_plan(changed(made_for(question), old, new), FACTS)
    assert "canonical" not in str(refusal.value)
    assert "cannot be checked" not in str(refusal.value)


def test_a_rank_limits_no_rows():
    """Rows that tie have the same rank, so RANK() <= 2 leaves any number of rows."""
    planned = plan(parse("SELECT ward, COUNT(*) FROM data GROUP BY ward"), POLICY, epsilon=1)
    ranked = "ROW_NUMBER() OVER (PARTITION BY u ORDER BY HASH(u, k0, $salt), k0)"
    with pytest.raises(PlanRefused):
        check_plan(changed(planned, ranked, "RANK() OVER (PARTITION BY u ORDER BY k0)"), FACTS)
