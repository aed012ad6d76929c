"""Comparisons of different kinds: cast as DuckDB casts them, or refused with what runs."""

import re

import duckdb
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

ROWS = pa.table(
    {
        "whole": [1, 2, 5, None],
        "real": [1.5, 2.0, 5.0, None],
        "text": ["5", "7", "5.0", None],
        "flag": [True, False, None, True],
    }
)
DECLARED = {"bounds": {"whole": (0, 9), "real": (0, 9)}, "kind": {"text": "text"}}
# As DuckDB answers them; it fails on a text like 'x', which is NULL here.
SAME = ["text = 5", "text <> 5", "5 = text", "text IN (5, 6)", "text = 7.0", "whole = '5'"]
SAME += ["flag = 1", "flag > 0", "flag IN (0, 1)", "flag = 'true'", "flag <> 'FALSE'"]
SAME += ["whole BETWEEN '1' AND '4'", "NOT text = 5", "whole = CAST(text AS INTEGER)"]
SAME += ["'5' = 5", "'5' < 5", "6 IN ('5', 6)"]
MENDED = {
    "text > 5": "(CAST(text AS DOUBLE) > 5)",
    "real > '1.5'": "(real > 1.5)",
    "whole + '1' > 2": "(whole + 1)",
    "text * 2 > 4": "(CAST(text AS DOUBLE) * 2)",
    "CLAMP(text, 0, 5) > 1": "CLAMP(CAST(text AS DOUBLE), 0, 5)",
    "text + text = '55'": "(text || text)",
}


@pytest.fixture(scope="module")
def session():
    with dp.protect(ROWS, name="data", epsilon=10**9, **DECLARED) as opened:
        yield opened


@pytest.mark.parametrize("condition", SAME)
def test_casts_are_those_of_duckdb(session, condition):
    sql = f"SELECT COUNT(*) AS n FROM data WHERE {condition}"
    with duckdb.connect() as plain:
        plain.register("data", ROWS)
        (expected,) = plain.execute(sql).fetchone()
    assert session.sql(sql, epsilon=10**6)["n"][0] == expected


def test_a_text_that_is_no_number_is_null(session):
    odd = "SELECT COUNT(*) AS n FROM data WHERE text || 'x' = 5 OR text || 'x' <> 5"
    assert session.sql(odd, epsilon=10**6)["n"][0] == 0


@pytest.mark.parametrize("condition", MENDED)
def test_what_is_refused_says_what_runs(condition):
    schema = {"whole": "BIGINT", "real": "DOUBLE", "text": "VARCHAR", "flag": "BOOLEAN"}
    known = Policy([Table.declare("data", **DECLARED).with_schema(schema)], epsilon=9)
    instead = MENDED[condition]
    with pytest.raises(InvalidQuery, match=re.escape(f"write {instead}.")):
        plan(parse(f"SELECT COUNT(*) FROM data WHERE {condition}"), known, epsilon=1)
    part = instead if " > " in instead else f"{instead} IS NULL"
    assert plan(parse(f"SELECT COUNT(*) FROM data WHERE {part}"), known, epsilon=1)
