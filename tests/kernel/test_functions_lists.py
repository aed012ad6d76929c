"""Lists and JSON of a source: what the kernel refuses that could fail, or count too often."""

from dataclasses import replace

import pytest

from deniable.errors import PlanRefused
from deniable.kernel.verdict import check_plan
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.kernel.declared import facts_of
from tests.query import lists

KNOWN = lists.policy()
LISTED = "SELECT code, COUNT(*) AS n FROM rows, UNNEST(codes) AS u(code) GROUP BY code"
ADDED = "SELECT SUM(o) AS s FROM rows, UNNEST(odd) AS u(o)"
ELEMENT = "LIST_EXTRACT(d1, place)"
JSON = "SELECT COUNT(*) AS n FROM notes WHERE note ->> '$.kind' = 'a'"
TIED = (
    "SELECT COUNT(*) AS n FROM (SELECT patient, scores FROM visits QUALIFY ROW_NUMBER() OVER "
    "(PARTITION BY patient ORDER BY ward) = 1), UNNEST(scores) AS u(s) WHERE POWER(s, -1) > 0"
)
# The question, what is changed in its statement, and what the kernel says.
HOSTILE = {
    "a place twice": (LISTED, "UNNEST([1, 2])", "UNNEST([1, 1])", "may be the same"),
    "a row for each element of the list": (
        LISTED,
        "UNNEST([1, 2])",
        'UNNEST("codes")',
        "not written down",
    ),
    "rows are spread otherwise": (LISTED, "UNNEST([1, 2])", "EXPLODE_OUTER([1, 2])", "No rule"),
    "rows are spread with numbers": (
        LISTED,
        "UNNEST([1, 2])",
        "POSEXPLODE([1, 2])",
        "canonical",
    ),
    "an element as it is": (
        ADDED,
        "TRY_CAST(d3 AS DOUBLE)",
        "d3",
        "integers in a range|no rule|wrong type|types",
    ),
    "an element of a text": (
        LISTED,
        ELEMENT,
        "LIST_EXTRACT(place, place)",
        "not a list",
    ),
    "another function of lists": (
        LISTED,
        ELEMENT,
        "LIST_AGGREGATE(d1, place)",
        "No rule",
    ),
    "a place that is a text": (
        LISTED,
        ELEMENT,
        "LIST_EXTRACT(d1, 'a')",
        "not a small integer",
    ),
    "a place that is too large": (
        LISTED,
        ELEMENT,
        "LIST_EXTRACT(d1, CAST(place AS BIGINT))",
        "a small integer",
    ),
    "the sign of a zero in lists that tie": (
        TIED,
        "POWER((c2 + CAST(0.0 AS DOUBLE))",
        "POWER(c2",
        "either sign",
    ),
    "a length of no list": (LISTED, "ARRAY_LENGTH(d1)", "ARRAY_LENGTH(place)", "not a list"),
    "a list as a text": (LISTED, ELEMENT, "TRY_CAST(d1 AS TEXT)", "no rule"),
    "a path in what may be no JSON": (JSON, "TRY_CAST(c0 AS JSON)", "c0", "may not be JSON"),
    "a cast to JSON that may fail": (
        JSON,
        "TRY_CAST(c0 AS JSON)",
        "CAST(c0 AS JSON)",
        "No rule",
    ),
    "a path of the row": (JSON, "->> '$.kind'", "->> c0", "other steps"),
    "a path to many values": (JSON, "->> '$.kind'", "->> '$[*]'", "other steps"),
    "a part of JSON": (JSON, "->> '$.kind'", "-> '$.kind'", "No rule"),
}


@pytest.mark.parametrize("change", HOSTILE)
def test_hostile_changes_are_refused(change):
    text, before, after, why = HOSTILE[change]
    planned = plan(parse(text), KNOWN, epsilon=1)
    assert check_plan(planned, facts_of(KNOWN)).parts
    assert before in planned.engine_sql
    hostile = replace(planned, engine_sql=planned.engine_sql.replace(before, after))
    with pytest.raises(PlanRefused, match=why):
        check_plan(hostile, facts_of(KNOWN))
