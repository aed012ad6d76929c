"""Correlations, covariances and slopes: exact in the noiseless limit, one payment, refusals."""

from fractions import Fraction

import duckdb
import numpy as np
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidQuery, UnboundedColumn
from deniable.query.language.parse import parse
from deniable.query.margins.evaluation import evaluate
from deniable.query.planner.planner import plan
from tests.query.hospital import policy, visits

PAIRS = ["CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT"]


def planned(select, *, person=False, **options):
    price = {"epsilon": 4, "delta": 0} | options
    return plan(parse(f"SELECT {select} FROM visits"), policy(person=person), **price)


@pytest.mark.parametrize("aggregate", PAIRS)
@pytest.mark.parametrize(
    "both", ["age, urgent", "urgent, age", "weight, age", "FLOOR(cost / 100), age"]
)
def test_without_noise_they_are_the_databases_own(aggregate, both):
    """On clipped values that the grid holds exactly, or nearly."""
    query_plan = planned(f"{aggregate}({both}) AS a")
    table = visits(400)
    with DuckDB.open({"visits": table}) as engine:
        exact = engine.run(query_plan).reveal_to(lambda integers: integers)
    features = {name: values.astype(np.float64) for name, values in exact.features.items()}
    value = float(evaluate(query_plan.outputs[0].node, features)[0])
    clean = (
        "SELECT CASE WHEN age > 120 THEN 120 ELSE age END AS age, urgent::INT AS urgent, "
        "greatest(least(weight, 200), -5.5) AS weight, "
        "CASE WHEN isnan(cost) OR cost > 10000 THEN 10000 ELSE cost END AS cost FROM table_"
    )
    with duckdb.connect() as database:
        database.register("table_", table)
        (true,) = database.execute(f"SELECT {aggregate}({both}) FROM ({clean})").fetchone()
    assert value == pytest.approx(true, rel=2e-3, abs=1e-6)


def test_what_two_columns_share_is_measured_once():
    query_plan = planned(
        "CORR(cost, age) AS r, REGR_SLOPE(cost, age) AS s, COVAR_POP(cost, age) AS c"
    )
    (block,) = query_plan.blocks
    assert len(block.features) == 9
    assert block.mechanism.epsilon == 4
    assert len(planned("COVAR_POP(cost, age) AS c").blocks[0].features) == 4
    assert len(planned("REGR_SLOPE(cost, age) AS c").blocks[0].features) == 6
    assert len(planned("COVAR_POP(cost, age) AS c, AVG(age) AS a").blocks) == 2


def test_the_grid_is_as_fine_as_the_noise_allows():
    fine = planned("COVAR_POP(cost, age) AS c").blocks[0]
    rough = planned("CORR(cost, age) AS c", person=True, epsilon=Fraction(1, 1000)).blocks[0]
    assert fine.mechanism.sensitivity > 10**6
    assert rough.mechanism.sensitivity / rough.mechanism.epsilon < 2**50
    with pytest.raises(InvalidQuery, match="too large to draw"):
        planned("CORR(cost, age) AS c", epsilon=Fraction(1, 10**16))


def test_notes_say_how():
    said = " ".join(planned("REGR_SLOPE(cost, age) AS s").notes)
    assert "noisy means and products" in said
    assert "cost is cut to 0 to 10000" in said
    assert "age is cut to 0 to 120" in said


@pytest.mark.parametrize(
    ("sql", "error", "because"),
    [
        ("CORR(note, age)", InvalidQuery, "only numbers"),
        ("CORR(patient, age)", UnboundedColumn, "no limit"),
        ("CORR(SUM(age), age)", InvalidQuery, "single row"),
    ],
)
def test_refusals_name_the_reason(sql, error, because):
    with pytest.raises(error, match=because):
        planned(f"{sql} AS a")
