"""Margins of joins, sub-queries and UNION ALL: honest, and not padded."""

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.query.language.parse import parse
from deniable.query.margins.margins import shown_values
from deniable.query.planner.planner import plan
from tests.query.town import SOURCES, policy
from tests.release.answer.test_answer import repeated

PATIENTS, ROWS = 1500, 6000
SHAPES = [
    "AVG(total) AS a FROM (SELECT patient, SUM(cost) AS total FROM visits GROUP BY patient)",
    "COUNT(*) AS a, SUM(n) AS b FROM (SELECT patient, ward, COUNT(*) AS n FROM visits "
    "GROUP BY patient, ward HAVING COUNT(*) > 1)",
    "COUNT(*) AS a FROM (SELECT DISTINCT patient, ward FROM visits)",
    "AVG(cost) AS a, COUNT(*) AS b FROM visits JOIN wards USING (ward) WHERE floor < 3",
    "AVG(cost - price) AS a FROM visits LEFT JOIN wards USING (ward) "
    "LEFT JOIN tariffs USING (floor)",
    "SUM(amount) AS a, COUNT(DISTINCT v.patient) AS b FROM visits AS v "
    "JOIN bills AS b ON v.patient = b.patient",
    "AVG(x) AS a FROM (SELECT patient, cost AS x FROM visits UNION ALL "
    "SELECT patient, amount FROM bills)",
    "STDDEV(x) AS a FROM rows JOIN wards USING (ward)",
    "AVG(cost) AS a FROM visits AS v WHERE EXISTS "
    "(SELECT 1 FROM bills AS b WHERE b.patient = v.patient AND b.amount > 5)",
    "SUM(ROUND(SQRT(cost), 1) + cost % 7) AS a FROM visits",
]


@pytest.fixture(scope="module")
def engine():
    draw = np.random.default_rng(3)
    wards = np.array(list("ABC"))
    visits = pa.table(
        {
            "patient": draw.integers(0, PATIENTS, ROWS),
            "ward": wards[draw.integers(0, 3, ROWS)],
            "cost": draw.uniform(-20, 150, ROWS),
            "day": pa.array(draw.integers(19_000, 20_000, ROWS), pa.int32()).cast(pa.date32()),
            "note": ["a"] * ROWS,
        }
    )
    bills = pa.table(
        {
            "patient": pa.array(draw.integers(0, PATIENTS, ROWS), pa.int32()),
            "amount": draw.integers(-2, 14, ROWS),
        }
    )
    rows = pa.table({"ward": wards[draw.integers(0, 3, ROWS)], "x": draw.integers(0, 12, ROWS)})
    with DuckDB.open(SOURCES | {"visits": visits, "bills": bills, "rows": rows}) as opened:
        yield opened


@pytest.mark.parametrize("shape", SHAPES)
def test_margins_cover_and_are_not_padded(engine, shape):
    """Against what the engine finds, clipped and bounded."""
    query_plan = plan(parse(f"SELECT {shape}"), policy(), epsilon=2)
    exact = engine.run(query_plan).reveal_to(lambda integers: integers)
    answer = repeated(query_plan, exact)
    integers = {name: values.astype(np.float64) for name, values in exact.features.items()}
    for output in query_plan.outputs:
        true = float(shown_values(output.node, integers, low=output.low, high=output.high)[0])
        value = np.asarray(answer.table[output.name], dtype=np.float64)
        margin = np.asarray(answer.table[answer.margins[output.name]], dtype=np.float64)
        error = np.abs(value - true)
        assert np.mean(error <= margin) >= 0.942, output.name
        step = 1 if output.count else 0
        assert np.mean(margin) <= 1.25 * np.quantile(error, 0.95) + step, output.name
