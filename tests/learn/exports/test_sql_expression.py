"""The SQL of a model gives its predictions, in two engines."""

import sqlite3
from math import inf, nan

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.exports.sql_expression import to_sql
from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.linear_model import LineModel
from deniable.learn.fit.scaled_terms import ScaledTerm
from tests.engines.sparks import local
from tests.learn.exports import models

ODD = {"age": [nan, inf, -inf], "sex": ["f", "f", "x"], "size": [2.0, nan, inf]}
ODD["flag"] = [True, False, True]
ROWS = pa.table({name: [*own, None, *ODD[name]] for name, own in models.VALUES.items()})


def in_duckdb(expression):
    with duckdb.connect() as connection:
        connection.register("rows", ROWS)
        rows = connection.execute(f"SELECT {expression} AS score FROM rows").fetchall()
    return np.array([row[0] for row in rows], dtype=float)


def in_sqlite(expression):
    """SQLite has neither TRUE columns nor EXP everywhere."""
    with sqlite3.connect(":memory:") as connection:
        connection.create_function("EXP", 1, lambda value: float(np.exp(value)))
        connection.execute("CREATE TABLE rows (age REAL, sex TEXT, size REAL, flag INTEGER)")
        rows = zip(*ROWS.to_pydict().values(), strict=True)
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", rows)
        records = connection.execute(f"SELECT {expression} FROM rows").fetchall()
    connection.close()
    return np.array([row[0] for row in records], dtype=float)


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


@pytest.mark.parametrize("kind", ["FLOAT", "DECIMAL(38, 10)", "HUGEINT", "UBIGINT"])
def test_numbers_are_doubles_whatever_their_column_is(kind):
    """0.7 as a FLOAT is less than 0.7; a large decimal must not fail."""
    cut = FeatureCells("x", "number", ("a", "b", None), (0.7,), (0.0, 9.0))
    listed = FeatureCells("y", "number", (0.7, 9, None), (), (0.0, 9.0))
    tables = (np.array([[1.0], [2.0], [3.0]]), np.array([[10.0], [20.0], [30.0]]))
    model = CellModel((cut, listed), tables, np.zeros(1), "identity")
    large = {"HUGEINT": 2**126, "UBIGINT": 2**63 + 1, "DECIMAL(38, 10)": 10**27, "FLOAT": 1e30}
    values = [0.7, large[kind]]
    with duckdb.connect() as connection:
        rows = " UNION ALL ".join(f"SELECT ({value})::{kind} AS x" for value in values)
        source = f"(SELECT x, x AS y FROM ({rows}))"
        (column,) = zip(*connection.execute(f"SELECT x FROM {source}").fetchall(), strict=True)
        records = connection.execute(f"SELECT {to_sql(model)} FROM {source}").fetchall()
    numbers = [float(value) for value in column]
    assert [row[0] for row in records] == model.scores([numbers, numbers])[:, 0].tolist()


def test_listed_numbers_of_a_linear_model_are_within_their_bounds():
    size = models.SIZE
    term = ScaledTerm("size", cells=size, code=2)
    line = LineModel((term,), ScaledTerm("pay", 20.0, 10.0), np.array([4.0]), 12.5)
    assert in_duckdb(to_sql(line)).tolist() == line.predict(ROWS.to_pydict()).tolist()
    assert line.predict({"size": [9, 1]}).tolist() == [16.5, 12.5]


def test_names_and_texts_are_quoted():
    text = to_sql(models.cell_models()["identity"])
    assert "'it''s'" in text
    assert '"age"' in text


def test_spark_has_quotes_of_its_own():
    odd = FeatureCells('a"`b', "text", ("it's", "a\\b", '"x"', "''", None))
    model = CellModel((odd,), (np.arange(5.0)[:, None],), np.zeros(1), "identity")
    assert to_sql(model, engine="spark") == (
        r"""0.0 + (CASE `a"``b` WHEN 'it\'s' THEN 0.0 WHEN 'a\\b' THEN 1.0 """
        r"""WHEN '"x"' THEN 2.0 WHEN '\'\'' THEN 3.0 ELSE 4.0 END)"""
    )


def test_what_has_no_expression_is_refused():
    with pytest.raises(InvalidParameter, match="no SQL expression"):
        to_sql(models.axes_model())
    with pytest.raises(InvalidParameter, match="Unknown class"):
        to_sql(models.cell_models()["sigmoid"], "maybe")
    with pytest.raises(InvalidParameter, match="must be one of duckdb"):
        to_sql(models.cell_models()["sigmoid"], engine="mysql")


def in_spark(expressions):
    """Every expression's numbers, from one session."""
    with local() as session:
        columns = "age DOUBLE, sex STRING, size DOUBLE, flag BOOLEAN"
        rows = session.createDataFrame(
            list(zip(*ROWS.to_pydict().values(), strict=True)), columns
        )
        records = rows.selectExpr(*expressions).collect()
    return np.array([[float(value) for value in row] for row in records]).T


def test_spark_gives_the_same_with_its_own_quotes():
    """There a name in double quotes would be a text, which equals nothing."""
    columns, wanted, expressions = list(ROWS.to_pydict().values()), [], []
    for model in models.cell_models().values():
        scores = model.scores(columns)[:, 0]
        wanted.append(
            scores if model.link == "identity" else model.probabilities(columns)[:, -1]
        )
        expressions.append(to_sql(model, engine="spark"))
    for line in (models.linear_model(), models.line_model()):
        wanted.append(line.predict(ROWS.to_pydict()))
        expressions.append(to_sql(line, engine="spark"))
    wanted.append(models.centre_model().nearest(ROWS.to_pydict()))
    expressions.append(to_sql(models.centre_model(), engine="spark"))
    assert np.allclose(in_spark(expressions), wanted)
    assert "`age`" in expressions[0]
