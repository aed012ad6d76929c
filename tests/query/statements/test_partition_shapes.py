"""Restricting a plan to a part is the same as taking the other rows out beforehand."""

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from deniable.query.statements.partition import restrict_to_part

DIAGNOSES = [f"d{i}" for i in range(5)]
CODES = pa.table({"d": DIAGNOSES, "name": [f"n{i % 2}" for i in range(5)]})


def rows():
    """Sixty patients, most with visits to several wards."""
    draw = np.random.default_rng(20261115)
    return pa.table(
        {
            "p": draw.integers(0, 60, 400),
            "w": ["ABC"[i] for i in draw.integers(0, 3, 400)],
            "x": draw.integers(0, 20, 400),
            "d": [DIAGNOSES[i] for i in draw.integers(0, 5, 400)],
        }
    )


ALL = rows()
LEAST = ALL.to_pandas().groupby("p").w.min()
OF_B = [row for row in ALL.to_pylist() if row["w"] == "B" and LEAST[row["p"]] == "B"]
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM data",
    "SELECT d, SUM(x) AS s, COUNT(DISTINCT p) AS u FROM data GROUP BY d",
    "SELECT COUNT(*) AS n FROM (SELECT p, x FROM data WHERE x > 3) AS t WHERE x < 15",
    "WITH t AS (SELECT p, x, d FROM data) SELECT d, AVG(x) AS a FROM t GROUP BY d",
    "WITH data AS (SELECT p, x FROM data WHERE x > 3) SELECT COUNT(*) AS n FROM data",
    "SELECT name, COUNT(*) AS n FROM data JOIN codes USING (d) GROUP BY name",
    "SELECT COUNT(*) AS n FROM (SELECT p, MAX(x) AS m FROM data GROUP BY p) AS t WHERE m > 9",
    "SELECT COUNT(*) AS n FROM data WHERE p IN (SELECT p FROM data WHERE x > 17)",
    "SELECT COUNT(*) AS n FROM (SELECT p, x FROM data UNION ALL SELECT p, x FROM data) AS t",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT p, x FROM data) AS t",
    "SELECT a.d, COUNT(*) AS n FROM data AS a JOIN data AS b USING (p) GROUP BY a.d",
    "SELECT MEDIAN(x) AS m FROM data",
    "SELECT COUNT(DISTINCT d) AS k FROM data",
]


def exact(sql, frame, part=()):
    """All that the engine hands over for a question, before any noise."""
    tables = {"data": frame, "codes": CODES}
    declared = {
        "max_groups_per_unit": 3,
        "max_rows_per_unit_per_group": 50,
        "bounds": {"x": (0, 20)},
    }
    data = Table.declare("data", frame, unit="p", keys={"d": DIAGNOSES}, **declared)
    codes = Table.declare("codes", CODES, public=True, keys={"name": ["n0", "n1"]})
    with DuckDB.open(tables) as engine:
        engine._salt = 2**62 + 5  # it decides which groups of a unit are kept
        schemas = {name: engine.schema(name) for name in tables}
        known = Policy([data, codes], epsilon=10, delta=1e-3).with_schemas(schemas)
        query_plan = plan(parse(sql), known, epsilon=1)
        if part:
            query_plan = restrict_to_part(query_plan, known.tables["data"], part)
        result = engine.run(query_plan).reveal_to(lambda integers: integers)
    groups = [column.to_pylist() for column in result.keys]
    groups += [column.tolist() for column in result.features.values()]
    cells = [
        sorted(zip(*(k.to_pylist() for k in cells.keys), cells.cell, cells.count, strict=True))
        for cells in result.cells.values()
    ]
    return sorted(zip(*groups, strict=True)), cells


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_part_is_the_table_without_the_other_rows(sql):
    assert 0 < len(OF_B) < sum(ward == "B" for ward in ALL["w"].to_pylist())
    alone = exact(sql, pa.Table.from_pylist(OF_B, schema=ALL.schema))
    assert exact(sql, ALL, (("w", "B"),)) == alone
    assert exact(sql, ALL) != alone  # power: the restriction does something
