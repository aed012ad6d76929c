"""Before a join of private tables, a unit keeps a limited number of rows."""

import re

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from deniable.query.relations import joins
from tests.engines.contract import exact

SELF_JOIN = "SELECT COUNT(*) AS n FROM data AS a JOIN data AS b ON a.id = b.id"


def known(relation="add-remove", groups=1, rows=10**6):
    limits = {"max_groups_per_unit": groups, "max_rows_per_unit_per_group": rows}
    declared = Table.declare(
        "data", unit="id", bounds={"x": (-9, 9)}, neighbors=relation, **limits
    )
    return Policy([declared.with_schema({"id": "BIGINT", "x": "DOUBLE"})], epsilon=9)


def plan_question(sql, **limits):
    return plan(parse(sql), known(**limits), epsilon=1)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_one_unit_with_very_many_rows_makes_few_joined_rows(monkeypatch, relation):
    monkeypatch.setattr(joins, "_MOST", 50)
    many = pa.table({"id": [1] * 30_000 + [2] * 3, "x": [0.5] * 30_003})
    with DuckDB.open({"data": many}) as engine:
        assert exact(engine.run(plan_question(SELF_JOIN, relation=relation)))[0] == [
            (50 * 50 + 9,)
        ]
        three = SELF_JOIN + " JOIN data AS c ON b.id = c.id"
        assert exact(engine.run(plan_question(three, relation=relation)))[0] == [
            (50 * 50 + 27,)
        ]


@pytest.mark.parametrize(
    ("limits", "most"), [((1, 1), 1_000), ((40, 50), 2_000), ((1, 10**6), 10_000)]
)
def test_the_plan_states_how_many_rows_are_kept(limits, most):
    query_plan = plan_question(SELF_JOIN, groups=limits[0], rows=limits[1])
    assert re.findall(r"place <= (\d+)", query_plan.engine_sql) == [str(most)] * 2
    note = f"Tables are joined with at most {most:,} rows of one id each"
    assert any(line.startswith(note) for line in query_plan.notes)


PER_PERSON = "(SELECT id, SUM(x) AS s FROM data GROUP BY id) AS b"


@pytest.mark.parametrize(
    "source",
    [
        "data AS a",
        f"data AS a JOIN {PER_PERSON} ON a.id = b.id",
        f"{PER_PERSON} JOIN data AS a ON a.id = b.id",
        "data AS a WHERE EXISTS (SELECT 1 FROM data AS b WHERE b.id = a.id AND b.x > 1)",
        "data AS a SEMI JOIN data AS b ON b.id = a.id",
        "(SELECT id FROM data UNION ALL SELECT id FROM data)",
    ],
)
def test_where_rows_do_not_multiply_there_is_no_such_limit(source):
    query_plan = plan_question(f"SELECT COUNT(*) AS n FROM {source}")
    assert "place" not in query_plan.engine_sql
    assert not any("joined" in note for note in query_plan.notes)


def test_rows_are_chosen_by_themselves_and_not_by_their_order(monkeypatch):
    """Duplicates, both zeros, NaN and NULL among the rows of one unit, in any order."""
    monkeypatch.setattr(joins, "_LEAST", 4)
    values = [0.0, -0.0, None, 1.5, 1.5, np.nan, 7.25, -3.0, 0.0, -0.0, 2.0]
    sql = (
        "SELECT COUNT(*) AS n, SUM(a.x) AS s, SUM(CASE WHEN CAST(b.x AS TEXT) = '-0.0' THEN 1 "
        "END) AS z FROM data AS a JOIN data AS b ON a.id = b.id AND (a.x < b.x OR b.x IS NULL "
        "OR b.x = 0)"
    )
    query_plan, answers = plan_question(sql, rows=2), set()
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(values))
        shuffled = pa.table({"id": [1] * len(values), "x": [values[i] for i in order]})
        with DuckDB.open({"data": shuffled}) as engine:
            engine._salt = 2**62 + 77
            answers.add(repr(exact(engine.run(query_plan))))
    assert len(answers) == 1
