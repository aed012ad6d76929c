"""The SQL of a model gives its predictions, in two engines."""

import sqlite3
from math import inf, nan

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.exports.sql_expression import to_sql
from tests.learn.exports import models

ODD = {"age": [nan, inf, -inf], "sex": ["f", "f", "x"], "size": [2.0, nan, inf]}
ODD["flag"] = [True, False, True]
ROWS = pa.table({name: [*own, None, *ODD[name]] for name, own in models.VALUES.items()})


def in_duckdb(expression):
    with duckdb.connect() as connection:
        connection.register("rows", ROWS)
        found = connection.execute(f"SELECT {expression} AS score FROM rows").fetchall()
    return np.array([row[0] for row in found], dtype=float)


def in_sqlite(expression):
    """SQLite has neither TRUE columns nor EXP everywhere."""
    with sqlite3.connect(":memory:") as connection:
        connection.create_function("EXP", 1, lambda value: float(np.exp(value)))
        connection.execute("CREATE TABLE rows (age REAL, sex TEXT, size REAL, flag INTEGER)")
        rows = zip(*ROWS.to_pydict().values(), strict=True)
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows)
        found = connection.execute(f"SELECT {expression} FROM rows").fetchall()
    connection.close()
    return np.array([row[0] for row in found], dtype=float)


@pytest.mark.parametrize("engine", [in_duckdb, in_sqlite])
@pytest.mark.parametrize("name", models.cell_models())
def test_cells_give_the_same_probabilities(name, engine):
    model = models.cell_models()[name]
    columns = list(ROWS.to_pydict().values())
    if model.link == "identity":
        assert np.allclose(engine(to_sql(model)), model.scores(columns)[:, 0])
        return
    wanted = model.probabilities(columns)
    for place, label in enumerate(model.classes):
        assert np.allclose(engine(to_sql(model, label)), wanted[:, place])
    assert to_sql(model) == to_sql(model, model.classes[-1])


@pytest.mark.parametrize("engine", [in_duckdb, in_sqlite])
def test_linear_models_and_clusters_give_the_same(engine):
    linear, centres = models.linear_model(), models.centre_model()
    columns = ROWS.to_pydict()
    for line in (linear, models.line_model()):
        assert np.allclose(engine(to_sql(line)), line.predict(columns))
    assert np.array_equal(engine(to_sql(centres)), centres.nearest(columns))


def test_names_and_texts_are_quoted():
    text = to_sql(models.cell_models()["identity"])
    assert "'it''s'" in text
    assert '"age"' in text


def test_what_has_no_expression_is_refused():
    with pytest.raises(InvalidParameter, match="no SQL expression"):
        to_sql(models.axes_model())
    with pytest.raises(InvalidParameter, match="Unknown class"):
        to_sql(models.cell_models()["sigmoid"], "maybe")
